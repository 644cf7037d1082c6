"""Open, list, find and close chats; at most one worker a chat.

Lives on the engine's loop. See ADR-0002.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.aio import run_blocking
from app.domain.approvals import Verdict
from app.domain.chat_search import ChatSearchCursor, ChatSearchPage
from app.domain.chats import ChatSummary, DeletedChat
from app.domain.errors import ChatInUse, HistoryChanged, StorageError
from app.domain.events import ApprovalAsked, ChatChanged
from app.domain.exports import ExportKind, ExportReport
from app.domain.models import ModelCard
from app.domain.queue import QueuedMessage, When
from app.domain.rows import MediaPart
from app.history.blobs import Blobs
from app.history.library import Library
from app.history.reader import HistoryReader
from app.history.sidecars import Draft
from app.history.stretch import Edge, Stretch, read_around, read_newer, read_older
from app.session.aside import Aside
from app.session.browser import HistoryBrowser
from app.session.connections import Connections
from app.session.env import SessionEnv
from app.session.inputs import DraftContent, Input, NewFile, Outcome, QueueChange, UserInput
from app.session.worker import OpenedChat, Worker

if TYPE_CHECKING:
    from app.exchange.window_rows import Heading
    from app.session.branching import Branching
    from app.session.chat_search import ChatSearch
    from app.session.memories import MemoryEditor


class SessionManager:
    """All chats of one data folder."""

    def __init__(self, env: SessionEnv, library: Library, connections: Connections) -> None:
        self.connections = connections
        self.browser = HistoryBrowser(library)
        self._aside = Aside(env.tasks)
        self._env = env
        self._library = library
        self._workers: dict[str, Worker] = {}
        self._locks: dict[str, _ChatLock] = {}
        self._shown: set[str] = set()
        self._making = asyncio.Lock()

    # What few sessions need is imported when it is.

    @cached_property
    def _branching(self) -> Branching:
        from app.session.branching import Branching

        return Branching(self._env, self._library, self._aside)

    @cached_property
    def memory(self) -> MemoryEditor:
        """What the person may do with memory."""
        from app.session.memories import MemoryEditor

        return MemoryEditor(self._library, self._env.emit)

    @cached_property
    def _chat_search(self) -> ChatSearch:
        from app.session.chat_search import ChatSearch

        return ChatSearch(self._library)

    async def list_models(self) -> tuple[ModelCard, ...]:
        """Return every model on offer; the first is the one new chats get."""
        await self.connections.ready()
        return self._env.providers.models()

    async def list_chats(self) -> tuple[ChatSummary, ...]:
        """Return all chats, the latest first. Raises StorageError."""
        return await run_blocking(self._library.summaries)

    async def new_chat(self, model: str) -> ChatSummary:
        """Return an empty chat: one that is there already, or a new one. Raises StorageError."""
        async with self._making:
            for session in tuple(self._shown):
                worker = self._workers.get(session)
                if worker is not None and await worker.is_empty():
                    return worker.summary
            return await run_blocking(self._library.find_empty) or await self.create_chat(model)

    async def create_chat(self, model: str) -> ChatSummary:
        """Make an empty chat. Raises StorageError."""
        return await run_blocking(self._library.create, model=model, now=self._env.clock.now())

    async def open_chat(self, session: str) -> OpenedChat:
        """Open a chat for the interface, until `leave_chat`. Raises ChatNotFound, StorageError."""
        worker = await self._worker(session)
        self._shown.add(session)
        return await worker.snapshot()

    async def leave_chat(self, session: str) -> None:
        """Tell that the interface shows the chat no longer; its worker closes once it is idle."""
        self._shown.discard(session)
        await self._close_if_unused(session)

    async def page_before(self, session: str, end: Edge | None) -> Stretch:
        """Return the page of history that ends at `end`, None for the newest. Raises ChatNotFound, StorageError."""
        return await run_blocking(read_older, await self._reader(session), end)

    async def page_after(self, session: str, start: Edge) -> Stretch:
        """Return the page of history that begins at `start`. Raises ChatNotFound, StorageError."""
        return await run_blocking(read_newer, await self._reader(session), start)

    async def page_around(self, session: str, offset: int) -> Stretch:
        """Return what lies around the row that begins `offset` bytes into the history.

        Raises ChatNotFound, StorageError.
        """
        return await run_blocking(read_around, await self._reader(session), offset)

    async def _reader(self, session: str) -> HistoryReader:
        worker = self._workers.get(session)
        return worker.reader if worker is not None else HistoryReader(await run_blocking(self._library.files, session))

    async def send(self, session: str, item: Input) -> Outcome:
        """Start a turn; return once its row is on disk, or why there is none. Raises ChatNotFound."""
        return await (await self._worker(session)).send(item)

    async def enqueue(self, session: str, message: UserInput, when: When) -> Outcome:
        """Let a message wait for its turn, or send it at once if nothing runs. Raises ChatNotFound."""
        return await (await self._worker(session)).enqueue(message, when)

    async def change_queue(self, session: str, change: QueueChange) -> QueuedMessage | None:
        """Change what waits, or what becomes of it; return the message concerned, None if it waits no longer.

        Raises ChatInUse, ChatNotFound, StorageError; nothing changed then.
        """
        return await (await self._worker(session)).change_queue(change)

    async def answer(self, asked: ApprovalAsked, verdict: Verdict) -> None:
        """Answer a question as it was asked; harmless if nobody waits for an answer to it any more.

        Raises StorageError if “always” can't be kept; the call runs all the same.
        """
        worker = self._workers.get(asked.session)
        if worker is not None:
            await worker.answer(asked, verdict)

    async def save_owed(self, session: str) -> None:
        """Write the reply that the disk refused. Raises ChatNotFound, StorageError."""
        worker = await self._worker(session)
        async with self._locked(session):
            if self._workers.get(session) is worker:
                await worker.save_owed()

    async def stop(self, session: str) -> None:
        """End the running turn of a chat; what has come is kept."""
        worker = self._workers.get(session)
        if worker is not None:
            worker.stop()

    async def take_over(self, session: str) -> bool:
        """Become the holder of a chat that another process had; return whether it was free. Raises StorageError."""
        worker = await self._worker(session)
        async with self._locked(session):
            return self._workers.get(session) is worker and await worker.take_over()

    async def save_draft(self, session: str, content: DraftContent) -> None:
        """Keep what stands in the composer of a chat. Raises ChatInUse, ChatNotFound, StorageError."""
        worker = self._workers.get(session)
        if worker is not None:
            await worker.save_draft(content)
            return
        async with self._locked(session):
            draft = Draft(text=content.text, attachments=content.attachments)
            await run_blocking(self._library.save_draft, session, draft)

    async def attach(self, session: str, file: NewFile) -> MediaPart:
        """Keep a file for a message of the chat. Raises KnownError, in words; nothing is kept then."""
        worker = await self._worker(session)
        try:
            return await worker.attach(file)
        finally:
            await self._close_if_unused(session)

    async def add_to_draft(self, session: str, part: MediaPart) -> None:
        """Put one more file into the composer of a chat that is not shown. Raises ChatNotFound, StorageError."""
        worker = await self._worker(session)
        try:
            await worker.add_to_draft(part)
        finally:
            await self._close_if_unused(session)

    async def attached_file(self, session: str, sha256: str) -> bytes:
        """Return the content of a file of the chat. Raises ChatNotFound, StorageError."""
        files = await run_blocking(self._library.files, session)
        return await run_blocking(Blobs(files.blobs).get, sha256)

    async def rename_chat(self, session: str, title: str) -> ChatSummary:
        """Give a chat a title of the person's. Raises ChatInUse, ChatNotFound, StorageError."""
        async with self._locked(session):
            worker = self._workers.get(session)
            if worker is not None:
                return await worker.rename(title)
            summary = await run_blocking(self._library.rename, session, title)
        self._env.emit(ChatChanged(session, summary))
        return summary

    async def set_model(self, session: str, model: str) -> ChatSummary:
        """Choose the `provider/model` a chat goes on with, from its next turn.

        Raises ChatInUse, ChatNotFound, StorageError; ProviderError(model_not_found). Nothing changed then.
        """
        await self.connections.ready()
        self._env.providers.find(model)
        worker = await self._worker(session)
        return await worker.set_model(model)

    async def set_level(self, session: str, level: str) -> ChatSummary:
        """Choose how long the model thinks, from the next turn; empty leaves it to the provider. As `set_model`."""
        return await (await self._worker(session)).set_level(level)

    async def set_profile(self, session: str, profile: str) -> ChatSummary:
        """Choose who answers, from the next turn; empty for the profile of new chats. As `set_model`."""
        return await (await self._worker(session)).set_profile(profile)

    async def set_folder(self, session: str, folder: str) -> ChatSummary:
        """Attach a folder to the chat, none for an empty text; it takes back what was always allowed in the old one.

        Raises KnownError if it can't be worked in; nothing changed then.
        """
        return await (await self._worker(session)).set_folder(folder)

    async def revoke_grants(self, session: str) -> ChatSummary:
        """Ask again from now on for everything that was always allowed in the chat. As `set_model`."""
        return await (await self._worker(session)).revoke_grants()

    async def branch_chat(self, session: str, ref: str) -> ChatSummary:
        """Return a new chat with the history of `session` up to the message `ref`, its batch included.

        `ref` is a `HistoryItem.ref`, `#<seq>` or `m:<row id>`. Raises ChatNotFound, StorageError, HistoryChanged,
        StaleItem; nothing is left of it then, nor if the caller is cancelled.
        """
        item = await self.browser.item(session, ref)
        if item is None:
            raise StorageError("This message is not in the chat any more.")
        return await self._branching.branch(session, item)

    async def export_window(self, session: str, window_id: str, path: Path, kind: ExportKind) -> ExportReport:
        """Write one context window to a file of the person's, in place of what was there; tell what is in it.

        Raises ChatNotFound, StorageError, HistoryChanged; what was there is kept then.
        """
        from app.exchange.window_file import write_window

        reader = await self._reader(session)
        try:
            heading = await self._heading(session, window_id)
            return await self._aside.run(partial(write_window, path, kind, reader, heading), name=f"export {session}")
        except HistoryChanged:
            # Rows went to the archive meanwhile, most likely; that happens once in a while.
            heading = await self._heading(session, window_id)
            return await self._aside.run(partial(write_window, path, kind, reader, heading), name=f"export {session}")

    async def _heading(self, session: str, window_id: str) -> Heading:
        page = await self.browser.windows(session)
        while not page.is_complete:
            page = await self.browser.windows(session)
        window = next((window for window in page.windows if window.id == window_id), None)
        if window is None:
            raise StorageError("This window is not in the chat any more.")
        from app.exchange.window_rows import Heading

        summary = await run_blocking(self._library.summary, session)
        return Heading(summary, window, exported=self._env.clock.now())

    async def search_chats(self, query: str, cursor: ChatSearchCursor | None) -> ChatSearchPage:
        """Return the next piece of a search over all chats, None begins one. Raises StorageError."""
        return await self._chat_search.page(query, cursor)

    async def delete_chat(self, session: str) -> None:
        """Move a chat to the trash, ending what runs in it. Raises ChatInUse, ChatNotFound, StorageError."""
        async with self._locked(session):
            worker = self._workers.get(session)
            if worker is not None and worker.holder is not None:
                raise ChatInUse(worker.holder)
            await self._close(session)
            await run_blocking(self._library.delete, session, now=self._env.clock.now())
            self._shown.discard(session)

    async def restore_chat(self, session: str) -> ChatSummary:
        """Move a chat back from the trash. Raises ChatNotFound, StorageError."""
        return await run_blocking(self._library.restore, session)

    async def list_deleted(self) -> tuple[DeletedChat, ...]:
        """Return what lies in the trash, the latest first. Raises StorageError."""
        return await run_blocking(self._library.deleted)

    async def purge_chat(self, session: str) -> None:
        """Remove a chat from the trash for good. Raises StorageError."""
        await run_blocking(self._library.purge, session)

    async def tidy_trash(self) -> None:
        """Remove what has been in the trash for 30 days, and what a kill left of new chats. Raises StorageError."""
        await run_blocking(self._library.sweep_unfinished)
        await run_blocking(self._library.purge_old, now=self._env.clock.now())

    async def close(self) -> None:
        """Stop every turn, write what is owed, give back every lease and close every connection."""
        await self._aside.close()
        await asyncio.gather(*(self._close_one(session) for session in list(self._workers)))
        await self.connections.close()

    async def _worker(self, session: str) -> Worker:
        """Return the chat's worker, opened if need be."""
        await self.connections.ready()
        async with self._locked(session):
            worker = self._workers.get(session)
            if worker is None:
                files = await run_blocking(self._library.files, session)
                worker = Worker(self._env, session, files, self._became_idle)
                await worker.open()
                self._workers[session] = worker
            return worker

    def _became_idle(self, session: str) -> None:
        if session not in self._shown:
            self._env.tasks.spawn(self._close_if_unused(session), name=f"close {session}")

    async def _close_if_unused(self, session: str) -> None:
        async with self._locked(session):
            worker = self._workers.get(session)
            if worker is None or session in self._shown or worker.turn_state.is_active:
                return
            with contextlib.suppress(StorageError):
                await worker.save_owed()
            if not worker.owes:
                # One that owes a reply to a full disk keeps it, and the chat, until the disk takes it.
                await self._close(session)

    async def _close_one(self, session: str) -> None:
        async with self._locked(session):
            await self._close(session)

    async def _close(self, session: str) -> None:
        """Close a worker; the caller holds the chat's lock, so that nobody opens it again meanwhile."""
        worker = self._workers.get(session)
        if worker is not None:
            try:
                await worker.close()
            finally:
                del self._workers[session]

    @contextlib.asynccontextmanager
    async def _locked(self, session: str) -> AsyncIterator[None]:
        """Hold a chat against opening, closing, renaming and deleting at the same time."""
        lock = self._locks.setdefault(session, _ChatLock())
        lock.users += 1
        try:
            async with lock.lock:
                yield
        finally:
            lock.users -= 1
            if not lock.users:
                del self._locks[session]


class _ChatLock:
    """A lock and how many hold it or wait for it, so that it can be forgotten."""

    def __init__(self) -> None:
        self.lock: Final = asyncio.Lock()
        self.users = 0
