"""The active window as a request: which rows a model gets to see. See context-windows.md, 4."""

from collections.abc import Sequence
from typing import Final

from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Flag, Kind, MediaPart, Part, ReasoningPart, Row, TextPart, ToolPart
from app.session.state import active_slice, is_sendable, is_whole_call
from app.tools.base import Tool

NO_RESULT: Final = "This call was interrupted and has no result."
"""What a model is told of a call that never got one."""


def assemble(window: Sequence[Row], card: ModelCard, *, tools: Sequence[Tool] = ()) -> ModelRequest:
    """Return the request that goes out for `window`, oldest row first; files are not in it yet.

    Left out: everything before the newest boundary and that boundary itself, except a compaction's
    summary; rejected rows, and replies that say nothing. A call without a result gets one; a call whose
    input never was whole is dropped. Replay data goes only to the model that made it; reasoning without
    it stays on disk.
    """
    rows = tuple(_for_model(row, card) for row in active_slice(window) if _is_sent(row))
    return ModelRequest(
        model=card.id,
        system="",
        rows=_merged(rows),
        max_tokens=card.max_output,
        tools=tuple(tool.spec for tool in tools),
    )


def _is_sent(row: Row) -> bool:
    if Flag.REJECTED in row.flags:
        return False
    if row.boundary is not None:
        return row.boundary.kind == "compaction"
    if row.kind not in (Kind.MESSAGE, Kind.CONTINUE):
        # Of a later version: shown as a notice, and no model is told what we don't understand.
        return False
    return row.role == "user" or is_sendable(row)


def _for_model(row: Row, card: ModelCard) -> Row:
    is_own = row.request is not None and (row.request.provider, row.request.model) == (card.provider, card.id)
    parts = tuple(sent for part in row.parts if (sent := _sent(part, row, is_own=is_own)) is not None)
    return row.model_copy(update={"parts": parts}) if parts != row.parts else row


def _sent(part: Part, row: Row, *, is_own: bool) -> Part | None:
    match part:
        case TextPart():
            return part if part.text else None
        case ReasoningPart():
            return part if is_own and part.replay is not None else None
        case ToolPart() if row.role == "assistant" and is_whole_call(part):
            if part.replay is not None and not is_own:
                part = part.model_copy(update={"replay": None})
            if part.state == "pending" or part.output is None:
                return part.model_copy(update={"state": "interrupted", "output": NO_RESULT})
            return part
        case MediaPart() if row.role == "user":
            return part
        case _:
            return None


def _merged(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Join user rows that follow each other, with all their parts: providers want turns."""
    merged: list[Row] = []
    for row in rows:
        if merged and row.role == merged[-1].role == "user":
            merged[-1] = row.model_copy(update={"parts": (*merged[-1].parts, *row.parts)})
        else:
            merged.append(row)
    return tuple(merged)
