"""One turn: plan, write, then the steps.

See context-windows.md, 12. A turn may be cancelled at any moment; what is on disk is then whole.
"""

import asyncio
from dataclasses import replace

from app.aio import run_to_end
from app.history.library import title_of
from app.session.admission import plan_turn
from app.session.inputs import (
    Accepted,
    EditMessage,
    Outcome,
    Refused,
    Regenerate,
    ResumeTurn,
    TurnInput,
    TurnStart,
    UserInput,
)
from app.session.prepare import complete
from app.session.steps import run_steps, settle
from app.session.stream import new_reply
from app.session.turn_env import TurnEnv
from app.session.versions import Place, place_of_answer, place_of_edit


async def run_turn(turn: TurnEnv, item: TurnInput, accepted: "asyncio.Future[Outcome]") -> None:
    """Run one turn to its end. `accepted` learns what became of `item` as soon as that is on disk.

    Raises StorageError if the disk refuses in mid-turn: what came is saved, or it is in `state.unsaved` and, if
    possible, in `partial.json`.
    """
    start, place = _start_of(turn, item)
    if isinstance(place, Refused):
        accepted.set_result(place)
        return
    state = turn.state if place is None else replace(turn.state, window=list(place.window))
    plan = plan_turn(turn.env, state, turn.session, start, tools=turn.tools)
    if isinstance(plan, Refused):
        accepted.set_result(plan)
        return
    plan = await complete(turn, plan)

    async def write() -> None:
        if place is not None:
            await turn.replace_tail(place.after, place.window, plan.rows, place.reason)
        elif plan.rows:
            await turn.append(plan.rows)
        accepted.set_result(Accepted())

    try:
        # Whoever stops it meanwhile ends the turn right behind what is then written.
        await run_to_end(write(), turn.env.tasks, name="append")
        if isinstance(start, UserInput):
            await turn.drop_draft(start)
            await _name_chat(turn, start)
        await run_steps(turn, plan)
    except asyncio.CancelledError:
        if accepted.done() and not turn.state.ends_with_reply(plan.turn):
            await run_to_end(settle(turn, new_reply(turn.env, plan, turn.session)), turn.env.tasks, name="settle")
        raise


def _start_of(turn: TurnEnv, item: TurnInput) -> tuple[TurnStart, Place | Refused | None]:
    """Return what a turn begins with, and where if that is not the end of the window."""
    match item:
        case EditMessage(row_id=row_id, message=message):
            return message, place_of_edit(turn.state.window, row_id)
        case Regenerate(row_id=row_id):
            return ResumeTurn(), place_of_answer(turn.state.window, row_id)
        case _:
            return item, None


async def _name_chat(turn: TurnEnv, item: UserInput) -> None:
    """Name a new chat after its first message and move it to the top of the list."""
    meta = turn.state.meta
    meta.updated = turn.env.clock.now()
    if not meta.title and not meta.titled_by_user:
        meta.title = title_of(item.text, item.attachments)
    await turn.tell_meta()
