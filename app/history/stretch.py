"""Stretches of history for whoever shows it: around any place in it, and their older and newer neighbours.

Edges hold their places also when rows move from the active file to the archive meanwhile.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from app.history.reader import DamagedEntry, Entry, HistoryReader, Page, Position
from app.history.scanner import Caps

AROUND_ROWS: Final = 60
"""Rows on each side of a place that is jumped to: some screens full, so that it is there at once."""
_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Edge:
    """A place between two lines beyond which history goes on; `offset` bytes of the whole history lie before it."""

    position: Position
    offset: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring entries, oldest first. `older` and `newer` are None at either end of the history."""

    entries: tuple[Entry, ...]
    older: Edge | None
    newer: Edge | None
    archive_bytes: int = 0
    """The archive's share of the history, which lies before the active file."""

    def offset_of(self, entry: Entry) -> int:
        """Return how many bytes of the whole history lie before one of the entries."""
        return entry.offset + (0 if entry.file == "archive" else self.archive_bytes)


def read_older(reader: HistoryReader, end: Edge | None) -> Stretch:
    """Return the page that ends at `end`, None for the newest. Raises StorageError."""

    def read() -> Stretch:
        page = reader.page_backward(None if end is None else _position(reader, end))
        entries = page.entries
        if not page.exhausted and page.next.file == "archive" and len(entries) < AROUND_ROWS:
            # The active file may hold no more than a boundary: a page ends there, what is shown doesn't.
            page = reader.page_backward(page.next)
            entries = page.entries + entries
        return Stretch(entries, _edge(reader, page), end)

    return _settled(reader, read)


def read_newer(reader: HistoryReader, start: Edge) -> Stretch:
    """Return the page that begins at `start`. Raises StorageError."""

    def read() -> Stretch:
        page = reader.page_forward(_position(reader, start))
        return Stretch(page.entries, start, _edge(reader, page))

    return _settled(reader, read)


def read_around(reader: HistoryReader, offset: int) -> Stretch:
    """Return what lies around the line that begins `offset` bytes into the history. Raises StorageError."""
    caps = Caps(page_rows=AROUND_ROWS)

    def read() -> Stretch:
        place = _batch_start(reader, reader.position_of(offset))
        before = reader.page_backward(place, caps=caps)
        after = reader.page_forward(place, caps=caps)
        return Stretch(before.entries + after.entries, _edge(reader, before), _edge(reader, after))

    return _settled(reader, read)


def _settled(reader: HistoryReader, read: Callable[[], Stretch]) -> Stretch:
    """Read once more if rows moved to the archive meanwhile: positions and offsets would be of different moments."""
    for _ in range(_TRIES):
        before = _archive_bytes(reader)
        stretch = read()
        if _archive_bytes(reader) == before:
            break
    return replace(stretch, archive_bytes=before)


def _archive_bytes(reader: HistoryReader) -> int:
    return reader.offset_of(Position("chat", 0))


def _edge(reader: HistoryReader, page: Page) -> Edge | None:
    return None if page.exhausted else Edge(page.next, reader.offset_of(page.next))


def _position(reader: HistoryReader, edge: Edge) -> Position:
    """Return the position of an edge, looked for anew if its rows have moved."""
    return edge.position if reader.offset_of(edge.position) == edge.offset else reader.position_of(edge.offset)


def _batch_start(reader: HistoryReader, place: Position) -> Position:
    """Return `place`, or the begin of the batch that it would cut in two: neither half would count.

    The first half reads as damage. Real damage before `place` is stepped over too, which does no harm.
    """
    before = reader.page_backward(place, caps=Caps(page_rows=1)).entries
    last = before[-1] if before else None
    if isinstance(last, DamagedEntry) and last.file == place.file and not last.is_oversized:
        return Position(last.file, last.offset)
    return place
