"""What is listed of a row, and which rows the filters let through. See context-windows.md, 7."""

from app.domain.rows import Flag, Row, ToolPart
from app.domain.windows import Filters, HistoryItem, ToolUse, View
from app.history.item_ref import format_ref
from app.history.item_text import total_chars
from app.history.needles import Needle, string_field
from app.history.preview import preview_of
from app.history.reach import KNOWN_KINDS, Reach


def is_wanted(row: Row, filters: Filters) -> bool:
    """Whether the filters let a row through, its window aside."""
    if filters.role is not None and row.role != filters.role:
        return False
    return not filters.tool_name or any(
        isinstance(part, ToolPart) and part.name == filters.tool_name for part in row.parts
    )


def needles_of(filters: Filters) -> list[Needle]:
    """Return needles that each wanted row has, the rarest first."""
    needles = [string_field("name", filters.tool_name)] if filters.tool_name else []
    if filters.role is not None:
        needles.append(string_field("role", filters.role))
    return needles


def item_of(row: Row, line: bytes, offset: int, reach: Reach, *, session: str) -> HistoryItem:
    """Return what is listed of the row in `line`, which begins at `offset` of the stretch."""
    return HistoryItem(
        ref=format_ref(offset, line, session=session),
        row_id=row.id,
        seq=row.seq,
        role=row.role,
        kind="message" if row.kind in KNOWN_KINDS else "notice",
        created=row.created,
        model=_model_of(row),
        tools=tuple(ToolUse(part.name, part.state) for part in row.parts if isinstance(part, ToolPart)),
        preview=preview_of(row),
        chars=total_chars(row, omits_history=reach.view is View.AGENT),
        window_id=reach.index.window_at(offset).id,
        offset=offset,
        is_rejected=Flag.REJECTED in row.flags,
        is_cut_off=row.role == "assistant" and (Flag.INTERRUPTED in row.flags or Flag.FAILED in row.flags),
        is_above_floor=reach.is_above_floor(row, offset),
    )


def _model_of(row: Row) -> str:
    if row.request is not None:
        return f"{row.request.provider}/{row.request.model}"
    return row.model or ""
