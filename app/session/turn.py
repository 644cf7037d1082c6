"""One turn: plan, write, stream, settle; and the tries of a step that fails.

See context-windows.md, 12. A turn may be cancelled at any moment; what is on disk is then whole.
"""

import asyncio
import contextlib
from dataclasses import replace

from app.aio import run_blocking, run_to_end
from app.domain.chats import TurnState
from app.domain.errors import StorageError
from app.domain.events import ChatChanged, ReplyDropped, RetryScheduled, RowsAppended, StateChanged
from app.domain.rows import Flag, Row
from app.history.files import ChatFiles
from app.history.library import summary_of, title_of
from app.history.partial import PartialFile
from app.history.sidecars import write_sidecar
from app.history.store import Store
from app.session.admission import TurnPlan, plan_turn
from app.session.draft import DraftFile
from app.session.env import SessionEnv
from app.session.inputs import Accepted, Input, Outcome, Refused, UserInput
from app.session.prepare import prepare
from app.session.retry import MAX_TRIES, retry_delay
from app.session.state import SessionState
from app.session.stream import Reply, new_reply, read_reply


class TurnEnv:
    """What a turn works with: the program's collaborators and this chat's own."""

    def __init__(self, env: SessionEnv, session: str, files: ChatFiles, state: SessionState) -> None:
        self.env = env
        self.session = session
        self.files = files
        self.state = state
        self.store = Store(files, session=session, new_id=env.new_id)
        self.partial = PartialFile(files)
        self.draft = DraftFile(files)
        self._saving_meta = asyncio.Lock()

    def enter(self, state: TurnState) -> None:
        """Take and tell a new turn state."""
        self.state.turn_state = state
        self.env.emit(StateChanged(self.session, state))

    async def append(self, rows: tuple[Row, ...]) -> None:
        """Write `rows` as one batch and tell. Raises StorageError; nothing is there then."""
        try:
            written = await run_blocking(self.store.append, rows, expected_last_seq=self.state.last_seq)
        except StorageError:
            self.state.is_stale = True
            raise
        # The window keeps the texts whole, whatever of them went to blobs.
        whole = [row.model_copy(update={"seq": stored.seq}) for row, stored in zip(rows, written, strict=True)]
        self.state.take(whole, written[-1].seq or self.state.last_seq)
        self.env.emit(RowsAppended(self.session, written))

    async def save_meta(self) -> None:
        """Put title, time and model on disk; the last call wins. Raises StorageError."""
        async with self._saving_meta:
            await run_blocking(write_sidecar, self.files.meta, self.state.meta.model_copy())


async def run_turn(turn: TurnEnv, item: Input, accepted: "asyncio.Future[Outcome]") -> None:
    """Run one turn to its end. `accepted` learns what became of `item` as soon as that is on disk.

    Raises StorageError if the reply can't be saved; it is then in `state.unsaved` and, if possible, in
    `partial.json`.
    """
    plan = plan_turn(turn.env, turn.state, turn.session, item)
    if isinstance(plan, Refused):
        accepted.set_result(plan)
        return
    plan = replace(
        plan, request=await run_blocking(prepare, plan.request, plan.card, turn.store.blobs, turn.env.counter)
    )
    try:
        if plan.rows:
            await run_to_end(turn.append(plan.rows), turn.env.tasks, name="append")
        accepted.set_result(Accepted())
        if isinstance(item, UserInput):
            with contextlib.suppress(StorageError):
                await turn.draft.drop(item.text, item.attachments)
            await _name_chat(turn, item)
        await _run_step(turn, plan)
    except asyncio.CancelledError:
        if not accepted.done() and plan.rows and turn.state.has(plan.rows):
            # Stop came while the row was written: it is there, and the turn ends right behind it.
            accepted.set_result(Accepted())
        if accepted.done() and not turn.state.ends_with_reply(plan.turn):
            await run_to_end(_settle(turn, new_reply(turn.env, plan, turn.session)), turn.env.tasks, name="settle")
        raise


async def _run_step(turn: TurnEnv, plan: TurnPlan) -> None:
    """Ask until there is a reply worth keeping, and keep it."""
    started = turn.env.clock.monotonic()
    tries = 0
    is_shortened = False
    while True:
        reply = new_reply(turn.env, plan, turn.session)
        tries += 1
        turn.enter(TurnState.STREAMING)
        try:
            await read_reply(turn.env, plan, reply, turn.partial)
        except BaseException:
            # Stopped by the person, or broken by a bug: what was shown is kept either way.
            await run_to_end(_settle(turn, reply), turn.env.tasks, name="settle")
            raise
        if not is_shortened and (shorter := _with_shorter_reply(plan, reply)) is not None:
            turn.env.emit(ReplyDropped(turn.session, reply.row_id))
            plan, is_shortened = shorter, True
            continue
        delay = _delay(turn, reply, tries=tries, elapsed_seconds=turn.env.clock.monotonic() - started)
        if delay is None:
            await run_to_end(_settle(turn, reply), turn.env.tasks, name="settle")
            return
        turn.enter(TurnState.WAITING)
        try:
            await turn.env.clock.sleep(delay)
        except asyncio.CancelledError:
            # Why it was waited is worth more than that the wait was stopped.
            await run_to_end(_settle(turn, reply), turn.env.tasks, name="settle")
            raise


def _with_shorter_reply(plan: TurnPlan, reply: Reply) -> TurnPlan | None:
    """Return the plan with room for a shorter reply if that alone did not fit (context-windows.md, 11)."""
    error, asked = reply.error, plan.request.max_tokens
    if error is None or reply.says_something:
        return None
    allowed = error.allowed_output
    if allowed is None and error.excess_tokens is not None and asked is not None:
        allowed = asked - error.excess_tokens
    if allowed is None or allowed < 1 or (asked is not None and allowed >= asked):
        return None
    return replace(plan, request=replace(plan.request, max_tokens=allowed))


def _delay(turn: TurnEnv, reply: Reply, *, tries: int, elapsed_seconds: float) -> float | None:
    """Return seconds to wait before the next try, having told so; None if the reply stands as it is."""
    if reply.error is None or reply.says_something:
        return None
    delay = retry_delay(reply.error, tries=tries, elapsed_seconds=elapsed_seconds, random=turn.env.random)
    if delay is not None:
        turn.env.emit(ReplyDropped(turn.session, reply.row_id))
        error = reply.error
        turn.env.emit(
            RetryScheduled(
                turn.session,
                error.kind,
                tries,
                MAX_TRIES,
                delay,
                detail=error.detail,
                is_quote=error.is_quote,
            )
        )
    return delay


async def _settle(turn: TurnEnv, reply: Reply) -> None:
    """Put the reply into the history. Raises StorageError; it is then owed."""
    turn.enter(TurnState.SETTLING)
    row = reply.row()
    try:
        await turn.append((row,))
    except StorageError:
        turn.state.unsaved = row
        with contextlib.suppress(StorageError):
            owed = row.model_copy(update={"flags": (*row.flags, Flag.SETTLED)})
            await run_blocking(turn.partial.save, owed)
        raise
    await run_blocking(turn.partial.drop)
    turn.state.meta.updated = turn.env.clock.now()
    await _show_meta(turn)


async def _name_chat(turn: TurnEnv, item: UserInput) -> None:
    """Name a new chat after its first message and move it to the top of the list."""
    meta = turn.state.meta
    meta.updated = turn.env.clock.now()
    if not meta.title and not meta.titled_by_user:
        meta.title = title_of(item.text, item.attachments)
    await _show_meta(turn)


async def _show_meta(turn: TurnEnv) -> None:
    turn.env.emit(ChatChanged(turn.session, summary_of(turn.session, turn.state.meta)))
    # Without it the list shows an old time or title until the next message; the history is what counts.
    with contextlib.suppress(StorageError):
        await turn.save_meta()
