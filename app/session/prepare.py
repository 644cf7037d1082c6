"""Complete a request right before it is written and sent: its files, and how long its reply may be."""

import contextlib
from dataclasses import replace

from app.budget.requests import fit_output
from app.budget.tokens import TokenCounter
from app.domain.errors import KnownError
from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.history.blobs import Blobs
from app.session.attachments import with_files


def prepare(request: ModelRequest, card: ModelCard, blobs: Blobs, counter: TokenCounter) -> ModelRequest:
    """Return `request` with its files and `max_tokens`. Reads and counts: run it off the loop."""
    request = with_files(request, card, blobs)
    with contextlib.suppress(KnownError):
        # With a damaged vocabulary nothing can be counted; the model's maximum is what remains.
        return replace(request, max_tokens=fit_output(request, card, counter))
    return request
