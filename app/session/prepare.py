"""Complete a request right before it is written and sent: memories, files, and how long its reply may be."""

import contextlib
from dataclasses import replace

from app.aio import run_blocking
from app.budget.requests import fit_output
from app.budget.tokens import TokenCounter
from app.domain.errors import KnownError
from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.history.blobs import Blobs
from app.session.admission import TurnPlan
from app.session.attachments import with_files
from app.session.policy import may_remember
from app.session.turn_env import TurnEnv


async def complete(turn: TurnEnv, plan: TurnPlan) -> TurnPlan:
    """Return `plan` with a request that can go out. Memories are looked up once a turn and model."""
    return await run_blocking(_complete, turn, plan)


def _complete(turn: TurnEnv, plan: TurnPlan) -> TurnPlan:
    preload = _preload(turn, plan) if plan.preload is None else plan.preload
    system = "\n\n".join(text for text in (plan.request.system, preload) if text)
    request = prepare(replace(plan.request, system=system), plan.card, turn.store.blobs, turn.env.counter)
    return replace(plan, preload=preload, request=request)


def _preload(turn: TurnEnv, plan: TurnPlan) -> str:
    settings = plan.terms.settings
    with contextlib.suppress(KnownError):
        # Without its memories a chat goes on all the same.
        if may_remember(settings, plan.terms.profile):
            return turn.env.make_preload(turn.files, plan.card, settings)
    return ""


def prepare(request: ModelRequest, card: ModelCard, blobs: Blobs, counter: TokenCounter) -> ModelRequest:
    """Return `request` with its files and `max_tokens`. Reads and counts: run it off the loop."""
    request = with_files(request, card, blobs)
    with contextlib.suppress(KnownError):
        # With a damaged vocabulary nothing can be counted; the model's maximum is what remains.
        return replace(request, max_tokens=fit_output(request, card, counter))
    return request
