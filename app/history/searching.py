"""Hits of a literal search in a row: its leaves in blobs included, each with its place in the item's text.

See context-windows.md, 7.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from app.domain.rows import Blob, Row
from app.domain.text import utf16_units
from app.domain.windows import SESSION_HISTORY, Filters, HistoryItem, SearchHit, View
from app.history.blobs import Blobs
from app.history.item_text import LeafReader, blobs_of, pieces
from app.history.literal import LiteralQuery
from app.history.needles import in_pieces
from app.history.scanner import MAX_PAGE_BYTES
from app.history.visiting import Candidate, Stop

SNIPPET_CHARS: Final = 500
_BEFORE_HIT: Final = 160
_BREAKS: Final = dict.fromkeys(map(ord, "\n\r\v\f\x85\u2028\u2029"), " ")
_HAS_BLOB: Final = r'blob"\s*:'


@dataclass(frozen=True, slots=True)
class TextHit:
    """A hit: its surroundings, where in them it stands, and where in the item's text; see `SearchHit`."""

    snippet: str
    start: int
    length: int
    offset_chars: int
    length_chars: int


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
        return any(
            self._query.may_stand_in(piece) or (blob.chars is None and self._query.may_match(piece))
            for piece in in_pieces(data)
        )

    def _hits(self, row: Row, leaves: LeafReader) -> Iterator[TextHit]:
        at = 0
        for piece in pieces(row, leaves, omits_history=self._omits_history):
            if piece.is_leaf and (piece.tool != SESSION_HISTORY or self._searches_history):
                units, seen = at, 0
                for start, end in self._query.spans(piece.text):
                    units, seen = units + utf16_units(piece.text[seen:start]), start
                    yield _hit(piece.text, start, end, units)
            at += utf16_units(piece.text)


class HitCollector:
    """Takes the hits of one page, at most `limit`, and at most one text in a blob that is over the page's cap."""

    def __init__(self, search: RowSearch, *, limit: int, to_item: Callable[[Candidate], HistoryItem]) -> None:
        self._search = search
        self._limit = limit
        self._to_item = to_item
        self.hits: list[SearchHit] = []
        self.blob_bytes = 0
        self.blob_bytes_new = 0
        """Of them, those that no page before this one has searched."""
        self.blobs_missing = 0

    def take(self, candidate: Candidate) -> Stop | None:
        """Take the hits of one row; see `visiting.Take`."""
        apart = self._search.blob_bytes(candidate.row)
        if apart and self.blob_bytes and self.blob_bytes + apart > MAX_PAGE_BYTES:
            return Stop(again=True, hits=candidate.hits)
        hits, missing = self._search.hits(candidate.row, candidate.line)
        self.blob_bytes += apart
        self.blob_bytes_new += 0 if candidate.hits else apart
        room = self._limit - len(self.hits)
        given = list(islice(hits, candidate.hits, candidate.hits + room + 1))
        if given:
            item = self._to_item(candidate)
            self.hits += [_search_hit(item, hit) for hit in given[:room]]
        if len(given) > room:
            return Stop(again=True, hits=candidate.hits + room)
        self.blobs_missing += missing
        return Stop() if len(self.hits) >= self._limit else None


def _search_hit(item: HistoryItem, hit: TextHit) -> SearchHit:
    return SearchHit(item, hit.snippet, hit.start, hit.length, hit.offset_chars, hit.length_chars)


def _hit(text: str, start: int, end: int, units: int) -> TextHit:
    """Return the hit from `start` to before `end` of a leaf, `units` behind the begin of the item's text."""
    begin = max(0, start - _BEFORE_HIT)
    snippet = text[begin : begin + SNIPPET_CHARS].translate(_BREAKS)
    first = start - begin
    return TextHit(snippet, first, min(end - start, len(snippet) - first), units, utf16_units(text[start:end]))
