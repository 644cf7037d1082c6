"""Complete a request right before it is written and sent: how long its reply may be."""

import contextlib
from dataclasses import replace

from app.budget.requests import fit_output
from app.budget.tokens import TokenCounter
from app.domain.errors import KnownError
from app.domain.models import ModelCard
from app.domain.request import ModelRequest


def prepare(request: ModelRequest, card: ModelCard, counter: TokenCounter) -> ModelRequest:
    """Return `request` with `max_tokens`. Reads files and counts: run it off the loop."""
    with contextlib.suppress(KnownError):
        # With a damaged vocabulary nothing can be counted; the model's maximum is what remains.
        return replace(request, max_tokens=fit_output(request, card, counter))
    return request
