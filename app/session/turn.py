"""One turn: plan, write, stream, settle; and the tries of a step that fails.

See context-windows.md, 12. A turn may be cancelled at any moment; what is on disk is then whole.
"""

import asyncio
import contextlib
from dataclasses import dataclass

from app.aio import run_blocking, run_to_end
from app.domain.chats import TurnState
from app.domain.errors import StorageError
from app.domain.events import ChatChanged, ReplyDropped, RetryScheduled, RowsAppended, StateChanged
from app.domain.rows import Row
from app.history.files import ChatFiles
from app.history.library import summary_of, title_from
from app.history.partial import PartialFile
from app.history.sidecars import write_sidecar
from app.history.store import Store
from app.session.admission import TurnPlan, plan_turn
from app.session.env import SessionEnv
from app.session.inputs import Accepted, Input, Outcome, Refused, UserInput
from app.session.retry import MAX_TRIES, retry_delay
from app.session.state import SessionState
from app.session.stream import Reply, new_reply, read_reply


@dataclass(frozen=True, slots=True)
class TurnEnv:
    """What a turn works with: the program's collaborators and this chat's own."""

    env: SessionEnv
    session: str
    files: ChatFiles
    store: Store
    partial: PartialFile
    state: SessionState

    def enter(self, state: TurnState) -> None:
        """Take and tell a new turn state."""
        self.state.turn_state = state
        self.env.emit(StateChanged(self.session, state))

    async def append(self, rows: tuple[Row, ...]) -> None:
        """Write `rows` as one batch and tell. Raises StorageError; nothing is there then."""
        if rows:
            written = await run_blocking(self.store.append, rows, expected_last_seq=self.state.last_seq)
            self.state.take(written)
            self.env.emit(RowsAppended(self.session, written))


async def run_turn(turn: TurnEnv, item: Input, accepted: "asyncio.Future[Outcome]") -> None:
    """Run one turn to its end. `accepted` learns what became of `item` as soon as that is on disk.

    Raises StorageError if the reply can't be saved; it is then still in `partial.json`.
    """
    plan = plan_turn(turn.env, turn.state, turn.session, item)
    if isinstance(plan, Refused):
        accepted.set_result(plan)
        return
    try:
        await run_to_end(turn.append(plan.rows), turn.env.tasks, name="append")
    except StorageError as error:
        accepted.set_result(Refused(str(error)))
        return
    except asyncio.CancelledError:
        if turn.state.has(plan.rows):
            # Stop came while the row was written: it is there, and the turn ends right behind it.
            accepted.set_result(Accepted())
            await run_to_end(_settle(turn, new_reply(turn.env, plan, turn.session)), turn.env.tasks, name="settle")
        raise
    accepted.set_result(Accepted())
    if isinstance(item, UserInput):
        await _update_meta(turn, item)
    await _run_step(turn, plan)


async def _run_step(turn: TurnEnv, plan: TurnPlan) -> None:
    """Ask until there is a reply worth keeping, and keep it."""
    started = turn.env.clock.monotonic()
    tries = 0
    while True:
        reply = new_reply(turn.env, plan, turn.session)
        tries += 1
        try:
            turn.enter(TurnState.STREAMING)
            await read_reply(turn.env, plan, reply, turn.partial)
            delay = None
            if reply.error is not None and not reply.says_something:
                elapsed = turn.env.clock.monotonic() - started
                delay = retry_delay(reply.error, tries=tries, elapsed_seconds=elapsed, random=turn.env.random)
            if delay is None:
                break
            assert reply.error is not None
            turn.env.emit(ReplyDropped(turn.session, reply.row_id))
            turn.env.emit(RetryScheduled(turn.session, reply.error.kind, tries, MAX_TRIES, delay))
            turn.enter(TurnState.WAITING)
            await turn.env.clock.sleep(delay)
        except asyncio.CancelledError:
            reply.error = None
            reply.stop = None
            await run_to_end(_settle(turn, reply), turn.env.tasks, name="settle")
            raise
    await run_to_end(_settle(turn, reply), turn.env.tasks, name="settle")


async def _settle(turn: TurnEnv, reply: Reply) -> None:
    turn.enter(TurnState.SETTLING)
    row = reply.row()
    try:
        await turn.append((row,))
    except StorageError:
        turn.state.unsaved = row
        with contextlib.suppress(StorageError):
            await run_blocking(turn.partial.save, row)
        raise
    await run_blocking(turn.partial.drop)
    turn.state.meta.updated = turn.env.clock.now()
    await _save_meta(turn)


async def _update_meta(turn: TurnEnv, item: UserInput) -> None:
    """Name a new chat after its first message and move it to the top of the list."""
    meta = turn.state.meta
    meta.updated = turn.env.clock.now()
    if not meta.title and not meta.titled_by_user:
        meta.title = title_from(item.text)
    await _save_meta(turn)


async def _save_meta(turn: TurnEnv) -> None:
    turn.env.emit(ChatChanged(turn.session, summary_of(turn.session, turn.state.meta)))
    try:
        await run_blocking(write_sidecar, turn.files.meta, turn.state.meta.model_copy())
    except StorageError:
        # The list shows an old time or title until the next message; the history is what counts.
        return
