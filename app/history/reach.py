"""What somebody may see of a history, at the moment it is read: the windows as they are now, and the privacy floor.

The floor comes before anything else; the later one of rows and `session.json` counts. See context-windows.md, 7.
"""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from app.disk import Stamp, storage_error
from app.domain.errors import HistoryChanged, StorageError
from app.domain.rows import Flag, Kind, Row
from app.domain.windows import View, WindowInfo
from app.history.files import ChatFiles
from app.history.privacy_floor import FloorSearch, read_floor_seq, rows_say_so
from app.history.snapshot import Snapshot, open_snapshot
from app.history.stretch_page import CHANGED, Place
from app.history.windows_index import Indexing, IndexKeeper, WindowsIndex

KNOWN_KINDS: Final = frozenset({Kind.MESSAGE, Kind.CONTINUE, Kind.RESET})
_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Reach:
    """What `view` may see. `floor` is where the first line begins that a model may read, in the stretch."""

    view: View
    index: WindowsIndex
    floor: int
    floor_seq: int
    """No row up to this number is for a model, wherever it lies; 0 if there is no such number."""

    def place(self, window_id: str) -> Place:
        """Return what may be read of a window, of everything if it has no name; nothing of one that isn't there."""
        begin, end = 0, self.index.size
        if window_id:
            window = self.index.find(window_id)
            begin, end = (window.start, window.end) if window is not None else (0, 0)
        if self.view is View.AGENT:
            begin = max(begin, self.floor)
        return Place(begin, end) if begin < end else Place(0, 0)

    def windows(self) -> tuple[WindowInfo, ...]:
        """Return the windows that may be seen, newest first. A model's count from the first that it may see."""
        seen = tuple(map(self._as_seen, reversed(self.index.windows)))
        if self.view is View.PERSON:
            return seen
        below = [window for window in seen if not window.is_above_floor]
        return tuple(replace(window, number=len(below) - at) for at, window in enumerate(below))

    def is_above_floor(self, row: Row, offset: int) -> bool:
        """Whether a row that begins at `offset` is out of a model's sight."""
        # Other programs may count from 0 or below it.
        has_number_above = self.floor_seq > 0 and row.seq is not None and row.seq <= self.floor_seq
        return offset < self.floor or has_number_above

    def sees(self, row: Row, offset: int) -> bool:
        """Whether a row is an item; whether its batch is whole must be asked apart."""
        if row.boundary is not None or row.copy_of is not None or Flag.HIDDEN in row.flags:
            return False
        if self.view is View.PERSON:
            return True
        is_known = row.kind in KNOWN_KINDS and Flag.REJECTED not in row.flags
        return is_known and not self.is_above_floor(row, offset)

    def _as_seen(self, window: WindowInfo) -> WindowInfo:
        if window.is_above_floor or self.floor <= self.index.floor or window.start >= self.floor:
            return window
        if window.end <= self.floor and not window.is_active:
            return replace(window, is_above_floor=True)
        # The reset that `session.json` tells of has no row yet: the window it ends is still the newest.
        if self.view is View.AGENT:
            return replace(window, title="", rows=0, opened=None)
        return window


@dataclass(frozen=True, slots=True)
class Opened:
    """The files at one moment, and what may be seen of them.

    Without `reach` the history is still being read for it: `bytes_read` by this call, `bytes_done` by all.
    """

    snapshot: Snapshot
    reach: Reach | None
    bytes_read: int = 0
    bytes_done: int = 0


class ReachKeeper:
    """Opens one chat's history for somebody. Safe to use from several threads."""

    def __init__(self, files: ChatFiles, view: View) -> None:
        self._files = files
        self._view = view
        self._keeper = IndexKeeper(files)
        self._mutex = threading.Lock()
        self._kept: tuple[object, WindowsIndex] | None = None
        self._floor: FloorSearch | None = None
        self._floor_seq: tuple[Stamp, int] | None = None
        self._bytes_done = 0

    @contextlib.contextmanager
    def opened(self) -> Iterator[Opened]:
        """Open the history, or read one more bounded piece of it first. Raises StorageError, HistoryChanged."""
        for _ in range(_TRIES):
            # An index of exactly these files needs no second look at them.
            kept, self._kept = self._kept, None
            index = kept[1] if kept is not None else self._keeper.advance()
            with open_snapshot(self._files) as snapshot:
                if kept is not None and kept[0] != (snapshot.identity, snapshot.stamps):
                    continue
                try:
                    if isinstance(index, Indexing):
                        yield self._unfinished(snapshot, index.bytes_read)
                        return
                    if index.epoch == snapshot.epoch and index.size <= snapshot.size:
                        self._keep(snapshot, index)
                        yield self._with_floor(snapshot, index)
                        return
                except OSError as error:
                    raise storage_error("This chat's history can't be read", error) from error
        raise HistoryChanged(CHANGED)

    def _keep(self, snapshot: Snapshot, index: WindowsIndex) -> None:
        if index.size == snapshot.size:
            self._kept = (snapshot.identity, snapshot.stamps), index

    def _unfinished(self, snapshot: Snapshot, done: int) -> Opened:
        with self._mutex:
            read, self._bytes_done = max(0, done - self._bytes_done), done
        return Opened(snapshot, None, read, done)

    def _with_floor(self, snapshot: Snapshot, index: WindowsIndex) -> Opened:
        floor_seq = self._read_floor_seq()
        floor, read = index.floor, 0
        if floor_seq and not rows_say_so(index, floor_seq):
            with self._mutex:
                if self._floor is None or not self._floor.is_for(snapshot, floor_seq):
                    self._floor = FloorSearch(snapshot, floor_seq)
                if self._floor.floor is None:
                    read = self._floor.read_on(snapshot)
                found = self._floor.floor
            if found is None:
                return Opened(snapshot, None, read, index.size)
            floor = max(floor, found)
        return Opened(snapshot, Reach(self._view, index, floor, floor_seq))

    def _read_floor_seq(self) -> int:
        """Raises StorageError for a model: what can't be read must not open anything to it."""
        stamp = Stamp.of(self._files.meta)
        kept = self._floor_seq
        if stamp is None:
            return 0
        if kept is not None and kept[0] == stamp:
            return kept[1]
        try:
            found = read_floor_seq(self._files)
        except StorageError:
            if self._view is View.AGENT:
                raise
            return 0
        self._floor_seq = (stamp, found)
        return found
