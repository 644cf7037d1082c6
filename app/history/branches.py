"""Versions of what follows a row: cut off by edit and regenerate, and brought back whole.

A version that is not the chat now lies in `branches/<id>.jsonl`. Its rows are on disk there before the chat is
rewritten, and it goes when they are in the chat again: whatever happens in between, they are in one place at least.
A boundary and everything that can't be read stay where they are. See context-windows.md, 3, and
docs/history-format.md.
"""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from app.disk import Stamp, storage_error
from app.domain.errors import DuplicateRow, StorageError
from app.domain.ids import NewId, new_id
from app.domain.rows import Row
from app.domain.versions import CutReason, Versions
from app.history.batches import torn_stretches
from app.history.branch_doubles import drop_doubles, is_double, may_have_doubles, rows_behind
from app.history.branch_file import BranchFolder, BranchHead, BranchLine, UnreadableBranch, age_of
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.reader import Entry, RowEntry
from app.history.store import Store
from app.history.window_tail import ONLY_BRANCH, TailReader, WindowTail, light

Now = Callable[[], datetime]


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


class Branches:
    """The versions of one chat. Writes through `store`, under its locks; only the lease holder may."""

    def __init__(
        self, files: ChatFiles, store: Store, *, new_id: NewId = new_id, now: Now = lambda: datetime.now(UTC)
    ) -> None:
        self._files = files
        self._store = store
        self._folder = BranchFolder(files.branches)
        self._tails = TailReader(files, store.reader, store.blobs)
        self._new_id = new_id
        self._now = now

    def tidy(self) -> None:
        """Settle what a crash left: a version that is the chat as well goes, one that can't be read is set aside.

        At open, by the lease holder, when the store was repaired. Never raises: what the disk refuses is left.
        """
        with contextlib.suppress(StorageError):
            heads = [head for branch in self._folder.ids() if (head := self._head_or_aside(branch)) is not None]
            if heads and may_have_doubles(heads, self._files):
                with self._store.settled():
                    drop_doubles(heads, _ids_in(self._tails.window()), self._folder)

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
            behind = rows_behind(after, ids)
            others = [head for head in heads if head.after == after and not is_double(head, behind, self._folder)]
            if others:
                current = rows[behind[0]] if behind else None
                found.append(Versions(after, _in_order(others, current)))
        return tuple(found)

    def cut(self, after: str, reason: CutReason, *, then: Sequence[Row] = (), expected_last_seq: int) -> Cut:
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
            if not added and tail.last_seq < tail.floor_seq:
                # What comes next would get a number that is not for a model.
                raise StorageError(ONLY_BRANCH)
            lines = [encode_row(row) + b"\n" for row in added]
            branch, last_seq = self._put(tail, reason, lines, _last_seq(added, tail.last_seq))
            return Cut(branch, tail.ids, added, last_seq)

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
            back = self._fitting(back, max(tail.last_seq, tail.floor_seq))
            rows = tuple(line.row for line in back)
            lines = (line.data + b"\n" for line in back)
            kept, last_seq = self._put(tail, "switch", lines, _last_seq(rows, tail.last_seq))
            with contextlib.suppress(StorageError):
                # It is in the chat now; if it stays, it is found out and removed later.
                self._folder.remove(branch)
            return Switched(kept, tail.ids, rows, last_seq)

    def _tail_behind(self, after: str) -> WindowTail:
        """Return what lies behind `after`; versions that are the same rows go first. Raises StorageError."""
        window = self._tails.window()
        tail = self._tails.behind(window, after)
        drop_doubles(self._heads(), _ids_in(window), self._folder)
        return tail

    def _put(self, tail: WindowTail, reason: CutReason, lines: Iterable[bytes], last_seq: int) -> tuple[str, int]:
        """Keep `tail` as a version and put `lines` in its place.

        Return the version's name, empty if there is nothing to keep, and what the next append expects.
        """
        try:
            before = Stamp.of(self._files.chat)
        except OSError as error:
            raise storage_error("This chat can't be read", error) from error
        branch = self._keep(tail, reason) if tail.rows else ""
        try:
            return branch, self._store.replace_tail(tail.changes, lines, last_seq=last_seq)
        except StorageError:
            with contextlib.suppress(OSError, StorageError):
                now = Stamp.of(self._files.chat)
                if _is_another_file(before, now):
                    # It came behind the step itself: that has happened, and the rows are nowhere else.
                    return branch, last_seq
                if branch and now is not None:
                    self._folder.remove(branch)
            raise

    def _keep(self, tail: WindowTail, reason: CutReason) -> str:
        branch = self._new_id()
        lines = self._tails.lines_of(tail.rows)
        self._folder.write(branch, after=tail.after, reason=reason, created=self._now(), lines=lines)
        return branch

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
            fitting.append(line if row is line.row else BranchLine(row, self._tails.line_of(row)))
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
            self._folder.set_aside(branch)
            raise StorageError("This version is damaged and can't be brought back. Its file was set aside.") from None

    def _rows_in_window(self) -> list[Row]:
        entries = self._store.reader.active_window()
        return [entry.row for entry in map(light, entries) if isinstance(entry, RowEntry)]


def _ids_in(window: Sequence[Entry]) -> list[str]:
    return [entry.row.id for entry in window if isinstance(entry, RowEntry)]


def _in_order(others: Sequence[BranchHead], current: Row | None) -> tuple[str, ...]:
    """Return the names of all versions, oldest first; the chat itself is the newest as long as it is empty."""
    ages = [(head.age, head.id) for head in others]
    if current is None:
        return (*(name for _, name in sorted(ages)), "")
    return tuple(name for _, name in sorted([*ages, (age_of(current), "")]))


def _last_seq(rows: Sequence[Row], otherwise: int) -> int:
    return max((row.seq for row in rows if row.seq), default=otherwise)


def _is_another_file(before: Stamp | None, now: Stamp | None) -> bool:
    return before is not None and now is not None and (before.device, before.inode) != (now.device, now.inode)
