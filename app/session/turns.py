"""A chat's turns, one after another: what the person asks, and then what waits in the queue.

See context-windows.md, 12. One task at a time; the state of a turn is entered before anything is awaited.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Final

from app.aio import run_blocking
from app.domain.chats import TurnState
from app.domain.errors import DuplicateRow, StorageError
from app.domain.events import ReplyUnsaved, SessionBroke
from app.domain.queue import Pause, QueuedMessage, When
from app.session.inputs import (
    Accepted,
    Choices,
    GoOnWithQueue,
    Input,
    Outcome,
    QueueChange,
    Refused,
    ResetContext,
    SendQueuedNow,
    SwitchVersion,
    UserInput,
)
from app.session.queue import CLOSED, MessageQueue
from app.session.reset import reset_context
from app.session.state import is_cut_off
from app.session.turn import run_turn
from app.session.turn_env import TurnEnv
from app.session.versions import switch_version
from app.session.window import chars_of

log = logging.getLogger(__name__)

LARGE_WINDOW_CHARS: Final = 8_000_000
"""A window of more text than this is not kept in memory between turns."""
_BUSY: Final = "A reply is still being written. Stop it, or wait for its end."


class Turns:
    """Runs what a chat is asked. Lives on the engine's loop; the chat's lease is held while it is used.

    `sync` learns what is on disk and settles what is owed; `rested` is told whenever nothing runs any more, with what
    tells the newest boundary from others.
    """

    def __init__(
        self,
        turn: TurnEnv,
        queue: MessageQueue,
        *,
        sync: Callable[[], Awaitable[None]],
        rested: Callable[[object], None],
    ) -> None:
        self.queue = queue
        self.unsaved_reason = ""
        self._turn = turn
        self._state = turn.state
        self._sync = sync
        self._rested = rested
        self._running: asyncio.Task[None] | None = None
        self._arranging: asyncio.Task[None] | None = None
        """A reset or a switch of versions that runs."""
        self._queueing = asyncio.Lock()
        self._wanted_next = ""
        self._has_broken = False
        self._is_closed = False
        turn.should_end = lambda: queue.ends_step

    async def send(self, item: Input) -> Outcome:
        """Begin with `item`; return once it is on disk, or why it isn't."""
        await self._wait_until_arranged()
        if self._is_closed:
            return Refused(CLOSED)
        if self._state.turn_state.is_active:
            return Refused(_BUSY)
        accepted = self._begin(item)
        if isinstance(item, ResetContext | SwitchVersion):
            self._arranging = self._running
            # The chat is idle again before it is told: the next message may come at once.
            assert self._running is not None
            await asyncio.wait({self._running})
        return await asyncio.shield(accepted)

    async def enqueue(self, message: UserInput, when: When) -> Outcome:
        """Let a message wait while a turn runs, or others wait; send it at once otherwise."""
        async with self._queueing:
            # One after the other: they wait, or go, in the order in which they came.
            return await self._enqueue(message, when)

    async def _enqueue(self, message: UserInput, when: When) -> Outcome:
        await self._wait_until_arranged()
        if self._is_closed:
            return Refused(CLOSED)
        if not self._state.turn_state.is_active and not self.queue.view.messages:
            return await self.send(message)
        try:
            await self.queue.add(self._as_queued(message, when))
        except StorageError as error:
            return Refused(str(error))
        await self._turn.drop_draft(message)
        # The turn it was to wait for may have ended meanwhile.
        self._go_on()
        return Accepted(is_queued=True)

    async def change_queue(self, change: QueueChange) -> QueuedMessage | None:
        """See `SessionManager.change_queue`. Raises StorageError."""
        await self._wait_until_arranged()
        await self.queue.ready()
        if self._is_closed:
            raise StorageError(CLOSED)
        match change:
            case GoOnWithQueue():
                self.queue.lift(whatever=True)
                self._go_on()
                return None
            case SendQueuedNow(id=message_id):
                message = self.queue.find(message_id)
                if message is not None and not self.queue.is_taken(message_id):
                    self._send_next(message_id)
                return message
            case _:
                return await self.queue.change(change)

    def stop(self) -> None:
        """End what runs; what has come is kept, and what waits goes on waiting. Harmless when idle."""
        if self._running is not None:
            self._wanted_next = ""
            self.queue.hold(Pause.STOPPED)
            self._running.cancel()

    async def close(self) -> None:
        """End what runs and begin nothing any more."""
        self._is_closed = True
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        await self.queue.close()

    async def _wait_until_arranged(self) -> None:
        while self._arranging is not None:
            # That takes a moment, and what is said meanwhile comes behind it.
            await asyncio.wait({self._arranging})

    def _as_queued(self, message: UserInput, when: When) -> QueuedMessage:
        meta = self._state.meta
        choices = message.choices or Choices(meta.model, meta.level, meta.profile)
        return QueuedMessage(
            id=message.id,
            text=message.text,
            attachments=message.attachments,
            when=when,
            model=choices.model,
            level=choices.level,
            profile=choices.profile,
        )

    # One after another

    def _begin(self, item: Input) -> "asyncio.Future[Outcome]":
        accepted: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._start(self._run(item, accepted), accepted, item)
        return accepted

    def _begin_queued(self, message_id: str = "") -> None:
        accepted: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._start(self._run_queued(message_id, accepted), accepted, None)

    def _start(
        self, work: Coroutine[object, object, None], accepted: "asyncio.Future[Outcome]", item: Input | None
    ) -> None:
        self._has_broken = False
        self._turn.enter(TurnState.PREPARING)
        running = self._turn.env.tasks.spawn(work, name=f"turn {self._turn.session}")
        # A callback, not a `finally`: a task cancelled before its first step never enters its body.
        running.add_done_callback(lambda task: self._ended(accepted, item, is_cancelled=task.cancelled()))
        self._running = running

    def _go_on(self) -> None:
        if not self._state.turn_state.is_active and not self._is_closed and self.queue.goes_on:
            self._begin_queued()

    def _send_next(self, message_id: str) -> None:
        """Send this message of the queue as soon as the turn that runs has been ended for it."""
        if self._running is None:
            self._begin_queued(message_id)
        else:
            self._wanted_next = message_id
            self._running.cancel()

    def _ended(self, accepted: "asyncio.Future[Outcome]", item: Input | None, *, is_cancelled: bool) -> None:
        if not accepted.done():
            accepted.set_result(Refused(""))
        self._running = self._arranging = None
        if not isinstance(item, ResetContext | SwitchVersion):
            self._note_end(accepted.result(), is_queued=item is None, is_cancelled=is_cancelled)
        newest = (self._state.window[0].id if self._state.window else "", self._state.meta.floor_seq)
        if sum(map(chars_of, self._state.window)) > LARGE_WINDOW_CHARS:
            # Read again for the next message rather than held all the while.
            self._state.window = []
            self._state.window_is_loaded = False
        wanted, self._wanted_next = self._wanted_next, ""
        if not self._is_closed and wanted and self.queue.find(wanted) is not None:
            self._begin_queued(wanted)
        elif not self._is_closed and self.queue.goes_on:
            self._begin_queued()
        else:
            self._turn.enter(TurnState.IDLE)
            self._rested(newest)

    def _note_end(self, outcome: Outcome, *, is_queued: bool, is_cancelled: bool) -> None:
        """Let the queue go on after a turn that ended well, and wait after any other."""
        if isinstance(outcome, Refused):
            if is_queued and outcome.reason:
                self.queue.hold(Pause.ERROR, outcome.reason)
        elif is_cancelled:
            if not self._wanted_next:
                self.queue.hold(Pause.STOPPED)
        elif self._has_broken or (self._state.window and is_cut_off(self._state.window[-1])):
            self.queue.hold(Pause.ERROR)
        else:
            self.queue.lift()

    # One of them

    async def _run_queued(self, message_id: str, accepted: "asyncio.Future[Outcome]") -> None:
        message = await self.queue.take(message_id)
        if message is None:
            accepted.set_result(Refused(""))
            return
        accepted.add_done_callback(lambda _done: self._leave_queue(message.id, accepted))
        try:
            choices = Choices(message.model, message.level, message.profile)
            await self._run(UserInput(message.id, message.text, message.attachments, choices), accepted)
        finally:
            self.queue.put_back()

    def _leave_queue(self, message_id: str, accepted: "asyncio.Future[Outcome]") -> None:
        """Let a message whose row is on disk wait no longer."""
        if isinstance(accepted.result(), Accepted) and self.queue.forget({message_id}):
            self._turn.env.tasks.spawn(self.queue.save(), name=f"queue of {self._turn.session}")

    async def _run(self, item: Input, accepted: "asyncio.Future[Outcome]") -> None:
        try:
            if self._state.is_stale or self._state.unsaved is not None:
                await self._sync()
            with contextlib.suppress(StorageError):
                # What waits holds nobody up: it is learned before anything joins it.
                await self.queue.ready()
            match item:
                case ResetContext(sets_notes_aside=sets_notes_aside):
                    await self._load_newest()
                    await reset_context(self._turn, accepted, sets_notes_aside=sets_notes_aside)
                case SwitchVersion():
                    await self._load_window()
                    await switch_version(self._turn, item, accepted)
                case _:
                    await self._load_window()
                    await run_turn(self._turn, item, accepted)
        except DuplicateRow:
            # It was sent before: the row is there, and nothing is said twice.
            self._state.is_stale = True
            if not accepted.done():
                accepted.set_result(Accepted())
        except StorageError as error:
            self._broke(str(error), accepted)
        except Exception:
            log.exception("a turn of %s broke", self._turn.session)
            self._broke("Something went wrong inside Muntin. Everything shown before is saved.", accepted)

    def _broke(self, reason: str, accepted: "asyncio.Future[Outcome]") -> None:
        self._state.is_stale = self._has_broken = True
        if not accepted.done():
            accepted.set_result(Refused(reason))
        elif self._state.unsaved is not None:
            self.unsaved_reason = reason
            self._turn.env.emit(ReplyUnsaved(self._turn.session, self._state.unsaved, reason))
        else:
            self._turn.env.emit(SessionBroke(self._turn.session, reason))

    async def _load_window(self) -> None:
        """Read the active window; not at open, a chat may be large and only be read. Raises StorageError."""
        if not self._state.window_is_loaded:
            self._state.window = await run_blocking(self._turn.window_reader.window, self._state.meta.floor_seq)
            self._state.window_is_loaded = True

    async def _load_newest(self) -> None:
        """Read what a reset needs of the active window: its end."""
        if not self._state.window_is_loaded:
            self._state.window = await run_blocking(self._turn.window_reader.newest, self._state.meta.floor_seq)
