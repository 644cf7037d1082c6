"""Rows that lie in both files because a move to the archive was cut short: found, and taken back without loss.

Everything here is called with the locks held. See context-windows.md, 4, and ADR-0011.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from app.disk import Stamp, open_for_append, open_for_read, read_at, sync_folder, write_all
from app.domain.ids import new_id
from app.domain.rows import Row
from app.history.codec import Damage, decode_line
from app.history.files import ChatFiles
from app.history.receipt import Move
from app.history.scanner import Line, read_backward, read_forward

PIECE_BYTES: Final = 2 * 1024 * 1024
_PROBE_BYTES: Final = 4096


def has_taken_place(move: Move, files: ChatFiles) -> bool:
    """Whether the bytes of `move` are in the archive, whole, and no more in the active file. Raises OSError."""
    with _open_both(files) as (archive, chat):
        end = move.archive_size + move.length
        if _size(archive) < end or _size(archive) == 0:
            return move.length == 0
        digest = hashlib.sha256()
        for piece in _pieces(archive, move.archive_size, end):
            digest.update(piece)
        return digest.hexdigest() == move.sha256 and not _is_prefix(archive, move.archive_size, end, chat)


def take_back(move: Move, files: ChatFiles) -> None:
    """Cut what `move` has copied so far off the archive again, as long as the active file has it too.

    A copy of bytes that are not there any more, because another program edited them, is set aside first.
    Raises OSError.
    """
    with _open_both(files) as (archive, chat):
        size = _size(archive)
        if size <= move.archive_size:
            return
        if not _is_prefix(archive, move.archive_size, size, chat):
            is_whole = size >= move.archive_size + move.length
            if chat is None or (is_whole and not move.is_open(Stamp.of(chat))):
                # Nobody can tell whether those rows are anywhere else.
                return
            _set_aside(archive, move.archive_size, size, files.folder)
    _cut(files.archive, move.archive_size)


def drop_doubles(files: ChatFiles) -> bool:
    """Cut off the archive's end if it is the begin of the active file; return whether it was.

    That is what a move leaves of which no receipt tells. Raises OSError.
    """
    with _open_both(files) as (archive, chat):
        if archive is None or chat is None or not _size(archive) or not _size(chat):
            return False
        start = None if _are_numbers_in_order(archive, chat) else _double_start(archive, chat)
        if start is None:
            start = _torn_start(archive, chat)
    if start is None:
        return False
    _cut(files.archive, start)
    return True


def _torn_start(archive: int, chat: int) -> int | None:
    """Return where a last line of the archive begins that has no end and is the begin of the active file's first."""
    size = _size(archive)
    tail = read_at(archive, min(size, PIECE_BYTES), max(0, size - PIECE_BYTES))
    torn = tail[tail.rfind(b"\n") + 1 :]
    start = size - len(torn)
    return start if torn and _is_prefix(archive, start, size, chat) else None


def _are_numbers_in_order(archive: int, chat: int) -> bool:
    """Whether the newest number of the archive is known to lie before the first one of the active file."""
    older, newer = read_backward(archive, _size(archive)).lines, read_forward(chat, 0, _size(chat)).lines
    last = next((seq for line in older if (seq := _seq(line)) is not None), None)
    first = next((seq for line in newer if (seq := _seq(line)) is not None), None)
    return last is not None and first is not None and last < first


def _seq(line: object) -> int | None:
    row = decode_line(line.data) if isinstance(line, Line) else None
    return row.seq if isinstance(row, Row) else None


def _double_start(archive: int, chat: int) -> int | None:
    """Return where the archive begins to repeat the active file, up to its own end."""
    probe = read_at(chat, _PROBE_BYTES, 0)
    probe = probe[: probe.find(b"\n") + 1] or probe
    size = _size(archive)
    lowest = max(0, size - _size(chat))
    end = size
    while end > lowest:
        begin = max(lowest, end - PIECE_BYTES)
        data = read_at(archive, end - begin + len(probe) - 1, begin)
        found = data.rfind(probe)
        while found >= 0:
            start = begin + found
            is_line = start == 0 or read_at(archive, 1, start - 1) == b"\n"
            if is_line and _is_prefix(archive, start, size, chat) and _has_row(archive, start, size):
                return start
            found = data.rfind(probe, 0, found + len(probe) - 1)
        end = begin
    return None


def _has_row(archive: int, start: int, end: int) -> bool:
    """Whether a row with an id is among the lines: an id is given once, so that they are doubles for certain."""
    page = read_forward(archive, start, end)
    return any(isinstance(line, Line) and not isinstance(decode_line(line.data), Damage) for line in page.lines)


def _is_prefix(archive: int | None, start: int, end: int, chat: int | None) -> bool:
    """Whether the archive from `start` to `end` says what the active file begins with."""
    if archive is None or chat is None or _size(chat) < end - start:
        return False
    at = start
    for piece in _pieces(archive, start, end):
        if read_at(chat, len(piece), at - start) != piece:
            return False
        at += len(piece)
    return at == end


def _set_aside(archive: int | None, start: int, end: int, folder: Path) -> None:
    target = open_for_append(folder / f"archive-{new_id()}.damaged")
    try:
        for piece in _pieces(archive, start, end):
            write_all(target, piece)
        os.fsync(target)
    finally:
        os.close(target)
    sync_folder(folder)


def _cut(path: Path, size: int) -> None:
    descriptor = open_for_append(path)
    try:
        os.ftruncate(descriptor, size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _pieces(descriptor: int | None, start: int, end: int) -> Iterator[bytes]:
    at = start
    while descriptor is not None and at < end and (piece := read_at(descriptor, min(PIECE_BYTES, end - at), at)):
        yield piece
        at += len(piece)


@contextlib.contextmanager
def _open_both(files: ChatFiles) -> Iterator[tuple[int | None, int | None]]:
    with contextlib.ExitStack() as stack:
        opened = []
        for path in (files.archive, files.chat):
            descriptor = open_for_read(path)
            if descriptor is not None:
                stack.callback(os.close, descriptor)
            opened.append(descriptor)
        yield opened[0], opened[1]


def _size(descriptor: int | None) -> int:
    return os.fstat(descriptor).st_size if descriptor is not None else 0
