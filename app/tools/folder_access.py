"""A folder that a person has attached to a chat: reading and writing below it, and never anywhere else."""

import contextlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.tools.folder_entries import (
    Entry,
    EntryKind,
    check_spelling,
    child,
    content,
    kind_of,
    no_such,
    order_of,
    spelling_of,
    status,
    worded,
)
from app.tools.folder_names import FolderFault, Names, fault_of
from app.tools.folder_places import Place, open_root
from app.tools.folder_put import ABSENT, put
from app.tools.folder_stop import Stop

_GONE: Final = "The folder of this chat is not there any more. It has to be attached again, where it is now."

_OURS: Final = "Muntin keeps its own data there; that is never read or changed by tools."

Identity = tuple[int, int]
"""Of a folder, by whatever path: device and number."""


@dataclass(frozen=True, slots=True)
class Entries:
    """What a folder holds, sorted; `unusable`: how many more have names that can't be used."""

    found: tuple[Entry, ...]
    unusable: int


@contextmanager
def open_folder(root: Path, stop: Stop, *, apart_from: Path) -> Iterator["Folder"]:
    """Hold `root` open; the folder `apart_from` is never gone into, whatever leads there.

    Raises FolderFault if `root` is gone, leads through a link by now, or lies in `apart_from`. Blocks.
    """
    if apart_from.resolve() in (root, *root.parents):
        raise FolderFault(_OURS)
    try:
        place = open_root(root)
    except FileNotFoundError as error:
        raise FolderFault(_GONE) from error
    except OSError as error:
        if isinstance(error, PermissionError):
            raise FolderFault("The folder of this chat can't be opened: this account may not do that.") from error
        raise FolderFault(f"The folder of this chat was replaced by something else. {_GONE}") from error
    with closing(place):
        yield Folder(place, stop, barred=_identity_at(apart_from))


class Folder:
    """What lies below one folder. Everything raises FolderFault and, once `stop` is set, Stopped. Blocks."""

    def __init__(self, root: Place, stop: Stop, *, barred: Identity | None = None) -> None:
        """`barred`: a folder that is not gone into by whatever name."""
        self._root: Final = root
        self._stop: Final = stop
        self._barred: Final = barred
        self._check_barred(root)

    def entries(self, names: Names) -> Entries:
        """Return what the folder at `names` holds, by name, upper and lower case alike."""
        with self._place(names) as place, worded(names, "listed"):
            found: list[Entry] = []
            unusable = 0
            for name, is_now in place.entries():
                self._stop.check()
                if fault_of(name):
                    unusable += 1
                else:
                    found.append(Entry(name, kind_of(is_now), is_now.st_size))
        found.sort(key=lambda entry: order_of(entry.name))
        return Entries(tuple(found), unusable)

    def kind(self, names: Names) -> EntryKind:
        """Return what is at `names`."""
        if not names:
            return EntryKind.FOLDER
        with self._place(names[:-1]) as place, worded(names, "opened"):
            found = status(place, names[-1])
            if found is None:
                raise no_such(place, names)
            return kind_of(found)

    def as_written(self, names: Names) -> Names:
        """Return a path as its entries are written here; what is not there stays as it is.

        Accents may be part of a letter or stand behind it, as on Macs; models know only the first.
        """
        if all(name.isascii() for name in names):
            return names
        written: list[str] = []
        with worded(names, "opened"), ExitStack() as held:
            place = self._root
            for name in names:
                real = spelling_of(place, name)
                written.append(real)
                found = status(place, real)
                if found is None or kind_of(found) is not EntryKind.FOLDER:
                    break
                if len(written) < len(names):
                    place = held.enter_context(closing(self._child(place, tuple(written))))
        return (*written, *names[len(written) :])

    def read(self, names: Names, *, most_bytes: int) -> bytes:
        """Return a file's content. Raises TooLarge."""
        with self._place(names[:-1]) as place:
            return content(place, names, most_bytes=most_bytes, stop=self._stop)

    def read_if_there(self, names: Names, *, most_bytes: int) -> bytes | None:
        """Return a file's content, None if neither it nor anything else has its name yet. Raises TooLarge."""
        if self._missing(names):
            return None
        return self.read(names, most_bytes=most_bytes)

    def write(self, names: Names, data: bytes, *, expected: str, most_bytes: int) -> None:
        """Put `data` in the place of the version `expected`, `ABSENT` for a file that is to be made.

        All of it or nothing: what fails, or is stopped, leaves the file and its folders as they were.
        """
        made: list[tuple[Place, str]] = []
        with worded(names, "saved"), ExitStack() as held:
            try:
                if expected == ABSENT:
                    place = self._place_for(names[:-1], held, made)
                else:
                    place = held.enter_context(self._place(names[:-1]))
                put(place, names, data, expected=expected, most_bytes=most_bytes, stop=self._stop)
            except BaseException:
                for parent, name in reversed(made):
                    with contextlib.suppress(OSError):
                        parent.remove_empty(name)
                raise

    def _missing(self, names: Names) -> bool:
        """Whether nothing is at `names`, so that a file may be made there.

        Raises FolderFault if a name differs only in its spelling from one that is there.
        """
        with worded(names, "opened"), ExitStack() as held:
            place = self._root
            for at, name in enumerate(names):
                if status(place, name) is None:
                    check_spelling(place, names[: at + 1], is_there=False)
                    return True
                if at < len(names) - 1:
                    place = held.enter_context(closing(self._child(place, names[: at + 1])))
        return False

    def _place_for(self, names: Names, held: ExitStack, made: list[tuple[Place, str]]) -> Place:
        """Return the folder at `names`; what is missing of it is made, and added to `made`."""
        place = self._root
        for at, name in enumerate(names):
            if status(place, name) is None:
                check_spelling(place, names[: at + 1], is_there=False)
                place.make(name)
                made.append((place, name))
                place.sync()
            place = held.enter_context(closing(self._child(place, names[: at + 1])))
        return place

    @contextmanager
    def _place(self, names: Names) -> Iterator[Place]:
        with ExitStack() as held:
            place = self._root
            for at in range(len(names)):
                place = held.enter_context(closing(self._child(place, names[: at + 1])))
            yield place

    def _child(self, place: Place, names: Names) -> Place:
        inner = child(place, names)
        try:
            self._check_barred(inner)
        except FolderFault:
            inner.close()
            raise
        return inner

    def _check_barred(self, place: Place) -> None:
        if self._barred is None:
            return
        with worded((), "opened"):
            found = place.stat(".")
        if (found.st_dev, found.st_ino) == self._barred:
            raise FolderFault(_OURS)


def _identity_at(path: Path) -> Identity | None:
    try:
        found = path.stat()
    except OSError:
        # It isn't there: nothing leads to it.
        return None
    return found.st_dev, found.st_ino
