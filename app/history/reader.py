"""Typed pages of one chat's history: archive first, then the active file, as one stretch.

Everyone but the store reads history through this. It never repairs and never raises for what
the files contain. See context-windows.md, 3, 5 and 6.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, NamedTuple

from app.disk import Stamp, open_for_read, read_at, storage_error
from app.domain.errors import ChatNotFound, HistoryChanged, StorageError
from app.domain.rows import Batch, Row
from app.history.batches import MAX_BATCH_ROWS, row_of, torn_stretches
from app.history.blobs import Blobs
from app.history.codec import Damage, decode_line, is_reset
from app.history.files import ChatFiles
from app.history.receipt import read_receipt, settled_archive_bytes
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
    """Entries in file order (oldest first, whatever the direction), and where to go on.

    Positions hold within one `epoch` only; it is empty where there is no receipt.
    """

    entries: tuple[Entry, ...]
    next: Position
    exhausted: bool
    bytes_read: int
    skipped_oversized: int = 0
    skipped_damaged: int = 0
    epoch: str = ""


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

    def position_of(self, offset: int) -> Position:
        """Return the place `offset` bytes into the stretch: the archive followed by the active file.

        Raises StorageError.
        """
        archive = self._archive_bytes()
        return Position("archive", offset) if offset < archive else Position("chat", offset - archive)

    def offset_of(self, position: Position) -> int:
        """Return how many bytes of the stretch lie before `position`. Raises StorageError."""
        return position.offset if position.file == "archive" else self._archive_bytes() + position.offset

    def _archive_bytes(self) -> int:
        try:
            archive = Stamp.of(self._files.archive)
            return self._settled_bytes(archive, Stamp.of(self._files.chat)) if archive is not None else 0
        except OSError as error:
            raise storage_error("This chat's history can't be read", error) from error

    def _settled_bytes(self, archive: Stamp | None, chat: Stamp | None) -> int:
        """Return how much of the archive counts. Stamps come first: a rotation tells of itself before it copies."""
        return settled_archive_bytes(read_receipt(self._files), archive, chat)

    def entries_forward(self, start: Position | None = None) -> Iterator[Entry]:
        """Yield every entry from `start` on, page by page. Raises HistoryChanged if it is rewritten meanwhile."""
        epoch: str | None = None
        while True:
            page = self.page_forward(start)
            if epoch not in (None, page.epoch):
                raise HistoryChanged("This chat was changed while it was read.")
            epoch = page.epoch
            yield from page.entries
            if page.exhausted:
                return
            start = page.next

    def active_window(self) -> tuple[Entry, ...]:
        """Return everything from the newest boundary on, the boundary included; all, if there is none.

        Raises HistoryChanged if it is rewritten again and again meanwhile.
        """
        for _ in range(_TRIES):
            window = self._window_in_one_epoch()
            if window is not None:
                return window
        raise HistoryChanged("This chat was changed while it was read.")

    def _window_in_one_epoch(self) -> tuple[Entry, ...] | None:
        collected: list[Entry] = []
        end: Position | None = None
        epoch: str | None = None
        while True:
            page = self.page_backward(end)
            if epoch not in (None, page.epoch):
                return None
            epoch = page.epoch
            for index in range(len(page.entries) - 1, -1, -1):
                if is_boundary(page.entries[index]):
                    return (*page.entries[index:], *collected)
            collected[:0] = page.entries
            if page.exhausted:
                return tuple(collected)
            end = page.next

    def _consistent(self, read: "_PageReader") -> Page:
        """Read one page that no write crossed: receipt, page, receipt."""
        for _ in range(_TRIES):
            before = read_receipt(self._files)
            with self._files.gate.reading():
                page = self._opened(read)
            after = read_receipt(self._files)
            if before is None and after is None:
                return page
            if before and after and before.state == after.state == "stable" and before.epoch == after.epoch:
                return replace(page, epoch=after.epoch)
        try:
            with self._files.appending():
                settled = read_receipt(self._files)
                return replace(self._opened(read), epoch=settled.epoch if settled else "")
        except ChatNotFound:
            raise
        except StorageError:
            # On a disk that can only be read nobody writes: the page is as good as it gets.
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
            if reading.sizes["archive"]:
                chat = reading.descriptors.get("chat")
                reading.sizes["archive"] = self._settled_bytes(
                    Stamp.of(reading.descriptors["archive"]), None if chat is None else Stamp.of(chat)
                )
            return read(reading)
        except OSError as error:
            raise storage_error("This chat's history can't be read", error) from error
        finally:
            for descriptor in reading.descriptors.values():
                os.close(descriptor)

    def _forward(self, reading: "_Reading", start: Position, caps: Caps) -> Page:
        if start.file == "archive" and start.offset >= reading.sizes["archive"]:
            start = Position("chat", 0)
        entries, lines = _whole_batches(
            start,
            lambda at, rows: reading.lines_forward(at, replace(caps, page_rows=rows)),
            lambda line: reading.entry(start.file, line),
            lambda batch: batch.count - batch.index - 1,
            caps.page_rows,
        )
        following = Position(start.file, lines.next, lines.inside)
        exhausted = lines.exhausted
        if exhausted and start.file == "archive":
            following, exhausted = Position("chat", 0), reading.sizes["chat"] == 0
        return _page(entries, following, exhausted=exhausted, bytes_read=lines.bytes_read)

    def _backward(self, reading: "_Reading", end: Position, caps: Caps) -> Page:
        if end.file == "chat" and end.offset <= 0:
            end = Position("archive", reading.sizes["archive"])
        entries, lines = _whole_batches(
            end,
            lambda at, rows: reading.lines_backward(at, replace(caps, page_rows=rows)),
            lambda line: reading.entry(end.file, line),
            lambda batch: batch.index,
            caps.page_rows,
        )
        following = Position(end.file, lines.next, lines.inside)
        exhausted = lines.exhausted
        if exhausted and end.file == "chat":
            following = Position("archive", reading.sizes["archive"])
            exhausted = reading.sizes["archive"] == 0
        return _page(entries[::-1], following, exhausted=exhausted, bytes_read=lines.bytes_read)


def _whole_batches(
    start: Position,
    read: "Callable[[Position, int], LinePage]",
    to_entry: "Callable[[Line | LongLine], Entry]",
    beyond: "Callable[[Batch], int]",
    page_rows: int,
) -> tuple[list[Entry], LinePage]:
    """Read a page in either direction, and further until no batch is cut by its end.

    Entries come in the order read. What lies beyond the page's own caps is at most one batch.
    """
    lines = read(start, page_rows)
    entries = [to_entry(line) for line in lines.lines]
    while (missing := _rows_missing(entries, beyond)) and not lines.exhausted and lines.inside is None:
        more = read(Position(start.file, lines.next), missing)
        if more.inside is not None or not more.lines or len(entries) > page_rows + MAX_BATCH_ROWS:
            break
        entries += [to_entry(line) for line in more.lines]
        lines = replace(more, bytes_read=lines.bytes_read + more.bytes_read)
    return entries, lines


def _rows_missing(entries: list[Entry], beyond: "Callable[[Batch], int]") -> int:
    """Return how many rows of the last entry's batch lie beyond it, in the direction read."""
    row = row_of(entries[-1]) if entries else None
    if row is None or row.batch is None or row.batch.count > MAX_BATCH_ROWS:
        return 0
    return max(0, beyond(row.batch))


def is_boundary(entry: Entry) -> bool:
    """Whether a window begins behind this entry; one that nobody can read counts."""
    return entry.is_boundary if isinstance(entry, DamagedEntry) else entry.row.boundary is not None


def is_reset_entry(entry: Entry) -> bool:
    """Whether nothing before this entry may reach a model."""
    return entry.is_reset if isinstance(entry, DamagedEntry) else is_reset(entry.row)


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
        rows = [row for entry in entries[torn.start : torn.stop] if (row := row_of(entry))]
        # A torn batch never took effect; a manual reset in it counts all the same.
        has_reset = any(is_reset(row) for row in rows)
        settled[torn.start : torn.stop] = [
            DamagedEntry(
                first.file,
                first.offset,
                last.offset - first.offset,
                "an incomplete batch",
                is_boundary=has_reset,
                is_reset=has_reset,
            )
        ]
    return settled


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
