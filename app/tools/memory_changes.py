"""What a call of `memory` would change, worked out before anything is changed. Plain synchronous code."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, assert_never

from app.domain.approvals import Question
from app.domain.errors import KnownError
from app.domain.memories import MemoryScope, MemoryText
from app.domain.tool_names import MEMORY
from app.memory.edits import insert_lines, lines_of, replace_once
from app.memory.faults import MemoryFault
from app.memory.memories import Memories
from app.memory.paths import MemoryPath, parse_file_path, parse_path
from app.memory.places import walk
from app.memory.reading import NOTHING
from app.memory.store import MemoryStore
from app.tools.memory_arguments import Create, Delete, Insert, Rename, StrReplace, Write
from app.tools.memory_seen import SeenVersions
from app.tools.text_diff import Change as TextChange
from app.tools.text_diff import unified

_MOST_LISTED: Final = 50
_STALE: Final = "{path} was changed since you saw it. View it again, then repeat the change."
_UNSEEN: Final = (
    "There is a file at {path} already. View it first; then create gives it a new text, or change a part of it with"
    " str_replace."
)


class Made(NamedTuple):
    """What the model is told of a change, and the version of the file it knows now; None if it is gone."""

    answer: str
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A change that can be made now."""

    path: MemoryPath
    summary: str
    """In plain words, for the person."""
    diff: str
    version: str
    """What it was worked out for: with another one there by then, it fails."""
    apply: Callable[[], Made]
    """Makes it. Raises MemoryFault, StorageError; nothing changed then."""

    @property
    def question(self) -> Question | None:
        """What the person must allow; None if it concerns this chat only."""
        if self.path.scope is MemoryScope.WORKSPACE:
            return None
        return Question(self.summary, diff=self.diff, scope=MEMORY, version=self.version)


def plan_change(call: Write, memories: Memories, seen: SeenVersions) -> Change:
    """Return what `call` would change. Raises MemoryFault, StorageError with what is wrong with it."""
    match call:
        case Create():
            return _create(call, memories, seen)
        case StrReplace():
            path = parse_file_path(call.path)
            before = memories.store_of(path).read(path)
            return _edit(path, before, replace_once(before.text, call.old_str, call.new_str), memories)
        case Insert():
            path = parse_file_path(call.path)
            before = memories.store_of(path).read(path)
            _check_seen(path, before.version, seen)
            return _edit(path, before, insert_lines(before.text, call.insert_line, call.insert_text), memories)
        case Delete():
            return _delete(call, memories, seen)
        case Rename():
            return _rename(call, memories)
        case _:
            assert_never(call)


def _create(call: Create, memories: Memories, seen: SeenVersions) -> Change:
    path = parse_file_path(call.path)
    store = memories.store_of(path)
    store.check_text(path, call.file_text)
    place = store.find(path)
    if place.status is None:
        return _written(path, "", call.file_text, NOTHING, store, is_new=True)
    before = store.read(path)
    if seen.version_of(path) is None:
        raise MemoryFault(_UNSEEN.format(path=place.path))
    _check_seen(path, before.version, seen)
    return _written(place.path, before.text, call.file_text, before.version, store, is_new=False)


def _edit(path: MemoryPath, before: MemoryText, after: str, memories: Memories) -> Change:
    store = memories.store_of(path)
    store.check_text(path, after)
    return _written(parse_path(before.path), before.text, after, before.version, store, is_new=False)


def _written(path: MemoryPath, before: str, after: str, version: str, store: MemoryStore, *, is_new: bool) -> Change:
    name, lines = "/".join(path.names), _lines(after)
    summary = (
        f"Add “{name}” with {lines} to what all chats remember"
        if is_new
        else f"Change “{name}” in what all chats remember"
    )

    def apply() -> Made:
        written = store.put(path, after, expected=version)
        return Made(f"{'Made' if is_new else 'Changed'} {path}: {lines}.", written.version)

    return Change(path, summary, _diff(before, after, name), version, apply)


def _delete(call: Delete, memories: Memories, seen: SeenVersions) -> Change:
    path = parse_path(call.path)
    store = memories.store_of(path)
    if not path.names:
        raise MemoryFault(f"{path} itself can't be deleted. Delete the files in it one by one.")
    place, version = store.existing(path), store.version(path)
    if place.is_file:
        _check_seen(path, version, seen)
        name = "/".join(place.path.names)
        summary, diff = f"Delete “{name}” from what all chats remember", _removal(store, place.path)
    else:
        found = walk(place)
        files = [str(each.path) for each in found.files]
        others = " and what else is in it" if found.others or not found.is_complete else ""
        summary = (
            f"Delete the folder “{'/'.join(place.path.names)}” with {_files(len(files))}{others}"
            " from what all chats remember"
        )
        more = [f"… {_files(len(files) - _MOST_LISTED)} more"] if len(files) > _MOST_LISTED else []
        diff = "\n".join([*(f"-{name}" for name in files[:_MOST_LISTED]), *more])

    def apply() -> Made:
        gone = store.delete(path, expected=version)
        return Made(f"Deleted {place.path}." if place.is_file else f"Deleted {place.path} with {_files(len(gone))}.")

    return Change(place.path, summary, diff, version, apply)


def _rename(call: Rename, memories: Memories) -> Change:
    old, new = parse_path(call.old_path), parse_path(call.new_path)
    if old.scope is not new.scope:
        raise MemoryFault(
            "A file can't move between /memories/workspace and /memories/global. View it, create it in the other"
            " place, then delete it here."
        )
    store = memories.store_of(old)
    place, version = store.existing(old), store.version(old)
    store.check_rename(old, new)
    summary = f"Rename “{'/'.join(place.path.names)}” to “{'/'.join(new.names)}” in what all chats remember"

    def apply() -> Made:
        return Made(f"Renamed {place.path} to {store.rename(old, new, expected=version)}.")

    return Change(place.path, summary, "", version, apply)


def _check_seen(path: MemoryPath, version: str, seen: SeenVersions) -> None:
    if (known := seen.version_of(path)) is not None and known != version:
        raise MemoryFault(_STALE.format(path=path))


def _removal(store: MemoryStore, path: MemoryPath) -> str:
    try:
        return _diff(store.read(path).text, "", "/".join(path.names))
    except KnownError:
        # No text: it can be deleted all the same.
        return ""


def _diff(before: str, after: str, name: str) -> str:
    return unified(TextChange.of(before, after), name) if before != after else ""


def _lines(text: str) -> str:
    count = len(lines_of(text))
    return "1 line" if count == 1 else f"{count:,} lines"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"
