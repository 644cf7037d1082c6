"""One chat's windows and items, listed, searched and read in bounded pieces: one reader for the panel and the tool.

What differs between the two is the `View`. Never listed: boundaries, hidden rows, copies, damage. Every method is
plain blocking code and reads at most one page under the lock. See context-windows.md, 6 and 7.
"""

import json
from collections.abc import Sequence
from typing import Final

from app.domain.text import Utf16Text
from app.domain.windows import (
    Filters,
    HistoryItem,
    ItemsPage,
    ItemText,
    Mark,
    SearchPage,
    Skipped,
    View,
    WindowsPage,
)
from app.history.blobs import Blobs
from app.history.codec import encode_row, parse_json
from app.history.files import ChatFiles
from app.history.finding import Found, ItemFinder
from app.history.item_text import LeafReader, pieces
from app.history.listing import needles_of
from app.history.needles import Needle
from app.history.reach import Opened, ReachKeeper
from app.history.scanner import DEFAULT_CAPS, Caps
from app.history.searching import HitCollector, RowSearch
from app.history.visiting import Candidate, Order, Stop, item_from, read_piece

EVERYTHING: Final = Filters()
KEPT_TEXT_CHARS: Final = 32 * 1024 * 1024
"""The text of the item read last is kept if it is no longer, so that its next piece costs nothing."""


class HistoryView:
    """Reads one chat's history for somebody. Safe to use from several threads.

    Raises StorageError if the disk refuses, HistoryChanged if a mark holds no longer: begin again.
    """

    def __init__(self, files: ChatFiles, *, session: str, view: View) -> None:
        self._session = session
        self._view = view
        self._blobs = Blobs(files.blobs)
        self._keeper = ReachKeeper(files, view)
        self._finder = ItemFinder(self._keeper, session=session)
        self._kept_search: tuple[str, Filters, RowSearch] | None = None
        self._kept_text: tuple[str, Utf16Text] | None = None

    def windows(self) -> WindowsPage:
        """Return all windows, newest first, or read one more piece of the history towards them."""
        with self._keeper.opened() as opened:
            if opened.reach is None:
                size = opened.snapshot.size
                return WindowsPage((), is_complete=False, bytes_read=opened.bytes_done, total_bytes=size)
            size = opened.reach.index.size
            return WindowsPage(opened.reach.windows(), is_complete=True, bytes_read=0, total_bytes=size)

    def items(
        self, mark: Mark | None = None, *, filters: Filters = EVERYTHING, recent_first: bool = True, limit: int = 50
    ) -> ItemsPage:
        """Return the next piece of a listing, in the order asked for; at most `limit` items.

        A piece may be empty without being the last: what was read held nothing of the kind.
        """
        limit = max(1, limit)
        found: list[HistoryItem] = []
        needles = needles_of(filters)
        # Without filters, hardly more rows than are asked for need reading.
        rows = DEFAULT_CAPS.page_rows if needles else min(limit, DEFAULT_CAPS.page_rows)
        order = Order(filters, recent_first, Caps(page_rows=rows), lambda data: _may_match(needles, data))
        with self._keeper.opened() as opened:

            def take(candidate: Candidate) -> Stop | None:
                found.append(self._item(candidate, opened))
                return Stop() if len(found) >= limit else None

            piece, _ = read_piece(opened, mark, order, take)
        return ItemsPage(tuple(found), piece.next, piece.bytes_read, piece.rows, piece.skipped, piece.is_waiting)

    def search(
        self,
        query: str,
        mark: Mark | None = None,
        *,
        filters: Filters = EVERYTHING,
        recent_first: bool = True,
        limit: int = 25,
    ) -> SearchPage:
        """Return the next piece of a literal search, in the order asked for; at most `limit` hits.

        `query` is not empty. Calls of `session_history` and what they gave are searched only if
        `filters.tool_name` names it: they repeat what was said.
        """
        search = self._search(query, filters)
        needles = needles_of(filters)
        order = Order(
            filters,
            recent_first,
            DEFAULT_CAPS,
            lambda data: search.may_match(data) and _may_match(needles, data),
        )
        with self._keeper.opened() as opened:
            collector = HitCollector(search, limit=max(1, limit), to_item=lambda found: self._item(found, opened))
            piece, place = read_piece(opened, mark, order, collector.take)
        return SearchPage(
            tuple(collector.hits),
            piece.next,
            piece.bytes_read + collector.blob_bytes_new,
            place.end - place.begin,
            piece.rows,
            piece.skipped + Skipped(blobs=collector.blobs_missing),
            piece.is_waiting,
        )

    def item(self, ref: str) -> HistoryItem | None:
        """Return the item of an exact reference, of `#<seq>` or of `m:<row id>`.

        None if there is none for this view. Raises StaleItem if an exact reference names another row by now.
        """
        found = self._finder.find(ref)
        return found.item if found is not None else None

    def read(self, ref: str, *, offset_chars: int = 0, limit_chars: int = 8_000) -> ItemText | None:
        """Return a piece of an item's text, its leaves in blobs included; None as for `item`. Raises StaleItem.

        Offset and limit are UTF-16 units; no character is cut (context-windows.md, 7).
        """
        found = self._finder.find(ref)
        if found is None:
            return None
        text = self._text(found)
        piece, begin, end = text.piece(offset_chars, limit_chars)
        return ItemText(found.item, piece, begin, end if end < text.units else None, text.units)

    def raw(self, ref: str) -> str | None:
        """Return the row of an item as the JSON it is kept as, set out in lines; None as for `item`.

        Raises StaleItem.
        """
        found = self._finder.find(ref)
        return None if found is None else json.dumps(parse_json(encode_row(found.row)), ensure_ascii=False, indent=2)

    def _item(self, candidate: Candidate, opened: Opened) -> HistoryItem:
        return item_from(candidate, opened, session=self._session)

    def _search(self, query: str, filters: Filters) -> RowSearch:
        kept = self._kept_search
        if kept is not None and kept[:2] == (query, filters):
            return kept[2]
        search = RowSearch(query, self._blobs, view=self._view, filters=filters)
        self._kept_search = (query, filters, search)
        return search

    def _text(self, found: Found) -> Utf16Text:
        kept = self._kept_text
        if kept is not None and kept[0] == found.item.ref:
            return kept[1]
        leaves = LeafReader(self._blobs)
        text = Utf16Text(
            "".join(each.text for each in pieces(found.row, leaves, omits_history=self._view is View.AGENT))
        )
        self._kept_text = (found.item.ref, text) if text.units <= KEPT_TEXT_CHARS and not leaves.missing else None
        return text


def _may_match(needles: Sequence[Needle], data: bytes) -> bool:
    return all(needle.may_match(data) for needle in needles)
