"""One line that says what an item is about: of its text, else of its calls, else of its files."""

from typing import Final

from app.domain.rows import MediaPart, Row, TextPart, ToolPart
from app.domain.text import is_blank, one_line
from app.history.item_text import name_of_file

PREVIEW_CHARS: Final = 200
_LOOKED_AT: Final = 2_000
"""Characters of a text in which the words for a preview are looked for."""


def preview_of(row: Row) -> str:
    """Return one line of at most 200 characters; empty if the row says nothing."""
    texts = [part.text[:_LOOKED_AT] for part in row.parts if isinstance(part, TextPart)]
    words = " ".join(" ".join(text.split()) for text in texts if not is_blank(text))
    if not words:
        words = ", ".join(f"{part.name} ({part.state})" for part in row.parts if isinstance(part, ToolPart))
    if not words:
        words = " ".join(name_of_file(part) for part in row.parts if isinstance(part, MediaPart))
    return _shortened(one_line(words, most_chars=max(1, len(words))))


def _shortened(line: str) -> str:
    if len(line) <= PREVIEW_CHARS:
        return line
    cut = line[: PREVIEW_CHARS - 1]
    at_word = line.rfind(" ", 0, PREVIEW_CHARS)
    return (cut[:at_word] if at_word > PREVIEW_CHARS // 2 else cut).rstrip() + "…"
