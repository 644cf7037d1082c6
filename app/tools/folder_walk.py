"""All that lies below a folder, in one order, so that a listing or a search goes on where it ended."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.tools.folder_access import Folder
from app.tools.folder_entries import Entry, EntryKind, order_of
from app.tools.folder_names import MAX_DEPTH, MAX_PATH_CHARS, FolderFault, Names, look_key
from app.tools.folder_text import count_words

_GIT: Final = ".git"
_SHORT_GIT: Final = "git~1"
_MOST_NAME_CHARS: Final = 256
"""Of one name on any system, and the / before it."""


@dataclass(frozen=True, slots=True)
class Found:
    """An entry, and where it is."""

    names: Names
    entry: Entry


@dataclass(slots=True)
class Walk:
    """Goes through what lies below `start`, and counts what it leaves out.

    `after`: begins behind this path, or with it. What changes meanwhile may be seen or not.
    """

    folder: Folder
    start: Names
    is_recursive: bool
    after: Names = ()
    includes_after: bool = False
    unusable: int = 0
    """Entries whose names can't be used."""
    unreadable: int = 0
    """Folders that can't be opened."""
    too_deep: int = 0
    has_git: bool = False

    def found(self) -> Iterator[Found]:
        """Yield each entry, a folder before what is inside. Raises FolderFault if `start` can't be listed."""
        if self.after[: len(self.start)] != self.start:
            raise FolderFault("cursor must be copied from an earlier answer, with the same path. Or leave it out.")
        return self._below(self.start, self.after[len(self.start) :])

    def left_out(self) -> list[str]:
        """Say what was not gone through."""
        return [
            *(["what is inside .git"] if self.has_git else []),
            *([f"{count_words(self.unusable, 'name')} that can't be used"] if self.unusable else []),
            *([f"{count_words(self.unreadable, 'folder')} that can't be opened"] if self.unreadable else []),
            *([f"{count_words(self.too_deep, 'folder')} too deep inside others"] if self.too_deep else []),
        ]

    def _below(self, names: Names, after: Names) -> Iterator[Found]:
        try:
            entries = self.folder.entries(names)
        except FolderFault:
            if names == self.start:
                raise
            self.unreadable += 1
            return
        self.unusable += entries.unusable
        for entry in entries.found:
            order, from_here = order_of(entry.name), order_of(after[0]) if after else None
            if from_here is not None and order < from_here:
                continue
            is_on_the_way = order == from_here
            if not is_on_the_way or (self.includes_after and len(after) == 1):
                yield Found((*names, entry.name), entry)
            if self.is_recursive and self._goes_into(entry, (*names, entry.name)):
                yield from self._below((*names, entry.name), after[1:] if is_on_the_way else ())

    def _goes_into(self, entry: Entry, names: Names) -> bool:
        if entry.kind is not EntryKind.FOLDER:
            return False
        if is_git(entry.name):
            self.has_git = True
            return False
        # What is inside must have a path that may be named.
        is_deep = len(names) >= MAX_DEPTH or len("/".join(names)) > MAX_PATH_CHARS - _MOST_NAME_CHARS
        self.too_deep += is_deep
        return not is_deep


def is_git(name: str) -> bool:
    """Whether some system takes `name` for `.git`: Macs pass over what only formats, Windows has short names."""
    return look_key(name) in (_GIT, _SHORT_GIT)
