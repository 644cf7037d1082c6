"""Versions of what follows a row: cut off by edit and regenerate, and brought back whole.

A version that is not the chat now lies in `branches/<id>.jsonl`. Its rows are on disk there before the chat is
rewritten, and it goes when they are in the chat again: whatever happens in between, they are in one place at least.
A boundary and everything that can't be read stay where they are. See context-windows.md, 3, and
docs/history-format.md.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from app.disk import Stamp, open_for_read, read_at, storage_error
from app.domain.errors import DuplicateRow, StorageError
from app.domain.ids import NewId, new_id
from app.domain.rows import Row
from app.domain.versions import Versions
from app.history.batches import torn_stretches
from app.history.blobs import fit_row
from app.history.branch_file import BranchFolder, BranchHead, BranchLine, Reason, UnreadableBranch, age_of
from app.history.codec import decode_line, encode_row
from app.history.files import ChatFiles
from app.history.privacy_floor import read_floor_seq
from app.history.reader import Entry, Position, RowEntry, is_boundary
from app.history.scanner import Caps, Line, read_forward
from app.history.store import Store

Now = Callable[[], datetime]

_ONLY_BRANCH: Final = "This belongs to an earlier window: only a branch of the chat can be made from here."
_SEARCH_BYTES: Final = 2 * 1024 * 1024
_ONE_LINE: Final = Caps(page_rows=1)


@dataclass(frozen=True, slots=True)
class Cut:
    """What came of a cut."""

    branch: str
    """Where the rows are that were cut off; empty if there were none."""
    ids: tuple[str, ...]
    """Of those rows, oldest first."""
    rows: tuple[Row, ...]
    """What was added in their place, as written."""
    last_seq: int
    """What the next append expects."""


@dataclass(frozen=True, slots=True)
class Switched:
    """What came of a switch to another version."""

    branch: str
    """Where the version is that was the chat before; empty if it had no row."""
    ids: tuple[str, ...]
    """Of its rows, oldest first."""
    rows: tuple[Row, ...]
    """What is the chat now behind the row in question."""
    last_seq: int
    """What the next append expects."""


@dataclass(frozen=True, slots=True)
class _Tail:
    """What lies behind one row of the active window. Rows are without their parts."""

    after: str
    rows: tuple[RowEntry, ...]
    """Those that can be cut: no boundary, and nothing that can't be read."""
    kept_ids: frozenset[str]
    changes: dict[int, bytes]
    """What the file's lines become when they are cut, by offset."""
    last_seq: int
    """The last number of what stays."""


class Branches:
    """The versions of one chat. Writes through `store`, under its locks; only the lease holder may."""

    def __init__(
        self, files: ChatFiles, store: Store, *, new_id: NewId = new_id, now: Now = lambda: datetime.now(UTC)
    ) -> None:
        self._files = files
        self._store = store
        self._folder = BranchFolder(files.branches)
        self._new_id = new_id
        self._now = now

    def tidy(self) -> None:
        """Settle what a crash left: a version that is the chat as well goes, one that can't be read is set aside.

        At open, by the lease holder, when the store was repaired. Never raises: what the disk refuses is left.
        """
        with contextlib.suppress(StorageError):
            heads = [head for branch in self._folder.ids() if (head := self._head_or_aside(branch)) is not None]
            if heads and self._is_any_in_chat(heads):
                with self._store.settled():
                    self._drop_doubles(self._window(), heads)

    def versions(self, window: Sequence[Row] | None = None) -> tuple[Versions, ...]:
        """Return every row of the active window that has several versions behind it, in the window's order.

        `window` is the active window with the boundary it begins with, as rows; None to have it read. Of the
        versions only the begin is read. Raises StorageError.
        """
        heads = self._heads()
        if not heads:
            return ()
        rows = {row.id: row for row in (window if window is not None else self._rows_in_window())}
        ids = [*rows]
        begins_history = not ids or rows[ids[0]].boundary is None
        known = {head.after for head in heads}
        found = []
        for after in [""] * begins_history + ids:
            if after not in known:
                continue
            behind = _behind(after, ids)
            others = [head for head in heads if head.after == after and not self._is_in_chat(head, behind)]
            if others:
                current = rows[behind[0]] if behind else None
                found.append(Versions(after, _in_order(others, current)))
        return tuple(found)

    def cut(self, after: str, reason: Reason, *, then: Sequence[Row] = (), expected_last_seq: int) -> Cut:
        """Cut off every row behind `after`, and in the same step add the rows `then` as `Store.append` would.

        `after` is a row of the active window, its boundary included; empty for the begin of a history without one.
        Nothing is made of a cut that has nothing to cut; `then` is added all the same.
        Raises Conflict, DuplicateRow, ChatNotFound, StorageError: in earlier windows and above the floor nothing can
        be cut. Nothing has changed then.
        """
        fitted = self._store.fitted(then)
        with self._store.settled(expected_last_seq=expected_last_seq):
            tail = self._tail_behind(after)
            added = self._store.numbered(fitted) if fitted else ()
            if not tail.rows:
                if added:
                    self._store.add(added)
                return Cut("", (), added, _last_seq(added, expected_last_seq))
            if not added and tail.last_seq < read_floor_seq(self._files):
                # What comes next would get a number that is not for a model.
                raise StorageError(_ONLY_BRANCH)
            lines = [encode_row(row) + b"\n" for row in added]
            branch = self._keep(tail, reason)
            last_seq = self._replace(branch, tail, lines, _last_seq(added, tail.last_seq))
            return Cut(branch, _ids(tail), added, last_seq)

    def switch(self, after: str, branch: str, *, expected_last_seq: int) -> Switched:
        """Put the version `branch` in place of what lies behind `after`, which becomes a version of its own.

        Rows come back byte for byte, but for numbers that are taken and batches that are not whole.
        Raises as `cut` does; nothing has changed then, but a version that can't be read is set aside.
        """
        with self._store.settled(expected_last_seq=expected_last_seq):
            tail = self._tail_behind(after)
            back = self._load(branch, after)
            if not tail.kept_ids.isdisjoint(line.row.id for line in back):
                raise DuplicateRow("A message of this version is in the chat already.")
            back = self._fitting(back, max(tail.last_seq, read_floor_seq(self._files)))
            rows = tuple(line.row for line in back)
            kept = self._keep(tail, "switch") if tail.rows else ""
            lines = (line.data + b"\n" for line in back)
            last_seq = self._replace(kept, tail, lines, _last_seq(rows, tail.last_seq))
            with contextlib.suppress(StorageError):
                # It is in the chat now; if it stays, it is found out and removed later.
                self._folder.remove(branch)
            return Switched(kept, _ids(tail), rows, last_seq)

    # The active window

    def _window(self) -> list[Entry]:
        """Return the part of the active window that lies in the active file, rows without their parts."""
        pages: list[list[Entry]] = []
        end: Position | None = None
        while True:
            page = self._store.reader.page_backward_unlocked(end)
            entries = [_light(entry) for entry in page.entries if entry.file == "chat"]
            begin = max((at for at, entry in enumerate(entries) if is_boundary(entry)), default=None)
            pages.append(entries[begin or 0 :])
            if begin is not None or page.exhausted or page.next.file == "archive":
                return [entry for entries in reversed(pages) for entry in entries]
            end = page.next

    def _rows_in_window(self) -> list[Row]:
        entries = self._store.reader.active_window()
        return [entry.row for entry in map(_light, entries) if isinstance(entry, RowEntry)]

    def _tail_behind(self, after: str) -> _Tail:
        """Return what lies behind `after`; doubles of it are removed first. Raises StorageError."""
        window = self._window()
        place = self._place_in(window, after)
        self._drop_doubles(window, self._heads())
        kept = [entry for entry in window[: place + 1] if isinstance(entry, RowEntry)]
        rows = tuple(entry for entry in window[place + 1 :] if isinstance(entry, RowEntry))
        floor_seq = read_floor_seq(self._files)
        if any(entry.row.seq is not None and entry.row.seq <= floor_seq for entry in rows):
            raise StorageError(_ONLY_BRANCH)
        numbers = [entry.row.seq for entry in kept if entry.row.seq]
        return _Tail(
            after=after,
            rows=rows,
            kept_ids=frozenset(entry.row.id for entry in kept),
            changes=self._changes(kept, rows),
            last_seq=max(numbers) if numbers else self._last_seq_before(window[0].offset if window else 0),
        )

    def _place_in(self, window: Sequence[Entry], after: str) -> int:
        """Return the place of the row `after`, -1 for the begin of the history. Raises StorageError."""
        if not after:
            begins_history = not window or not is_boundary(window[0])
            if begins_history and self._store.reader.offset_of(Position("chat", 0)) == 0:
                return -1
            raise StorageError(_ONLY_BRANCH)
        for place in range(len(window) - 1, -1, -1):
            entry = window[place]
            if isinstance(entry, RowEntry) and entry.row.id == after:
                return place
        raise StorageError(_ONLY_BRANCH)

    def _changes(self, kept: Sequence[RowEntry], cut: Sequence[RowEntry]) -> dict[int, bytes]:
        """Return the changes that take `cut` out; a batch that loses a row is dissolved, so that the rest counts."""
        changes = {entry.offset: b"" for entry in cut}
        broken = {entry.row.batch.id for entry in cut if entry.row.batch is not None}
        torn = [entry for entry in kept if entry.row.batch is not None and entry.row.batch.id in broken]
        for entry, line in zip(torn, self._lines_of(torn), strict=True):
            row = decode_line(line)
            assert isinstance(row, Row)
            changes[entry.offset] = self._line(row.model_copy(update={"batch": None})) + b"\n"
        return changes

    def _line(self, row: Row) -> bytes:
        try:
            return encode_row(fit_row(row, self._store.blobs))
        except RecursionError:
            raise StorageError("A message is nested too deeply to be saved again.") from None

    def _last_seq_before(self, offset: int) -> int:
        """Return the newest number before `offset` of the active file, 0 if there is none."""
        end: Position | None = Position("chat", offset)
        while True:
            page = self._store.reader.page_backward_unlocked(end)
            numbers = [entry.row.seq for entry in page.entries if isinstance(entry, RowEntry) and entry.row.seq]
            if numbers or page.exhausted:
                return max(numbers, default=0)
            end = page.next

    def _lines_of(self, entries: Iterable[RowEntry]) -> Iterator[bytes]:
        """Yield the lines of rows in the active file, line feeds left out. Raises StorageError."""
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

    # Writing

    def _keep(self, tail: _Tail, reason: Reason) -> str:
        """Write what is cut to a branch of its own and return its name."""
        branch = self._new_id()
        lines = self._lines_of(tail.rows)
        self._folder.write(branch, after=tail.after, reason=reason, created=self._now(), lines=lines)
        return branch

    def _replace(self, kept: str, tail: _Tail, lines: Iterable[bytes], last_seq: int) -> int:
        """Rewrite the chat; `kept` goes again if that fails. Return what the next append expects."""
        before: Stamp | None = None
        try:
            before = Stamp.of(self._files.chat)
            return self._store.replace_tail(tail.changes, lines, last_seq=last_seq)
        except OSError as error:
            raise storage_error("This chat can't be saved", error) from error
        except StorageError:
            with contextlib.suppress(OSError, StorageError):
                # The error may have come behind the step itself: then the rows are nowhere else.
                if kept and _is_same_file(before, Stamp.of(self._files.chat)):
                    self._folder.remove(kept)
            raise

    def _fitting(self, back: Sequence[BranchLine], last_seq: int) -> list[BranchLine]:
        """Return `back` as it can stand behind the number `last_seq`, every line that can be as it was."""
        torn = {at for stretch in torn_stretches(back) for at in stretch}
        fitting = []
        for at, line in enumerate(back):
            row = line.row
            if at in torn:
                row = row.model_copy(update={"batch": None})
            if row.seq is not None and row.seq <= last_seq:
                row = row.model_copy(update={"seq": last_seq + 1})
            last_seq = row.seq or last_seq
            fitting.append(line if row is line.row else BranchLine(row, self._line(row)))
        return fitting

    # Branch files

    def _heads(self) -> list[BranchHead]:
        """Return the begin of every version that can be read."""
        heads = []
        for branch in self._folder.ids():
            with contextlib.suppress(StorageError):
                heads.append(self._folder.head(branch))
        return heads

    def _head_or_aside(self, branch: str) -> BranchHead | None:
        try:
            return self._folder.head(branch)
        except UnreadableBranch:
            with contextlib.suppress(StorageError):
                self._folder.set_aside(branch)
        except StorageError:
            pass
        return None

    def _load(self, branch: str, after: str) -> list[BranchLine]:
        try:
            if self._folder.head(branch).after != after:
                raise StorageError("This version belongs behind another message.")
            return list(self._folder.lines(branch))
        except UnreadableBranch:
            with contextlib.suppress(StorageError):
                self._folder.set_aside(branch)
            raise StorageError("This version is damaged and can't be brought back. Its file was set aside.") from None

    def _drop_doubles(self, window: Sequence[Entry], heads: Iterable[BranchHead]) -> None:
        """Remove every version that is the chat as well: what a crash leaves in the middle of a cut or switch."""
        ids = [entry.row.id for entry in window if isinstance(entry, RowEntry)]
        for head in heads:
            if self._is_in_chat(head, _behind(head.after, ids)):
                with contextlib.suppress(StorageError):
                    self._folder.remove(head.id)

    def _is_in_chat(self, head: BranchHead, behind: Sequence[str]) -> bool:
        """Whether the rows of a version are those that lie behind its row in the chat."""
        if not behind or head.first.id != behind[0]:
            return False
        try:
            ids = [line.row.id for line in self._folder.lines(head.id)]
        except StorageError:
            return False
        return list(behind[: len(ids)]) == ids

    def _is_any_in_chat(self, heads: Sequence[BranchHead]) -> bool:
        """Whether the active file has the id of the first row of a version; a quick look, wrong only with yes."""
        needles = [b'"%s"' % head.first.id.encode("utf-8", "replace") for head in heads]
        overlap = max(map(len, needles))
        try:
            descriptor = open_for_read(self._files.chat)
            if descriptor is None:
                return False
            try:
                at = 0
                while data := read_at(descriptor, _SEARCH_BYTES + overlap, at):
                    if any(needle in data for needle in needles):
                        return True
                    at += _SEARCH_BYTES
                return False
            finally:
                os.close(descriptor)
        except OSError as error:
            raise storage_error("This chat can't be read", error) from error


def _light(entry: Entry) -> Entry:
    """Return `entry` without what a row says: a window may be large."""
    if not isinstance(entry, RowEntry):
        return entry
    return RowEntry(entry.row.model_copy(update={"parts": ()}), entry.file, entry.offset)


def _behind(after: str, ids: Sequence[str]) -> Sequence[str]:
    """Return what lies behind the last `after`; all, if that is empty; nothing, if it is not there."""
    if not after:
        return ids
    return ids[len(ids) - ids[::-1].index(after) :] if after in ids else ()


def _in_order(others: Sequence[BranchHead], current: Row | None) -> tuple[str, ...]:
    """Return the names of all versions, oldest first; the chat itself is the newest as long as it is empty."""
    ages = [(head.age, head.id) for head in others]
    if current is None:
        return (*(name for _, name in sorted(ages)), "")
    return tuple(name for _, name in sorted([*ages, (age_of(current), "")]))


def _ids(tail: _Tail) -> tuple[str, ...]:
    return tuple(entry.row.id for entry in tail.rows)


def _last_seq(rows: Sequence[Row], otherwise: int) -> int:
    return max((row.seq for row in rows if row.seq), default=otherwise)


def _is_same_file(one: Stamp | None, other: Stamp | None) -> bool:
    return one is not None and other is not None and (one.device, one.inode) == (other.device, other.inode)
