"""The notes a model writes down for its later self, put away when the person lets it start afresh."""

import contextlib
from datetime import date
from typing import Final

from app.domain.errors import StorageError
from app.domain.memories import NOTES_PATH
from app.memory.faults import MemoryFault, NoSuchMemory
from app.memory.paths import parse_file_path
from app.memory.store import MemoryStore

_MOST_A_DAY: Final = 100


def has_notes(store: MemoryStore) -> bool:
    """Whether there are notes. Raises MemoryFault, StorageError."""
    return store.find(parse_file_path(NOTES_PATH)).is_file


def set_notes_aside(store: MemoryStore, today: date) -> str:
    """Rename the notes, so that no model is shown them unasked; return their new path, empty if there are none.

    Raises MemoryFault, StorageError; they are as they were then.
    """
    notes, base = parse_file_path(NOTES_PATH), NOTES_PATH.removesuffix(".md")
    for number in range(1, _MOST_A_DAY + 1):
        name = f"{base}-{today.isoformat()}" + (f"-{number}" if number > 1 else "") + ".md"
        path = parse_file_path(name)
        if store.find(path).status is not None:
            continue
        try:
            renamed = store.rename(notes, path)
        except NoSuchMemory:
            return ""
        with contextlib.suppress(StorageError):
            store.pin(path, on=False)
        return renamed
    raise MemoryFault("The notes were put away too often today; rename them in the memory.")


def bring_notes_back(store: MemoryStore, path: str) -> None:
    """Undo `set_notes_aside`, which returned `path`. Raises MemoryFault, StorageError."""
    store.rename(parse_file_path(path), parse_file_path(NOTES_PATH))
