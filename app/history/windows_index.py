"""`windows.json`: where each context window of a chat begins, so that nothing is scanned to list them.

Rebuildable from the history at any time and never trusted for content: it counts only with a matching receipt,
and each use re-reads the boundary rows it rests on. See context-windows.md, 6, and ADR-0011.
"""

import bisect
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from app.disk import storage_error
from app.domain.windows import WindowInfo
from app.history.files import ChatFiles
from app.history.snapshot import Snapshot, open_snapshot
from app.history.window_scan import FINGERPRINT_BYTES, FIRST, PAGE_BYTES, DamagedRead, Found, WindowScan, fingerprint
from app.history.windows_file import SavedIndex, load_index, save_index

SAVE_BYTES: Final = 1024 * 1024
"""The file is written again when so much was added or a window began: less is soon read again."""


@dataclass(frozen=True, slots=True)
class WindowsIndex:
    """Every window of a history of `size` bytes, oldest first, and the privacy floor.

    `windows` is never empty: the first window is there before anything was said.
    """

    epoch: str
    """That of the receipt; empty if there is none that tells the files from changed ones."""
    size: int
    """Bytes of the stretch (archive, then active file) that it covers."""
    windows: tuple[WindowInfo, ...]
    floor: int
    """Begin of the first line an agent may read, in the stretch; 0 without a manual reset."""

    def window_at(self, offset: int) -> WindowInfo:
        """Return the window that the line at `offset` belongs to."""
        at = bisect.bisect_right(self.windows, offset, key=lambda window: window.start)
        return self.windows[max(0, at - 1)]

    def find(self, window_id: str) -> WindowInfo | None:
        """Return the window of that id."""
        return next((window for window in self.windows if window.id == window_id), None)


@dataclass(frozen=True, slots=True)
class Indexing:
    """An index that is not ready: how far the history was read for it."""

    bytes_read: int
    total_bytes: int


class IndexKeeper:
    """Loads, extends, rebuilds and saves the index of one chat. Safe to use from several threads."""

    def __init__(self, files: ChatFiles, *, page_bytes: int = PAGE_BYTES) -> None:
        self._files = files
        self._page_bytes = page_bytes
        self._mutex = threading.Lock()
        self._identity: object = None
        self._ready: WindowsIndex | None = None
        self._forget()

    def advance(self) -> WindowsIndex | Indexing:
        """Return the index of the history as it is now, or read one more bounded piece towards it.

        A valid `windows.json` costs no pass over the history; one that covers less than is there by now is
        extended. Raises StorageError.
        """
        with self._mutex, open_snapshot(self._files) as snapshot:
            try:
                return self._advance(snapshot)
            except DamagedRead:
                self._forget()
                return Indexing(0, snapshot.size)
            except OSError as error:
                raise storage_error("This chat's history can't be read", error) from error

    def _advance(self, snapshot: Snapshot) -> WindowsIndex | Indexing:
        if self._identity != snapshot.identity or self._scan.at > snapshot.size:
            self._begin(snapshot)
        if not _holds(self._in_use(), snapshot):
            # Somebody has edited the file in place: nothing that was known of it counts.
            self._begin(snapshot, is_trusted=False)
        if self._scan.at < snapshot.size:
            self._scan.read_page(snapshot)
        if self._scan.at < snapshot.size or not self._scan.is_between_lines:
            return Indexing(self._scan.at, snapshot.size)
        self._save(snapshot)
        if self._ready is None or (self._ready.epoch, self._ready.size) != (snapshot.epoch, snapshot.size):
            self._ready = _index(snapshot, self._scan.windows)
        return self._ready

    def _begin(self, snapshot: Snapshot, *, is_trusted: bool = True) -> None:
        self._forget()
        self._identity = snapshot.identity
        saved = load_index(self._files) if snapshot.epoch and is_trusted else None
        if saved is None or saved.epoch != snapshot.epoch or saved.size > snapshot.size:
            return
        if _holds(saved.windows[1:], snapshot):
            self._scan = WindowScan(saved.windows, saved.size, page_bytes=self._page_bytes)
            self._saved = saved

    def _forget(self) -> None:
        self._scan = WindowScan(page_bytes=self._page_bytes)
        self._identity = None
        self._saved = SavedIndex("", 0, (FIRST,))
        self._ready = None

    def _in_use(self) -> list[Found]:
        """Return the windows whose boundaries are compared at each use: the newest, and the one that sets the floor."""
        windows = self._scan.windows
        floor = next((window for window in reversed(windows) if window.is_reset), None)
        return [window for window in (floor, windows[-1]) if window is not None and window.fingerprint]

    def _save(self, snapshot: Snapshot) -> None:
        if not snapshot.epoch:
            return
        windows = tuple(self._scan.windows)
        is_new = self._saved.epoch not in ("", snapshot.epoch) or len(windows) != len(self._saved.windows)
        if is_new or snapshot.size - self._saved.size >= SAVE_BYTES:
            self._saved = SavedIndex(snapshot.epoch, snapshot.size, windows)
            save_index(self._files, self._saved)


def _holds(windows: Iterable[Found], snapshot: Snapshot) -> bool:
    """Whether the boundary rows of `windows` are where they were."""
    return all(_fingerprint_at(window, snapshot) == window.fingerprint for window in windows)


def _fingerprint_at(window: Found, snapshot: Snapshot) -> str:
    file = snapshot.file_at(window.start)
    line = file.read(min(FINGERPRINT_BYTES, window.body - window.start), window.start)
    has_end = file.read(1, window.body - 1) == b"\n"
    length = window.body - window.start - has_end
    return fingerprint(line[:length], length)


def _index(snapshot: Snapshot, found: Sequence[Found]) -> WindowsIndex:
    floor = next((window.body for window in reversed(found) if window.is_reset), 0)
    ends = [window.start for window in found[1:]]
    windows = []
    for number, window in enumerate(found):
        closing = found[number + 1] if number + 1 < len(found) else None
        windows.append(
            WindowInfo(
                id=window.id,
                number=number + 1,
                kind=window.kind,
                start=window.start,
                end=ends[number] if closing is not None else snapshot.size,
                rows=window.rows,
                opened=window.opened,
                closed=closing.created if closing is not None else None,
                tokens=closing.tokens if closing is not None else None,
                title=window.title,
                is_active=closing is None,
                is_above_floor=window.start < floor and window.body < floor,
            )
        )
    return WindowsIndex(epoch=snapshot.epoch, size=snapshot.size, windows=tuple(windows), floor=floor)
