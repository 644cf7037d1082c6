"""Both scopes of memory as one chat has them."""

import contextlib
from pathlib import Path
from typing import Final

from app.domain.errors import KnownError
from app.domain.memories import MemoryEntry, MemoryScope
from app.memory.faults import MemoryFault
from app.memory.paths import MemoryPath, parse_file_path
from app.memory.store import MemoryStore

GLOBAL_FOLDER: Final = "memory"
"""Of the data folder."""
WORKSPACE_FOLDER: Final = "memory"
"""Of a chat's folder."""


def workspace_store(chat: Path) -> MemoryStore:
    """Return the store of one chat, whose folder `chat` is."""
    return MemoryStore(chat / WORKSPACE_FOLDER, MemoryScope.WORKSPACE)


class Memories:
    """The stores of a chat, by scope; without a chat only the global one."""

    def __init__(self, global_store: MemoryStore, chat: Path | None) -> None:
        """`chat` is the chat's folder."""
        self._global = global_store
        self._workspace = workspace_store(chat) if chat is not None else None

    @property
    def stores(self) -> tuple[MemoryStore, ...]:
        """All there are."""
        return (self._global,) if self._workspace is None else (self._global, self._workspace)

    def store_of(self, path: MemoryPath) -> MemoryStore:
        """Return the store a path belongs to. Raises MemoryFault if no chat is open."""
        store = self._global if path.scope is MemoryScope.GLOBAL else self._workspace
        if store is None:
            raise MemoryFault("No chat is open, so there is no memory of one.")
        return store

    def entries(self) -> tuple[MemoryEntry, ...]:
        """Return all memories; a scope that can't be read has none."""
        found: list[MemoryEntry] = []
        for store in self.stores:
            with contextlib.suppress(KnownError):
                found += store.listing().entries
        return tuple(found)

    def read_text(self, entry: MemoryEntry) -> str | None:
        """Return a memory's text, None if it is gone, no text, or can't be read."""
        try:
            path = parse_file_path(entry.path)
            return self.store_of(path).read(path).text
        except KnownError:
            return None


def global_store(data: Path) -> MemoryStore:
    """Return the store of what all chats of a data folder share."""
    return MemoryStore(data / GLOBAL_FOLDER, MemoryScope.GLOBAL)
