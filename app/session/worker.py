"""One chat's task: takes an input, runs it, tells what happens; interrupt, follow, close."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from app.aio import run_blocking, run_to_end
from app.domain.approvals import Verdict
from app.domain.chats import Access, ChatSummary, TurnState
from app.domain.errors import ChatInUse, ChatNotFound, DuplicateRow, StorageError
from app.domain.events import ApprovalAsked, ChatChanged, QueueChanged
from app.domain.queue import QueuedMessage, QueueView, When
from app.domain.rows import MediaPart, Row
from app.domain.versions import Versions
from app.history.branch_file import BranchFolder
from app.history.files import ChatFiles
from app.history.library import load_meta, peek_meta, summary_of
from app.history.partial import recover_partial
from app.history.reader import HistoryReader
from app.history.sidecars import SessionMeta
from app.history.stretch import Stretch, read_older
from app.session.archiving import Archiver
from app.session.attachments import keep
from app.session.env import SessionEnv
from app.session.folder import check_folder
from app.session.following import Follower
from app.session.inputs import DraftContent, Input, NewFile, Outcome, QueueChange, Refused, UserInput
from app.session.queue import MessageQueue
from app.session.reset import write_missing_reset
from app.session.sent import ids_among
from app.session.state import SessionState
from app.session.turn_env import TurnEnv
from app.session.turns import Turns

log = logging.getLogger(__name__)


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
        self._env = env
        self._files = files
        self._on_idle = on_idle
        self._state = SessionState(SessionMeta())
        self._turn = TurnEnv(env, session, files, self._state)
        self._archiver = Archiver(
            env, session, files, self._turn.store, is_busy=lambda: self._state.turn_state.is_active
        )
        self._queue = MessageQueue(
            files, lambda view: env.emit(QueueChanged(session, view)), sent_among=self._sent_among
        )
        self._turns = Turns(
            self._turn,
            self._queue,
            sync=self._sync,
            rested=self._rest,
        )
        self._follower = Follower(env, session, files, self.reader, self._queue)
        self._syncing = asyncio.Lock()

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
            self._follower.tell_access(Access.HELD_ELSEWHERE, error.holder)
            self.holder = error.holder
            self._state.meta = await run_blocking(peek_meta, self._files)
            await self._follower.start()
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
                await self._queue.load(may_repair=True)
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
                self._follower.tell_access(Access.HELD_ELSEWHERE, error.holder)
                return False
            try:
                await run_to_end(self._learn(), self._env.tasks, name=f"sync {self.session}")
                await self._queue.load(may_repair=True)
            except BaseException:
                await run_blocking(self._files.lease.release)
                raise
            self.holder = None
            self._follower.end()
        self._archiver.start()
        await self._follower.tell_new_rows()
        self._follower.tell_access(Access.WRITABLE, "")
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
            unsaved_reason=self._turns.unsaved_reason,
            queue=self._queue.view,
            versions=await self._versions(),
        )

    @property
    def _access(self) -> Access:
        if self._unwritable:
            return Access.UNWRITABLE
        return Access.WRITABLE if self.holder is None else Access.HELD_ELSEWHERE

    async def is_empty(self) -> bool:
        """Whether nothing was ever said here and this process may write. Raises StorageError."""
        if self._access is not Access.WRITABLE or self._state.turn_state.is_active or self._queue.view.messages:
            return False
        return not (await run_blocking(self.reader.page_backward)).entries

    async def send(self, item: Input) -> Outcome:
        """Begin with `item`; return once it is on disk, or why it isn't."""
        return self._refusal or await self._turns.send(item)

    async def enqueue(self, message: UserInput, when: When) -> Outcome:
        """Let a message wait while a turn runs, or others wait; send it at once otherwise."""
        return self._refusal or await self._turns.enqueue(message, when)

    async def change_queue(self, change: QueueChange) -> QueuedMessage | None:
        """See `SessionManager.change_queue`. Raises ChatInUse, StorageError; nothing changed then."""
        self._check_writable()
        return await self._turns.change_queue(change)

    async def answer(self, asked: ApprovalAsked, verdict: Verdict) -> None:
        """Answer the question of a call. Raises StorageError if “always” can't be kept; the call runs all the same."""
        await self._turn.approvals.answer(asked, verdict)

    @property
    def _refusal(self) -> Refused | None:
        if self.holder is not None:
            return Refused(f"This chat is open in {self.holder}. Close it there to write here.")
        return Refused(self._unwritable) if self._unwritable else None

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
        self._turns.stop()

    async def close(self) -> None:
        """Stop, write what is owed, and give the lease back."""
        await self._follower.stop()
        await self._turns.close()
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
        self._check_writable()
        kept = await run_blocking(check_folder, folder, data_folder=self._files.folder.parent.parent)
        return await self._change_meta(folder=kept, grants=())

    async def revoke_grants(self) -> ChatSummary:
        """Ask again for everything. Raises ChatInUse, StorageError; nothing changed then."""
        return await self._change_meta(grants=())

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
        if await turn.has_branches():
            await run_blocking(turn.branches.tidy)
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
                BranchFolder(self._files.branches),
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

    async def _sent_among(self, ids: Collection[str]) -> set[str]:
        return await run_blocking(ids_among, self._files, self.reader, ids)

    async def _versions(self) -> tuple[Versions, ...]:
        """Return the versions there are in the active window."""
        if self._access is not Access.WRITABLE or not await self._turn.has_branches():
            return ()
        # A window that no turn has loaded is read aside: the next turn must find it as it is then.
        window = self._state.window if self._state.window_is_loaded else None
        with contextlib.suppress(StorageError):
            return await run_blocking(self._turn.branches.versions, window)
        return ()

    def _rest(self, newest: object) -> None:
        self._archiver.start(newest)
        self._on_idle(self.session)


def _set(meta: SessionMeta, values: Mapping[str, object]) -> None:
    for name, value in values.items():
        setattr(meta, name, value)
