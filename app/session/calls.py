"""The calls of a reply: run one after another, each noted on disk before its tool starts. See context-windows.md, 2."""

from app.aio import run_blocking, run_to_end
from app.domain.chats import TurnState
from app.domain.errors import StorageError
from app.domain.events import ToolEnded, ToolStarted
from app.session.admission import TurnPlan
from app.session.stream import Call, Reply
from app.session.turn_env import TurnEnv
from app.tools.base import ToolContext
from app.tools.runner import ToolRunner


async def run_calls(turn: TurnEnv, plan: TurnPlan, reply: Reply) -> None:
    """Settle every whole call of `reply`, whose stream has ended well.

    On cancellation the running tool is cancelled; it and those behind it stay unsettled. So they do if a call can't
    be noted on disk before its tool starts: raises StorageError.
    """
    runner = ToolRunner(plan.tools)
    card = plan.card
    context = ToolContext(turn.session, card.limit, encoding=card.encoding, factor=card.factor)
    is_noted = False
    if any(runner.offers(call.name) for call in reply.calls):
        turn.enter(TurnState.CALLING)
    for call in reply.calls:
        arguments = call.input or {}
        if not runner.offers(call.name):
            call.result = await runner.run(call.name, arguments, context)
            _tell_end(turn, reply, call)
            continue
        if not is_noted:
            await _note(turn, reply)
        turn.env.emit(ToolStarted(turn.session, reply.row_id, call.call_id, call.name, arguments))
        call.result = await runner.run(call.name, arguments, context)
        is_noted = await _try_to_note(turn, reply)
        _tell_end(turn, reply, call)


async def _note(turn: TurnEnv, reply: Reply) -> None:
    """Put on disk which calls are settled and which are pending. Raises StorageError."""
    await run_to_end(
        run_blocking(turn.partial.save, reply.unfinished_row()), turn.env.tasks, name=f"calls of {turn.session}"
    )


async def _try_to_note(turn: TurnEnv, reply: Reply) -> bool:
    """Put a result on disk before it is told; return whether that went well. The next tool waits for it."""
    try:
        await _note(turn, reply)
    except StorageError:
        return False
    return True


def _tell_end(turn: TurnEnv, reply: Reply, call: Call) -> None:
    if call.result is not None:
        turn.env.emit(
            ToolEnded(turn.session, reply.row_id, call.call_id, call.name, call.result.state, call.result.output)
        )
