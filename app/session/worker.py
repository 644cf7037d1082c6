"""One chat's task: takes an input, runs it, tells what happens; interrupt, follow, close."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from app.aio import run_blocking, run_to_end
from app.disk import Stamp
from app.domain.approvals import Verdict
from app.domain.chats import Access, ChatSummary, TurnState
from app.domain.errors import ChatInUse, ChatNotFound, DuplicateRow, ProviderError, StorageError
from app.domain.events import AccessChanged, ChatChanged, ReplyUnsaved, RowsAppended, SessionBroke
from app.domain.queue import QueuedMessage, QueueView, When
from app.domain.rows import MediaPart, ReasoningPart, Row, TextPart, ToolPart
from app.domain.versions import Versions
from app.history.blobs import whole_row
from app.history.files import ChatFiles
from app.history.library import load_meta, peek_meta, summary_of
from app.history.partial import recover_partial
from app.history.reader import HistoryReader, Position
from app.history.sidecars import SessionMeta
from app.history.stretch import Stretch, read_older
from app.session.archiving import Archiver
from app.session.attachments import keep
from app.session.env import SessionEnv
from app.session.inputs import (
    DraftContent,
    Input,
    NewFile,
    Outcome,
    QueueChange,
    Refused,
    ResetContext,
    SwitchVersion,
    UserInput,
)
from app.session.reset import newest_rows, reset_context, write_missing_reset
from app.session.state import SessionState, newest_window, rows_of
from app.session.turn import run_turn
from app.session.turn_env import TurnEnv

log = logging.getLogger(__name__)

LARGE_WINDOW_CHARS: Final = 8_000_000
"""A window of more text than this is not kept in memory between turns."""
TOOL_JSON_CHARS: Final = 16_000
"""What a result that is no text is taken for; tools cap themselves about there."""
FOLLOW_SECONDS: Final = 1.0
"""How often a chat that another process holds is looked at."""


@dataclass(frozen=True, slots=True)
class OpenedChat:
    """A chat as it is at one moment: its newest page, what it is doing, and who may write to it."""

    summary: ChatSummary
    page: Stretch
    draft: DraftContent
    state: TurnState
    access: Access
    holder: str
    """Who has it, or why it can't be written to."""
    unsaved: Row | None = None
    """A reply that the disk has refused so far, and why."""
    unsaved_reason: str = ""
    queue: QueueView = field(default_factory=QueueView)
    versions: tuple[Versions, ...] = ()


class Worker:
    """Runs one chat's turns, one after another. Lives on the engine's loop.

    Without the lease it is read-only: it shows what the holder writes and notices when the lease is free.
    """

    def __init__(self, env: SessionEnv, session: str, files: ChatFiles, on_idle: Callable[[str], None]) -> None:
        self.session = session
        self.reader = HistoryReader(files)
        self.holder: str | None = None
        self._unwritable = ""
        self._unsaved_reason = ""
        self._env = env
        self._files = files
        self._on_idle = on_idle
        self._state = SessionState(SessionMeta())
        self._turn = TurnEnv(env, session, files, self._state)
        self._archiver = Archiver(
            env, session, files, self._turn.store, is_busy=lambda: self._state.turn_state.is_active
        )
        self._running: asyncio.Task[None] | None = None
        self._resetting: asyncio.Task[None] | None = None
        self._following: asyncio.Task[None] | None = None
        self._followed_seq: int | None = None
        self._syncing = asyncio.Lock()
        self._is_closed = False
        self._told_access: tuple[Access, str] | None = None

    @property
    def turn_state(self) -> TurnState:
        return self._state.turn_state

    @property
    def summary(self) -> ChatSummary:
        return summary_of(self.session, self._state.meta)

    async def open(self) -> None:
        """Take the lease and repair what a crash left; without the lease, follow. Raises ChatNotFound.

        A chat that can't be repaired now opens all the same: it can be read, and the next message tries again.
        """
        try:
            await run_blocking(self._files.lease.take)
        except ChatInUse as error:
            self._tell_access(Access.HELD_ELSEWHERE, error.holder)
            self.holder = error.holder
            self._state.meta = await run_blocking(peek_meta, self._files)
            with contextlib.suppress(StorageError):
                # Before anybody reads a page to show: what is appended from now on is told.
                await self._tell_new_rows()
            self._following = self._env.tasks.spawn(self._follow(), name=f"follow {self.session}")
            return
        except ChatNotFound:
            raise
        except StorageError as error:
            # The disk refuses even the lock: the chat can be read.
            self._unwritable = str(error)
            self._state.meta = await run_blocking(peek_meta, self._files)
            return
        try:
            await run_blocking(self._files.sweep)
            try:
                await self._sync()
            except StorageError as error:
                log.info("%s can't be repaired yet: %s", self.session, error)
                self._state.meta = await run_blocking(peek_meta, self._files)
            else:
                self._archiver.start()
        except BaseException:
            await run_blocking(self._files.lease.release)
            raise

    async def take_over(self) -> bool:
        """Become the holder if the lease is free; return whether that went well. Raises StorageError."""
        async with self._syncing:
            if self.holder is None:
                return True
            try:
                await run_blocking(self._files.lease.take)
            except ChatInUse as error:
                self._tell_access(Access.HELD_ELSEWHERE, error.holder)
                return False
            try:
                await run_to_end(self._learn(), self._env.tasks, name=f"sync {self.session}")
            except BaseException:
                await run_blocking(self._files.lease.release)
                raise
            self.holder = None
            if self._following is not None:
                self._following.cancel()
                self._following = None
        self._archiver.start()
        await self._tell_new_rows()
        self._tell_access(Access.WRITABLE, "")
        return True

    async def snapshot(self) -> OpenedChat:
        """Return the chat as it is at one moment. Raises StorageError."""
        draft = DraftContent()
        with contextlib.suppress(StorageError):
            draft = await self._turn.draft.load(may_repair=self._access is Access.WRITABLE)
        while True:
            last_seq = self._state.last_seq
            page = await run_blocking(read_older, self.reader, None)
            if last_seq == self._state.last_seq:
                break
        return OpenedChat(
            summary=self.summary,
            page=page,
            draft=draft,
            state=self.turn_state,
            access=self._access,
            holder=self.holder or self._unwritable,
            unsaved=self._state.unsaved,
            unsaved_reason=self._unsaved_reason,
        )

    @property
    def _access(self) -> Access:
        if self._unwritable:
            return Access.UNWRITABLE
        return Access.WRITABLE if self.holder is None else Access.HELD_ELSEWHERE

    async def is_empty(self) -> bool:
        """Whether nothing was ever said here and this process may write. Raises StorageError."""
        if self._access is not Access.WRITABLE or self._state.turn_state.is_active:
            return False
        return not (await run_blocking(self.reader.page_backward)).entries

    async def send(self, item: Input) -> Outcome:
        """Start a turn, or a fresh window, with `item`; return once it is on disk, or why it isn't."""
        if self.holder is not None:
            return Refused(f"This chat is open in {self.holder}. Close it there to write here.")
        if self._unwritable:
            return Refused(self._unwritable)
        while self._resetting is not None:
            # That takes a moment, and what is said meanwhile comes behind it.
            await asyncio.wait({self._resetting})
        if self._is_closed:
            return Refused("This chat was closed in the same moment. Open it and send again.")
        if self._state.turn_state.is_active:
            return Refused("A reply is still being written. Stop it, or wait for its end.")
        accepted: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._turn.enter(TurnState.PREPARING)
        running = self._env.tasks.spawn(self._run(item, accepted), name=f"turn {self.session}")
        # A callback, not a `finally`: a task cancelled before its first step never enters its body.
        running.add_done_callback(lambda _task: self._ended(accepted))
        self._running = running
        if isinstance(item, ResetContext):
            self._resetting = running
            # The chat is idle again before it is told: the next message may come at once.
            await asyncio.wait({running})
        return await asyncio.shield(accepted)

    @property
    def owes(self) -> bool:
        """Whether a reply has ended that the disk refused."""
        return self._state.unsaved is not None

    async def save_owed(self) -> None:
        """Write the reply that the disk refused, if there is one. Raises StorageError."""
        if self.owes and not self._state.turn_state.is_active:
            await self._sync()

    def stop(self) -> None:
        """End the running turn; what has come is kept. Harmless when idle."""
        if self._running is not None:
            self._running.cancel()

    async def close(self) -> None:
        """Stop, write what is owed, and give the lease back."""
        self._is_closed = True
        for task in (self._following, self._running):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        await self._archiver.stop()
        if self.owes:
            with contextlib.suppress(StorageError):
                await self._sync()
        await self._turn.draft.settle()
        await run_blocking(self._files.lease.release)

    async def rename(self, title: str) -> ChatSummary:
        """Give the chat a title of the person's. Raises ChatInUse, StorageError; nothing changed then."""
        return await self._change_meta(title=title, titled_by_user=True)

    async def set_model(self, model: str) -> ChatSummary:
        """Go on with another model from the next turn on. Raises ChatInUse, StorageError; nothing changed then."""
        return await self._change_meta(model=model)

    async def set_level(self, level: str) -> ChatSummary:
        """Think so long from the next turn on. Raises ChatInUse, StorageError; nothing changed then."""
        return await self._change_meta(level=level)

    async def set_profile(self, profile: str) -> ChatSummary:
        """Answer as this profile from the next turn on. Raises ChatInUse, StorageError; nothing changed then."""
        return await self._change_meta(profile=profile)

    async def set_folder(self, folder: str) -> ChatSummary:
        """Attach a folder. Raises KnownError; nothing changed then."""
        return await self._change_meta(folder=folder, grants=())

    async def revoke_grants(self) -> ChatSummary:
        """Ask again for everything. Raises ChatInUse, StorageError; nothing changed then."""
        return await self._change_meta(grants=())

    async def enqueue(self, message: UserInput, when: When) -> Outcome:
        """Let a message wait."""
        raise NotImplementedError

    async def change_queue(self, change: QueueChange) -> QueuedMessage | None:
        """Change what waits."""
        raise NotImplementedError

    async def answer(self, call_id: str, verdict: Verdict) -> None:
        """Answer the question of a call."""
        raise NotImplementedError

    def _check_writable(self) -> None:
        if self.holder is not None:
            raise ChatInUse(self.holder)
        if self._unwritable:
            raise StorageError(self._unwritable)

    async def _change_meta(self, **changes: object) -> ChatSummary:
        self._check_writable()
        async with self._syncing:
            meta = self._state.meta
            before = {name: getattr(meta, name) for name in changes}
            _set(meta, changes)
            try:
                await self._turn.save_meta()
            except StorageError:
                _set(meta, before)
                raise
        self._env.emit(ChatChanged(self.session, self.summary))
        return self.summary

    async def save_draft(self, content: DraftContent) -> None:
        """Keep what stands in the composer, the newest content last. Raises StorageError."""
        if self.holder is None and not self._unwritable:
            await self._turn.draft.save(content)

    async def add_to_draft(self, part: MediaPart) -> None:
        """Keep one more file for the composer. Raises StorageError."""
        if self.holder is None and not self._unwritable:
            await self._turn.draft.add(part)

    async def attach(self, file: NewFile) -> MediaPart:
        """Keep a file in the chat's blobs. Raises KnownError."""
        self._check_writable()
        return await run_blocking(keep, file, self._turn.store.blobs)

    # Being in step with the disk

    async def _sync(self) -> None:
        """Learn what is on disk and settle what is owed, whole even if the caller is cancelled. Raises StorageError."""
        async with self._syncing:
            await run_to_end(self._learn(), self._env.tasks, name=f"sync {self.session}")

    async def _learn(self) -> None:
        state, turn = self._state, self._turn
        state.is_stale = True
        had_meta = await run_blocking(self._files.meta.exists)
        state.meta = await run_blocking(load_meta, self._files)
        if not state.meta.model:
            # Made again from a history in which no reply names one.
            state.meta.model = self._env.providers.models()[0].ref
        state.last_seq = await run_blocking(turn.store.repair)
        # A reply that is owed or was cut off belongs before it.
        lacks_reset = (state.meta.floor_seq or 0) > state.last_seq
        if state.unsaved is not None:
            with contextlib.suppress(DuplicateRow):
                await turn.append((state.unsaved,))
            state.unsaved = None
            await run_blocking(turn.partial.drop)
        else:
            recovered = await run_blocking(
                recover_partial,
                turn.partial,
                turn.store,
                session=self.session,
                last_seq=state.last_seq,
                floor_seq=0 if lacks_reset else state.meta.floor_seq or 0,
            )
            state.last_seq = max((row.seq or 0 for row in recovered), default=state.last_seq)
        state.window_is_loaded = False
        if lacks_reset:
            await write_missing_reset(turn)
        if not had_meta:
            await turn.save_meta()
        state.is_stale = False

    async def _load_window(self) -> None:
        """Read the active window; not at open, a chat may be large and only be read."""
        if not self._state.window_is_loaded:
            self._state.window = await run_blocking(self._read_window)
            self._state.window_is_loaded = True

    async def _load_newest(self) -> None:
        """Read what a reset needs of the active window: its end."""
        if not self._state.window_is_loaded:
            self._state.window = await run_blocking(self._read_newest)

    def _read_window(self) -> list[Row]:
        rows = newest_window(rows_of(self.reader.active_window()), self._state.meta.floor_seq)
        return [self._usable(row) for row in rows]

    def _read_newest(self) -> list[Row]:
        return [self._usable(row) for row in newest_rows(self.reader, self._state.meta.floor_seq)]

    def _usable(self, row: Row) -> Row:
        """Return `row` whole and with usage figures that can be true."""
        with contextlib.suppress(StorageError):
            # Without its blob the model gets what the row keeps: begin, end, and a note between.
            row = whole_row(row, self._turn.store.blobs)
        if row.usage is None or row.request is None:
            return row
        limit = None
        with contextlib.suppress(ProviderError):
            _, card = self._env.providers.find(f"{row.request.provider}/{row.request.model}")
            limit = card.limit
        return row.model_copy(update={"usage": row.usage.plausible(limit)})

    # Turns

    async def _run(self, item: Input, accepted: "asyncio.Future[Outcome]") -> None:
        try:
            if self._state.is_stale or self.owes:
                await self._sync()
            if isinstance(item, ResetContext):
                await self._load_newest()
                await reset_context(self._turn, accepted)
            elif isinstance(item, SwitchVersion):
                raise NotImplementedError
            else:
                await self._load_window()
                await run_turn(self._turn, item, accepted)
        except StorageError as error:
            self._broke(str(error), accepted)
        except Exception:
            log.exception("a turn of %s broke", self.session)
            self._broke("Something went wrong inside Muntin. Everything shown before is saved.", accepted)

    def _broke(self, reason: str, accepted: "asyncio.Future[Outcome]") -> None:
        self._state.is_stale = True
        if not accepted.done():
            accepted.set_result(Refused(reason))
        elif self._state.unsaved is not None:
            self._unsaved_reason = reason
            self._env.emit(ReplyUnsaved(self.session, self._state.unsaved, reason))
        else:
            self._env.emit(SessionBroke(self.session, reason))

    def _ended(self, accepted: "asyncio.Future[Outcome]") -> None:
        if not accepted.done():
            accepted.set_result(Refused(""))
        self._running = self._resetting = None
        newest = (self._state.window[0].id if self._state.window else "", self._state.meta.floor_seq)
        if sum(map(_size_of, self._state.window)) > LARGE_WINDOW_CHARS:
            # Read again for the next message rather than held all the while.
            self._state.window = []
            self._state.window_is_loaded = False
        self._turn.enter(TurnState.IDLE)
        self._archiver.start(newest)
        self._on_idle(self.session)

    # Reading along

    async def _follow(self) -> None:
        """Show what the holder appends, and notice when the chat is free."""
        stamp: Stamp | None = None
        while True:
            try:
                if (now := await run_blocking(Stamp.of, self._files.chat)) != stamp:
                    await self._tell_new_rows()
                    stamp = now
                holder = await run_blocking(self._files.lease.probe)
                self._tell_access(Access.HELD_ELSEWHERE if holder else Access.FREE, holder or "")
            except ChatNotFound:
                self._env.emit(SessionBroke(self.session, "This chat was deleted in another window."))
                return
            except (StorageError, OSError) as error:
                log.info("%s can't be followed for a moment: %s", self.session, error)
            await self._env.clock.sleep(FOLLOW_SECONDS)

    async def _tell_new_rows(self) -> None:
        """Tell of the rows that came since last time; the first time only take note of the newest number."""
        known = self._followed_seq
        rows = await run_blocking(_rows_after, self.reader, known or 0, newest_page_only=known is None)
        self._followed_seq = max((row.seq or 0 for row in rows), default=known or 0)
        if rows and known is not None:
            self._env.emit(RowsAppended(self.session, rows))

    def _tell_access(self, access: Access, holder: str) -> None:
        if (access, holder) != self._told_access:
            self._told_access = (access, holder)
            self._env.emit(AccessChanged(self.session, access, holder))


def _set(meta: SessionMeta, values: Mapping[str, object]) -> None:
    for name, value in values.items():
        setattr(meta, name, value)


def _size_of(row: Row) -> int:
    """Return about how many characters `row` holds."""
    texts = sum(len(part.text) for part in row.parts if isinstance(part, TextPart | ReasoningPart))
    calls = [part for part in row.parts if isinstance(part, ToolPart)]
    return texts + sum(len(part.output) if isinstance(part.output, str) else TOOL_JSON_CHARS for part in calls)


def _rows_after(reader: HistoryReader, last_seq: int, *, newest_page_only: bool) -> tuple[Row, ...]:
    """Return the rows numbered above `last_seq`, oldest first."""
    collected: list[Row] = []
    end: Position | None = None
    while True:
        page = reader.page_backward(end)
        rows = rows_of(page.entries)
        collected[:0] = [row for row in rows if (row.seq or 0) > last_seq]
        if newest_page_only or page.exhausted or any((row.seq or 0) <= last_seq for row in rows):
            return tuple(collected)
        end = page.next
