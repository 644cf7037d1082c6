"""What lies behind one row of the active window, and what becomes of the file's lines when it is cut off.

Never cut: a boundary, what can't be read, rows of earlier windows, rows above the floor. Everything here is called
with the locks held. See context-windows.md, 3.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.disk import open_for_read, storage_error
from app.domain.errors import StorageError
from app.domain.rows import Row
from app.history.blobs import Blobs, fit_row
from app.history.codec import decode_line, encode_row
from app.history.files import ChatFiles
from app.history.privacy_floor import read_floor_seq
from app.history.reader import Entry, HistoryReader, Position, RowEntry, is_boundary
from app.history.scanner import Caps, Line, read_forward

ONLY_BRANCH: Final = "This belongs to an earlier window: only a branch of the chat can be made from here."
_ONE_LINE: Final = Caps(page_rows=1)


@dataclass(frozen=True, slots=True)
class WindowTail:
    """What lies behind the row `after`. Rows are without their parts: a window may be large."""

    after: str
    rows: tuple[RowEntry, ...]
    """Those that can be cut, oldest first."""
    kept_ids: frozenset[str]
    """Of the window's rows that stay."""
    changes: dict[int, bytes]
    """What lines of the active file become when `rows` are cut, by offset; empty bytes for one that goes."""
    last_seq: int
    """The last number of what stays."""
    floor_seq: int

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(entry.row.id for entry in self.rows)


class TailReader:
    """Reads the active window of one chat for who holds the locks. Every method raises StorageError."""

    def __init__(self, files: ChatFiles, reader: HistoryReader, blobs: Blobs) -> None:
        self._files = files
        self._reader = reader
        self._blobs = blobs

    def window(self) -> list[Entry]:
        """Return the part of the active window that lies in the active file, rows without their parts."""
        pages: list[list[Entry]] = []
        end: Position | None = None
        while True:
            page = self._reader.page_backward_unlocked(end)
            entries = [light(entry) for entry in page.entries if entry.file == "chat"]
            begin = max((at for at, entry in enumerate(entries) if is_boundary(entry)), default=None)
            pages.append(entries[begin or 0 :])
            if begin is not None or page.exhausted or page.next.file == "archive":
                return [entry for entries in reversed(pages) for entry in entries]
            end = page.next

    def behind(self, window: Sequence[Entry], after: str) -> WindowTail:
        """Return what lies behind the row `after` of `window`, behind nothing if that is empty."""
        place = self._place_in(window, after)
        kept = [entry for entry in window[: place + 1] if isinstance(entry, RowEntry)]
        rows = tuple(entry for entry in window[place + 1 :] if isinstance(entry, RowEntry))
        floor_seq = read_floor_seq(self._files)
        if any(entry.row.seq is not None and entry.row.seq <= floor_seq for entry in rows):
            raise StorageError(ONLY_BRANCH)
        numbers = [entry.row.seq for entry in kept if entry.row.seq]
        return WindowTail(
            after=after,
            rows=rows,
            kept_ids=frozenset(entry.row.id for entry in kept),
            changes=self._changes(kept, rows),
            last_seq=max(numbers) if numbers else self._last_seq_before(window[0].offset if window else 0),
            floor_seq=floor_seq,
        )

    def lines_of(self, entries: Iterable[RowEntry]) -> Iterator[bytes]:
        """Yield the lines of rows in the active file, line feeds left out."""
        try:
            descriptor = open_for_read(self._files.chat)
            if descriptor is None:
                return
            try:
                size = os.fstat(descriptor).st_size
                for entry in entries:
                    lines = read_forward(descriptor, entry.offset, size, caps=_ONE_LINE).lines
                    if not lines or not isinstance(lines[0], Line):
                        raise StorageError("Another program has changed this chat in the same moment.")
                    yield lines[0].data
            finally:
                os.close(descriptor)
        except OSError as error:
            raise storage_error("This chat can't be read", error) from error

    def line_of(self, row: Row) -> bytes:
        """Return the line of a row that has changed, line feed left out."""
        try:
            return encode_row(fit_row(row, self._blobs))
        except RecursionError:
            raise StorageError("A message is nested too deeply to be saved again.") from None

    def _place_in(self, window: Sequence[Entry], after: str) -> int:
        """Return the place of the row `after`, -1 for the begin of the history."""
        if not after:
            begins_history = not window or not is_boundary(window[0])
            if begins_history and self._reader.offset_of(Position("chat", 0)) == 0:
                return -1
            raise StorageError(ONLY_BRANCH)
        for place in range(len(window) - 1, -1, -1):
            entry = window[place]
            if isinstance(entry, RowEntry) and entry.row.id == after:
                return place
        raise StorageError(ONLY_BRANCH)

    def _changes(self, kept: Sequence[RowEntry], cut: Sequence[RowEntry]) -> dict[int, bytes]:
        """Return the changes that take `cut` out; a batch that loses a row is dissolved, so that the rest counts."""
        changes = {entry.offset: b"" for entry in cut}
        broken = {entry.row.batch.id for entry in cut if entry.row.batch is not None}
        torn = [entry for entry in kept if entry.row.batch is not None and entry.row.batch.id in broken]
        for entry, line in zip(torn, self.lines_of(torn), strict=True):
            row = decode_line(line)
            assert isinstance(row, Row)
            changes[entry.offset] = self.line_of(row.model_copy(update={"batch": None})) + b"\n"
        return changes

    def _last_seq_before(self, offset: int) -> int:
        """Return the newest number before `offset` of the active file, 0 if there is none."""
        end: Position | None = Position("chat", offset)
        while True:
            page = self._reader.page_backward_unlocked(end)
            numbers = [entry.row.seq for entry in page.entries if isinstance(entry, RowEntry) and entry.row.seq]
            if numbers or page.exhausted:
                return max(numbers, default=0)
            end = page.next


def light(entry: Entry) -> Entry:
    """Return `entry` with what tells a row from others, and not with what it says."""
    if not isinstance(entry, RowEntry):
        return entry
    row = entry.row
    # Many times as fast as a copy.
    kept = Row.model_construct(
        id=row.id,
        session=row.session,
        seq=row.seq,
        role=row.role,
        created=row.created,
        boundary=row.boundary,
        batch=row.batch,
    )
    return RowEntry(kept, entry.file, entry.offset)
