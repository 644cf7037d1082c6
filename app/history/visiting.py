"""One page of a listing or a search: which of its rows are looked at, and where the next page goes on.

No row is cut out of a page, or decoded, that its bytes have excluded. See context-windows.md, 6.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from app.domain.rows import Row
from app.domain.windows import Filters, HistoryItem, Mark, Skipped
from app.history.codec import Damage, decode_line
from app.history.listing import is_wanted, item_of
from app.history.reach import Opened, Reach
from app.history.scanner import Caps, LongLine
from app.history.snapshot import Snapshot
from app.history.stretch_page import Place, StretchPage, anchored, check_mark, next_mark, read_page
from app.history.whole_batches import WholeBatches

NOTHING_SKIPPED: Final = Skipped()


class Candidate(NamedTuple):
    """A row that may be seen and is wanted, its line, and where that begins in the stretch."""

    row: Row
    line: bytes
    offset: int
    hits: int
    """How many of its hits an earlier page gave."""


class Stop(NamedTuple):
    """The page ends at this row: behind it, or before it if it has to be looked at again."""

    again: bool = False
    hits: int = 0


Take = Callable[[Candidate], Stop | None]


@dataclass(frozen=True, slots=True)
class Order:
    """What is looked for, and which way."""

    filters: Filters
    backward: bool
    caps: Caps
    may_match: Callable[[bytes], bool]
    """Whether lines, one or many, may hold what is looked for; False is certain."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What a page came to. `next` is None if there is nothing more."""

    next: Mark | None
    bytes_read: int
    rows: int
    skipped: Skipped = NOTHING_SKIPPED
    is_waiting: bool = False
    """What may be seen isn't known yet; all that was read was read to find that out."""


def visit_page(snapshot: Snapshot, reach: Reach, place: Place, mark: Mark | None, *, order: Order, take: Take) -> Piece:
    """Read one page and hand its rows to `take`, one after another, until it says stop. Raises OSError."""
    page = read_page(snapshot, place, mark, backward=order.backward, caps=order.caps)
    if not order.may_match(page.raw.data):
        skipped = Skipped(oversized=sum(1 for _ in page.raw.long_lines()))
        return _whole(page, place, snapshot, mark, skipped)
    batches = WholeBatches(page.file)
    skipped = Skipped()
    for rows, line in enumerate(page.raw.lines(backward=order.backward), 1):
        if isinstance(line, LongLine):
            skipped += Skipped(oversized=1)
            continue
        if not order.may_match(line.data):
            continue
        row = decode_line(line.data)
        offset = page.offset_of(line)
        if isinstance(row, Damage):
            skipped += Skipped(damaged=1)
            continue
        if not reach.sees(row, offset) or not is_wanted(row, order.filters):
            continue
        if not batches.holds(row, line):
            skipped += Skipped(damaged=1)
            continue
        given = mark.hits if mark is not None and mark.offset == page.before(line) else 0
        stop = take(Candidate(row, line.data, offset, given))
        if stop is not None:
            at = page.before(line) if stop.again else page.behind(line)
            read, visited = page.bytes_to(at), rows - stop.again
            if not stop.again and at == (place.begin if order.backward else place.end):
                return Piece(None, read, visited, skipped)
            following = Mark(snapshot.epoch, at, stop.hits)
            return Piece(anchored(following, page, line, mark), read, visited, skipped)
    return _whole(page, place, snapshot, mark, skipped)


def _whole(page: StretchPage, place: Place, snapshot: Snapshot, mark: Mark | None, skipped: Skipped) -> Piece:
    following = next_mark(page, place, snapshot.epoch, mark)
    return Piece(following, page.raw.bytes_read, page.raw.rows, skipped)


def read_piece(opened: Opened, mark: Mark | None, order: Order, take: Take) -> tuple[Piece, Place]:
    """Read one page of what may be read, and say how much that is."""
    snapshot, reach = opened.snapshot, opened.reach
    if mark is not None:
        check_mark(mark, snapshot)
    if reach is None:
        waiting = mark or Mark(snapshot.epoch, snapshot.size if order.backward else 0)
        return Piece(waiting, opened.bytes_read, 0, is_waiting=True), Place(0, snapshot.size)
    place = reach.place(order.filters.window_id)
    if place.begin == place.end:
        return Piece(None, 0, 0), place
    return visit_page(snapshot, reach, place, mark, order=order, take=take), place


def item_from(candidate: Candidate, opened: Opened, *, session: str) -> HistoryItem:
    """Return what is listed of a row that was found."""
    assert opened.reach is not None
    return item_of(candidate.row, candidate.line, candidate.offset, opened.reach, session=session)
