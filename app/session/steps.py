"""The steps of a turn: ask, call the tools the reply names, keep the row, ask again; and the tries of a failed step.

See context-windows.md, 12.
"""

import asyncio
import contextlib
from dataclasses import replace
from typing import Final

from app.aio import run_blocking, run_to_end
from app.domain.chats import TurnState
from app.domain.errors import StorageError
from app.domain.events import ReplyDropped, RetryScheduled
from app.domain.rows import STEP_LIMIT, ErrorInfo, Flag
from app.session.admission import TurnPlan
from app.session.assemble import assemble
from app.session.calls import run_calls
from app.session.prepare import prepare
from app.session.retry import MAX_TRIES, retry_delay
from app.session.stream import Reply, new_reply, read_reply
from app.session.turn_env import TurnEnv

MAX_STEPS: Final = 100
"""Steps of a turn, until the person says that it may go on."""
_LIMIT_REACHED: Final = ErrorInfo(
    kind=STEP_LIMIT,
    detail=f"The model has called tools {MAX_STEPS} times in a row without an end, so it was stopped here.",
)


async def run_steps(turn: TurnEnv, plan: TurnPlan) -> None:
    """Take steps until a reply makes no calls; each is one row, written when all its calls are settled.

    On cancellation the step that runs is kept as far as it came. Raises StorageError.
    """
    for number in range(1, MAX_STEPS + 1):
        reply = await _ask(turn, plan)
        goes_on = reply.is_whole and bool(reply.calls) and bool(plan.tools)
        if reply.is_whole and reply.calls:
            try:
                await run_calls(turn, plan, reply)
            except BaseException:
                # Stopped, or the disk refuses: finished calls keep their results, no other is ever run again.
                await run_to_end(settle(turn, reply), turn.env.tasks, name="settle")
                raise
        if goes_on and number == MAX_STEPS:
            reply.ended_by = _LIMIT_REACHED
        await run_to_end(settle(turn, reply), turn.env.tasks, name="settle")
        if not goes_on or reply.ended_by is not None or turn.should_end():
            return
        plan = await _next(turn, plan)


async def settle(turn: TurnEnv, reply: Reply) -> None:
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
    await turn.tell_meta()


async def _next(turn: TurnEnv, plan: TurnPlan) -> TurnPlan:
    """Return the plan of the next step: the same turn and model, and the window as it is now."""
    request = assemble(turn.state.window, plan.card, tools=plan.tools)
    request = await run_blocking(prepare, request, plan.card, turn.store.blobs, turn.env.counter)
    return replace(plan, rows=(), request=request)


async def _ask(turn: TurnEnv, plan: TurnPlan) -> Reply:
    """Ask until there is a reply worth keeping. On cancellation what came is kept as a row."""
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
            await run_to_end(settle(turn, reply), turn.env.tasks, name="settle")
            raise
        if not is_shortened and (shorter := _with_shorter_reply(plan, reply)) is not None:
            turn.env.emit(ReplyDropped(turn.session, reply.row_id))
            plan, is_shortened = shorter, True
            continue
        delay = _delay(turn, reply, tries=tries, elapsed_seconds=turn.env.clock.monotonic() - started)
        if delay is None:
            return reply
        turn.enter(TurnState.WAITING)
        try:
            await turn.env.clock.sleep(delay)
        except asyncio.CancelledError:
            # Why it was waited is worth more than that the wait was stopped.
            await run_to_end(settle(turn, reply), turn.env.tasks, name="settle")
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
