"""Typed pages of one chat's history: archive first, then the active file, as one stretch.

Everyone but the store reads history through this. It never repairs and never raises for what
the files contain. See context-windows.md, 3, 5 and 6.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, NamedTuple

from app.domain.rows import Row
from app.history.batches import row_of, torn_stretches
from app.history.blobs import Blobs
from app.history.codec import Damage, decode_line, is_reset
from app.history.files import ChatFiles, open_for_read, read_at, storage_error
from app.history.receipt import read_receipt
from app.history.scanner import (
    DEFAULT_CAPS,
    Caps,
    InLongLine,
    Line,
    LinePage,
    LongLine,
    read_backward,
    read_forward,
)

MAX_FOREIGN_LINE_BYTES: Final = 64 * 1024 * 1024
"""A line over the cap with the bytes of a boundary is read whole up to this size to find out."""
MAX_BATCH_ROWS: Final = 32
"""No writer makes larger batches; one that claims to be larger is torn."""
_TRIES: Final = 3

FileName = Literal["archive", "chat"]


class Position(NamedTuple):
    """A place between two lines; `inside` if the last page ended within a line over the cap."""

    file: FileName
    offset: int
    inside: InLongLine | None = None


@dataclass(frozen=True, slots=True)
class RowEntry:
    """A row and where its line begins."""

    row: Row
    file: FileName
    offset: int


@dataclass(frozen=True, slots=True)
class DamagedEntry:
    """A stretch of bytes that is no row: kept on disk, shown, skipped.

    `is_boundary`: a window begins behind it all the same. `is_reset`: it counts as a manual reset.
    `is_oversized`: not shown because the line is over the cap.
    """

    file: FileName
    offset: int
    length: int
    reason: str
    is_boundary: bool = False
    is_reset: bool = False
    is_oversized: bool = False


Entry = RowEntry | DamagedEntry


@dataclass(frozen=True, slots=True)
class Page:
    """Entries in file order (oldest first, whatever the direction), and where to go on."""

    entries: tuple[Entry, ...]
    next: Position
    exhausted: bool
    bytes_read: int
    skipped_oversized: int = 0
    skipped_damaged: int = 0


class HistoryReader:
    """Reads one chat's history page by page. Safe to use from several threads."""

    def __init__(self, files: ChatFiles) -> None:
        self._files = files
        self.blobs = Blobs(files.blobs)

    def page_forward(self, start: Position | None = None, *, caps: Caps = DEFAULT_CAPS) -> Page:
        """Return the next page towards the newest row; None starts at the oldest."""
        return self._consistent(lambda reading: self._forward(reading, start or Position("archive", 0), caps))

    def page_backward(self, end: Position | None = None, *, caps: Caps = DEFAULT_CAPS) -> Page:
        """Return the next page towards the oldest row; None starts at the newest."""
        return self._consistent(
            lambda reading: self._backward(reading, end or Position("chat", reading.sizes["chat"]), caps)
        )

    def page_forward_unlocked(self, start: Position) -> Page:
        """Return a page for the store, which holds the locks already."""
        return self._opened(lambda reading: self._forward(reading, start, DEFAULT_CAPS))

    def page_backward_unlocked(self, end: Position | None) -> Page:
        """Return a page for the store, which holds the locks already."""
        return self._opened(
            lambda reading: self._backward(reading, end or Position("chat", reading.sizes["chat"]), DEFAULT_CAPS)
        )

    def entries_forward(self, start: Position | None = None) -> Iterator[Entry]:
        """Yield every entry from `start` on, page by page."""
        while True:
            page = self.page_forward(start)
            yield from page.entries
            if page.exhausted:
                return
            start = page.next

    def active_window(self) -> tuple[Entry, ...]:
        """Return everything from the newest boundary on, the boundary included; all, if there is none."""
        collected: list[Entry] = []
        end: Position | None = None
        while True:
            page = self.page_backward(end)
            for index in range(len(page.entries) - 1, -1, -1):
                if is_boundary(page.entries[index]):
                    return (*page.entries[index:], *collected)
            collected[:0] = page.entries
            if page.exhausted:
                return tuple(collected)
            end = page.next

    def size_bytes(self) -> int:
        """Return the size of both files."""
        return sum(path.stat().st_size for path in (self._files.archive, self._files.chat) if path.exists())

    def _consistent(self, read: "_PageReader") -> Page:
        """Read one page that no rewrite crossed: receipt, page, receipt."""
        for _ in range(_TRIES):
            before = read_receipt(self._files)
            with self._files.gate.reading():
                page = self._opened(read)
            after = read_receipt(self._files)
            settled = before is None or before.state == "stable"
            if settled and (before and before.epoch) == (after and after.epoch):
                return page
        with self._files.appending():
            return self._opened(read)

    def _opened(self, read: "_PageReader") -> Page:
        reading = _Reading()
        try:
            paths: tuple[tuple[FileName, Path], ...] = (
                ("archive", self._files.archive),
                ("chat", self._files.chat),
            )
            for name, path in paths:
                descriptor = open_for_read(path)
                if descriptor is not None:
                    reading.descriptors[name] = descriptor
                reading.sizes[name] = os.fstat(descriptor).st_size if descriptor is not None else 0
            return read(reading)
        except OSError as error:
            raise storage_error("This chat's history can't be read", error) from error
        finally:
            for descriptor in reading.descriptors.values():
                os.close(descriptor)

    def _forward(self, reading: "_Reading", start: Position, caps: Caps) -> Page:
        if start.file == "archive" and start.offset >= reading.sizes["archive"]:
            start = Position("chat", 0)
        lines = reading.lines_forward(start, caps)
        entries = [reading.entry(start.file, line) for line in lines.lines]
        while (missing := _rows_missing_behind(entries)) and not lines.exhausted and lines.inside is None:
            more = reading.lines_forward(Position(start.file, lines.next), replace(caps, page_rows=missing))
            if more.inside is not None or not more.lines or len(entries) > caps.page_rows + MAX_BATCH_ROWS:
                break
            entries += [reading.entry(start.file, line) for line in more.lines]
            lines = replace(more, bytes_read=lines.bytes_read + more.bytes_read)
        following = Position(start.file, lines.next, lines.inside)
        exhausted = lines.exhausted
        if exhausted and start.file == "archive":
            following, exhausted = Position("chat", 0), reading.sizes["chat"] == 0
        return _page(entries, following, exhausted=exhausted, bytes_read=lines.bytes_read)

    def _backward(self, reading: "_Reading", end: Position, caps: Caps) -> Page:
        if end.file == "chat" and end.offset <= 0:
            end = Position("archive", reading.sizes["archive"])
        lines = reading.lines_backward(end, caps)
        entries = [reading.entry(end.file, line) for line in reversed(lines.lines)]
        while (missing := _rows_missing_before(entries)) and not lines.exhausted and lines.inside is None:
            more = reading.lines_backward(Position(end.file, lines.next), replace(caps, page_rows=missing))
            if more.inside is not None or not more.lines or len(entries) > caps.page_rows + MAX_BATCH_ROWS:
                break
            entries[:0] = [reading.entry(end.file, line) for line in reversed(more.lines)]
            lines = replace(more, bytes_read=lines.bytes_read + more.bytes_read)
        following = Position(end.file, lines.next, lines.inside)
        exhausted = lines.exhausted
        if exhausted and end.file == "chat":
            following = Position("archive", reading.sizes["archive"])
            exhausted = reading.sizes["archive"] == 0
        return _page(entries, following, exhausted=exhausted, bytes_read=lines.bytes_read)


def is_boundary(entry: Entry) -> bool:
    """Whether a window begins behind this entry; one that nobody can read counts."""
    return entry.is_boundary if isinstance(entry, DamagedEntry) else entry.row.boundary is not None


def _page(entries: list[Entry], following: Position, *, exhausted: bool, bytes_read: int) -> Page:
    settled = _without_torn_batches(entries)
    damaged = [entry for entry in settled if isinstance(entry, DamagedEntry)]
    oversized = sum(entry.is_oversized for entry in damaged)
    return Page(
        entries=tuple(settled),
        next=following,
        exhausted=exhausted,
        bytes_read=bytes_read,
        skipped_oversized=oversized,
        skipped_damaged=len(damaged) - oversized,
    )


def _without_torn_batches(entries: list[Entry]) -> list[Entry]:
    """Return `entries` with each batch that is not whole as one damaged entry."""
    settled = list(entries)
    for torn in reversed(torn_stretches(entries)):
        first, last = entries[torn.start], entries[torn.stop - 1]
        # A torn batch never took effect, so a boundary in it is none.
        settled[torn.start : torn.stop] = [
            DamagedEntry(first.file, first.offset, last.offset - first.offset, "an incomplete batch")
        ]
    return settled


def _rows_missing_behind(entries: list[Entry]) -> int:
    row = row_of(entries[-1]) if entries else None
    if row is None or row.batch is None or row.batch.count > MAX_BATCH_ROWS:
        return 0
    return max(0, row.batch.count - row.batch.index - 1)


def _rows_missing_before(entries: list[Entry]) -> int:
    row = row_of(entries[0]) if entries else None
    if row is None or row.batch is None or row.batch.count > MAX_BATCH_ROWS:
        return 0
    return row.batch.index


@dataclass(slots=True)
class _Reading:
    """Descriptors and sizes of both files during one page."""

    descriptors: dict[FileName, int] = field(default_factory=dict)
    sizes: dict[FileName, int] = field(default_factory=dict)

    def lines_forward(self, start: Position, caps: Caps) -> LinePage:
        descriptor = self.descriptors.get(start.file)
        if descriptor is None:
            return LinePage((), start.offset, 0, exhausted=True)
        return read_forward(descriptor, start.offset, self.sizes[start.file], caps=caps, inside=start.inside)

    def lines_backward(self, end: Position, caps: Caps) -> LinePage:
        descriptor = self.descriptors.get(end.file)
        if descriptor is None:
            return LinePage((), 0, 0, exhausted=True)
        # The file may have been cut since the position was taken.
        offset = min(end.offset, self.sizes[end.file])
        return read_backward(descriptor, offset, caps=caps, inside=end.inside)

    def entry(self, file: FileName, line: Line | LongLine) -> Entry:
        if isinstance(line, LongLine):
            return self._long_entry(file, line)
        found = decode_line(line.data)
        if isinstance(found, Damage):
            return DamagedEntry(
                file, line.offset, len(line.data), found.reason, is_boundary=found.is_reset, is_reset=found.is_reset
            )
        return RowEntry(found, file, line.offset)

    def _long_entry(self, file: FileName, line: LongLine) -> DamagedEntry:
        entry = DamagedEntry(file, line.offset, line.length, "a line over 1 MiB", is_oversized=True)
        if not line.maybe_boundary:
            return entry
        if line.length > MAX_FOREIGN_LINE_BYTES:
            return replace(entry, is_boundary=True, is_reset=True)
        found = decode_line(read_at(self.descriptors[file], line.length, line.offset))
        if isinstance(found, Damage):
            return replace(entry, is_boundary=found.is_reset, is_reset=found.is_reset)
        return replace(entry, is_boundary=found.boundary is not None, is_reset=is_reset(found))


_PageReader = Callable[[_Reading], Page]
