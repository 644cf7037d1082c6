"""The end of the active file: what a crash left there, set aside before anything is added.

See context-windows.md, 3: a torn line and a torn batch never count; a torn boundary nobody can
read counts as a manual reset.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.domain.ids import new_id
from app.domain.rows import Row
from app.history.batches import torn_stretches
from app.history.codec import BOUNDARY_NEEDLE, Damage, decode_line
from app.history.files import (
    FILE_MODE,
    read_at,
    sync_folder,
    write_all,
)
from app.history.scanner import Caps, Line, LongLine, read_backward

_TAIL_ROWS: Final = 64
"""More than the largest batch, so that a torn one is seen whole."""
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
    """Return the state of the file's end; reads at most a page, writes nothing."""
    size = os.fstat(descriptor).st_size
    if size == 0:
        return TailState(0, 0)
    page = read_backward(descriptor, size, caps=Caps(page_rows=_TAIL_ROWS))
    lines = list(reversed(page.lines))
    is_ended = read_at(descriptor, 1, size - 1) == b"\n"
    is_within_long_line = page.inside is not None and not lines
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
        needs_reset = BOUNDARY_NEEDLE in torn_line.data and not _HARMLESS_KIND.match(torn_line.data)
    torn = torn_stretches(entries)
    if torn and torn[-1].stop == len(entries) and _was_cut_short(entries[torn[-1].start]):
        keep, needs_line_feed = lines[torn[-1].start].offset, False
    return TailState(size, keep, needs_line_feed, needs_reset)


def set_aside(descriptor: int, state: TailState, folder: Path) -> Path:
    """Copy what `state` cuts to a `.damaged` file, durably, and return its path. Raises OSError."""
    path = folder / f"chat-{new_id()}.damaged"
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), FILE_MODE)
    try:
        write_all(target, read_at(descriptor, state.size - state.keep, state.keep))
        os.fsync(target)
    finally:
        os.close(target)
    sync_folder(folder)
    return path


def _was_cut_short(first: Row | Damage) -> bool:
    """Whether a torn batch has its begin, so that it is the end that a crash left out."""
    return isinstance(first, Row) and first.batch is not None and first.batch.index == 0
