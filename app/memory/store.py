"""The memories of one scope on disk: the one place that writes them. Plain synchronous code.

Every write holds the lock between processes, checks the version it was meant for, and is there whole or not at all.
See context-windows.md, 13.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from app.disk import make_private_folder
from app.domain.errors import StorageError
from app.domain.memories import (
    MAX_FILE_BYTES,
    MAX_FILES,
    MemoryListing,
    MemoryScope,
    MemoryText,
    RemovedMemory,
)
from app.domain.text import clean_text
from app.memory.faults import BadPath, MemoryChanged, MemoryFault, NoSuchMemory, NotText
from app.memory.paths import MemoryPath, parse_file_path
from app.memory.places import Place, find, read_bytes, walk
from app.memory.reading import MOST_BYTES, NOTHING, entry_of, text_of, version_at, version_of
from app.memory.uses import UNUSED, Use, read_uses, write_uses
from app.memory.writing import move, remove, write_file
from app.write_lock import WriteLock

LOCK_FILE: Final = ".lock"


class MemoryStore:
    """All memories of one scope. Methods raise MemoryFault and StorageError; nothing changed then."""

    def __init__(self, root: Path, scope: MemoryScope) -> None:
        self.scope: Final = scope
        self._root = root
        self._threads = threading.Lock()
        self._lock = WriteLock(root / LOCK_FILE, what="this memory")

    # Reading takes no lock: every file is replaced whole.

    def listing(self) -> MemoryListing:
        """Return all memories of the scope, by path."""
        found = walk(find(self._root, MemoryPath(self.scope)))
        uses = read_uses(self._root)
        entries = tuple(entry_of(place, uses.get(place.path.key, UNUSED)) for place in found.files)
        return MemoryListing(entries, found.others, found.is_complete)

    def find(self, path: MemoryPath) -> Place:
        """Return what there is at `path`."""
        return find(self._root, path)

    def existing(self, path: MemoryPath) -> Place:
        """Return the file or folder at `path`. Raises NoSuchMemory."""
        place = find(self._root, path)
        if place.status is None:
            raise NoSuchMemory(f"There is nothing at {place.path}. View {MemoryPath(self.scope)} to see what there is.")
        return place

    def read(self, path: MemoryPath) -> MemoryText:
        """Return a memory's text. Raises NoSuchMemory, NotText."""
        return text_of(self._file(path))

    def version(self, path: MemoryPath) -> str:
        """Return the version of a file, or of all that is in a folder; `NOTHING` if nothing is there."""
        return version_at(find(self._root, path))

    def check_text(self, path: MemoryPath, text: str) -> None:
        """Tell what keeps `text` from being written to `path`. Raises MemoryFault, StorageError."""
        _encode(path, text)
        if find(self._root, path).status is None:
            self._check_room(path)

    def check_rename(self, old: MemoryPath, new: MemoryPath) -> None:
        """Tell what keeps `old` from being renamed to `new`. Raises MemoryFault, StorageError."""
        source = self.existing(old)
        _moved(source, self._free_place(source, new).path)

    # Writing. `expected` is the version a change was meant for; None for whatever is there.

    def put(self, path: MemoryPath, text: str, *, expected: str | None) -> MemoryText:
        """Make a memory, or replace its whole text. Raises MemoryChanged."""
        with self._writing():
            place = find(self._root, path)
            if place.is_folder:
                raise BadPath(f"{place.path} is a folder. Name a file in it, for example {place.path}/plan.md.")
            self._check(place, expected)
            return self._write(place, text)

    def delete(self, path: MemoryPath, *, expected: str | None = None) -> tuple[str, ...]:
        """Remove a file, or a folder with all that is in it; return the paths of the memories that are gone."""
        with self._writing():
            place = self.existing(path)
            if not place.path.names:
                raise BadPath(f"{place.path} itself can't be deleted. Delete the files in it one by one.")
            self._check(place, expected)
            gone = walk(place).files if place.is_folder else (place,)
            remove(self._root, place)
            self._keep_uses(lambda uses: [uses.pop(each.path.key, None) for each in gone])
            return tuple(str(each.path) for each in gone)

    def take(self, path: MemoryPath) -> RemovedMemory:
        """Remove a file and return it whole, for `put_back`."""
        with self._writing():
            place = self._file(path)
            entry = entry_of(place, read_uses(self._root).get(place.path.key, UNUSED))
            content = read_bytes(place, most_bytes=MOST_BYTES)
            remove(self._root, place)
            self._keep_uses(lambda uses: uses.pop(place.path.key, None))
            return RemovedMemory(entry, content)

    def put_back(self, removed: RemovedMemory) -> None:
        """Undo `take`. Raises MemoryChanged if something else is there by now."""
        path = parse_file_path(removed.entry.path)
        with self._writing():
            place = find(self._root, path)
            self._check(place, NOTHING)
            self._check_room(place.path)
            write_file(place, removed.content)
            use = Use(removed.entry.uses, removed.entry.last_used, removed.entry.is_pinned)
            self._keep_uses(lambda uses: uses.update({place.path.key: use}))

    def rename(self, old: MemoryPath, new: MemoryPath, *, expected: str | None = None) -> str:
        """Give a file or folder another path in this scope; return that. Raises MemoryFault if something is there."""
        with self._writing():
            source = self.existing(old)
            self._check(source, expected)
            target = self._free_place(source, new)
            pairs = _moved(source, target.path)
            move(self._root, source, target)
            self._keep_uses(lambda uses: _rename_uses(uses, pairs))
            return str(target.path)

    def note_use(self, path: MemoryPath, now: datetime) -> None:
        """Count a use of a memory. A disk that refuses costs comfort only."""
        with contextlib.suppress(StorageError), self._writing():
            self._keep_uses(lambda uses: uses.update({path.key: uses.get(path.key, UNUSED).once_more(now)}))

    def pin(self, path: MemoryPath, *, on: bool) -> None:
        """Put a memory before the others, or let it be one of them. Raises NoSuchMemory, StorageError."""
        with self._writing():
            key = self._file(path).path.key
            uses = read_uses(self._root)
            before = uses.get(key, UNUSED)
            write_uses(self._root, uses | {key: Use(before.uses, before.last_used, on)})

    # Below the lock

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        with self._threads:
            if self.scope is MemoryScope.WORKSPACE and not self._root.parent.is_dir():
                raise MemoryFault("This chat is not there any more.")
            make_private_folder(self._root)
            with self._lock.held():
                yield

    def _file(self, path: MemoryPath) -> Place:
        place = self.existing(path)
        if not place.is_file:
            raise NoSuchMemory(f"{place.path} is a folder, not a file. View it to see the files in it.")
        return place

    def _check(self, place: Place, expected: str | None) -> None:
        if expected is None or version_at(place) == expected:
            return
        theirs = None
        if place.is_file:
            with contextlib.suppress(NotText, StorageError):
                theirs = text_of(place)
        if expected == NOTHING:
            raise MemoryChanged(f"There is something at {place.path} already.", theirs)
        raise MemoryChanged(f"{place.path} was changed meanwhile. View it again, then repeat the change.", theirs)

    def _write(self, place: Place, text: str) -> MemoryText:
        data = _encode(place.path, text)
        if place.status is None:
            self._check_room(place.path)
        write_file(place, data)
        return MemoryText(str(place.path), data.decode(), version_of(data))

    def _check_room(self, path: MemoryPath) -> None:
        if len(walk(find(self._root, MemoryPath(self.scope))).files) >= MAX_FILES:
            raise MemoryFault(
                f"There are {MAX_FILES:,} memories in {MemoryPath(self.scope)} already, the most there may be."
                f" Delete some that are not needed before you make {path}."
            )

    def _free_place(self, source: Place, new: MemoryPath) -> Place:
        if not source.path.names or not new.names:
            raise BadPath(f"{MemoryPath(self.scope)} itself can't be renamed, nor anything be renamed to it.")
        target = find(self._root, new)
        if target.path.key == source.path.key:
            # Only upper and lower case change.
            return Place(
                MemoryPath(self.scope, (*source.path.names[:-1], new.names[-1])),
                source.file.with_name(new.names[-1]),
                None,
            )
        if target.status is not None:
            raise MemoryFault(
                f"There is something at {target.path} already. Choose another name, or delete that first."
            )
        if f"{new.key}/".startswith(f"{source.path.key}/"):
            raise MemoryFault(f"{source.path} can't be moved into itself.")
        return target

    def _keep_uses(self, edit: Callable[[dict[str, Use]], object]) -> None:
        uses = read_uses(self._root)
        edit(uses)
        with contextlib.suppress(StorageError):
            write_uses(self._root, uses)


def _encode(path: MemoryPath, text: str) -> bytes:
    """Return a text as it is kept, with `\\n` at the ends of lines. Raises MemoryFault."""
    data = clean_text(text).replace("\r\n", "\n").encode()
    if len(data) > MAX_FILE_BYTES:
        raise MemoryFault(
            f"{path} would have {len(data):,} bytes; a memory has at most {MAX_FILE_BYTES:,}."
            " Shorten it, or divide it among several files."
        )
    if b"\0" in data:
        raise MemoryFault("The text contains a NUL character, which no memory may. Leave it out.")
    return data


def _moved(source: Place, new: MemoryPath) -> dict[str, str]:
    """Return keys before and after a move. Raises BadPath if something in a folder would lie too deep."""
    files = walk(source).files if source.is_folder else (source,)
    pairs: dict[str, str] = {}
    for each in files:
        moved = MemoryPath(new.scope, (*new.names, *each.path.names[len(source.path.names) :]))
        pairs[each.path.key] = parse_file_path(str(moved)).key
    return pairs


def _rename_uses(uses: dict[str, Use], pairs: dict[str, str]) -> None:
    found = {new: use for old, new in pairs.items() if (use := uses.pop(old, None)) is not None}
    uses.update(found)
