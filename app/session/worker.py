"""One chat's task: takes an input, runs it, tells what happens; interrupt, follow, close."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from app.aio import run_blocking
from app.domain.chats import Access, ChatSummary, TurnState
from app.domain.errors import ChatInUse, StorageError
from app.domain.events import AccessChanged, ChatChanged, RowsAppended, SessionBroke
from app.domain.rows import Row
from app.history.files import ChatFiles, Stamp
from app.history.library import load_meta, summary_of
from app.history.partial import PartialFile, recover_partial
from app.history.reader import Entry, HistoryReader, Page, Position
from app.history.sidecars import Draft, SessionMeta, read_sidecar, write_sidecar
from app.history.store import Store
from app.session.env import SessionEnv
from app.session.inputs import Input, Outcome, Refused
from app.session.state import OpenTurn, SessionState, rows_of
from app.session.turn import TurnEnv, run_turn

log = logging.getLogger(__name__)

FOLLOW_SECONDS: Final = 1.0
"""How often a chat that another process holds is looked at."""


class Worker:
    """Runs one chat's turns, one after another. Lives on the engine's loop.

    Without the lease it is read-only: it shows what the holder writes and notices when the lease is free.
    """

    def __init__(self, env: SessionEnv, session: str, files: ChatFiles, on_idle: Callable[[str], None]) -> None:
        self.session = session
        self.reader = HistoryReader(files)
        self.holder: str | None = None
        self._env = env
        self._files = files
        self._on_idle = on_idle
        self._state = SessionState(SessionMeta())
        self._turn = TurnEnv(
            env=env,
            session=session,
            files=files,
            store=Store(files, session=session, new_id=env.new_id),
            partial=PartialFile(files),
            state=self._state,
        )
        self._running: asyncio.Task[None] | None = None
        self._following: asyncio.Task[None] | None = None
        self._window_is_loaded = False
        self._told_access: tuple[Access, str] | None = None

    @property
    def turn_state(self) -> TurnState:
        return self._state.turn_state

    @property
    def summary(self) -> ChatSummary:
        return summary_of(self.session, self._state.meta)

    async def open(self) -> None:
        """Take the lease and repair what a crash left; without the lease, follow. Raises StorageError."""
        try:
            await run_blocking(self._files.lease.take)
        except ChatInUse as error:
            self.holder = error.holder
            self._told_access = (Access.HELD_ELSEWHERE, error.holder)
            self._state.meta = await run_blocking(load_meta, self._files)
            self._following = self._env.tasks.spawn(self._follow(), name=f"follow {self.session}")
            return
        await self._recover()

    async def take_over(self) -> bool:
        """Become the holder if the lease is free; return whether that went well. Raises StorageError."""
        if self.holder is None:
            return True
        try:
            await run_blocking(self._files.lease.take)
        except ChatInUse as error:
            self._tell_access(Access.HELD_ELSEWHERE, error.holder)
            return False
        if self._following is not None:
            self._following.cancel()
            self._following = None
        await self._recover()
        self.holder = None
        self._env.emit(AccessChanged(self.session, Access.WRITABLE, ""))
        return True

    async def send(self, item: Input) -> Outcome:
        """Start a turn with `item` and return once it is on disk, or why it isn't."""
        if self.holder is not None:
            return Refused(f"This chat is open in {self.holder}. Close it there to write here.")
        if self._state.turn_state.is_active:
            return Refused("A reply is still being written. Stop it, or wait for its end.")
        accepted: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._turn.enter(TurnState.PREPARING)
        self._running = self._env.tasks.spawn(self._run(item, accepted), name=f"turn {self.session}")
        return await asyncio.shield(accepted)

    def stop(self) -> None:
        """End the running turn; what has come is kept. Harmless when idle."""
        if self._running is not None:
            self._running.cancel()

    async def close(self) -> None:
        """Stop, write what is owed, and give the lease back."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        await run_blocking(self._files.lease.release)

    async def open_turn(self) -> OpenTurn | None:
        """Return the turn that may be resumed, if there is one."""
        await self._load_window()
        return None if self._state.turn_state.is_active else self._state.open_turn()

    async def rename(self, title: str) -> ChatSummary:
        """Give the chat a title of the person's. Raises StorageError."""
        self._state.meta.title = title
        self._state.meta.titled_by_user = True
        await run_blocking(write_sidecar, self._files.meta, self._state.meta.model_copy())
        self._env.emit(ChatChanged(self.session, self.summary))
        return self.summary

    async def page_before(self, end: Position | None) -> Page:
        """Return a page of history that ends at `end`, None for the newest. Raises StorageError."""
        return await run_blocking(self.reader.page_backward, end)

    async def load_draft(self) -> str:
        """Return what stood in the composer."""
        draft = await run_blocking(read_sidecar, self._files.draft, Draft)
        return draft.text if draft else ""

    async def save_draft(self, text: str) -> None:
        """Keep what stands in the composer; nothing if another process holds the chat. Raises StorageError."""
        if self.holder is None:
            await run_blocking(write_sidecar, self._files.draft, Draft(text=text))

    async def _recover(self) -> None:
        """Learn what is on disk and settle what a crash or a failed write left open. Raises StorageError."""
        self._window_is_loaded = False
        store, partial = self._turn.store, self._turn.partial
        self._state.meta = await run_blocking(load_meta, self._files)
        self._state.last_seq = await run_blocking(store.repair)
        if self._state.unsaved is not None:
            await self._turn.append((self._state.unsaved,))
            self._state.unsaved = None
            await run_blocking(partial.drop)
            return
        recovered = await run_blocking(
            recover_partial, partial, store, session=self.session, last_seq=self._state.last_seq
        )
        self._state.last_seq += len(recovered)

    async def _load_window(self) -> None:
        if not self._window_is_loaded:
            self._state.window = rows_of(await run_blocking(self.reader.active_window))
            self._window_is_loaded = True

    async def _run(self, item: Input, accepted: "asyncio.Future[Outcome]") -> None:
        try:
            if self._state.unsaved is not None:
                await self._recover()
            await self._load_window()
            await run_turn(self._turn, item, accepted)
        except StorageError as error:
            self._broke(str(error), accepted)
        except Exception:
            log.exception("a turn of %s broke", self.session)
            self._broke("Something went wrong inside Muntin. Everything shown before is saved.", accepted)
        finally:
            if not accepted.done():
                accepted.set_result(Refused(""))
            self._running = None
            self._turn.enter(TurnState.IDLE)
            self._on_idle(self.session)

    def _broke(self, reason: str, accepted: "asyncio.Future[Outcome]") -> None:
        self._window_is_loaded = False
        if accepted.done():
            self._env.emit(SessionBroke(self.session, reason))
        else:
            accepted.set_result(Refused(reason))

    async def _follow(self) -> None:
        """Show what the holder appends, and notice when the chat is free."""
        stamp = Stamp.of(self._files.chat)
        last_seq = _last_seq((await run_blocking(self.reader.page_backward)).entries)
        while True:
            await self._env.clock.sleep(FOLLOW_SECONDS)
            if (now := Stamp.of(self._files.chat)) != stamp:
                stamp = now
                rows = await run_blocking(_rows_after, self.reader, last_seq)
                if rows:
                    last_seq = rows[-1].seq or last_seq
                    self._env.emit(RowsAppended(self.session, rows))
            holder = await run_blocking(self._files.lease.probe)
            self._tell_access(Access.HELD_ELSEWHERE if holder else Access.FREE, holder or "")

    def _tell_access(self, access: Access, holder: str) -> None:
        if (access, holder) != self._told_access:
            self._told_access = (access, holder)
            self._env.emit(AccessChanged(self.session, access, holder))


def _last_seq(entries: Sequence[Entry]) -> int:
    return max((row.seq or 0 for row in rows_of(entries)), default=0)


def _rows_after(reader: HistoryReader, last_seq: int) -> tuple[Row, ...]:
    """Return the rows numbered above `last_seq`, oldest first."""
    collected: list[Row] = []
    end: Position | None = None
    while True:
        page = reader.page_backward(end)
        rows = rows_of(page.entries)
        collected[:0] = [row for row in rows if (row.seq or 0) > last_seq]
        if page.exhausted or any((row.seq or 0) <= last_seq for row in rows):
            return tuple(collected)
        end = page.next
