"""What the person does with memory: the interface's way to it, off the loop. Needs no lease, and for `global` no chat.

Every method raises KnownError, in words; nothing changed then.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from app.aio import run_blocking
from app.domain.events import Emit, MemoriesChanged
from app.domain.memories import MemoryConflict, MemoryListing, MemoryScope, MemoryText, RemovedMemory
from app.history.library import Library
from app.memory.faults import MemoryChanged, MemoryFault, NoSuchMemory
from app.memory.memories import Memories, global_store
from app.memory.notes import has_notes
from app.memory.paths import MemoryPath, parse_file_path
from app.memory.reading import NOTHING
from app.memory.store import MemoryStore

T = TypeVar("T")


class MemoryEditor:
    """Lists, reads and changes the memories of all chats, and of one. `session` is empty while no chat is open."""

    def __init__(self, library: Library, emit: Emit) -> None:
        self._library = library
        self._emit = emit
        self._global: Final = global_store(library.root)

    async def listings(self, session: str) -> dict[MemoryScope, MemoryListing]:
        """Return what there is, by scope; without a chat only what all share."""
        chat = await self._folder(session)

        def read() -> dict[MemoryScope, MemoryListing]:
            return {store.scope: store.listing() for store in Memories(self._global, chat).stores}

        return await run_blocking(read)

    async def read(self, session: str, path: str) -> MemoryText | None:
        """Return a memory and its version, None if it is gone."""
        try:
            return await self._at(session, path, lambda store, place: store.read(place))
        except NoSuchMemory:
            return None

    async def save(self, session: str, path: str, text: str, *, version: str) -> MemoryText | MemoryConflict:
        """Give a memory a new text, if `version` is there still; else return what is there now.

        An empty version stands for nothing: the memory is made.
        """

        def save(store: MemoryStore, place: MemoryPath) -> MemoryText | MemoryConflict:
            try:
                return store.put(place, text, expected=version)
            except MemoryChanged as changed:
                return MemoryConflict(changed.theirs)

        result = await self._at(session, path, save)
        if isinstance(result, MemoryText):
            self._tell(session, path)
        return result

    async def create(self, session: str, path: str) -> MemoryText:
        """Make an empty memory; one that is there already is an error."""
        made = await self._at(session, path, lambda store, place: store.put(place, "", expected=NOTHING))
        self._tell(session, path)
        return made

    async def rename(self, session: str, old: str, new: str) -> str:
        """Give a memory another path in the same scope; return that."""
        target = parse_file_path(new)

        def rename(store: MemoryStore, place: MemoryPath) -> str:
            if store.scope is not target.scope:
                raise MemoryFault("A memory can't move between this chat and all chats; copy its text instead.")
            return store.rename(place, target)

        renamed = await self._at(session, old, rename)
        self._tell(session, old)
        return renamed

    async def delete(self, session: str, path: str) -> RemovedMemory:
        """Remove a memory and return it, for `put_back`."""
        removed = await self._at(session, path, lambda store, place: store.take(place))
        self._tell(session, path)
        return removed

    async def put_back(self, session: str, removed: RemovedMemory) -> None:
        """Undo `delete`, unless something else is there by now."""
        await self._at(session, removed.entry.path, lambda store, _place: store.put_back(removed))
        self._tell(session, removed.entry.path)

    async def pin(self, session: str, path: str, *, on: bool) -> None:
        """Put a memory before the others that models are shown unasked, or let it be one of them."""
        await self._at(session, path, lambda store, place: store.pin(place, on=on))
        self._tell(session, path)

    async def has_notes(self, session: str) -> bool:
        """Whether a model left notes for its later self in a chat."""
        chat = await self._folder(session)
        stores = Memories(self._global, chat).stores
        return await run_blocking(lambda: any(s.scope is MemoryScope.WORKSPACE and has_notes(s) for s in stores))

    async def _at(self, session: str, path: str, work: Callable[[MemoryStore, MemoryPath], T]) -> T:
        place = parse_file_path(path)
        chat = None if place.scope is MemoryScope.GLOBAL else await self._folder(session)
        return await run_blocking(work, Memories(self._global, chat).store_of(place), place)

    async def _folder(self, session: str) -> Path | None:
        if not session:
            return None
        files = await run_blocking(self._library.files, session)
        return files.folder

    def _tell(self, session: str, path: str) -> None:
        scope = parse_file_path(path).scope
        self._emit(MemoriesChanged("" if scope is MemoryScope.GLOBAL else session))
