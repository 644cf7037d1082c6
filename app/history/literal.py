"""Searching rows for a text, whatever its case: first in the bytes of lines, then in what the rows say.

The search in bytes never misses, and seldom calls for a row in vain; only rows it has let through need
decoding. A hit is only what `find` says. See context-windows.md, 6 and 7.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from app.domain.rows import Row, TextPart, ToolPart
from app.domain.text import clean_text
from app.history.codec import encode_json
from app.history.folding import fold, fold_bytes, variants

MAX_HITS_PER_ROW: Final = 100
_MOST_ODD_FORMS: Final = 6
"""Each costs a look at all bytes; a part of the query with fewer is as good a needle."""
_UNSURE: Final = "\ufffd"
"""Stands in a decoded text for bytes that could have been anything."""
_FOREIGN_ESCAPE: Final = re.compile(rb"\\u(?!00(?:0[0-7bef]|1[0-9a-f]))")
_FOREIGN_SLASH: Final = re.compile(rb"\\/")
"""Both are escapes that `encode_row` never writes, if the backslash isn't itself escaped."""

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
    """Where a query stands in a leaf: from `start` to before `end`, in UTF-16 units."""

    leaf: Leaf
    start: int
    end: int


class LiteralQuery:
    """A text to look for, made ready once. Raises ValueError if there is no text."""

    def __init__(self, text: str) -> None:
        if not text:
            raise ValueError("a query needs text")
        self.text: Final = clean_text(text)
        self._folded: Final = fold(self.text)
        self._needle, self._odd_forms = _best_needle(self._folded)

    def may_match(self, data: bytes, *, canonical: bool = False) -> bool:
        """Whether a row in `data`, one line or many, may say the query; False is certain.

        `canonical`: all of it is known to have been written by `encode_row`, so that no escapes of
        other programs need be looked for, which takes as long as the rest.
        """
        if not self._needle:
            return True
        if self._needle.isascii():
            if self._needle in data.lower():
                return True
        elif not data.isascii() and self._needle in fold_bytes(data):
            return True
        if not data.isascii() and any(_holds(data, form) for form in self._odd_forms):
            return True
        return not canonical and self._has_foreign_escape(data)

    def find(self, row: Row, *, limit: int = MAX_HITS_PER_ROW) -> tuple[Hit, ...]:
        """Return at most `limit` hits that don't overlap, in the order of the row."""
        hits: list[Hit] = []
        for leaf in leaves(row):
            for hit in self._hits(leaf):
                if len(hits) >= limit:
                    return tuple(hits)
                hits.append(hit)
        return tuple(hits)

    def _hits(self, leaf: Leaf) -> Iterator[Hit]:
        units = 0
        at = 0
        for start, end in self._spans(leaf.text):
            first = units + _utf16_units(leaf.text[at:start])
            units = first + _utf16_units(leaf.text[start:end])
            at = end
            yield Hit(leaf, first, units)

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        folded = fold(text)
        start = folded.find(self._folded)
        while start >= 0:
            end = start + len(self._folded)
            yield start, end
            start = folded.find(self._folded, end)

    def _has_foreign_escape(self, data: bytes) -> bool:
        patterns = (_FOREIGN_ESCAPE, _FOREIGN_SLASH) if "/" in self.text else (_FOREIGN_ESCAPE,)
        return any(_is_unescaped(data, found.start()) for pattern in patterns for found in pattern.finditer(data))


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


def _best_needle(folded: str) -> tuple[bytes, tuple[bytes, ...]]:
    """Return folded bytes that a row with the query holds, unless it holds one of the odd forms as they are.

    An odd form is a character of the needle in a case whose bytes don't fold to the needle's.
    """
    needle, odd = b"", frozenset[bytes]()
    longest, its_odd = needle, odd
    for char in folded:
        form, odd_of_char = _byte_forms(char)
        if char == _UNSURE:
            needle, odd = b"", frozenset()
            continue
        if len(odd | odd_of_char) > _MOST_ODD_FORMS:
            needle, odd = b"", frozenset()
        needle, odd = needle + form, odd | odd_of_char
        if len(needle) > len(longest):
            longest, its_odd = needle, odd
    return longest, tuple(sorted(its_odd))


def _byte_forms(char: str) -> tuple[bytes, frozenset[bytes]]:
    form = fold_bytes(encode_json(char)[1:-1])
    others = (other.encode("utf-8") for other in variants(char) if not other.isascii())
    return form, frozenset(other for other in others if fold_bytes(other) != form)


def _holds(data: bytes, form: bytes) -> bool:
    # Looking for one byte is many times faster than for several, and one is mostly missing.
    return all(byte in data for byte in form) and form in data


def _is_unescaped(data: bytes, at: int) -> bool:
    before = at
    while before and data[before - 1] == 0x5C:
        before -= 1
    return (at - before) % 2 == 0


def _utf16_units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
