"""Searching rows for a text, whatever its case: first in the bytes of lines, then in what the rows say.

The search in bytes never misses, and seldom calls for a row in vain; only rows it has let through need
decoding. A hit is only what `spans` says. See context-windows.md, 6 and 7.
"""

from collections.abc import Iterator
from typing import Final

from app.domain.text import clean_text
from app.history.codec import encode_json
from app.history.folding import fold, variants
from app.history.needles import BytePattern, Needle, one_of

CHUNK_CHARS: Final = 256 * 1024
"""A long text is looked through in pieces, so that other threads get their turn."""
_NEEDLE_CHARS: Final = 64
"""So much of a query tells nearly all lines apart."""
_RARE_CHARS: Final = 3
_LOOKED_AT: Final = 1_024
"""Where in a query its rarest characters are looked for."""
_FREQUENT: Final = " etaoinsrhldcum"
"""What texts are full of; a needle that begins with it is found slowly."""


class LiteralQuery:
    """A text to look for, made ready once. Raises ValueError if there is no text."""

    def __init__(self, text: str) -> None:
        if not text:
            raise ValueError("a query needs text")
        self.text: Final = clean_text(text)
        self._folded: Final = fold(self.text)
        self._needle: Final = _needle_in(self._folded)
        self._in_json: Final = self.needle()
        self._in_text: Final = BytePattern(_pattern(self._needle, in_json=False))

    def may_match(self, data: bytes) -> bool:
        """Whether a row in `data`, one line or many, may say the query; False is certain."""
        return self._in_json.may_match(data)

    def needle(self, *, also: str = "") -> Needle:
        """Return a needle for rows that may say the query, or match `also`."""
        return Needle(_pattern(self._needle, in_json=True), says_slash="/" in self._needle, also=also)

    def may_stand_in(self, data: bytes) -> bool:
        """Whether the plain text in `data` may say the query; False is certain."""
        return self._in_text.may_match(data)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield begin and end of every hit in `text`, in characters; none overlaps another."""
        size = len(self._folded)
        behind = 0
        for first in range(0, len(text), CHUNK_CHARS):
            folded = fold(text[first : first + CHUNK_CHARS + size - 1])
            start = folded.find(self._folded, max(0, behind - first))
            while start >= 0:
                behind = first + start + size
                yield first + start, behind
                start = folded.find(self._folded, start + size)


def _needle_in(folded: str) -> str:
    """Return a piece of a query that begins with what is rare."""
    starts = range(max(1, min(len(folded), _LOOKED_AT) - _RARE_CHARS + 1))
    start = min(starts, key=lambda at: sum(char in _FREQUENT for char in folded[at : at + _RARE_CHARS]))
    return folded[start : start + _NEEDLE_CHARS]


def _pattern(folded: str, *, in_json: bool) -> str:
    return "".join(one_of(_forms(char, in_json=in_json)) for char in folded)


def _forms(char: str, *, in_json: bool) -> list[str]:
    """Return every case of a character, as it stands in a row or in a text."""
    return [encode_json(case)[1:-1].decode() if in_json else case for case in variants(char)]
