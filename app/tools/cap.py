"""How large an answer may be, and how much of a text fits into one. See context-windows.md, 7."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from app.budget.requests import TextCounter
from app.domain.errors import KnownError
from app.domain.text import clean_text
from app.tools.base import ToolContext

MAX_RESULT_BYTES: Final = 16_384
LIMIT_SHARE: Final = 8
"""An answer takes at most an eighth of the model's window."""

Answer = Mapping[str, object]


def rendered(answer: object) -> str:
    """Return an answer as the model gets it and as the row on disk has it."""
    return clean_text(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


@dataclass(frozen=True, slots=True)
class Cap:
    """What one answer may cost, its JSON and labels included. Counting takes time: off the event loop."""

    counter: TextCounter
    encoding: str
    factor: float
    max_tokens: int | None
    """None if nobody knows the model's limit."""
    max_bytes: int = MAX_RESULT_BYTES

    @classmethod
    def of(cls, context: ToolContext, counter: TextCounter) -> "Cap":
        """Return the cap for the model of a call."""
        max_tokens = None if context.limit is None else max(0, context.limit) // LIMIT_SHARE
        return cls(counter, context.encoding, context.factor, max_tokens)

    def holds(self, answer: object) -> bool:
        """Whether `answer` is small enough."""
        text = rendered(answer)
        size = len(text.encode("utf-8"))
        if size > self.max_bytes or self.max_tokens is None:
            return size <= self.max_bytes
        # No text has more tokens than bytes.
        return math.ceil(size * self.factor) <= self.max_tokens or self._tokens(text, size) <= self.max_tokens

    def _tokens(self, text: str, size: int) -> int:
        try:
            return math.ceil(self.counter.count_text(text, self.encoding) * self.factor)
        except KnownError:
            return max(size, math.ceil(size * self.factor))


def most_that_fits(most: int, fits: Callable[[int], bool]) -> int:
    """Return a large number from 0 to `most` that fits, the largest if what fits is a stretch from 0; -1 if none is.

    Tokens don't grow evenly with a text, so what is returned has been tried, and is not only computed.
    """
    if fits(most):
        return most
    best, low, high = -1, 0, most - 1
    while low <= high:
        middle = (low + high) // 2
        if fits(middle):
            best, low = middle, middle + 1
        else:
            high = middle - 1
    return best
