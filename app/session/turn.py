"""One turn: plan, write, then the steps.

See context-windows.md, 12. A turn may be cancelled at any moment; what is on disk is then whole.
"""

import asyncio
import contextlib
from dataclasses import replace

from app.aio import run_blocking, run_to_end
from app.domain.errors import StorageError
from app.history.library import title_of
from app.session.admission import plan_turn
from app.session.inputs import Accepted, Outcome, Refused, TurnInput, UserInput
from app.session.prepare import prepare
from app.session.steps import run_steps, settle
from app.session.stream import new_reply
from app.session.turn_env import TurnEnv


async def run_turn(turn: TurnEnv, item: TurnInput, accepted: "asyncio.Future[Outcome]") -> None:
    """Run one turn to its end. `accepted` learns what became of `item` as soon as that is on disk.

    Raises StorageError if the disk refuses in mid-turn: what came is saved, or it is in `state.unsaved` and, if
    possible, in `partial.json`.
    """
    plan = plan_turn(turn.env, turn.state, turn.session, item, tools=turn.tools)
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
        await run_steps(turn, plan)
    except asyncio.CancelledError:
        if not accepted.done() and plan.rows and turn.state.has(plan.rows):
            # Stop came while the row was written: it is there, and the turn ends right behind it.
            accepted.set_result(Accepted())
        if accepted.done() and not turn.state.ends_with_reply(plan.turn):
            await run_to_end(settle(turn, new_reply(turn.env, plan, turn.session)), turn.env.tasks, name="settle")
        raise


async def _name_chat(turn: TurnEnv, item: UserInput) -> None:
    """Name a new chat after its first message and move it to the top of the list."""
    meta = turn.state.meta
    meta.updated = turn.env.clock.now()
    if not meta.title and not meta.titled_by_user:
        meta.title = title_of(item.text, item.attachments)
    await turn.tell_meta()
