"""The memories that a model is shown unasked, as the end of its system text. See context-windows.md, 13."""

import math
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.aio import Clock
from app.budget.requests import TextCounter
from app.domain.errors import KnownError
from app.domain.memories import MemoryEntry
from app.domain.models import ModelCard
from app.history.files import ChatFiles
from app.memory.hotset import Count, caps_of, render_block
from app.memory.memories import Memories
from app.memory.store import MemoryStore
from app.settings.schema import Settings

KEPT_CHATS: Final = 16


@dataclass(frozen=True, slots=True)
class _Basis:
    """What a block was made from: the same one stands while this does, so that a provider need not read it anew.

    How often memories are used is left out: the order changes when a memory does, or the window.
    """

    memories: tuple[tuple[object, ...], ...]
    with_notes: bool
    limit: int | None
    encoding: str
    factor: float


class HotMemories:
    """Blocks of all chats. Called off the loop, from any thread."""

    def __init__(self, global_store: MemoryStore, *, counter: TextCounter, clock: Clock) -> None:
        self._global = global_store
        self._counter = counter
        self._clock = clock
        self._lock = threading.Lock()
        self._blocks: OrderedDict[Path, tuple[_Basis, str]] = OrderedDict()

    def block(self, files: ChatFiles, card: ModelCard, settings: Settings) -> str:
        """Return the block for a chat's next request; empty if memories are not to be shown, or there are none."""
        experiments = settings.experiments
        if not (experiments.agent_memory and experiments.preload_hot_memories):
            self.forget(files)
            return ""
        memories = Memories(self._global, files.folder)
        entries = memories.entries()
        with_notes = experiments.token_budget_windows
        basis = _Basis(tuple(map(_stamp, entries)), with_notes, card.limit, card.encoding, card.factor)
        with self._lock:
            kept = self._blocks.get(files.folder)
        if kept is not None and kept[0] == basis:
            return kept[1]
        block = render_block(
            entries,
            memories.read_text,
            self._count(card),
            caps_of(card.limit),
            now=self._clock.now(),
            with_notes=with_notes,
        )
        self._keep(files.folder, basis, block)
        return block

    def forget(self, files: ChatFiles) -> None:
        """Choose anew at the next request: the chat begins a fresh window."""
        with self._lock:
            self._blocks.pop(files.folder, None)

    def _keep(self, folder: Path, basis: _Basis, block: str) -> None:
        with self._lock:
            self._blocks[folder] = (basis, block)
            self._blocks.move_to_end(folder)
            while len(self._blocks) > KEPT_CHATS:
                self._blocks.popitem(last=False)

    def _count(self, card: ModelCard) -> Count:
        def count(text: str) -> int:
            try:
                tokens = self._counter.count_text(text, card.encoding)
            except KnownError:
                # No text has more tokens than bytes.
                tokens = len(text.encode())
            return math.ceil(tokens * card.factor)

        return count


def _stamp(entry: MemoryEntry) -> tuple[object, ...]:
    return entry.path, entry.size_bytes, entry.changed, entry.is_pinned
