"""A context window as JSON for other programs. The format: docs/export-format.md."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from app.domain.rows import MediaPart, Part, ReasoningPart, Row, TextPart, ToolPart
from app.exchange.window_rows import Gap, Heading, WindowRows, left_out
from app.history.codec import encode_json

FORMAT: Final = "muntin-window"
VERSION: Final = 1


def json_of(heading: Heading, rows: WindowRows) -> Iterator[bytes]:
    """Yield the window piece by piece, a row a line."""
    head = encode_json(_head(heading))
    yield head.removesuffix(b"}") + b',"rows":[\n'
    separator = b""
    for found in rows:
        yield separator + _line(found, rows)
        separator = b",\n"
    yield b'\n],"left_out":' + encode_json(dict(left_out(rows.report))) + b"}\n"


def _line(found: Row | Gap, rows: WindowRows) -> bytes:
    try:
        return encode_json(_gap(found) if isinstance(found, Gap) else _row(found))
    except RecursionError:
        return encode_json(_gap(rows.leave_out()))


def _head(heading: Heading) -> dict[str, object]:
    chat, window = heading.chat, heading.window
    return {
        "format": FORMAT,
        "version": VERSION,
        "exported": _time(heading.exported),
        "chat": {"title": chat.title, "created": _time(chat.created), "model": chat.model},
        "window": _present(
            id=window.id,
            number=window.number,
            kind=window.kind,
            opened=_time(window.opened),
            closed=_time(window.closed),
            tokens=window.tokens,
            is_active=window.is_active or None,
            is_above_floor=window.is_above_floor or None,
        ),
    }


def _gap(gap: Gap) -> dict[str, object]:
    return {"left_out": _present(damaged=gap.damaged or None, oversized_bytes=gap.oversized_bytes or None)}


def _row(row: Row) -> dict[str, object]:
    error = _present(kind=row.error.kind, detail=row.error.detail or None) if row.error is not None else None
    usage = row.usage
    return _present(
        id=row.id,
        seq=row.seq,
        role=row.role,
        kind=row.kind,
        created=_time(row.created),
        model=f"{row.request.provider}/{row.request.model}" if row.request is not None else row.model,
        flags=list(row.flags) or None,
        usage=_present(**{name: getattr(usage, name) for name in type(usage).model_fields}) if usage else None,
        error=error,
        parts=[_part(part) for part in row.parts],
    )


def _part(part: Part) -> dict[str, object]:
    match part:
        case TextPart() | ReasoningPart():
            return _present(type=part.type, text=part.text, is_cut=part.blob is not None or None)
        case ToolPart():
            is_cut = part.input_blob is not None or part.output_blob is not None
            return _present(
                type="tool",
                name=part.name,
                state=part.state,
                input=part.input,
                output=part.output,
                is_cut=is_cut or None,
            )
        case MediaPart():
            return _present(
                type="file",
                name=part.name,
                media_type=part.media_type,
                bytes=part.bytes,
                width=part.width,
                height=part.height,
                pages=part.pages,
                sha256=part.blob.sha256,
            )
        case _:
            return {"type": "unknown", "name": part.type}


def _present(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


def _time(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment is not None else None
