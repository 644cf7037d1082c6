"""What can be wrong with a memory. Every text is a sentence that a model can act on and a person understands."""

from app.domain.errors import KnownError
from app.domain.memories import MemoryText


class MemoryFault(KnownError):
    """It can't be done; nothing changed."""


class BadPath(MemoryFault):
    """A path that no memory may have."""


class NoSuchMemory(MemoryFault):
    """There is nothing at this path."""


class NotText(MemoryFault):
    """It is no UTF-8 text, larger than a memory may be, or can't be read."""


class MemoryChanged(MemoryFault):
    """Another version is there than was expected; `theirs` is it, None if there is none or it is no text."""

    def __init__(self, sentence: str, theirs: MemoryText | None = None) -> None:
        super().__init__(sentence)
        self.theirs = theirs
