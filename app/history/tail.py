"""The end of the active file: what a crash left there, set aside before anything is added.

See context-windows.md, 3: a torn line and a torn batch never count; a torn boundary nobody can
read counts as a manual reset.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.disk import read_at, sync_folder, write_new
from app.domain.ids import new_id
from app.domain.rows import Row
from app.history.batches import MAX_BATCH_ROWS, torn_stretches
from app.history.codec import BOUNDARY_NEEDLE, Damage, decode_line, is_reset
from app.history.scanner import Caps, Line, LongLine, read_backward

_BEGINS_BOUNDARY: Final = re.compile(rb'\{"v":\d+,"b[a-z]*"?')
"""Only `boundary` begins so behind the version."""
_HARMLESS_KIND: Final = re.compile(rb'^\{"v":\d+,"boundary":\{"kind":"(?:rollover|compaction)"')


@dataclass(frozen=True, slots=True)
class TailState:
    """What must be done to the end of a file of `size` bytes before a row may be added.

    `keep`: bytes that stay. `needs_line_feed`: the last row is whole and only lacks it.
    `needs_reset`: what is cut may have been a boundary.
    """

    size: int
    keep: int
    needs_line_feed: bool = False
    needs_reset: bool = False

    @property
    def is_sound(self) -> bool:
        return self.keep == self.size and not self.needs_line_feed


def inspect_tail(descriptor: int) -> TailState:
    """Return the state of the file's end; writes nothing, reads no further back than a batch may reach."""
    size = os.fstat(descriptor).st_size
    if size == 0:
        return TailState(0, 0)
    is_ended = read_at(descriptor, 1, size - 1) == b"\n"
    lines, is_within_long_line = _last_lines(descriptor, size)
    if is_within_long_line or (lines and isinstance(lines[-1], LongLine)):
        # Foreign and too long to be looked into: kept as it is, the reader says what it counts as.
        return TailState(size, size, needs_line_feed=not is_ended)
    keep = size
    needs_reset = False
    needs_line_feed = not is_ended
    entries = [decode_line(line.data) if isinstance(line, Line) else Damage("too long") for line in lines]
    if not is_ended and lines and isinstance(entries[-1], Damage):
        torn_line = lines.pop()
        entries.pop()
        assert isinstance(torn_line, Line)
        keep, needs_line_feed = torn_line.offset, False
        needs_reset = _may_be_reset(torn_line.data)
    torn = torn_stretches(entries)
    end = len(entries)
    while torn and torn[-1].stop == end and _was_cut_short(entries[torn[-1].start]):
        # Where another one ends now, that would be the end at the next look.
        begin = torn.pop().start
        keep, needs_line_feed = lines[begin].offset, False
        # A torn batch never took effect; a manual reset in it counts all the same.
        needs_reset = needs_reset or any(isinstance(row, Row) and is_reset(row) for row in entries[begin:end])
        end = begin
    return TailState(size, keep, needs_line_feed, needs_reset)


def _may_be_reset(torn: bytes) -> bool:
    """Whether a torn line may have been a manual reset: a boundary, or the begin of one, of no harmless kind."""
    is_boundary = BOUNDARY_NEEDLE in torn or _BEGINS_BOUNDARY.fullmatch(torn) is not None
    return is_boundary and not _HARMLESS_KIND.match(torn)


def set_aside(descriptor: int, state: TailState, folder: Path) -> Path:
    """Copy what `state` cuts to a `.damaged` file, durably, and return its path. Raises OSError."""
    path = folder / f"chat-{new_id()}.damaged"
    write_new(path, read_at(descriptor, state.size - state.keep, state.keep), durable=True)
    sync_folder(folder)
    return path


def _last_lines(descriptor: int, size: int) -> tuple[list[Line | LongLine], bool]:
    """Return the last lines, oldest first, back to the begin of a batch they belong to.

    The second value says that the file ends within a line over the cap.
    """
    caps = Caps(page_rows=MAX_BATCH_ROWS + 1)
    page = read_backward(descriptor, size, caps=caps)
    lines = list(reversed(page.lines))
    if page.inside is not None and not lines:
        return [], True
    while not page.exhausted and page.inside is None and len(lines) <= MAX_BATCH_ROWS and _is_inside_batch(lines):
        page = read_backward(descriptor, page.next, caps=caps)
        lines[:0] = reversed(page.lines)
    return lines, False


def _is_inside_batch(lines: Sequence[Line | LongLine]) -> bool:
    """Whether the first of `lines` belongs to a batch that begins before it."""
    first = decode_line(lines[0].data) if lines and isinstance(lines[0], Line) else None
    return isinstance(first, Row) and first.batch is not None and first.batch.index > 0


def _was_cut_short(first: Row | Damage) -> bool:
    """Whether a torn batch has its begin, so that it is the end that a crash left out."""
    # One that claims more rows than the store ever writes was not torn by a crash of ours.
    batch = first.batch if isinstance(first, Row) else None
    return batch is not None and batch.index == 0 and batch.count <= MAX_BATCH_ROWS
