"""What a request costs in tokens, and how long its reply may be. See context-windows.md, 8 and 11.

Counted from the parts as they are; the wire form of each provider comes with the ladder.
"""

import json
import math
from typing import Final, Protocol

from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import MediaPart, Part, ReasoningPart, TextPart, ToolPart

FRAME_TOKENS: Final = 8
"""What a message costs beside its content."""
PICTURE_PIXELS_A_TOKEN: Final = 750
"""Anthropic's formula: width times height by 750."""
MOST_PICTURE_TOKENS: Final = 1_600
UNKNOWN_PICTURE_TOKENS: Final = 1_024
PDF_PAGE_TOKENS: Final = 3_000
PDF_PAGE_BYTES: Final = 20_480
"""A PDF of unknown length is taken to have a page for so many bytes."""
MOST_UNKNOWN_PAGES: Final = 100


class TextCounter(Protocol):
    """Counts texts in tokens of a vocabulary."""

    def count_text(self, text: str, encoding: str) -> int:
        """Return how many tokens of `encoding` make up `text`. Raises KnownError."""
        ...


def fit_output(request: ModelRequest, card: ModelCard, counter: TextCounter) -> int | None:
    """Return `max_tokens` for `request`: what the model may write, and what its window has left for it.

    That is min(model maximum, limit - number - number // 50); with an unknown limit the model's maximum,
    None if that is unknown too. A request that leaves no room gets 1 and the provider's own answer.
    Counts only if the request could be too long. Raises KnownError if the vocabulary is damaged.
    """
    if card.limit is None:
        return card.max_output
    wanted = card.max_output if card.max_output is not None else card.limit
    if _room(card.limit, _count(request, _bytes_of)) >= wanted:
        return wanted

    def count(text: str) -> int:
        return math.ceil(counter.count_text(text, card.encoding) * card.factor)

    return max(1, min(wanted, _room(card.limit, _count(request, count))))


def picture_tokens(width: int | None, height: int | None) -> int:
    """Return what a picture of so many pixels costs."""
    if not width or not height:
        return UNKNOWN_PICTURE_TOKENS
    return min(MOST_PICTURE_TOKENS, math.ceil(width * height / PICTURE_PIXELS_A_TOKEN))


def pdf_tokens(pages: int | None, size_bytes: int) -> int:
    """Return what a PDF file costs."""
    if pages is None:
        pages = min(max(1, math.ceil(size_bytes / PDF_PAGE_BYTES)), MOST_UNKNOWN_PAGES)
    return pages * PDF_PAGE_TOKENS


def _room(limit: int, number: int) -> int:
    return limit - number - number // 50


def _bytes_of(text: str) -> int:
    """No text costs more tokens than it has bytes."""
    return len(text.encode("utf-8", "replace"))


class _Count(Protocol):
    def __call__(self, text: str, /) -> int: ...


def _count(request: ModelRequest, count: _Count) -> int:
    total = count(request.system)
    for tool in request.tools:
        total += count(json.dumps([tool.name, tool.description, dict(tool.input_schema)], ensure_ascii=False))
    for row in request.rows:
        total += FRAME_TOKENS + sum(_part_tokens(part, count) for part in row.parts)
    return total


def _part_tokens(part: Part, count: _Count) -> int:
    match part:
        case TextPart() | ReasoningPart():
            return count(part.text)
        case ToolPart():
            shown = json.dumps([part.call_id, part.name, part.input, part.output], ensure_ascii=False, default=str)
            return FRAME_TOKENS + count(shown)
        case MediaPart(media_type="application/pdf"):
            return pdf_tokens(part.pages, part.bytes)
        case MediaPart():
            return picture_tokens(part.width, part.height)
        case _:
            return 0
