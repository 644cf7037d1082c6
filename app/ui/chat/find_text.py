"""Where a text stands in what is shown, with upper and lower case as the search in the history takes them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.domain.text import utf16_units
from app.history.folding import fold
from app.ui.chat.transcript_model import RowKey

MAX_SPANS: Final = 2_000
"""In one block: more can't be told from each other."""


@dataclass(slots=True)
class Finding:
    """What is looked for, as `fold` makes it, and which of the places it was found at is meant."""

    text: str
    item: int = -1
    """The order of the item that is meant."""
    key: RowKey | None = None
    span: tuple[int, int] = (0, 0)


def count(text: str, folded: str) -> int:
    """Return how often a folded text stands in another, without overlaps."""
    return fold(text).count(folded)


def spans(text: str, folded: str) -> tuple[tuple[int, int], ...]:
    """Return where a folded text stands: from and to, in UTF-16 units as Qt counts them."""
    found = list(_spans(fold(text), folded))
    if not found or text.isascii() or max(text) <= "\uffff":
        return tuple(found)
    made = []
    at = units = 0
    for start, end in found:
        first = units + utf16_units(text[at:start])
        at, units = end, first + utf16_units(text[start:end])
        made.append((first, units))
    return tuple(made)


def _spans(text: str, folded: str) -> Iterator[tuple[int, int]]:
    start = text.find(folded)
    for _ in range(MAX_SPANS):
        if start < 0:
            return
        end = start + len(folded)
        yield start, end
        start = text.find(folded, end)
