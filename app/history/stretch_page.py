"""One bounded page of a stretch for a listing or a search: where it begins, what it holds, where the next goes on.

Positions here are bytes of the stretch, as marks have them. See context-windows.md, 6.
"""

from dataclasses import dataclass
from typing import Final

from app.domain.errors import HistoryChanged
from app.domain.windows import Mark
from app.history.item_ref import anchor_of
from app.history.scanner import Caps, InLongLine, Line, LongLine, RawPage, scan_backward, scan_forward
from app.history.snapshot import OpenFile, Snapshot

_PIECE_BYTES: Final = 16 * 1024
CHANGED: Final = "This chat was changed while it was read."


@dataclass(frozen=True, slots=True)
class Place:
    """What may be read: from `begin` to before `end`, both between lines."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class StretchPage:
    """A page that lies within one of the two files."""

    raw: RawPage
    file: OpenFile
    start: int
    """Where reading began: its begin, newest first its end."""
    backward: bool

    def bytes_to(self, offset: int) -> int:
        """Return how much was read from the start of the page to `offset`."""
        return abs(offset - self.start)

    def offset_of(self, line: Line | LongLine) -> int:
        """Return where a line begins."""
        return self.file.start + line.offset

    def behind(self, line: Line) -> int:
        """Return where to go on once `line` is done with."""
        return self.offset_of(line) if self.backward else self._end_of(line)

    def before(self, line: Line) -> int:
        """Return where to go on if `line` is to be read again."""
        return self._end_of(line) if self.backward else self.offset_of(line)

    def last_line(self) -> Line | None:
        """Return the line read last, if it can be compared at the next use."""
        last = next(self.raw.lines(backward=not self.backward), None)
        return last if isinstance(last, Line) else None

    def _end_of(self, line: Line) -> int:
        return min(self.file.start + line.offset + len(line.data) + 1, self.file.end)


def start_of(mark: Mark | None, place: Place, *, backward: bool) -> int:
    """Return where to read on; a mark may lie outside of what may be read by now."""
    if mark is None:
        return place.end if backward else place.begin
    return min(max(mark.offset, place.begin), place.end)


def read_page(snapshot: Snapshot, place: Place, mark: Mark | None, *, backward: bool, caps: Caps) -> StretchPage:
    """Read one page. Raises OSError."""
    start = start_of(mark, place, backward=backward)
    file = snapshot.file_at(start - 1 if backward and start > 0 else start)
    inside = None
    if mark is not None and mark.inside_edge is not None and mark.offset == start:
        inside = InLongLine(mark.inside_edge - file.start, mark.inside_is_boundary)
    local = start - file.start
    begin, end = max(place.begin - file.start, 0), min(place.end - file.start, file.size)
    if file.descriptor is None:
        raw = RawPage(b"", local, 0, local, 0, exhausted=True)
    elif backward:
        raw = scan_backward(file.descriptor, min(local, file.size), begin=begin, caps=caps, inside=inside)
    else:
        raw = scan_forward(file.descriptor, local, end, caps=caps, inside=inside)
    return StretchPage(raw, file, start, backward)


def next_mark(page: StretchPage, place: Place, epoch: str, previous: Mark | None) -> Mark | None:
    """Return the mark behind a whole page, None if there is nothing more to be read."""
    offset = page.file.start + page.raw.next
    inside = page.raw.inside
    if page.raw.exhausted and page.backward:
        offset = page.file.start
    elif page.raw.exhausted:
        offset = page.file.end
    if inside is None and (offset <= place.begin if page.backward else offset >= place.end):
        return None
    return anchored(
        Mark(
            epoch,
            offset,
            inside_edge=page.file.start + inside.edge if inside is not None else None,
            inside_is_boundary=inside.maybe_boundary if inside is not None else False,
        ),
        page,
        page.last_line(),
        previous,
    )


def anchored(mark: Mark, page: StretchPage, line: Line | None, previous: Mark | None) -> Mark:
    """Return `mark` with the row it has come to; of the mark before it, if the page has none."""
    if line is not None:
        anchor, offset = anchor_of(line.data), page.offset_of(line)
    elif previous is not None:
        anchor, offset = previous.anchor, previous.anchor_offset
    else:
        return mark
    return Mark(mark.epoch, mark.offset, mark.hits, mark.inside_edge, mark.inside_is_boundary, anchor, offset)


def check_mark(mark: Mark, snapshot: Snapshot) -> None:
    """Raise HistoryChanged if what lay before `mark` is no longer there. Raises OSError."""
    if mark.epoch != snapshot.epoch or mark.offset > snapshot.size:
        raise HistoryChanged(CHANGED)
    if mark.anchor:
        line = line_at(snapshot, mark.anchor_offset)
        if line is None or anchor_of(line.data) != mark.anchor:
            raise HistoryChanged(CHANGED)


def line_at(snapshot: Snapshot, offset: int, *, most_bytes: int = Caps().line_bytes) -> Line | None:
    """Return the line that begins at `offset`, None if none begins there or it is over the cap. Raises OSError."""
    file = snapshot.file_at(offset)
    if not file.start <= offset < file.end:
        return None
    if offset > file.start and file.read(1, offset - 1) != b"\n":
        return None
    data = b""
    size = _PIECE_BYTES
    while True:
        data = file.read(size, offset)
        stop = data.find(b"\n")
        if stop >= 0 or len(data) < size:
            data = data[:stop] if stop >= 0 else data
            return Line(offset - file.start, data) if 0 < len(data) <= most_bytes else None
        if len(data) > most_bytes:
            return None
        size *= 8
