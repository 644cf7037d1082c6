"""The one writer of a chat's history.

An append is one batch, one write, one fsync: after it returns the rows are there, after it raises
they are not. See context-windows.md, 3, and ADR-0004.
"""

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from app.disk import Stamp, open_for_append, open_for_read, read_at, replace, storage_error, sync_folder, write_all
from app.domain.errors import BugError, Conflict, DuplicateRow, StorageError
from app.domain.ids import NewId, new_id
from app.domain.rows import Batch, Boundary, Row
from app.history.batches import MAX_BATCH_ROWS
from app.history.blobs import Blobs, fit_row
from app.history.codec import decode_line, encode_row, is_reset
from app.history.files import ChatFiles
from app.history.moves import drop_doubles, has_taken_place, take_back
from app.history.reader import Entry, HistoryReader, Position, RowEntry, is_boundary
from app.history.receipt import (
    Move,
    Receipt,
    drop_receipt,
    is_current,
    new_epoch,
    read_receipt,
    take_receipt,
    write_receipt,
)
from app.history.scanner import Caps, Line, read_forward
from app.history.tail import TailState, inspect_tail, set_aside
from app.history.windows_file import recertify_index

_IN_BATCH: Final = b'"batch":{'
_CANONICAL_ID: Final = re.compile(rb'^\{"v":\d+,"id":"([^"\\]+)","session":.*\]\}$', re.DOTALL)
"""A row without a boundary, up to the end of its parts; others are parsed."""
_COPY_BYTES: Final = 2 * 1024 * 1024

EditRow = Callable[[Row], Row | None]
"""Returns the row itself to keep its bytes, another row to write that instead, None to drop it."""


@dataclass(slots=True)
class _Known:
    """What the store knows of the active file, as long as the epoch holds.

    `last_seq` is that of a file of `size` bytes, -1 if it must be found out; `ids` are those of its first
    `ids_size` bytes.
    """

    epoch: str = ""
    size: int = -1
    last_seq: int = 0
    ids: set[str] = field(default_factory=set)
    ids_size: int = 0


class Store:
    """Appends to and rewrites one chat's history. Safe for several threads and processes."""

    def __init__(self, files: ChatFiles, *, session: str, new_id: NewId = new_id) -> None:
        self._files = files
        self._session = session
        self._new_id = new_id
        self._known = _Known()
        self._move: Move | None = None
        """A rotation under way, as the receipt tells; every receipt passes it on."""
        self.reader = HistoryReader(files)
        self.blobs = Blobs(files.blobs)

    def repair(self) -> int:
        """Set aside what a crash left at the end of the history; return the last sequence number.

        A rotation that was cut short begins anew. Only the lease holder may. Raises ChatNotFound, StorageError.
        """
        with self.settled():
            if self._move is not None:
                self.end_move()
            return self._known.last_seq

    def append(self, rows: Sequence[Row], *, expected_last_seq: int) -> tuple[Row, ...]:
        """Add `rows` as one batch and return them as written: numbered, long leaves moved to blobs.

        `expected_last_seq` is the last sequence number the caller knows, 0 for an empty history.
        Raises Conflict if it is another one, DuplicateRow if an id is there already, ChatNotFound, and
        StorageError if the disk refuses; nothing is added then.
        """
        fitted = self.fitted(rows)
        if not fitted:
            return ()
        with self.settled(expected_last_seq=expected_last_seq):
            return self.add(self.numbered(fitted))

    def rewrite(self, edit: EditRow) -> int:
        """Pass every row of the active window through `edit`; return how many lines changed or went.

        Everything that can't be read stays in place byte for byte, and so does every manual reset.
        The old or the new file is there, never a mixture. Raises ChatNotFound, StorageError.
        """
        with self._files.appending():
            self._settle()
            changes = self._planned_changes(edit)
            if changes:
                self._rebuild(changes, size=self._known.size)
            return len(changes)

    @contextlib.contextmanager
    def settled(self, *, expected_last_seq: int | None = None) -> Iterator[None]:
        """Hold the locks over a history whose end is sound and whose state is known.

        Raises ChatNotFound, StorageError, and Conflict if the last sequence number is not the one expected.
        """
        with self._files.appending():
            self._settle()
            if expected_last_seq is not None and self._known.last_seq != expected_last_seq:
                raise Conflict("Another Muntin window has written to this chat.")
            yield

    # Versions: see history.branches. All but the first is for who holds `settled`

    def fitted(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """Return `rows` with long leaves moved to blobs. Raises BugError, StorageError."""
        if any(row.session != self._session for row in rows) or len(rows) > MAX_BATCH_ROWS:
            raise BugError("a row of another chat, or a batch too large")
        try:
            return tuple(fit_row(row, self.blobs) for row in rows)
        except RecursionError:
            raise StorageError("This message is nested too deeply to be saved.") from None

    def numbered(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """Return `rows` as one batch with the next numbers. Raises DuplicateRow, StorageError."""
        self._learn_ids()
        ids = [row.id for row in rows]
        if len({*ids}) < len(ids) or not self._known.ids.isdisjoint(ids):
            raise DuplicateRow("This message is in the chat already.")
        return self._numbered(rows)

    def add(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        """Add rows that are `fitted` and `numbered`, and return them. Raises StorageError; nothing is added then."""
        self._write(rows)
        return rows

    def replace_tail(self, changes: Mapping[int, bytes], tail: Iterable[bytes], *, last_seq: int) -> int:
        """Change lines of the active window, by their offsets, and put `tail` behind the last, all in one step.

        Empty bytes take a line out. `last_seq` is the last number then; returned is what the next append expects.
        Raises StorageError.
        """
        self._rebuild(changes, size=self._known.size, tail=tail, keeps_index=True)
        # It has happened: that the file can't be read again now is no failure of it.
        with contextlib.suppress(StorageError):
            self._settle()
            return self._known.last_seq
        return last_seq

    # Rotation: see history.rotation, which does it in pieces

    @property
    def epoch(self) -> str:
        """The epoch of the history as it was settled last."""
        return self._known.epoch

    @property
    def move(self) -> Move | None:
        """The rotation under way."""
        return self._move

    def end_archive_line(self) -> bool:
        """Give the archive's last line its line feed if it lacks one, so that nothing is glued to it.

        Returns whether it did; every place behind it has moved then, in a new epoch. Raises StorageError.
        """
        try:
            descriptor = open_for_read(self._files.archive)
            if descriptor is None:
                return False
            os.close(descriptor)
            descriptor = open_for_append(self._files.archive)
            try:
                size = os.fstat(descriptor).st_size
                if not size or read_at(descriptor, 1, size - 1) == b"\n":
                    return False
                self._write_pending()
                write_all(descriptor, b"\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise storage_error("This chat can't be saved", error) from error
        self._known = _Known(epoch=new_epoch())
        self._write_stable()
        return True

    def begin_move(self, move: Move) -> None:
        """Tell everybody, durably, that `move` is under way, before its first byte is copied. Raises StorageError."""
        self._move = move
        if not self._write_stable(durable=True):
            self._move = None
            raise StorageError("Older messages can't be moved to the archive now.")

    def end_move(self) -> None:
        """Take back what the move under way has copied. Raises StorageError."""
        assert self._move is not None
        self._write_pending()
        self._take_back_move()
        self._write_stable()

    @contextlib.contextmanager
    def moving(self) -> Iterator[None]:
        """Hold a receipt that says a piece is being copied, and note afterwards how the files are."""
        before = Stamp.of(self._files.chat)
        self._write_pending()
        yield
        if Stamp.of(self._files.chat) != before:
            # Another program wrote at the same moment.
            self._known = _Known(epoch=new_epoch())
        self._write_stable()

    def finish_move(self) -> None:
        """Replace the active file by what lies behind the part that has been copied, in one step.

        A new epoch begins; the index of windows goes on in it. Raises StorageError; nothing has changed then.
        """
        move, epoch = self._move, self._known.epoch
        assert move is not None
        size = self._files.chat.stat().st_size
        self._replace(lambda source, target: _copy(source, target, move.length, size), recertified_from=epoch)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        try:
            descriptor = open_for_append(self._files.chat)
            try:
                yield descriptor
            finally:
                os.close(descriptor)
        except OSError as error:
            raise storage_error("This chat can't be saved", error) from error

    # The state of the file

    def _settle(self) -> None:
        """Repair the end of the file and learn what others have done to it since last time."""
        receipt = read_receipt(self._files)
        try:
            is_ours = receipt is not None and is_current(receipt, self._files)
            is_ours = self._learn_move(receipt) and is_ours
        except OSError as error:
            raise storage_error("This chat can't be read", error) from error
        if is_ours and receipt is not None and receipt.epoch == self._known.epoch and self._is_as_left():
            # Nobody has touched the file since our own last write, which ended well.
            return
        with self._opened() as descriptor:
            state = inspect_tail(descriptor)
            if not state.is_sound:
                is_ours = False
                self._write_pending()
                self._mend(descriptor, state)
            size = os.fstat(descriptor).st_size
        if receipt is None or not is_ours or receipt.epoch != self._known.epoch:
            self._known = _Known(epoch=receipt.epoch if receipt is not None and is_ours else new_epoch())
        if self._known.size != size:
            self._known.size, self._known.last_seq = size, self._find_last_seq()
        if state.needs_reset:
            # Writes its receipt itself.
            self._replace_torn_boundary(state.keep)
        elif not is_ours:
            self._write_stable()

    def _learn_move(self, receipt: Receipt | None) -> bool:
        """Find out what became of a rotation that was under way; return whether the files needed no repair for it."""
        self._move = receipt.move if receipt is not None else None
        if receipt is None:
            return not drop_doubles(self._files)
        if self._move is None or self._move.is_open(Stamp.of(self._files.chat)):
            return True
        if not has_taken_place(self._move, self._files):
            take_back(self._move, self._files)
        self._move = None
        return False

    def _take_back_move(self) -> None:
        if self._move is not None:
            try:
                take_back(self._move, self._files)
            except OSError as error:
                raise storage_error("This chat can't be repaired", error) from error
            self._move = None

    def _mend(self, descriptor: int, state: TailState) -> None:
        if state.keep < state.size:
            set_aside(descriptor, state, self._files.folder)
            if state.needs_reset:
                # Cut only together with the reset that stands for it: until then the torn line counts as one.
                return
            os.ftruncate(descriptor, state.keep)
        if state.needs_line_feed:
            write_all(descriptor, b"\n")
        os.fsync(descriptor)

    def _replace_torn_boundary(self, keep: int) -> None:
        """Put a manual reset where a boundary was torn, in one step."""
        reset = Row(
            boundary=Boundary(kind="reset"),
            id=self._new_id(),
            session=self._session,
            seq=self._known.last_seq + 1,
            role="user",
            created=datetime.now(UTC),
            kind="reset",
        )
        self._rebuild({}, size=keep, tail=[encode_row(reset) + b"\n"])
        self._known.size, self._known.last_seq = self._files.chat.stat().st_size, reset.seq or 0

    def _find_last_seq(self) -> int:
        """Return the highest number on the newest page that has one, 0 if none has."""
        end: Position | None = None
        while True:
            page = self.reader.page_backward_unlocked(end)
            numbers = [entry.row.seq for entry in page.entries if isinstance(entry, RowEntry) and entry.row.seq]
            if numbers or page.exhausted:
                return max(numbers, default=0)
            end = page.next

    def _is_as_left(self) -> bool:
        stamp = Stamp.of(self._files.chat)
        return stamp is not None and stamp.size == self._known.size

    def _learn_ids(self) -> None:
        """Take note of the ids of rows that appeared since last time, ours or another process's.

        Not before the first append: a large chat that is only read need not be gone through. Lines that
        are no part of a batch and written as Muntin writes them are not parsed.
        """
        with self._opened() as descriptor:
            at, inside = self._known.ids_size, None
            while at < self._known.size:
                page = read_forward(descriptor, at, self._known.size, inside=inside)
                lines = [line.data for line in page.lines if isinstance(line, Line)]
                if any(_IN_BATCH in line for line in lines):
                    # Only whole batches count; the reader knows which are.
                    whole = self.reader.page_forward_unlocked(Position("chat", at, inside))
                    self._known.ids.update(entry.row.id for entry in whole.entries if isinstance(entry, RowEntry))
                    at, inside = whole.next.offset, whole.next.inside
                    if whole.exhausted:
                        break
                    continue
                self._known.ids.update(filter(None, map(_id_in, lines)))
                if page.exhausted:
                    break
                at, inside = page.next, page.inside
        self._known.ids_size = self._known.size

    # Appending

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

    def _write(self, rows: Sequence[Row]) -> None:
        """Add `rows` with one write, durably, or leave the file as it was and raise StorageError."""
        data = b"".join(encode_row(row) + b"\n" for row in rows)
        with self._opened() as descriptor:
            size = os.fstat(descriptor).st_size
            self._write_pending()
            try:
                _write_once(descriptor, data)
                os.fsync(descriptor)
            except OSError:
                if not self._take_back(descriptor, size, data):
                    self._write_stable()
                    raise
            is_ours_alone = Stamp.of(descriptor) == Stamp.of(self._files.chat)
            is_ours_alone = is_ours_alone and os.fstat(descriptor).st_size == size + len(data)
        if is_ours_alone:
            self._known.size = self._known.ids_size = size + len(data)
            self._known.ids.update(row.id for row in rows)
            self._known.last_seq += len(rows)
        else:
            # Somebody else wrote at the same moment: what we know of the file holds no longer.
            self._known = _Known(epoch=new_epoch())
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
        epoch = self._known.epoch or new_epoch()
        pending = Receipt(epoch, "pending", chat=None, archive=None, tail_sha256="", written_ns=0, move=self._move)
        write_receipt(self._files, pending)

    def _write_stable(self, *, durable: bool = False) -> bool:
        """Tell that the files are as we left them; return whether it could be told. If not, no append has failed."""
        try:
            receipt = take_receipt(self._files, epoch=self._known.epoch, state="stable", move=self._move)
        except OSError:
            drop_receipt(self._files)
            return False
        return write_receipt(self._files, receipt, durable=durable)

    # Rewriting

    def _planned_changes(self, edit: EditRow) -> dict[int, bytes]:
        """Return the new bytes of each line that changes, by its offset; empty bytes for one that goes."""
        changes: dict[int, bytes] = {}
        position: Position | None = Position("chat", 0)
        while position is not None:
            page = self.reader.page_forward_unlocked(position)
            begin = max((at for at, entry in enumerate(page.entries) if is_boundary(entry)), default=None)
            if begin is not None:
                # What was read so far is sealed, though it may not have moved to the archive yet.
                changes = {}
            changes |= self._edited(page.entries[begin or 0 :], edit)
            position = None if page.exhausted else page.next
        return changes

    def _edited(self, entries: Sequence[Entry], edit: EditRow) -> dict[int, bytes]:
        """Return the changes to one page; a batch that loses a row is dissolved, so that the rest still counts."""
        rows = [entry for entry in entries if isinstance(entry, RowEntry)]
        results = [(entry, entry.row if is_reset(entry.row) else edit(entry.row)) for entry in rows]
        broken = {entry.row.batch.id for entry, row in results if row is None and entry.row.batch is not None}
        changes: dict[int, bytes] = {}
        for entry, result in results:
            row = result
            if row is not None and row.batch is not None and row.batch.id in broken:
                row = row.model_copy(update={"batch": None})
            if row is not entry.row:
                # A row nested too deeply to be written again stays as it is.
                with contextlib.suppress(RecursionError):
                    changes[entry.offset] = b"" if row is None else encode_row(fit_row(row, self.blobs)) + b"\n"
        return changes

    def _rebuild(
        self, changes: Mapping[int, bytes], *, size: int, tail: Iterable[bytes] = (), keeps_index: bool = False
    ) -> None:
        """Replace the file by its first `size` bytes, with `changes` to its lines, and `tail` behind them.

        With `keeps_index` the index of windows goes on with what lies before the first change.
        """

        def write(source: int, target: int) -> None:
            _copy_with(source, target, changes, size)
            for piece in tail:
                write_all(target, piece)

        epoch = self._known.epoch if keeps_index else ""
        # The copy a rotation has made so far would be one of rows that may not be there any more.
        self._take_back_move()
        self._replace(write, recertified_from=epoch, unchanged_bytes=min((*changes, size)))

    def _replace(
        self, write: Callable[[int, int], None], *, recertified_from: str = "", unchanged_bytes: int | None = None
    ) -> None:
        """Replace the file by what `write` makes of it (source, target), and begin a new epoch.

        The index of windows made in the epoch `recertified_from` goes on in the new one, as far as the file's first
        `unchanged_bytes` go; None: both files together hold the same bytes as before.
        """
        temporary = self._files.chat.with_name(f".chat.{secrets.token_hex(4)}.tmp")
        self._write_pending()
        epoch = new_epoch()
        try:
            with self._opened() as source:
                target = open_for_append(temporary)
                try:
                    write(source, target)
                    os.fsync(target)
                finally:
                    os.close(target)
            # Windows replaces no open file: both are closed here, and the append lock is held.
            replace(temporary, self._files.chat)
            sync_folder(self._files.folder)
        except OSError as error:
            raise storage_error("This chat can't be saved", error) from error
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            if self._move is not None and not self._move.is_open(Stamp.of(self._files.chat)):
                self._move = None
            if recertified_from:
                recertify_index(
                    self._files, old_epoch=recertified_from, new_epoch=epoch, unchanged_bytes=unchanged_bytes
                )
            self._known = _Known(epoch=epoch)
            self._write_stable()


def _id_in(line: bytes) -> str | None:
    """Return the id of the row in a line that is in no batch, None if it is no row."""
    canonical = _CANONICAL_ID.match(line)
    if canonical is not None and b"\0" not in line:
        return canonical[1].decode("utf-8", "replace")
    row = decode_line(line)
    return row.id if isinstance(row, Row) else None


def _write_once(descriptor: int, data: bytes) -> None:
    """Write all of `data` with one call; a short write is a full disk."""
    if os.write(descriptor, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _copy_with(source: int, target: int, changes: Mapping[int, bytes], size: int) -> None:
    at = 0
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
