"""The active window as a request: which rows a model gets to see. See context-windows.md, 4."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from app.domain.models import ModelCard, ThinkingLevel
from app.domain.request import ModelRequest
from app.domain.rows import Flag, Kind, MediaPart, Part, ReasoningPart, Row, TextPart, ToolPart
from app.domain.text import one_line
from app.session.state import active_slice, is_sendable, is_whole_call
from app.tools.base import Tool

NO_RESULT: Final = "This call was interrupted and has no result."
"""What a model is told of a call that never got one."""
_FOLDER_TEXT: Final = (
    "The person has attached the folder “{name}” to this chat. The file tools work in it and nowhere else, and the"
    " paths they take are relative to it."
)
_FOLDER_NAME_CHARS: Final = 120


def assemble(
    window: Sequence[Row],
    card: ModelCard,
    *,
    system: str = "",
    level: ThinkingLevel | None = None,
    tools: Sequence[Tool] = (),
) -> ModelRequest:
    """Return the request that goes out for `window`, oldest row first; files are not in it yet.

    Left out: everything before the newest boundary and that boundary itself, except a compaction's
    summary; rejected rows, and replies that say nothing. A call without a result gets one; a torn call is
    dropped. Replay data goes only to the model that made it; reasoning without it stays on disk.
    """
    rows = tuple(_for_model(row, card) for row in active_slice(window) if _is_sent(row))
    return ModelRequest(
        model=card.id,
        system=system,
        rows=_merged(rows),
        max_tokens=card.max_output,
        level=level,
        tools=tuple(tool.spec for tool in tools),
    )


def system_text(instructions: str, *, folder: str = "") -> str:
    """Return what a model is told before the chat: what the profile says, and of the folder that is attached."""
    name = one_line(PurePath(folder).name or folder, most_chars=_FOLDER_NAME_CHARS)
    attached = _FOLDER_TEXT.format(name=name) if folder else ""
    return "\n\n".join(text for text in (instructions.strip(), attached) if text)


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
            return _sent_call(part, is_own=is_own)
        case MediaPart() if row.role == "user":
            return part
        case _:
            return None


def _sent_call(part: ToolPart, *, is_own: bool) -> ToolPart:
    """Return a call as any provider takes it: with an object as its input, and a result."""
    update: dict[str, object] = {} if isinstance(part.input, dict) else {"input": {}}
    if part.replay is not None and not is_own:
        update["replay"] = None
    if part.state == "pending" or part.output is None:
        update |= {"state": "interrupted", "output": NO_RESULT}
    return part.model_copy(update=update) if update else part


def _merged(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Join user rows that follow each other, with all their parts: providers want turns."""
    merged: list[Row] = []
    for row in rows:
        if merged and row.role == merged[-1].role == "user":
            merged[-1] = row.model_copy(update={"parts": (*merged[-1].parts, *row.parts)})
        else:
            merged.append(row)
    return tuple(merged)
