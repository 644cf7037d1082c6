"""Every text of a row, walked by hand, and the hits of a query in them: what the tests of a search compare with."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from app.domain.rows import Row, TextPart, ToolPart
from app.history.literal import LiteralQuery

MAX_HITS_PER_ROW: Final = 100
Place = Literal["text", "input", "output"]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A text of a row: the position of its part, where in that part it is, and its number among the texts there."""

    part: int
    place: Place
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a query stands in a leaf: from `start` to before `end`, in characters (code points)."""

    leaf: Leaf
    start: int
    end: int


def find(query: LiteralQuery, row: Row, *, limit: int = MAX_HITS_PER_ROW) -> tuple[Hit, ...]:
    """Return at most `limit` hits that don't overlap, in the order of the row."""
    hits: list[Hit] = []
    for leaf in leaves(row):
        for start, end in query.spans(leaf.text):
            if len(hits) >= limit:
                return tuple(hits)
            hits.append(Hit(leaf, start, end))
    return tuple(hits)


def leaves(row: Row) -> Iterator[Leaf]:
    """Yield what of a row is searched: its texts, and every string in what tools were given and gave back.

    Names of fields aren't, nor is reasoning.
    """
    for position, part in enumerate(row.parts):
        if isinstance(part, TextPart):
            yield Leaf(position, "text", 0, part.text)
        elif isinstance(part, ToolPart):
            for number, text in enumerate(_strings(part.input)):
                yield Leaf(position, "input", number, text)
            for number, text in enumerate(_strings(part.output)):
                yield Leaf(position, "output", number, text)


def _strings(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting.extend(reversed(item.values()))
        elif isinstance(item, list | tuple):
            waiting.extend(reversed(item))
