"""Bounded pages of lines from a history file: both directions, from any byte position.

The one reader of history files. It knows lines and byte positions, not rows; it parses nothing.
See context-windows.md, 6, and ADR-0004.
"""

from dataclasses import dataclass
from typing import Final

from app.disk import read_at
from app.history.codec import BOUNDARY_NEEDLE, MAX_LINE_BYTES

MAX_PAGE_BYTES: Final = 2 * 1024 * 1024
MAX_PAGE_ROWS: Final = 500
_CHUNK_BYTES: Final = 128 * 1024
"""A page of short lines ends at its row cap: it is read in pieces, so that little is read for nothing."""
_OVERLAP: Final = len(BOUNDARY_NEEDLE) - 1
"""Bytes looked at twice while a long line is passed over, so that a needle across two pages is seen."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of one page. A page holds at least one whole line of the permitted length."""

    page_bytes: int = MAX_PAGE_BYTES
    page_rows: int = MAX_PAGE_ROWS
    line_bytes: int = MAX_LINE_BYTES

    def __post_init__(self) -> None:
        if not 0 < self.line_bytes < self.page_bytes or self.page_rows < 1:
            raise ValueError("a page must hold a whole line and its line feed")


DEFAULT_CAPS: Final = Caps()


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its line feed, and where it begins in the file."""

    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line over the cap, passed over. `maybe_boundary`: the bytes of a boundary were seen in it."""

    offset: int
    length: int
    maybe_boundary: bool


@dataclass(frozen=True, slots=True)
class InLongLine:
    """The page ended inside a line over the cap; `edge` is where that line began (backward: ended)."""

    edge: int
    maybe_boundary: bool


@dataclass(frozen=True, slots=True)
class LinePage:
    """What one bounded read found, in the order it was read.

    `next` is where the next read in the same direction goes on; `inside` must be handed back with it.
    """

    lines: tuple[Line | LongLine, ...]
    next: int
    bytes_read: int
    exhausted: bool
    inside: InLongLine | None = None


def read_forward(
    descriptor: int,
    start: int,
    end: int,
    *,
    caps: Caps = DEFAULT_CAPS,
    inside: InLongLine | None = None,
) -> LinePage:
    """Return lines from byte `start` on, `start` being the begin of a line unless `inside` says otherwise.

    `end` is the size of the file as the reader knows it. A last line without a line feed is a line.
    Empty lines are passed over.
    """
    size = min(caps.page_bytes, end - start)
    if size <= 0:
        return LinePage((), start, 0, exhausted=True)
    if inside is not None:
        return _pass_over_forward(descriptor, start, end, caps, inside)
    data = _read_rows_forward(descriptor, start, size, caps.page_rows)
    reached_end = start + len(data) >= end
    finds: list[Line | LongLine] = []
    at = 0
    visited = 0
    while at < len(data) and visited < caps.page_rows:
        stop = data.find(b"\n", at)
        if stop < 0:
            if not reached_end and len(data) - at <= caps.line_bytes:
                return LinePage(tuple(finds), start + at, at, exhausted=False)
            if not reached_end:
                seen = data.find(BOUNDARY_NEEDLE, at) >= 0
                long = InLongLine(start + at, seen)
                return LinePage(tuple(finds), start + len(data), len(data), exhausted=False, inside=long)
            stop = len(data)
        if stop > at:
            finds.append(_line(data, start, at, stop, caps))
        visited += 1
        at = stop + 1
    following = min(start + at, start + len(data))
    return LinePage(tuple(finds), following, following - start, exhausted=reached_end and at >= len(data))


def _pass_over_forward(descriptor: int, start: int, end: int, caps: Caps, inside: InLongLine) -> LinePage:
    lead = min(_OVERLAP, start - inside.edge)
    data = read_at(descriptor, min(caps.page_bytes, end - start + lead), start - lead)
    stop = data.find(b"\n", lead)
    seen = inside.maybe_boundary or data.find(BOUNDARY_NEEDLE, 0, stop if stop >= 0 else len(data)) >= 0
    read = len(data) - lead
    if stop < 0 and start + read < end and read > 0:
        still = InLongLine(inside.edge, seen)
        return LinePage((), start + read, read, exhausted=False, inside=still)
    stop = stop if stop >= 0 else len(data)
    line_end = start - lead + stop
    long = LongLine(inside.edge, line_end - inside.edge, seen)
    following = min(line_end + 1, end)
    return LinePage((long,), following, read, exhausted=following >= end)


def read_backward(
    descriptor: int,
    end: int,
    *,
    caps: Caps = DEFAULT_CAPS,
    inside: InLongLine | None = None,
) -> LinePage:
    """Return lines that end at or before byte `end`, the nearest first.

    `end` is the end of a line (behind its line feed or at the end of the file) unless `inside` says
    otherwise. Empty lines are passed over.
    """
    start = max(0, end - caps.page_bytes)
    if end <= 0:
        return LinePage((), 0, 0, exhausted=True)
    if inside is not None:
        return _pass_over_backward(descriptor, start, end, inside)
    data = _read_rows_backward(descriptor, start, end, caps.page_rows)
    start = end - len(data)
    finds: list[Line | LongLine] = []
    stop = len(data) - 1 if data.endswith(b"\n") else len(data)
    visited = 0
    while stop >= 0 and visited < caps.page_rows:
        before = data.rfind(b"\n", 0, stop)
        if before < 0 and start > 0:
            behind = start + min(stop + 1, len(data))
            has_advanced = bool(finds) or behind < end
            if stop <= caps.line_bytes and has_advanced:
                return LinePage(tuple(finds), behind, end - behind, exhausted=False)
            long = InLongLine(start + stop, data.find(BOUNDARY_NEEDLE, 0, stop) >= 0)
            return LinePage(tuple(finds), start, len(data), exhausted=False, inside=long)
        at = before + 1
        if stop > at:
            finds.append(_line(data, start, at, stop, caps))
        visited += 1
        stop = before
    following = start + stop + 1
    return LinePage(tuple(finds), following, end - following, exhausted=following <= 0)


def _read_rows_forward(descriptor: int, start: int, size: int, rows: int) -> bytes:
    """Read up to `size` bytes, but hardly more than `rows` lines need."""
    pieces: list[bytes] = []
    read = found = 0
    while read < size and found < rows:
        piece = read_at(descriptor, min(_CHUNK_BYTES, size - read), start + read)
        if not piece:
            break
        pieces.append(piece)
        read += len(piece)
        found += piece.count(b"\n")
    return b"".join(pieces)


def _read_rows_backward(descriptor: int, start: int, end: int, rows: int) -> bytes:
    """Read back from `end` to `start` at most, but hardly more than `rows` lines need."""
    pieces: list[bytes] = []
    at, found = end, 0
    # One more line feed than rows: it ends the line before them.
    while at > start and found <= rows:
        begin = max(start, at - _CHUNK_BYTES)
        piece = read_at(descriptor, at - begin, begin)
        pieces.append(piece)
        found += piece.count(b"\n")
        at = begin
    return b"".join(reversed(pieces))


def _pass_over_backward(descriptor: int, start: int, end: int, inside: InLongLine) -> LinePage:
    lead = min(_OVERLAP, inside.edge - end)
    data = read_at(descriptor, end - start + lead, start)
    before = data.rfind(b"\n", 0, end - start)
    seen = inside.maybe_boundary or data.find(BOUNDARY_NEEDLE, before + 1) >= 0
    read = end - start
    if before < 0 and start > 0:
        return LinePage((), start, read, exhausted=False, inside=InLongLine(inside.edge, seen))
    line_start = start + before + 1
    long = LongLine(line_start, inside.edge - line_start, seen)
    return LinePage((long,), line_start, read, exhausted=line_start <= 0)


def _line(data: bytes, base: int, at: int, stop: int, caps: Caps) -> Line | LongLine:
    if stop - at > caps.line_bytes:
        return LongLine(base + at, stop - at, data.find(BOUNDARY_NEEDLE, at, stop) >= 0)
    return Line(base + at, data[at:stop])
