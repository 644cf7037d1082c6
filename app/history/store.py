"""The one writer of a chat's history.

An append is one batch, one write, one fsync: after it returns the rows are there, after it raises
they are not. See context-windows.md, 3, and ADR-0004.
"""

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from app.domain.errors import BugError, Conflict, StorageError
from app.domain.ids import NewId, new_id
from app.domain.rows import Batch, Boundary, Row
from app.history.blobs import Blobs, fit_row
from app.history.codec import decode_line, encode_row, is_reset
from app.history.files import (
    ChatFiles,
    make_private_folder,
    open_for_append,
    read_at,
    replace,
    storage_error,
    sync_folder,
    write_all,
)
from app.history.reader import Entry, HistoryReader, Position, RowEntry
from app.history.receipt import Receipt, is_current, new_epoch, read_receipt, take_receipt, write_receipt
from app.history.scanner import Caps, Line, read_forward
from app.history.tail import inspect_tail, set_aside

_CANONICAL_ID: Final = re.compile(rb'^\{"v":\d+,(?:"boundary":\{[^{}]*\},)?"id":"([^"\\]+)"')
_COPY_BYTES: Final = 2 * 1024 * 1024

EditRow = Callable[[Row], Row | None]
"""Returns the row itself to keep its bytes, another row to write that instead, None to drop it."""


class DuplicateRow(StorageError):
    """A row with this id is already in the chat; nothing was written."""


@dataclass(slots=True)
class _Known:
    """What the store knows of the active file up to `size`, as long as the epoch holds."""

    epoch: str = ""
    size: int = 0
    last_seq: int = 0
    ids: set[str] = field(default_factory=set)


class Store:
    """Appends to and rewrites one chat's history. Safe for several threads and processes."""

    def __init__(self, files: ChatFiles, *, session: str, new_id: NewId = new_id) -> None:
        self._files = files
        self._session = session
        self._new_id = new_id
        self._known = _Known()
        self.reader = HistoryReader(files)
        self.blobs = Blobs(files.blobs)

    def repair(self) -> int:
        """Set aside what a crash left at the end of the history; return the last sequence number.

        Raises StorageError.
        """
        make_private_folder(self._files.folder)
        with self._files.appending(), self._opened() as descriptor:
            self._settle(descriptor)
            return self._known.last_seq

    def append(self, rows: Sequence[Row], *, expected_last_seq: int) -> tuple[Row, ...]:
        """Add `rows` as one batch and return them as written: numbered, long leaves moved to blobs.

        `expected_last_seq` is the last sequence number the caller knows, 0 for an empty history.
        Raises Conflict if it is another one, DuplicateRow if an id is there already, StorageError if the
        disk refuses; nothing is added then.
        """
        if not rows:
            return ()
        if any(row.session != self._session for row in rows):
            raise BugError("a row of another chat")
        fitted = [fit_row(row, self.blobs) for row in rows]
        make_private_folder(self._files.folder)
        with self._files.appending(), self._opened() as descriptor:
            self._settle(descriptor)
            if self._known.last_seq != expected_last_seq:
                raise Conflict("Another Muntin window has written to this chat.")
            ids = [row.id for row in fitted]
            if len({*ids}) < len(ids) or not self._known.ids.isdisjoint(ids):
                raise DuplicateRow("This message is in the chat already.")
            numbered = self._numbered(fitted)
            self._write(descriptor, b"".join(encode_row(row) + b"\n" for row in numbered))
            self._known.ids.update(ids)
            self._known.last_seq += len(numbered)
            return numbered

    def rewrite(self, edit: EditRow) -> int:
        """Pass every row of the active file through `edit`; return how many lines changed or went.

        Everything that can't be read stays in place byte for byte, and so does every manual reset.
        The old or the new file is there, never a mixture. Raises StorageError.
        """
        with self._files.appending(), self._opened() as descriptor:
            self._settle(descriptor)
            changes = self._planned_changes(edit)
            if changes:
                self._replace_lines(descriptor, changes)
            return len(changes)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        try:
            descriptor = open_for_append(self._files.chat)
        except OSError as error:
            raise storage_error("This chat can't be written to", error) from error
        try:
            yield descriptor
        except OSError as error:
            raise storage_error("This chat can't be saved", error) from error
        finally:
            os.close(descriptor)

    def _settle(self, descriptor: int) -> None:
        """Repair the end of the file and learn what others have done to it since last time."""
        receipt = read_receipt(self._files)
        is_ours = receipt is not None and is_current(receipt, self._files)
        state = inspect_tail(descriptor)
        if not state.is_sound:
            self._write_pending()
            if state.keep < state.size:
                set_aside(descriptor, state, self._files.folder)
                os.ftruncate(descriptor, state.keep)
            if state.needs_line_feed:
                write_all(descriptor, b"\n")
            os.fsync(descriptor)
            is_ours = False
        if receipt is None or not is_ours or receipt.epoch != self._known.epoch:
            self._known = _Known(epoch=receipt.epoch if receipt is not None and is_ours else new_epoch())
        if self._known.size != os.fstat(descriptor).st_size or self._known.size == 0:
            self._known.last_seq = self._find_last_seq()
            self._learn_ids(descriptor)
        if state.needs_reset:
            self._write(descriptor, encode_row(self._reset_row()) + b"\n")
        elif not is_ours:
            self._write_stable()

    def _reset_row(self) -> Row:
        self._known.last_seq += 1
        return Row(
            boundary=Boundary(kind="reset"),
            id=self._new_id(),
            session=self._session,
            seq=self._known.last_seq,
            role="user",
            created=datetime.now(UTC),
            kind="reset",
        )

    def _find_last_seq(self) -> int:
        """Return the highest number on the newest page that has one, 0 if none has."""
        end = None
        while True:
            page = self.reader.page_backward_unlocked(end)
            numbers = [entry.row.seq for entry in page.entries if isinstance(entry, RowEntry) and entry.row.seq]
            if numbers:
                return max(numbers)
            if page.exhausted:
                return 0
            end = page.next

    def _learn_ids(self, descriptor: int) -> None:
        """Add the ids of lines that appeared since last time, ours or another process's."""
        size = os.fstat(descriptor).st_size
        at, inside = self._known.size, None
        while at < size:
            page = read_forward(descriptor, at, size, inside=inside)
            for line in page.lines:
                if isinstance(line, Line):
                    self._learn_line(line.data)
            if page.next <= at:
                break
            at, inside = page.next, page.inside
        self._known.size = size

    def _learn_line(self, data: bytes) -> None:
        canonical = _CANONICAL_ID.match(data)
        if canonical is not None:
            self._known.ids.add(canonical[1].decode("utf-8", "replace"))
            return
        row = decode_line(data)
        if isinstance(row, Row):
            self._known.ids.add(row.id)

    def _numbered(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        batch_id = self._new_id() if len(rows) > 1 else ""
        return tuple(
            row.model_copy(
                update={
                    "seq": self._known.last_seq + 1 + index,
                    "batch": Batch(id=batch_id, index=index, count=len(rows)) if batch_id else None,
                }
            )
            for index, row in enumerate(rows)
        )

    def _write(self, descriptor: int, data: bytes) -> None:
        """Add `data` with one write, durably, or leave the file as it was and raise OSError."""
        size = os.fstat(descriptor).st_size
        self._write_pending()
        try:
            _write_once(descriptor, data)
            os.fsync(descriptor)
        except OSError:
            if not self._take_back(descriptor, size, data):
                self._write_stable()
                raise
        self._known.size = size + len(data)
        self._write_stable()

    def _take_back(self, descriptor: int, size: int, data: bytes) -> bool:
        """Undo a failed write; return True if it can't be undone and all of `data` is there after all."""
        try:
            os.ftruncate(descriptor, size)
        except OSError:
            return read_at(descriptor, len(data) + 1, size) == data
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
        return False

    def _write_pending(self) -> None:
        pending = Receipt(
            epoch=self._known.epoch or new_epoch(),
            state="pending",
            chat=None,
            archive=None,
            tail_sha256="",
            written_ns=0,
        )
        write_receipt(self._files, pending)

    def _write_stable(self) -> None:
        # One that can't be written is no failed append: the next writer finds none and starts a new epoch.
        write_receipt(self._files, take_receipt(self._files, epoch=self._known.epoch, state="stable"))

    def _planned_changes(self, edit: EditRow) -> dict[int, bytes]:
        """Return the new bytes of each line that changes, by its offset; empty bytes for one that goes."""
        changes: dict[int, bytes] = {}
        position: Position | None = Position("chat", 0)
        while position is not None:
            page = self.reader.page_forward_unlocked(position)
            changes |= _edited(page.entries, edit)
            position = None if page.exhausted else page.next
        return changes

    def _replace_lines(self, descriptor: int, changes: dict[int, bytes]) -> None:
        temporary = self._files.chat.with_name(f".chat.{secrets.token_hex(4)}.tmp")
        self._write_pending()
        self._known = _Known(epoch=new_epoch())
        try:
            target = open_for_append(temporary)
            try:
                _copy_with(descriptor, target, changes)
                os.fsync(target)
            finally:
                os.close(target)
            replace(temporary, self._files.chat)
            sync_folder(self._files.folder)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            self._write_stable()


def _write_once(descriptor: int, data: bytes) -> None:
    """Write all of `data` with one call; a short write is a full disk."""
    if os.write(descriptor, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _edited(entries: Sequence[Entry], edit: EditRow) -> dict[int, bytes]:
    """Return the changes to one page; a batch that loses a row is dissolved, so that the rest still counts."""
    results: list[tuple[RowEntry, Row | None]] = []
    for entry in entries:
        if isinstance(entry, RowEntry):
            edited = edit(entry.row)
            results.append((entry, entry.row if edited is None and is_reset(entry.row) else edited))
    broken = {entry.row.batch.id for entry, row in results if row is None and entry.row.batch is not None}
    changes: dict[int, bytes] = {}
    for entry, row in results:
        if row is not None and row.batch is not None and row.batch.id in broken:
            row = row.model_copy(update={"batch": None})  # noqa: PLW2901
        if row is not entry.row:
            changes[entry.offset] = b"" if row is None else encode_row(row) + b"\n"
    return changes


def _copy_with(source: int, target: int, changes: dict[int, bytes]) -> None:
    at = 0
    size = os.fstat(source).st_size
    for offset in sorted(changes):
        _copy(source, target, at, offset)
        write_all(target, changes[offset])
        at = _behind_line(source, offset, size)
    _copy(source, target, at, size)


def _copy(source: int, target: int, start: int, stop: int) -> None:
    while start < stop:
        data = read_at(source, min(_COPY_BYTES, stop - start), start)
        if not data:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        write_all(target, data)
        start += len(data)


def _behind_line(source: int, offset: int, size: int) -> int:
    page = read_forward(source, offset, size, caps=Caps(page_rows=1))
    return page.next
