"""The steps of a turn: ask, call the tools the reply names, keep the row, ask again; and the tries of a failed step.

See context-windows.md, 12.
"""

import asyncio
import contextlib
from dataclasses import replace
from typing import Final

from app.aio import run_blocking, run_to_end
from app.domain.chats import TurnState
from app.domain.errors import ErrorKind, StorageError
from app.domain.events import ReplyDropped, RetryScheduled
from app.domain.rows import STEP_LIMIT, ErrorInfo, Flag
from app.session.admission import TurnPlan, next_step, with_fallback
from app.session.calls import run_calls
from app.session.prepare import complete
from app.session.retry import MAX_TRIES, retry_delay
from app.session.stream import Reply, new_reply, read_reply
from app.session.turn_env import TurnEnv

MAX_STEPS: Final = 100
"""Steps of a turn, until the person says that it may go on."""
OVERLOADED_TRIES: Final = 3
"""Tries of an overloaded model before the fallback model is asked."""
_LIMIT_REACHED: Final = ErrorInfo(
    kind=STEP_LIMIT,
    detail=f"The model has called tools {MAX_STEPS} times in a row without an end, so it was stopped here.",
)


async def run_steps(turn: TurnEnv, plan: TurnPlan) -> None:
    """Take steps until a reply makes no calls; each is one row, written when all its calls are settled.

    On cancellation the step that runs is kept as far as it came. Raises StorageError.
    """
    for number in range(1, MAX_STEPS + 1):
        plan, reply = await _ask(turn, plan)
        goes_on = reply.is_whole and bool(reply.calls) and bool(plan.toolset.tools)
        if reply.is_whole and reply.calls:
            try:
                await run_calls(turn, plan, reply)
            except BaseException:
                # Stopped, or the disk refuses: finished calls keep their results, no other is ever run again.
                await run_to_end(settle(turn, reply), turn.env.tasks, name="settle")
                raise
        if goes_on and number == MAX_STEPS and not turn.should_end():
            reply.ended_by = _LIMIT_REACHED
        await run_to_end(settle(turn, reply), turn.env.tasks, name="settle")
        if not goes_on or reply.ended_by is not None or turn.should_end():
            return
        plan = await complete(turn, next_step(plan, turn.state.window))


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


async def _ask(turn: TurnEnv, plan: TurnPlan) -> tuple[TurnPlan, Reply]:
    """Ask until there is a reply worth keeping; return it with the plan that got it: another model may have stepped in.

    On cancellation what came is kept as a row.
    """
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
        if (instead := await _instead(turn, plan, reply, tries=tries, is_last=delay is None)) is not None:
            turn.env.emit(ReplyDropped(turn.session, reply.row_id))
            plan, tries, started, is_shortened = instead, 0, turn.env.clock.monotonic(), False
            continue
        if delay is None:
            return plan, reply
        _tell_retry(turn, reply, tries=tries, delay=delay)
        turn.enter(TurnState.WAITING)
        try:
            await turn.env.clock.sleep(delay)
        except asyncio.CancelledError:
            # Why it was waited is worth more than that the wait was stopped.
            await run_to_end(settle(turn, reply), turn.env.tasks, name="settle")
            raise


async def _instead(turn: TurnEnv, plan: TurnPlan, reply: Reply, *, tries: int, is_last: bool) -> TurnPlan | None:
    """Return the plan with the fallback model if that one shall answer in place of this reply."""
    error = reply.error
    if error is None or reply.says_something:
        return None
    is_overloaded = error.kind is ErrorKind.OVERLOADED and (is_last or tries >= OVERLOADED_TRIES)
    if error.kind is not ErrorKind.REFUSAL and not is_overloaded:
        return None
    instead = with_fallback(turn.env, plan, turn.state.window, because=error.kind)
    if instead is None:
        return None
    try:
        return await complete(turn, instead)
    except asyncio.CancelledError:
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
    """Return seconds to wait before the next try; None if the reply stands as it is."""
    if reply.error is None or reply.says_something:
        return None
    return retry_delay(reply.error, tries=tries, elapsed_seconds=elapsed_seconds, random=turn.env.random)


def _tell_retry(turn: TurnEnv, reply: Reply, *, tries: int, delay: float) -> None:
    error = reply.error
    if error is not None:
        turn.env.emit(ReplyDropped(turn.session, reply.row_id))
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
