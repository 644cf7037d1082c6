"""Hits of a literal search in one row: its leaves in blobs included, each with its place in the item's text.

See context-windows.md, 7.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.domain.rows import Blob, Row
from app.domain.windows import SESSION_HISTORY, Filters, View
from app.history.blobs import Blobs
from app.history.item_text import LeafReader, blobs_of, pieces
from app.history.literal import LiteralQuery

SNIPPET_CHARS: Final = 500
_BEFORE_HIT: Final = 160
_BREAKS: Final = dict.fromkeys(map(ord, "\n\r\v\f\x85\u2028\u2029"), " ")
_HAS_BLOB: Final = r'blob"\s*:'


@dataclass(frozen=True, slots=True)
class TextHit:
    """A hit: its surroundings, where in them it stands, and where in the item's text; all in characters."""

    snippet: str
    start: int
    length: int
    offset_chars: int


class RowSearch:
    """A query made ready for rows of one chat and one reader."""

    def __init__(self, query: str, blobs: Blobs, *, view: View, filters: Filters) -> None:
        self._query = LiteralQuery(query)
        self._needle = self._query.needle(also=_HAS_BLOB)
        self._blobs = blobs
        self._omits_history = view is View.AGENT
        self._searches_history = filters.tool_name == SESSION_HISTORY

    def may_match(self, data: bytes) -> bool:
        """Whether a row in `data`, one line or many, may have a hit; False is certain."""
        return self._needle.may_match(data)

    def blob_bytes(self, row: Row) -> int:
        """Return how much has to be read besides the row."""
        return sum(self._blobs.size(blob.sha256) for blob in blobs_of(row))

    def hits(self, row: Row, line: bytes) -> tuple[Iterator[TextHit], int]:
        """Return the hits of a row in the order of its text, and how many of its texts could not be read."""
        leaves = LeafReader(self._blobs)
        # Each is read, so that what is missing is counted.
        said_apart = [blob for blob in blobs_of(row) if self._may_say(blob, leaves.data(blob))]
        if not said_apart and not self._query.may_match(line):
            return iter(()), leaves.missing
        return self._hits(row, leaves), leaves.missing

    def _may_say(self, blob: Blob, data: bytes | None) -> bool:
        if data is None:
            return False
        # What isn't said to be text is mostly JSON.
        return self._query.may_stand_in(data) or (blob.chars is None and self._query.may_match(data))

    def _hits(self, row: Row, leaves: LeafReader) -> Iterator[TextHit]:
        at = 0
        for piece in pieces(row, leaves, omits_history=self._omits_history):
            if piece.is_leaf and (piece.tool != SESSION_HISTORY or self._searches_history):
                for start, end in self._query.spans(piece.text):
                    yield _hit(piece.text, start, end, at)
            at += len(piece.text)


def _hit(text: str, start: int, end: int, before: int) -> TextHit:
    begin = max(0, start - _BEFORE_HIT)
    snippet = text[begin : begin + SNIPPET_CHARS].translate(_BREAKS)
    first = start - begin
    return TextHit(snippet, first, min(end - start, len(snippet) - first), before + start)
