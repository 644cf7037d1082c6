"""The active window as a request: which rows a model gets to see. See context-windows.md, 4."""

from collections.abc import Sequence

from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Flag, Kind, Row, TextPart
from app.session.state import has_text


def assemble(window: Sequence[Row], card: ModelCard) -> ModelRequest:
    """Return the request that goes out for `window`, oldest row first.

    Left out: boundaries, except a compaction's summary, rejected rows, and replies without words.
    Reasoning stays on disk; models are asked with the texts.
    """
    rows = tuple(_for_model(row) for row in window if _is_sent(row))
    return ModelRequest(model=card.id, system="", rows=_merged(rows), max_tokens=card.max_output)


def _is_sent(row: Row) -> bool:
    if Flag.REJECTED in row.flags:
        return False
    if row.boundary is not None:
        return row.boundary.kind == "compaction"
    if row.kind not in (Kind.MESSAGE, Kind.CONTINUE):
        # Of a later version: shown as a notice, and no model is told what we don't understand.
        return False
    return row.role == "user" or has_text(row)


def _for_model(row: Row) -> Row:
    parts = tuple(part for part in row.parts if isinstance(part, TextPart))
    return row.model_copy(update={"parts": parts}) if parts != row.parts else row


def _merged(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Join user rows that follow each other, with all their parts: providers want turns."""
    merged: list[Row] = []
    for row in rows:
        if merged and row.role == merged[-1].role == "user":
            merged[-1] = row.model_copy(update={"parts": (*merged[-1].parts, *row.parts)})
        else:
            merged.append(row)
    return tuple(merged)
