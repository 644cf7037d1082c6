"""The only crossing between the engine and the interface. See ADR-0002.

Calls go in as coroutines of the interface's loop; events come out as one Qt signal with a batch of
them. Nothing else touches both threads.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal, Slot

from app.aio import Engine, run_blocking
from app.domain.errors import KnownError
from app.domain.events import ApprovalAsked, Event, ReplyDelta

if TYPE_CHECKING:
    from pathlib import Path

    # These load pydantic, which must wait for the first paint.
    from app.domain.approvals import Verdict
    from app.domain.chat_search import ChatSearchCursor, ChatSearchPage
    from app.domain.chats import ChatSummary, DeletedChat
    from app.domain.connections import DataReport, FoundServer, KeyPlace, KeyState, SetAside, TestReport
    from app.domain.exports import ExportKind, ExportReport
    from app.domain.memories import MemoryConflict, MemoryListing, MemoryScope, MemoryText, RemovedMemory
    from app.domain.models import ModelCard
    from app.domain.queue import QueuedMessage, When
    from app.domain.rows import MediaPart
    from app.domain.windows import Filters, ItemsPage, ItemText, Mark, SearchPage, WindowsPage
    from app.history.stretch import Edge, Stretch
    from app.session.browser import HistoryBrowser
    from app.session.connections import Connections
    from app.session.inputs import DraftContent, Input, NewFile, Outcome, QueueChange, UserInput
    from app.session.manager import SessionManager
    from app.session.memories import MemoryEditor
    from app.session.worker import OpenedChat
    from app.settings.schema import Edit, Endpoint, Settings

T = TypeVar("T")
log = logging.getLogger(__name__)

FRAME_MS: Final = 33
"""Text of running replies reaches the interface at most this often."""


class EventBuffer(QObject):
    """Takes events from any thread and hands them to the interface's thread in order.

    Neighbouring deltas of one reply are joined; a batch of nothing but deltas waits for the next frame.
    """

    arrived = Signal(tuple)
    """A batch of events, oldest first."""
    _woken = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._events: list[Event | list[ReplyDelta]] = []
        self._is_awake = False
        self._since_flush = QElapsedTimer()
        self._since_flush.start()
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.timeout.connect(self._flush)
        self._woken.connect(self._wake, Qt.ConnectionType.QueuedConnection)

    def put(self, event: Event) -> None:
        """Add an event; may be called from any thread."""
        with self._lock:
            last = self._events[-1] if self._events else None
            if isinstance(event, ReplyDelta):
                if isinstance(last, list) and _joins(last[-1], event):
                    last.append(event)
                else:
                    self._events.append([event])
            else:
                self._events.append(event)
            if self._is_awake:
                return
            self._is_awake = True
        self._woken.emit()

    @Slot()
    def _wake(self) -> None:
        with self._lock:
            is_text_only = all(isinstance(event, list) for event in self._events)
        waited_ms = self._since_flush.elapsed()
        if is_text_only and waited_ms < FRAME_MS:
            self._frame.start(FRAME_MS - waited_ms)
        else:
            self._flush()

    @Slot()
    def _flush(self) -> None:
        with self._lock:
            events, self._events = self._events, []
            self._is_awake = False
        self._since_flush.restart()
        if events:
            self.arrived.emit(tuple(_joined(event) if isinstance(event, list) else event for event in events))


class Bridge(QObject):
    """What the interface may ask of the engine, and what it hears of it."""

    events_arrived = Signal(tuple)
    """A batch of `Event`, oldest first."""

    def __init__(self, engine: Engine, make_manager: Callable[[], SessionManager], buffer: EventBuffer) -> None:
        super().__init__()
        self._engine = engine
        self._make_manager = make_manager
        self._manager: SessionManager | None = None
        self._made = threading.Lock()
        buffer.arrived.connect(self.events_arrived)

    async def list_models(self) -> tuple[ModelCard, ...]:
        """Return every model on offer; the first is the one new chats get."""
        return await self._ask(lambda manager: manager.list_models())

    async def list_chats(self) -> tuple[ChatSummary, ...]:
        """Return all chats, the latest first. Raises StorageError."""
        return await self._ask(lambda manager: manager.list_chats())

    async def new_chat(self, model: str) -> ChatSummary:
        """Return an empty chat: one that is there already, or a new one. Raises StorageError."""
        return await self._ask(lambda manager: manager.new_chat(model))

    async def open_chat(self, session: str) -> OpenedChat:
        """Open a chat. Raises ChatNotFound, StorageError."""
        return await self._ask(lambda manager: manager.open_chat(session))

    async def leave_chat(self, session: str) -> None:
        """Tell that a chat is shown no longer."""
        await self._ask(lambda manager: manager.leave_chat(session))

    async def page_before(self, session: str, end: Edge | None) -> Stretch:
        """Return an older page of history, the newest one for None. Raises ChatNotFound, StorageError."""
        return await self._ask(lambda manager: manager.page_before(session, end))

    async def page_after(self, session: str, start: Edge) -> Stretch:
        """Return a newer page of history. Raises ChatNotFound, StorageError."""
        return await self._ask(lambda manager: manager.page_after(session, start))

    async def page_around(self, session: str, offset: int) -> Stretch:
        """Return history around the row that begins `offset` bytes into it. Raises ChatNotFound, StorageError."""
        return await self._ask(lambda manager: manager.page_around(session, offset))

    async def send(self, session: str, item: Input) -> Outcome:
        """Start a turn. Raises ChatNotFound, StorageError."""
        return await self._ask(lambda manager: manager.send(session, item))

    async def enqueue(self, session: str, message: UserInput, when: When) -> Outcome:
        """Let a message wait for its turn, or send it at once if nothing runs. Raises ChatNotFound, StorageError."""
        return await self._ask(lambda manager: manager.enqueue(session, message, when))

    async def change_queue(self, session: str, change: QueueChange) -> QueuedMessage | None:
        """Change what waits; see `SessionManager.change_queue`. Raises ChatInUse, ChatNotFound, StorageError."""
        return await self._ask(lambda manager: manager.change_queue(session, change))

    async def answer(self, asked: ApprovalAsked, verdict: Verdict) -> None:
        """Answer a question as it was asked: see `SessionManager.answer`. Raises StorageError."""
        await self._ask(lambda manager: manager.answer(asked, verdict))

    async def save_owed(self, session: str) -> None:
        """Write the reply that the disk refused. Raises ChatNotFound, StorageError."""
        await self._ask(lambda manager: manager.save_owed(session))

    async def stop(self, session: str) -> None:
        """End the running turn; what has come is kept."""
        await self._ask(lambda manager: manager.stop(session))

    async def take_over(self, session: str) -> bool:
        """Become the one who may write; return whether the chat was free. Raises StorageError."""
        return await self._ask(lambda manager: manager.take_over(session))

    async def save_draft(self, session: str, content: DraftContent) -> None:
        """Keep what stands in the composer. Raises StorageError."""
        await self._ask(lambda manager: manager.save_draft(session, content))

    async def attach(self, session: str, file: NewFile) -> MediaPart:
        """Keep a file for a message of the chat. Raises KnownError, in words; nothing is kept then."""
        return await self._ask(lambda manager: manager.attach(session, file))

    async def add_to_draft(self, session: str, part: MediaPart) -> None:
        """Put one more file into the composer of a chat that is not shown. Raises ChatNotFound, StorageError."""
        await self._ask(lambda manager: manager.add_to_draft(session, part))

    async def attached_file(self, session: str, sha256: str) -> bytes:
        """Return the content of a file of the chat. Raises ChatNotFound, StorageError."""
        return await self._ask(lambda manager: manager.attached_file(session, sha256))

    async def run_aside(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, run on a thread of the engine's: it may block."""
        return await asyncio.wrap_future(self._engine.submit(run_blocking(work)))

    async def rename_chat(self, session: str, title: str) -> ChatSummary:
        """Give a chat a title. Raises ChatInUse, ChatNotFound, StorageError."""
        return await self._ask(lambda manager: manager.rename_chat(session, title))

    async def set_model(self, session: str, model: str) -> ChatSummary:
        """Choose the model a chat goes on with. Raises ChatInUse, ChatNotFound, StorageError, ProviderError."""
        return await self._ask(lambda manager: manager.set_model(session, model))

    async def set_level(self, session: str, level: str) -> ChatSummary:
        """Choose how long the model thinks; raises as `set_model`."""
        return await self._ask(lambda manager: manager.set_level(session, level))

    async def set_profile(self, session: str, profile: str) -> ChatSummary:
        """Choose who answers; raises as `set_model`."""
        return await self._ask(lambda manager: manager.set_profile(session, profile))

    async def set_folder(self, session: str, folder: str) -> ChatSummary:
        """Attach a folder, none for an empty text. Raises KnownError; nothing changed then."""
        return await self._ask(lambda manager: manager.set_folder(session, folder))

    async def revoke_grants(self, session: str) -> ChatSummary:
        """Ask again for what was always allowed in the chat; raises as `set_model`."""
        return await self._ask(lambda manager: manager.revoke_grants(session))

    async def branch_chat(self, session: str, ref: str) -> ChatSummary:
        """Return a new chat that is a copy of one up to the message `ref`: see `SessionManager.branch_chat`."""
        return await self._ask(lambda manager: manager.branch_chat(session, ref))

    async def export_window(self, session: str, window_id: str, path: Path, kind: ExportKind) -> ExportReport:
        """Write one context window to a file: see `SessionManager.export_window`."""
        return await self._ask(lambda manager: manager.export_window(session, window_id, path, kind))

    async def search_chats(self, query: str, cursor: ChatSearchCursor | None) -> ChatSearchPage:
        """Return the next piece of a search over all chats; `query` is not empty. Raises StorageError."""
        return await self._ask(lambda manager: manager.search_chats(query, cursor))

    async def delete_chat(self, session: str) -> None:
        """Move a chat to the trash. Raises ChatInUse, ChatNotFound, StorageError."""
        await self._ask(lambda manager: manager.delete_chat(session))

    async def restore_chat(self, session: str) -> ChatSummary:
        """Move a chat back from the trash. Raises ChatNotFound, StorageError."""
        return await self._ask(lambda manager: manager.restore_chat(session))

    async def list_deleted(self) -> tuple[DeletedChat, ...]:
        """Return what lies in the trash, the latest first."""
        return await self._ask(lambda manager: manager.list_deleted())

    async def purge_chat(self, session: str) -> None:
        """Remove a chat from the trash for good. Raises StorageError."""
        await self._ask(lambda manager: manager.purge_chat(session))

    async def tidy_trash(self) -> None:
        """Remove what has been in the trash for 30 days."""
        await self._ask(lambda manager: manager.tidy_trash())

    # The history of any chat, piece by piece: see `history.view.HistoryView`. All raise ChatNotFound, StorageError, and
    # HistoryChanged when the search or listing must begin again.

    async def history_windows(self, session: str) -> WindowsPage:
        """Return all windows, newest first, or read one more piece towards them."""
        return await self._browse(lambda browser: browser.windows(session))

    async def history_items(
        self, session: str, mark: Mark | None, *, filters: Filters, recent_first: bool = False, limit: int = 100
    ) -> ItemsPage:
        """Return the next piece of a listing."""
        return await self._browse(
            lambda browser: browser.items(session, mark, filters=filters, recent_first=recent_first, limit=limit)
        )

    async def search_history(
        self,
        session: str,
        query: str,
        mark: Mark | None,
        *,
        filters: Filters,
        recent_first: bool = True,
        limit: int = 50,
    ) -> SearchPage:
        """Return the next piece of a literal search; `query` is not empty."""
        return await self._browse(
            lambda browser: browser.search(
                session, query, mark, filters=filters, recent_first=recent_first, limit=limit
            )
        )

    async def read_history_item(
        self, session: str, ref: str, *, offset_chars: int = 0, limit_chars: int = 16_000
    ) -> ItemText | None:
        """Return a piece of an item's text; None if it is gone. Raises StaleItem."""
        return await self._browse(
            lambda browser: browser.read(session, ref, offset_chars=offset_chars, limit_chars=limit_chars)
        )

    async def raw_row(self, session: str, row_id: str) -> str | None:
        """Return a row as the JSON it is kept as, set out in lines; None if it is gone."""
        return await self._browse(lambda browser: browser.raw(session, f"m:{row_id}"))

    # Memory: see `session.memories.MemoryEditor`. All raise KnownError; nothing changed then.

    async def memories(self, session: str) -> dict[MemoryScope, MemoryListing]:
        """Return the memories of all chats and of `session`, by scope; only the former for an empty id."""
        return await self._remember(lambda memory: memory.listings(session))

    async def read_memory(self, session: str, path: str) -> MemoryText | None:
        """Return a memory and its version, None if it is gone."""
        return await self._remember(lambda memory: memory.read(session, path))

    async def save_memory(self, session: str, path: str, text: str, *, version: str) -> MemoryText | MemoryConflict:
        """Give a memory a new text if `version` is there still (empty: if nothing is); else return what is there."""
        return await self._remember(lambda memory: memory.save(session, path, text, version=version))

    async def create_memory(self, session: str, path: str) -> MemoryText:
        """Make an empty memory; one that is there already is an error."""
        return await self._remember(lambda memory: memory.create(session, path))

    async def rename_memory(self, session: str, old: str, new: str) -> str:
        """Give a memory another path in the same scope; return that."""
        return await self._remember(lambda memory: memory.rename(session, old, new))

    async def delete_memory(self, session: str, path: str) -> RemovedMemory:
        """Remove a memory and return it, for `put_back_memory`."""
        return await self._remember(lambda memory: memory.delete(session, path))

    async def put_back_memory(self, session: str, removed: RemovedMemory) -> None:
        """Undo `delete_memory`, unless something else is there by now."""
        await self._remember(lambda memory: memory.put_back(session, removed))

    async def pin_memory(self, session: str, path: str, *, on: bool) -> None:
        """Put a memory before the others that models are shown unasked, or let it be one of them."""
        await self._remember(lambda memory: memory.pin(session, path, on=on))

    async def has_notes(self, session: str) -> bool:
        """Whether a model left notes for its later self in a chat."""
        return await self._remember(lambda memory: memory.has_notes(session))

    # Settings, keys, providers: see `session.connections.Connections`.

    async def settings(self) -> Settings:
        """Return the current settings. Raises StorageError."""
        return await self._connect(lambda connections: connections.settings())

    async def set_aside(self) -> SetAside:
        """Return what became of a settings file that had something wrong."""
        return await self._connect(lambda connections: connections.set_aside())

    async def change_settings(self, edit: Edit) -> Settings:
        """Apply `edit` on the engine's thread, save and tell. Raises KnownError; nothing changed then."""
        return await self._connect(lambda connections: connections.change(edit))

    async def all_models(self) -> tuple[ModelCard, ...]:
        """Return every model that is known, also of endpoints that have no key yet."""
        return await self._connect(lambda connections: connections.all_models())

    async def key_state(self, endpoint_id: str) -> KeyState:
        """Return where the key of an endpoint is; asks the key store."""
        return await self._connect(lambda connections: connections.key_state(endpoint_id))

    async def save_key(self, endpoint_id: str, key: str, place: KeyPlace) -> KeyState:
        """Keep a key. Raises KnownError; nothing is kept then."""
        return await self._connect(lambda connections: connections.save_key(endpoint_id, key, place))

    async def delete_key(self, endpoint_id: str) -> KeyState:
        """Forget a key. Raises KnownError."""
        return await self._connect(lambda connections: connections.delete_key(endpoint_id))

    async def test_endpoint(self, endpoint: Endpoint, *, key: str = "", model: str = "") -> TestReport:
        """Try an endpoint step by step; changes nothing."""
        return await self._connect(lambda connections: connections.test(endpoint, key=key, model=model))

    async def discover(self) -> tuple[FoundServer, ...]:
        """Return the model servers on this computer that are not among the endpoints yet."""
        return await self._connect(lambda connections: connections.discover())

    async def refresh_models(self, endpoint_id: str) -> int:
        """Ask an endpoint for its list of models. Raises ProviderError, StorageError."""
        return await self._connect(lambda connections: connections.refresh_models(endpoint_id))

    async def data_report(self) -> DataReport:
        """Measure the data folder. Raises StorageError."""
        return await self._connect(lambda connections: connections.data_report())

    def close(self, *, timeout_seconds: float) -> bool:
        """Stop every turn, write what is owed, end the engine; return whether all of it was done in time."""
        deadline = time.monotonic() + timeout_seconds
        was_written = True
        if self._manager is not None and self._engine.is_running:
            closing = self._engine.submit(self._manager.close())
            try:
                closing.result(timeout_seconds)
            except TimeoutError:
                was_written = False
            except KnownError:
                log.exception("closing the chats failed")
                was_written = False
        has_ended = self._engine.stop(timeout_seconds=max(0.1, deadline - time.monotonic()))
        return was_written and has_ended

    async def _ask(self, call: Callable[[SessionManager], Coroutine[Any, Any, T]]) -> T:
        async def run() -> T:
            return await call(self._get_manager())

        return await asyncio.wrap_future(self._engine.submit(run()))

    async def _connect(self, call: Callable[[Connections], Coroutine[Any, Any, T]]) -> T:
        return await self._ask(lambda manager: call(manager.connections))

    async def _browse(self, call: Callable[[HistoryBrowser], Coroutine[Any, Any, T]]) -> T:
        return await self._ask(lambda manager: call(manager.browser))

    async def _remember(self, call: Callable[[MemoryEditor], Coroutine[Any, Any, T]]) -> T:
        return await self._ask(lambda manager: call(manager.memory))

    def _get_manager(self) -> SessionManager:
        """Return the manager, made on the engine's thread at the first call: it brings heavy imports."""
        with self._made:
            if self._manager is None:
                self._manager = self._make_manager()
            return self._manager


def _joins(last: ReplyDelta, event: ReplyDelta) -> bool:
    return (last.row_id, last.kind) == (event.row_id, event.kind)


def _joined(deltas: list[ReplyDelta]) -> ReplyDelta:
    return replace(deltas[0], text="".join(delta.text for delta in deltas))
