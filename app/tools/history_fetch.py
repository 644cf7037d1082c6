"""What the actions of `session_history` read, piece by piece, as entries for a model."""

import hashlib
from collections.abc import Sequence
from typing import Final, assert_never

from app.domain.errors import HistoryChanged
from app.domain.windows import ItemsPage, Mark, SearchPage, WindowInfo
from app.history.cursor import NOTHING_READ, Progress
from app.history.view import HistoryView
from app.tools.history_arguments import ListItems, ListWindows, Paged, Search
from app.tools.history_entries import hit_entry, item_entry, window_entry
from app.tools.history_pages import Fetch, Piece

_BEFORE_THE_NEWEST: Final = Mark(epoch="", offset=2**62)
"""Where a list of windows goes on whose windows are not all known yet."""


def fetch_of(view: HistoryView, call: Paged) -> Fetch:
    """Return what reads the pieces of an answer to `call`."""
    match call:
        case ListWindows():
            return lambda mark, limit: _windows(view, mark, limit)
        case ListItems():
            return lambda mark, limit: _items(view, call, mark, limit)
        case Search():
            return lambda mark, limit: _hits(view, call, mark, limit)
        case _:
            assert_never(call)


def _items(view: HistoryView, call: ListItems, mark: Mark | None, limit: int) -> Piece:
    page = view.items(mark, filters=call.filters, recent_first=call.recent_first, limit=limit)
    entries = tuple(item_entry(item, max_chars=call.max_chars_per_item) for item in page.items)
    return Piece(entries, page.next, _read(page))


def _hits(view: HistoryView, call: Search, mark: Mark | None, limit: int) -> Piece:
    page = view.search(call.query, mark, filters=call.filters, recent_first=call.recent_first, limit=limit)
    entries = tuple(hit_entry(hit) for hit in page.hits)
    return Piece(entries, page.next, _read(page), None if page.is_waiting else page.total_bytes)


def _read(page: ItemsPage | SearchPage) -> Progress:
    # How much was read to find the floor would tell how much lies above it.
    return NOTHING_READ if page.is_waiting else Progress(page.bytes_read, page.rows, page.skipped)


def _windows(view: HistoryView, mark: Mark | None, limit: int) -> Piece:
    page = view.windows()
    if not page.is_complete:
        return Piece((), mark or _BEFORE_THE_NEWEST, NOTHING_READ)
    left = _from(page.windows, mark)
    entries = tuple(window_entry(window, is_oldest=window is page.windows[-1]) for window in left[:limit])
    following = _mark_of(left[limit - 1]) if len(left) > limit else None
    return Piece(entries, following, NOTHING_READ)


def _from(windows: Sequence[WindowInfo], mark: Mark | None) -> Sequence[WindowInfo]:
    """Return the windows behind `mark`, newest first. Raises HistoryChanged if the one it names is gone."""
    if mark is None or mark == _BEFORE_THE_NEWEST:
        return windows
    for at, window in enumerate(windows):
        if _mark_of(window) == mark:
            return windows[at + 1 :]
    raise HistoryChanged("The window that was given last is gone.")


def _mark_of(window: WindowInfo) -> Mark:
    return Mark(epoch="", offset=window.start, anchor=hashlib.sha256(window.id.encode()).hexdigest()[:16])
