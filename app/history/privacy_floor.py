"""The privacy floor as `session.json` has it: it counts where the rows don't say as much.

A manual reset is noted there before its row is written. See context-windows.md, 7.
"""

from typing import Final

from app.domain.rows import Row
from app.domain.windows import Mark
from app.history.codec import decode_line
from app.history.files import ChatFiles
from app.history.scanner import Caps, Line
from app.history.sidecars import SessionMeta, read_sidecar
from app.history.snapshot import Snapshot
from app.history.stretch_page import Place, next_mark, read_page
from app.history.windows_index import WindowsIndex

_CAPS: Final = Caps()


def read_floor_seq(files: ChatFiles) -> int:
    """Return the number up to which no row is for a model, 0 without one. Raises StorageError."""
    meta = read_sidecar(files.meta, SessionMeta, may_repair=False)
    return max(0, meta.floor_seq or 0) if meta is not None else 0


def rows_say_so(index: WindowsIndex, floor_seq: int) -> bool:
    """Whether the floor that the rows tell is that of `floor_seq` or a later one."""
    boundary = index.find(f"w:{floor_seq}")
    # Another program's window may have the number of a reset that has no row.
    return boundary is not None and boundary.kind in ("reset", "unknown") and index.floor > boundary.start


class FloorSearch:
    """Finds the last row up to `floor_seq`, page by page, from the newest row back."""

    def __init__(self, snapshot: Snapshot, floor_seq: int) -> None:
        self._identity = snapshot.identity
        self._floor_seq = floor_seq
        self._place = Place(0, snapshot.size)
        self._mark: Mark | None = None
        self.floor: int | None = None
        """Behind that row, once it is found or there is none."""

    def is_for(self, snapshot: Snapshot, floor_seq: int) -> bool:
        """Whether what was found still holds."""
        return (self._identity, self._floor_seq) == (snapshot.identity, floor_seq)

    def read_on(self, snapshot: Snapshot) -> int:
        """Read one page and return its size. Raises OSError."""
        page = read_page(snapshot, self._place, self._mark, backward=True, caps=_CAPS)
        for line in page.raw.lines(backward=True):
            row = decode_line(line.data) if isinstance(line, Line) else None
            if isinstance(row, Row) and row.seq is not None and row.seq <= self._floor_seq:
                assert isinstance(line, Line)
                self.floor = page.before(line)
                return page.raw.bytes_read
        self._mark = next_mark(page, self._place, "", None)
        if self._mark is None:
            self.floor = 0
        return page.raw.bytes_read
