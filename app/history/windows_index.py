"""`windows.json`: where each context window of a chat begins, so that nothing is scanned to list them.

Rebuildable from the history at any time and never trusted for content: it counts only with a matching receipt,
and each use re-reads the boundary row it names. See context-windows.md, 6, and ADR-0011.
"""

from dataclasses import dataclass

from app.domain.windows import WindowInfo
from app.history.files import ChatFiles
from app.history.reader import HistoryReader


@dataclass(frozen=True, slots=True)
class WindowsIndex:
    """Every window of a history of `size` bytes, oldest first, and the privacy floor.

    `windows` is never empty: the first window is there before anything was said.
    """

    epoch: str
    size: int
    """Bytes of the stretch (archive, then active file) that it covers."""
    windows: tuple[WindowInfo, ...]
    floor: int
    """Begin of the first line an agent may read, in the stretch; 0 without a manual reset."""

    def window_at(self, offset: int) -> WindowInfo:
        """Return the window that the line at `offset` belongs to."""
        raise NotImplementedError

    def find(self, window_id: str) -> WindowInfo | None:
        """Return the window of that id."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Indexing:
    """An index that is not ready: how far the history was read for it."""

    bytes_read: int
    total_bytes: int


class IndexKeeper:
    """Loads, extends, rebuilds and saves the index of one chat. Safe to use from several threads."""

    def __init__(self, files: ChatFiles, reader: HistoryReader) -> None:
        raise NotImplementedError

    def advance(self) -> WindowsIndex | Indexing:
        """Return the index of the history as it is now, or read one more bounded piece towards it.

        A valid `windows.json` costs no pass over the history; one that covers less than is there by now is
        extended. Raises StorageError.
        """
        raise NotImplementedError
