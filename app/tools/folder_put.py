"""Putting a file in its place: all of it or nothing, and never over what nobody has seen."""

import contextlib
import os
import secrets
import stat
from typing import Final

from app.disk import Stamp, write_all
from app.tools.folder_entries import check_file, check_spelling, content, status, version_of
from app.tools.folder_names import FolderFault, Names, shown
from app.tools.folder_places import CREATE, Place
from app.tools.folder_stop import Stop

ABSENT: Final = "absent"
"""The version of a file that does not exist."""
_CHANGED: Final = "“{name}” was changed meanwhile, so nothing was written. Read it again with read_file."
_APPEARED: Final = "“{name}” was made by somebody else meanwhile, so nothing was written. Read it with read_file."


def put(place: Place, names: Names, data: bytes, *, expected: str, most_bytes: int, stop: Stop) -> None:
    """Write the last of `names` in the place of those before it, if its version is `expected`.

    Raises FolderFault, Stopped and OSError; everything is as it was then.
    """
    before = status(place, names[-1])
    if (before is None) != (expected == ABSENT):
        raise _conflict(expected, names)
    check_spelling(place, names, is_there=before is not None)
    mode = None
    if before is not None:
        mode = _mode_to_keep(place, names, before)
        if version_of(content(place, names, most_bytes=most_bytes, stop=stop)) != expected:
            raise _conflict(expected, names)
    temporary = f".muntin-{secrets.token_hex(6)}.tmp"
    try:
        _write_new(place, temporary, data, mode)
        stop.check()
        if before is None:
            _give_name(place, temporary, names)
        else:
            _replace(place, temporary, names, before)
    except BaseException:
        with contextlib.suppress(OSError):
            place.remove(temporary)
        raise
    # The change is there; that a power failure might still lose it is no reason to call it failed.
    with contextlib.suppress(OSError):
        place.sync()


def _mode_to_keep(place: Place, names: Names, found: os.stat_result) -> int:
    check_file(found, names)
    mode = stat.S_IMODE(found.st_mode) & 0o777
    # Its folder alone would let it be replaced; but its owner has said that it shall stay as it is.
    if not mode & 0o222 or not place.may_write(names[-1]):
        raise FolderFault(f"“{shown(names)}” is protected against changes.")
    return mode


def _write_new(place: Place, name: str, data: bytes, mode: int | None) -> None:
    # Of a file that others may not read, not even a copy may be read for a moment.
    descriptor = place.open(name, CREATE, 0o666 if mode is None else 0o600)
    try:
        write_all(descriptor, data)
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(place: Place, temporary: str, names: Names, before: os.stat_result) -> None:
    now = status(place, names[-1])
    if now is None or _stamp(now) != _stamp(before):
        raise _conflict("", names)
    place.move_over(temporary, names[-1])


def _give_name(place: Place, temporary: str, names: Names) -> None:
    """Move a new file to its name, unless somebody has taken that meanwhile."""
    try:
        place.link(temporary, names[-1])
    except FileExistsError:
        raise _conflict(ABSENT, names) from None
    except OSError:
        # Some disks know no second names.
        if status(place, names[-1]) is not None:
            raise _conflict(ABSENT, names) from None
        place.move_over(temporary, names[-1])
    else:
        with contextlib.suppress(OSError):
            place.remove(temporary)


def _stamp(found: os.stat_result) -> Stamp:
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _conflict(expected: str, names: Names) -> FolderFault:
    return FolderFault((_APPEARED if expected == ABSENT else _CHANGED).format(name=shown(names)))
