"""A context window as Markdown: for people to read, and for programs that read Markdown.

What was said stands there verbatim. What tools were given and gave back stands in fences that no text in them ends.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from app.domain.exports import ExportReport
from app.domain.rows import Flag, Kind, MediaPart, Part, ReasoningPart, Row, TextPart, ToolPart
from app.domain.text import clean_text, one_line
from app.exchange.window_rows import Gap, Heading, WindowRows
from app.history.codec import encode_json, parse_json

_TICKS: Final = re.compile(r"`+")
_DETAILS: Final = re.compile(r"</?(?:details|summary)", re.IGNORECASE)
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#|])")
_MOST_TITLE_CHARS: Final = 300
_WINDOW_WORDS: Final = {
    "first": "the beginning of the chat",
    "rollover": "begun by a context window rollover",
    "reset": "begun by a manual reset",
    "compaction": "begun by a summary",
    "unknown": "begun by an entry of another version, which counts as a manual reset",
}


def markdown_of(heading: Heading, rows: WindowRows) -> Iterator[str]:
    """Yield the window piece by piece; lone surrogates become U+FFFD."""
    yield clean_text(_head(heading))
    for found in rows:
        yield clean_text(_gap(found) if isinstance(found, Gap) else _message_or_gap(found, rows))
    yield clean_text(_end(rows.report))


def _head(heading: Heading) -> str:
    window = heading.window
    lines = [
        f"# {_plain(heading.chat.title or 'Chat')}",
        "",
        f"Context window {window.number}, {_WINDOW_WORDS[window.kind]}"
        + (", still open" if window.is_active else "")
        + f". Exported from Muntin on {_moment(heading.exported)}; times are those of this computer's time zone.",
        "",
    ]
    if window.is_above_floor:
        lines += ["This window lies before a manual reset: no model reads it any more.", ""]
    return "\n".join(lines)


def _message_or_gap(row: Row, rows: WindowRows) -> str:
    try:
        return _message(row)
    except RecursionError:
        return _gap(rows.leave_out())


def _message(row: Row) -> str:
    who = _who(row)
    when = f" · {_moment(row.created)}" if row.created is not None else ""
    pieces = [f"---\n\n## {who}{when}", *(_part(part) for part in row.parts), *_notes(row)]
    return "\n" + "\n\n".join(pieces) + "\n"


def _who(row: Row) -> str:
    if row.boundary is not None:
        return "Summary of what was before"
    if row.kind not in (Kind.MESSAGE, Kind.CONTINUE):
        return f"An entry of another version of Muntin ({_plain(row.kind)})"
    if row.role == "user":
        return "You"
    if row.request is None:
        return "Assistant"
    return f"Assistant ({_plain(f'{row.request.provider}/{row.request.model}')})"


def _part(part: Part) -> str:
    match part:
        case TextPart():
            return part.text
        case ReasoningPart():
            return _reasoning(part.text)
        case ToolPart():
            return _tool(part)
        case MediaPart():
            return f"**File:** {_code(part.name or part.media_type)}{_detail(part)}"
        case _:
            return f"*Something of another version of Muntin: {_plain(part.type)}.*"


def _reasoning(text: str) -> str:
    quoted = "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))
    if _DETAILS.search(text):
        # It would end the fold early.
        return f"**Reasoning**\n\n{quoted}"
    return f"<details>\n<summary>Reasoning</summary>\n\n{quoted}\n\n</details>"


def _tool(part: ToolPart) -> str:
    pieces = [f"**Tool:** {_code(part.name)}, {part.state}", _fenced(part.input)]
    if part.output is not None:
        pieces += ["Result:", _fenced(part.output)]
    return "\n\n".join(pieces)


def _fenced(value: object) -> str:
    text = value if isinstance(value, str) else encode_json(value).decode("utf-8")
    language = "" if isinstance(value, str) and not _is_json(text) else "json"
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _is_json(text: str) -> bool:
    return text[:1] in ("{", "[") and isinstance(parse_json(text.encode("utf-8", "replace")), dict | list)


def _detail(part: MediaPart) -> str:
    size = f"{part.bytes / 2**20:,.1f} MB" if part.bytes >= 100_000 else f"{max(part.bytes, 0) / 1024:,.1f} KB"
    if part.pages:
        return f", {part.pages} pages, {size}"
    if part.width and part.height:
        return f", {part.width} × {part.height} pixels, {size}"
    return f", {size}"


def _notes(row: Row) -> Iterator[str]:
    if Flag.REJECTED in row.flags:
        yield "*This message was not sent.*"
    if row.error is not None:
        detail = _plain(one_line(row.error.detail, most_chars=500)) or _plain(row.error.kind)
        yield f"*The reply failed: {detail}*"
    elif Flag.INTERRUPTED in row.flags:
        yield "*Interrupted here.*"


def _gap(gap: Gap) -> str:
    if gap.oversized_bytes:
        return f"\n---\n\n*1 entry of {gap.oversized_bytes / 2**20:,.1f} MB is too long to be read and left out.*\n"
    entries = "1 damaged entry is" if gap.damaged == 1 else f"{gap.damaged} damaged entries are"
    return f"\n---\n\n*{entries} left out.*\n"


def _end(report: ExportReport) -> str:
    if not report.rows:
        return "\n---\n\n*Nothing was said in this window.*\n"
    if report.missing:
        texts = "1 long text was" if report.missing == 1 else f"{report.missing} long texts were"
        return f"\n---\n\n*{texts} gone; only begin and end are in this file.*\n"
    return ""


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _plain(text: str) -> str:
    """Return `text` in one line in which nothing is Markdown."""
    return _SPECIAL.sub(r"\\\1", one_line(text, most_chars=_MOST_TITLE_CHARS))


def _code(name: str) -> str:
    line = one_line(name, most_chars=_MOST_TITLE_CHARS)
    longest = max((len(run) for run in _TICKS.findall(line)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {line} {ticks}" if longest else f"`{line}`"
