"""Open, list, find and close chats; at most one worker a chat.

Lives on the engine's loop. See ADR-0002.
"""

import asyncio
from dataclasses import dataclass

from app.aio import run_blocking
from app.domain.chats import Access, ChatSummary, DeletedChat, TurnState
from app.domain.errors import ChatInUse
from app.domain.events import ChatChanged
from app.domain.models import ModelCard
from app.history.library import Library, load_meta, summary_of
from app.history.reader import Page, Position
from app.history.sidecars import write_sidecar
from app.session.env import SessionEnv
from app.session.inputs import Input, Outcome
from app.session.worker import Worker


@dataclass(frozen=True, slots=True)
class OpenedChat:
    """A chat as it is when it opens: its newest page, what it is doing, and who may write to it."""

    summary: ChatSummary
    page: Page
    draft: str
    state: TurnState
    access: Access
    holder: str


class SessionManager:
    """All chats of one data folder."""

    def __init__(self, env: SessionEnv, library: Library) -> None:
        self._env = env
        self._library = library
        self._workers: dict[str, Worker] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._left: set[str] = set()

    async def list_models(self) -> tuple[ModelCard, ...]:
        """Return every model on offer; the first is the one new chats get."""
        return self._env.providers.models()

    async def list_chats(self) -> tuple[ChatSummary, ...]:
        """Return all chats, the latest first. Raises StorageError."""
        return await run_blocking(self._library.summaries)

    async def create_chat(self, model: str) -> ChatSummary:
        """Make an empty chat. Raises StorageError."""
        return await run_blocking(self._library.create, model=model, now=self._env.clock.now())

    async def open_chat(self, session: str) -> OpenedChat:
        """Open a chat for the interface. Raises ChatNotFound, StorageError."""
        worker = await self._worker(session)
        self._left.discard(session)
        return OpenedChat(
            summary=worker.summary,
            page=await worker.page_before(None),
            draft=await worker.load_draft(),
            state=worker.turn_state,
            access=Access.WRITABLE if worker.holder is None else Access.HELD_ELSEWHERE,
            holder=worker.holder or "",
        )

    async def leave_chat(self, session: str) -> None:
        """Tell that the interface shows the chat no longer; its worker closes once it is idle."""
        self._left.add(session)
        await self._close_if_left(session)

    async def page_before(self, session: str, end: Position) -> Page:
        """Return the page of history that ends at `end`. Raises ChatNotFound, StorageError."""
        return await (await self._worker(session)).page_before(end)

    async def send(self, session: str, item: Input) -> Outcome:
        """Start a turn; return once its row is on disk, or why there is none."""
        return await (await self._worker(session)).send(item)

    async def stop(self, session: str) -> None:
        """End the running turn of a chat; what has come is kept."""
        worker = self._workers.get(session)
        if worker is not None:
            worker.stop()

    async def take_over(self, session: str) -> bool:
        """Become the holder of a chat that another process had; return whether it was free."""
        return await (await self._worker(session)).take_over()

    async def save_draft(self, session: str, text: str) -> None:
        """Keep what stands in the composer of a chat. Raises StorageError."""
        worker = self._workers.get(session)
        if worker is not None:
            await worker.save_draft(text)

    async def rename_chat(self, session: str, title: str) -> ChatSummary:
        """Give a chat a title of the person's. Raises ChatNotFound, StorageError."""
        worker = self._workers.get(session)
        if worker is not None:
            return await worker.rename(title)
        summary = await run_blocking(_rename_closed, self._library, session, title)
        self._env.emit(ChatChanged(session, summary))
        return summary

    async def delete_chat(self, session: str) -> None:
        """Move a chat to the trash, ending what runs in it. Raises ChatInUse, ChatNotFound, StorageError."""
        worker = await self._worker(session)
        if worker.holder is not None:
            raise ChatInUse(worker.holder)
        await self._close(session)
        await run_blocking(self._library.delete, session, now=self._env.clock.now())

    async def restore_chat(self, session: str) -> ChatSummary:
        """Move a chat back from the trash. Raises ChatNotFound, StorageError."""
        return await run_blocking(self._library.restore, session)

    async def list_deleted(self) -> tuple[DeletedChat, ...]:
        """Return what lies in the trash, the latest first."""
        return await run_blocking(self._library.deleted)

    async def purge_chat(self, session: str) -> None:
        """Remove a chat from the trash for good. Raises StorageError."""
        await run_blocking(self._library.purge, session)

    async def tidy_trash(self) -> None:
        """Remove what has been in the trash for 30 days."""
        await run_blocking(self._library.purge_old, now=self._env.clock.now())

    async def close(self) -> None:
        """Stop every turn, write what is owed and give back every lease."""
        await asyncio.gather(*(self._close(session) for session in list(self._workers)))

    async def _worker(self, session: str) -> Worker:
        """Return the chat's worker, opened if need be."""
        async with self._opening.setdefault(session, asyncio.Lock()):
            worker = self._workers.get(session)
            if worker is None:
                files = await run_blocking(self._library.files, session)
                worker = Worker(self._env, session, files, self._became_idle)
                await worker.open()
                self._workers[session] = worker
            return worker

    def _became_idle(self, session: str) -> None:
        if session in self._left:
            self._env.tasks.spawn(self._close_if_left(session), name=f"close {session}")

    async def _close_if_left(self, session: str) -> None:
        worker = self._workers.get(session)
        if worker is not None and session in self._left and not worker.turn_state.is_active:
            await self._close(session)

    async def _close(self, session: str) -> None:
        async with self._opening.setdefault(session, asyncio.Lock()):
            worker = self._workers.pop(session, None)
            self._left.discard(session)
            if worker is not None:
                await worker.close()


def _rename_closed(library: Library, session: str, title: str) -> ChatSummary:
    files = library.files(session)
    files.lease.take()
    try:
        meta = load_meta(files)
        meta.title = title
        meta.titled_by_user = True
        write_sidecar(files.meta, meta)
    finally:
        files.lease.release()
    return summary_of(session, meta)
