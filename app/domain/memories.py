"""Memory: short files that outlast a window or a chat, as models and people see them. See context-windows.md, 13."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

MAX_FILE_BYTES: Final = 102_400
MAX_FILES: Final = 1_000
"""Of one scope."""
NOTES_PATH: Final = "/memories/workspace/context-notes.md"
"""What a model writes down for its later self."""


class MemoryScope(StrEnum):
    """Who sees a memory; the first folder of its path."""

    GLOBAL = "global"
    """Every chat."""
    WORKSPACE = "workspace"
    """One chat."""


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A memory as it is listed."""

    path: str
    """`/memories/<scope>/…`."""
    size_bytes: int
    changed: datetime
    uses: int = 0
    last_used: datetime | None = None
    """By a model; None if never."""
    is_pinned: bool = False
    """Put before the model first, if memories are."""

    @property
    def scope(self) -> MemoryScope:
        return MemoryScope(self.path.split("/", 3)[2])

    @property
    def name(self) -> str:
        """Its path below the scope."""
        return self.path.split("/", 3)[3]


@dataclass(frozen=True, slots=True)
class MemoryListing:
    """The memories of one scope by path. `others` are files that are none: links, names that no memory may have."""

    entries: tuple[MemoryEntry, ...] = ()
    others: int = 0
    is_complete: bool = True
    """False if there are more than are looked at."""


@dataclass(frozen=True, slots=True)
class MemoryText:
    """What a memory holds, and which version of it: another one after every change."""

    path: str
    text: str
    version: str


@dataclass(frozen=True, slots=True)
class MemoryConflict:
    """Nothing was saved: somebody else has changed the memory meanwhile."""

    theirs: MemoryText | None
    """As it is now; None if it is gone."""


@dataclass(frozen=True, slots=True)
class RemovedMemory:
    """A memory that was deleted, whole, to be put back."""

    entry: MemoryEntry
    content: bytes
