"""Where a memory lies on disk, found name by name: case and composition don't matter, and no link is ever followed."""

import os
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.disk import storage_error
from app.domain.file_names import name_key
from app.domain.memories import MAX_FILE_BYTES, MAX_FILES
from app.memory.faults import BadPath, NotText
from app.memory.paths import MAX_DEPTH, MemoryPath, fault_of

MOST_LOOKED_AT: Final = 4 * MAX_FILES
"""Entries of a scope, however many a person has put there by hand."""

_OPEN: Final = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


@dataclass(frozen=True, slots=True)
class Place:
    """What there is at a path. `path` has the names as they are on disk, where they are there."""

    path: MemoryPath
    file: Path
    status: os.stat_result | None
    """None if nothing is there."""

    @property
    def is_file(self) -> bool:
        return self.status is not None and stat.S_ISREG(self.status.st_mode)

    @property
    def is_folder(self) -> bool:
        return self.status is not None and stat.S_ISDIR(self.status.st_mode)


@dataclass(frozen=True, slots=True)
class Walk:
    """The files below a folder, and how many entries there are besides that no memory may be."""

    files: tuple[Place, ...]
    others: int
    is_complete: bool


def find(root: Path, path: MemoryPath) -> Place:
    """Return what lies at `path` below `root`. Raises BadPath at a link, or at a file in place of a folder."""
    try:
        status: os.stat_result | None = root.stat()
    except (FileNotFoundError, NotADirectoryError):
        status = None
    except OSError as error:
        raise storage_error("The memories can't be read", error) from error
    place = Place(MemoryPath(path.scope), root, status)
    for name in path.names:
        place = _step(place, name)
    return place


def walk(top: Place) -> Walk:
    """Return all files below the folder `top` that may be memories, by path. Raises StorageError."""
    files: list[Place] = []
    others = looked_at = 0
    waiting = [top] if top.is_folder else []
    while waiting:
        folder = waiting.pop()
        keys: set[str] = set()
        for entry in _entries(folder.file):
            looked_at += 1
            if looked_at > MOST_LOOKED_AT:
                return Walk(_sorted(files), others, is_complete=False)
            if entry.name.startswith("."):
                # Ours, or the system's.
                continue
            place, key = _place_of(folder, entry), name_key(entry.name)
            if place is None or key in keys or len(place.path.names) > MAX_DEPTH:
                others += 1
                continue
            keys.add(key)
            (waiting if place.is_folder else files).append(place)
    return Walk(_sorted(files), others, is_complete=True)


def read_bytes(place: Place, *, most_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Return the content of a file. Raises NotText if it is larger than that or no file; StorageError."""
    try:
        descriptor = os.open(place.file, _OPEN)
    except OSError as error:
        raise storage_error(f"{place.path} can't be read", error) from error
    with os.fdopen(descriptor, "rb") as file:
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NotText(f"{place.path} is no ordinary file.")
            data = file.read(most_bytes + 1)
        except OSError as error:
            raise storage_error(f"{place.path} can't be read", error) from error
    if len(data) > most_bytes:
        raise NotText(f"{place.path} is larger than {most_bytes:,} bytes, which is more than a memory may have.")
    return data


def _step(folder: Place, name: str) -> Place:
    if folder.status is None:
        return Place(folder.path.child(name), folder.file / name, None)
    if not folder.is_folder:
        raise BadPath(f"{folder.path} is a file, so nothing can be in it. Use another path.")
    key = name_key(name)
    # On a system that tells upper from lower case a person may have made both.
    alike = sorted(
        (entry for entry in _entries(folder.file) if name_key(entry.name) == key),
        key=lambda entry: (unicodedata.normalize("NFC", entry.name) != name, entry.name),
    )
    if not alike:
        return Place(folder.path.child(name), folder.file / name, None)
    place = _place_of(folder, alike[0])
    if place is None:
        raise BadPath(f"{folder.path.child(name)} is a link or no ordinary file. Use another path.")
    return place


def _place_of(folder: Place, entry: "os.DirEntry[str]") -> Place | None:
    """Return what an entry is; None if it is a link, a device, gone, or has a name that no memory may have."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    is_link = stat.S_ISLNK(status.st_mode) or bool(
        getattr(status, "st_file_attributes", 0) & getattr(stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0)
    )
    name = unicodedata.normalize("NFC", entry.name)
    if is_link or fault_of(name) or not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return None
    return Place(folder.path.child(name), Path(entry.path), status)


def _entries(folder: Path) -> "Iterator[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except OSError as error:
        raise storage_error("The memories can't be read", error) from error


def _sorted(files: list[Place]) -> tuple[Place, ...]:
    return tuple(sorted(files, key=lambda place: place.path.key))
