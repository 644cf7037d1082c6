"""A new chat with the history of another up to one of its messages.

Rows get new ids and keep their numbers. Privacy floors come along, so that a branch never lets a model read what the
original would not. The original is only read, so it may be open anywhere. See context-windows.md, 3.
"""

import itertools
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from app.disk import FOLDER_MODE, open_for_append, read_at, storage_error, sync_folder, write_all
from app.domain.chats import ChatSummary
from app.domain.errors import HistoryChanged
from app.domain.events import ChatBranched, ChatCopying
from app.domain.rows import Row
from app.domain.windows import HistoryItem
from app.history.blobs import Blobs, fit_row
from app.history.codec import MAX_LINE_BYTES, encode_row, is_reset
from app.history.files import ChatFiles
from app.history.library import Library, peek_meta, summary_of
from app.history.reader import Entry, HistoryReader, Position, RowEntry
from app.history.sidecars import write_sidecar
from app.session.aside import Aside, GoOn
from app.session.branch_rows import RowMapping, blob_names
from app.session.env import SessionEnv

QUIET_SECONDS: Final = 1.0
"""A copy that takes no longer says nothing of how far it is."""
TELL_SECONDS: Final = 0.25
_COPY_BYTES: Final = 2 * 1024 * 1024
_NUMBERED: Final = re.compile(r"(?P<title>.*\S) \([1-9]\d{0,3}\)", re.DOTALL)

Told = Callable[[int], None]
"""Told up to which byte the original was read; raises to give up."""


class Left(NamedTuple):
    """How many entries could not be taken along, and how many blobs that rows name were gone."""

    damaged: int
    oversized: int
    missing_files: int


class Branching:
    """Makes branches of chats. Lives on the engine's loop."""

    def __init__(self, env: SessionEnv, library: Library, aside: Aside) -> None:
        self._env = env
        self._library = library
        self._aside = aside

    async def branch(self, session: str, item: HistoryItem) -> ChatSummary:
        """Return a new chat with the history of `session` up to the end of the batch of `item`.

        Raises ChatNotFound, StorageError, HistoryChanged; nothing is left of it then, nor if the caller is cancelled.
        """
        name = f"branch {session}"
        try:
            summary, left = await self._aside.run(lambda go_on: self._make(session, item, go_on), name=name)
        except HistoryChanged:
            # Rows went to the archive meanwhile, most likely; that happens once in a while.
            summary, left = await self._aside.run(lambda go_on: self._make(session, item, go_on), name=name)
        self._env.emit(ChatBranched(summary.id, summary, *left))
        return summary

    def _make(self, session: str, item: HistoryItem, go_on: GoOn) -> tuple[ChatSummary, Left]:
        source = self._library.files(session)
        meta = peek_meta(source)
        title = branch_title(meta.title, {chat.title for chat in self._library.summaries()})
        told = self._teller(session, item.offset, go_on)
        with self._library.unfinished() as (name, files):
            floor_seq, left = copy_history(source, files, session=name, until=item, told=told, floor=meta.floor_seq)
            now = self._env.clock.now()
            changes = {"title": title, "pinned": False, "created": now, "updated": now, "floor_seq": floor_seq}
            # What was always allowed was so in that chat.
            meta = meta.model_copy(update={**changes, "grants": ()})
            write_sidecar(files.meta, meta)
        return summary_of(name, meta), left

    def _teller(self, session: str, total_bytes: int, go_on: GoOn) -> Told:
        due = time.monotonic() + QUIET_SECONDS

        def told(copied_bytes: int) -> None:
            nonlocal due
            go_on()
            if time.monotonic() >= due:
                due = time.monotonic() + TELL_SECONDS
                self._env.emit(ChatCopying(session, min(copied_bytes, total_bytes), total_bytes))

        return told


def branch_title(title: str, taken: set[str]) -> str:
    """Return `title` with the lowest number behind it, from 2, that no chat has yet."""
    if not title:
        return ""
    found = _NUMBERED.fullmatch(title)
    plain = found["title"] if found is not None else title
    return next(name for number in itertools.count(2) if (name := f"{plain} ({number})") not in taken)


def copy_history(
    source: ChatFiles, target: ChatFiles, *, session: str, until: HistoryItem, told: Told, floor: int | None
) -> tuple[int | None, Left]:
    """Copy the rows of `source` up to the end of the batch of `until` into the empty chat `target`, durably.

    `floor` is the `floor_seq` of the original; that of the copy is returned. If `until` lies above a floor, the copy
    ends with a manual reset. Raises StorageError, HistoryChanged if `until` is not where it was.
    """
    try:
        descriptor = open_for_append(target.archive)
        try:
            copy = _Copy(source, target, descriptor, session)
            _copy_rows(HistoryReader(source), copy, until, told)
            if until.is_above_floor or (floor is not None and copy.last_seq < floor):
                copy.add_boundary("reset")
            copy.flush()
            _split(descriptor, target, copy.window_start)
        finally:
            os.close(descriptor)
        if copy.window_start == 0:
            target.archive.replace(target.chat)
        sync_folder(target.folder)
    except OSError as error:
        raise storage_error("This chat can't be copied", error) from error
    floors = [seq for seq in (copy.floor_seq, floor) if seq is not None]
    return min(max(floors), copy.last_seq) if floors else None, copy.left()


def _copy_rows(reader: HistoryReader, copy: "_Copy", until: HistoryItem, told: Told) -> None:
    position: Position | None = None
    epoch: str | None = None
    archive_bytes = reader.offset_of(Position("chat", 0))
    while True:
        page = reader.page_forward(position)
        if epoch not in (None, page.epoch):
            break
        epoch = page.epoch
        for group in _batches(page.entries):
            copy.add(group)
            if any(_is_item(entry, until, archive_bytes) for entry in group):
                return
        copy.flush()
        told(page.next.offset + (archive_bytes if page.next.file == "chat" else 0))
        if page.exhausted:
            break
        position = page.next
    raise HistoryChanged("This chat was changed while it was copied. Please try again.")


def _batches(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Yield the entries of each batch together, and every other entry alone."""
    for _, group in itertools.groupby(enumerate(entries), lambda found: _batch_of(found[1]) or found[0]):
        yield [entry for _, entry in group]


def _batch_of(entry: Entry) -> str | None:
    return entry.row.batch.id if isinstance(entry, RowEntry) and entry.row.batch is not None else None


def _is_item(entry: Entry, item: HistoryItem, archive_bytes: int) -> bool:
    if not isinstance(entry, RowEntry) or entry.row.id != item.row_id:
        return False
    return entry.offset + (archive_bytes if entry.file == "chat" else 0) == item.offset


class _Copy:
    """The history that is being written, all in one file at first."""

    def __init__(self, source: ChatFiles, target: ChatFiles, descriptor: int, session: str) -> None:
        self.window_start = 0
        """Where the newest window begins."""
        self.last_seq = 0
        self.floor_seq: int | None = None
        self._mapping = RowMapping(session)
        self._blobs = Blobs(target.blobs)
        self._from, self._to = source.blobs, target.blobs
        self._descriptor = descriptor
        self._lines: list[bytes] = []
        self._size = 0
        self._owed: list[str] = []
        self._last_created: datetime | None = None
        self._damaged = self._oversized = 0
        self._missing: set[str] = set()

    def left(self) -> Left:
        """Return what could not be taken along so far."""
        return Left(self._damaged, self._oversized, len(self._missing))

    def add(self, batch: Sequence[Entry]) -> None:
        """Add one batch, or what stands for an entry that can't be read."""
        rows = []
        for entry in batch:
            if isinstance(entry, RowEntry):
                rows.append(self._mapping.row(entry.row))
                continue
            self._oversized += entry.is_oversized
            self._damaged += not entry.is_oversized
            if entry.is_boundary:
                # It is written once the number of the next row is known.
                self._owed.append("reset" if entry.is_reset else "rollover")
        if rows:
            self._write(rows)

    def add_boundary(self, kind: str) -> None:
        """Begin a window at the end."""
        self._owed.append(kind)
        self._pay(None)

    def flush(self) -> None:
        """Put what was added on disk, but for boundaries whose number is not known yet."""
        data = b"".join(self._lines)
        self._lines.clear()
        write_all(self._descriptor, data)

    def _write(self, rows: Sequence[Row]) -> None:
        self._pay(rows[0].seq)
        lines = [self._line(row) for row in rows]
        if None in lines:
            # What can't be written is left out; the rest of its batch counts without it.
            self._damaged += lines.count(None)
            rows = [row.model_copy(update={"batch": None}) for row, line in zip(rows, lines, strict=True) if line]
            lines = [self._line(row) for row in rows]
        if any(row.boundary is not None for row in rows):
            self.window_start = self._size
        for row, line in zip(rows, lines, strict=True):
            if line is not None:
                self._add_line(row, line)

    def _pay(self, next_seq: int | None) -> None:
        """Write the boundaries that stand for entries nobody can read, numbered if there is room before `next_seq`."""
        for kind in self._owed:
            seq = self.last_seq + 1 if next_seq is None or self.last_seq + 1 < next_seq else None
            row = self._mapping.boundary(kind, seq=seq, created=self._last_created, place=self._size)
            self.window_start = self._size
            self._add_line(row, encode_row(row))
        self._owed.clear()

    def _line(self, row: Row) -> bytes | None:
        try:
            line = encode_row(row)
            return line if len(line) <= MAX_LINE_BYTES else encode_row(fit_row(row, self._blobs))
        except RecursionError:
            return None

    def _add_line(self, row: Row, line: bytes) -> None:
        for name in blob_names(row):
            self._take_blob(name)
        self.last_seq = max(self.last_seq, row.seq or 0)
        self._last_created = row.created or self._last_created
        if is_reset(row):
            self.floor_seq = self.last_seq
        self._lines.append(line + b"\n")
        self._size += len(line) + 1

    def _take_blob(self, name: str) -> None:
        target = self._to / name
        if name in self._missing or target.exists():
            return
        if not self._to.is_dir():
            self._to.mkdir(mode=FOLDER_MODE)
        try:
            os.link(self._from / name, target)
        except FileNotFoundError:
            self._missing.add(name)
        except OSError:
            # Not every file system has a second name for a file.
            _copy_file(self._from / name, target)


def _copy_file(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    descriptor = os.open(target, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _split(descriptor: int, target: ChatFiles, start: int) -> None:
    """Move what lies behind `start` from the archive to the active file, and put both on disk."""
    if target.blobs.is_dir():
        sync_folder(target.blobs)
    if start:
        size = os.fstat(descriptor).st_size
        active = open_for_append(target.chat)
        try:
            for at in range(start, size, _COPY_BYTES):
                write_all(active, read_at(descriptor, min(_COPY_BYTES, size - at), at))
            os.fsync(active)
        finally:
            os.close(active)
        os.ftruncate(descriptor, start)
    os.fsync(descriptor)
