"""What an entry of a folder is, opening and reading one, and what is said if that can't be."""

import contextlib
import difflib
import errno
import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from app.disk import storage_error
from app.tools.folder_names import FolderFault, Names, fault_of, look_key, shown
from app.tools.folder_places import READ, Place, is_link
from app.tools.folder_stop import Stop

_CHUNK_BYTES: Final = 1 << 20
_MOST_COMPARED: Final = 2_000
"""Names that are compared with one that isn't there."""
_SWAPPED: Final = (errno.ELOOP, errno.ENOTDIR)


class EntryKind(Enum):
    """What an entry of a folder is."""

    FILE = auto()
    FOLDER = auto()
    LINK = auto()
    SPECIAL = auto()
    """A pipe, a socket, a device."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a folder."""

    name: str
    kind: EntryKind
    bytes: int


class TooLarge(FolderFault):
    """A file has more bytes than were to be read."""


def version_of(data: bytes) -> str:
    """Return what tells one content of a file from another."""
    return hashlib.sha256(data).hexdigest()[:32]


def kind_of(status: os.stat_result) -> EntryKind:
    """Return what an entry is."""
    if is_link(status):
        return EntryKind.LINK
    if stat.S_ISDIR(status.st_mode):
        return EntryKind.FOLDER
    return EntryKind.FILE if stat.S_ISREG(status.st_mode) else EntryKind.SPECIAL


def order_of(name: str) -> tuple[str, str]:
    """Return what entries are sorted by."""
    return name.casefold(), name


def child(place: Place, names: Names) -> Place:
    """Open the folder of the last of `names`, in the place of those before it."""
    with worded(names, "opened"):
        found = status(place, names[-1])
        if found is None:
            raise no_such(place, names)
        match kind_of(found):
            case EntryKind.FOLDER:
                return place.child(names[-1])
            case EntryKind.LINK:
                raise _link(names)
            case _:
                raise FolderFault(f"“{shown(names)}” is no folder.")


def content(place: Place, names: Names, *, most_bytes: int, stop: Stop) -> bytes:
    """Return the content of the file that the last of `names` is, in the place of those before it.

    Raises FolderFault, TooLarge, Stopped.
    """
    with worded(names, "read"):
        found = status(place, names[-1])
        if found is None:
            raise no_such(place, names)
        check_file(found, names)
        descriptor = place.open(names[-1], READ)
        try:
            # It may be another by now.
            found = os.fstat(descriptor)
            check_file(found, names)
            if found.st_size > most_bytes:
                raise _too_large(names, found.st_size, most_bytes)
            return _all_of(descriptor, names, most_bytes, stop)
        finally:
            os.close(descriptor)


def _all_of(descriptor: int, names: Names, most_bytes: int, stop: Stop) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(descriptor, _CHUNK_BYTES):
        stop.check()
        pieces.append(piece)
        size += len(piece)
        if size > most_bytes:
            raise _too_large(names, size, most_bytes)
    return b"".join(pieces)


def status(place: Place, name: str) -> os.stat_result | None:
    """Return what an entry is, None if there is none. Raises OSError."""
    try:
        return place.stat(name)
    except FileNotFoundError:
        return None


def check_file(found: os.stat_result, names: Names) -> None:
    """Raise FolderFault if it is no plain file."""
    match kind_of(found):
        case EntryKind.LINK:
            raise _link(names)
        case EntryKind.FOLDER:
            raise FolderFault(f"“{shown(names)}” is a folder, no file. list_files shows what is in it.")
        case EntryKind.SPECIAL:
            raise FolderFault(f"“{shown(names)}” is a device, a pipe or a socket, no file.")
        case EntryKind.FILE:
            return


def check_spelling(place: Place, names: Names, *, is_there: bool) -> None:
    """Raise FolderFault if another entry has the same name but for its spelling: on some systems they are one.

    `is_there`: the system takes the name for an entry's, which may be one in another spelling. Raises OSError.
    """
    name, wanted = names[-1], look_key(names[-1])
    others = {other for other, _ in place.entries() if look_key(other) == wanted}
    if is_there and not others:
        # Windows has short names besides: ENVRC~1 for .envrc.
        raise FolderFault(f"“{shown(names)}” is a second name of something. Use the one that list_files gives.")
    # Accents may be part of a letter or stand behind it; a system that takes both for one is right.
    if is_there and any(_composed(other) == _composed(name) for other in others):
        return
    for other in sorted(others):
        raise FolderFault(
            f"“{shown((*names[:-1], other))}” is there already, and its name differs only in how it is written."
            " Use that one, or another name."
        )


def spelling_of(place: Place, name: str) -> str:
    """Return the name of the one entry that differs only in how accents are written, else `name`. Raises OSError."""
    if name.isascii() or status(place, name) is not None:
        return name
    same = [other for other, _ in place.entries() if _composed(other) == _composed(name)]
    return same[0] if len(same) == 1 else name


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _link(names: Names) -> FolderFault:
    return FolderFault(f"“{shown(names)}” is a link; links are not followed.")


def _too_large(names: Names, size: int, most_bytes: int) -> TooLarge:
    return TooLarge(f"“{shown(names)}” is too large: {size / 1e6:,.1f} MB, of at most {most_bytes / 1e6:,.0f} MB.")


def no_such(place: Place, names: Names) -> FolderFault:
    """Return that nothing is at `names`, and what is near it."""
    near: Sequence[str] = ()
    with contextlib.suppress(OSError):
        some = [name for (name, _), _ in zip(place.entries(), range(_MOST_COMPARED), strict=False)]
        near = difflib.get_close_matches(names[-1], [name for name in some if not fault_of(name)], n=3)
    hint = f" Near it: {', '.join(shown((*names[:-1], name)) for name in near)}." if near else ""
    return FolderFault(f"There is no “{shown(names)}” in the folder of this chat.{hint}")


@contextmanager
def worded(names: Names, done: str) -> Iterator[None]:
    """Turn what the system says into a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _SWAPPED:
            raise FolderFault(f"“{shown(names)}” was swapped for something else meanwhile.") from error
        raise FolderFault(str(storage_error(f"“{shown(names)}” can't be {done}", error))) from error
