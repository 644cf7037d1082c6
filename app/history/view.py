"""One chat's windows and items, listed, searched and read in bounded pieces: one reader for the panel and the tool.

What differs between the two is the `View`. Never listed: boundaries, hidden rows, copies, damage. Every method is
plain blocking code and reads at most one page under the lock. See context-windows.md, 6 and 7.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple

from app.domain.errors import HistoryChanged, StaleItem
from app.domain.rows import Row
from app.domain.windows import (
    Filters,
    HistoryItem,
    ItemsPage,
    ItemText,
    Mark,
    SearchHit,
    SearchPage,
    Skipped,
    View,
    WindowsPage,
)
from app.history.blobs import Blobs
from app.history.codec import decode_line
from app.history.files import ChatFiles
from app.history.item_ref import ExactRef, RowIdRef, SeqRef, fingerprint, parse_ref
from app.history.item_text import LeafReader, pieces
from app.history.listing import item_of, needles_of
from app.history.needles import Needle, number_field, string_field
from app.history.reach import Opened, ReachKeeper
from app.history.scanner import DEFAULT_CAPS, Caps
from app.history.searching import RowSearch
from app.history.stretch_page import CHANGED, Place, check_mark, line_at
from app.history.visiting import Candidate, Order, Piece, Stop, Take, visit_page
from app.history.whole_batches import WholeBatches

EVERYTHING: Final = Filters()
KEPT_TEXT_CHARS: Final = 32 * 1024 * 1024
"""The text of the item read last is kept if it is no longer, so that its next piece costs nothing."""
_TRIES: Final = 3
_STALE: Final = "This part of the chat is not where it was."


class _Found(NamedTuple):
    """An item and its row."""

    item: HistoryItem
    row: Row


class HistoryView:
    """Reads one chat's history for somebody. Safe to use from several threads.

    Raises StorageError if the disk refuses, HistoryChanged if a mark holds no longer: begin again.
    """

    def __init__(self, files: ChatFiles, *, session: str, view: View) -> None:
        self._session = session
        self._view = view
        self._blobs = Blobs(files.blobs)
        self._keeper = ReachKeeper(files, view)
        self._kept_search: tuple[str, Filters, RowSearch] | None = None
        self._kept_text: tuple[str, str] | None = None
        self._kept_ref: tuple[str, str] | None = None

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

            piece, _ = _read_piece(opened, mark, order, take)
        return ItemsPage(tuple(found), piece.next, piece.bytes_read, piece.rows, piece.skipped)

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
        limit = max(1, limit)
        search = self._search(query, filters)
        needles = needles_of(filters)
        order = Order(
            filters,
            recent_first,
            DEFAULT_CAPS,
            lambda data: search.may_match(data) and _may_match(needles, data),
        )
        found: list[SearchHit] = []
        blobs_missing = blob_bytes = 0
        with self._keeper.opened() as opened:

            def take(candidate: Candidate) -> Stop | None:
                nonlocal blobs_missing, blob_bytes
                apart = search.blob_bytes(candidate.row)
                if apart and blob_bytes and blob_bytes + apart > DEFAULT_CAPS.page_bytes:
                    return Stop(again=True, hits=candidate.hits)
                hits, missing = search.hits(candidate.row, candidate.line)
                blob_bytes += apart
                room = limit - len(found)
                given = list(islice(hits, candidate.hits, candidate.hits + room + 1))
                if given:
                    item = self._item(candidate, opened)
                    found.extend(
                        SearchHit(item, hit.snippet, hit.start, hit.length, hit.offset_chars) for hit in given[:room]
                    )
                if len(given) > room:
                    return Stop(again=True, hits=candidate.hits + room)
                blobs_missing += missing
                return Stop() if len(found) >= limit else None

            piece, place = _read_piece(opened, mark, order, take)
        return SearchPage(
            tuple(found),
            piece.next,
            piece.bytes_read + blob_bytes,
            place.end - place.begin,
            piece.rows,
            piece.skipped + Skipped(blobs=blobs_missing),
        )

    def item(self, ref: str) -> HistoryItem | None:
        """Return the item of an exact reference, of `#<seq>` or of `m:<row id>`.

        None if there is none for this view. Raises StaleItem if an exact reference names another row by now.
        """
        found = self._find(ref)
        return found.item if found is not None else None

    def read(self, ref: str, *, offset_chars: int = 0, limit_chars: int = 8_000) -> ItemText | None:
        """Return a piece of an item's text, its leaves in blobs included; None as for `item`. Raises StaleItem."""
        found = self._find(ref)
        if found is None:
            return None
        text = self._text(found)
        start = min(max(0, offset_chars), len(text))
        end = min(start + max(1, limit_chars), len(text))
        return ItemText(found.item, text[start:end], start, end if end < len(text) else None, len(text))

    def _item(self, candidate: Candidate, opened: Opened) -> HistoryItem:
        assert opened.reach is not None
        return item_of(candidate.row, candidate.line, candidate.offset, opened.reach, session=self._session)

    def _search(self, query: str, filters: Filters) -> RowSearch:
        kept = self._kept_search
        if kept is not None and kept[:2] == (query, filters):
            return kept[2]
        search = RowSearch(query, self._blobs, view=self._view, filters=filters)
        self._kept_search = (query, filters, search)
        return search

    def _text(self, found: _Found) -> str:
        kept = self._kept_text
        if kept is not None and kept[0] == found.item.ref:
            return kept[1]
        leaves = LeafReader(self._blobs)
        text = "".join(piece.text for piece in pieces(found.row, leaves, omits_history=self._view is View.AGENT))
        self._kept_text = (found.item.ref, text) if len(text) <= KEPT_TEXT_CHARS and not leaves.missing else None
        return text

    # References

    def _find(self, ref: str) -> _Found | None:
        wanted = parse_ref(ref)
        if wanted is None:
            return None
        if isinstance(wanted, ExactRef):
            return self._find_exact(wanted)
        kept = self._kept_ref
        exact = parse_ref(kept[1]) if kept is not None and kept[0] == ref else None
        if isinstance(exact, ExactRef):
            try:
                return self._find_exact(exact)
            except StaleItem:
                self._kept_ref = None
        found = self._find_newest(wanted)
        if found is not None:
            self._kept_ref = (ref, found.item.ref)
        return found

    def _find_exact(self, ref: ExactRef) -> _Found:
        while True:
            with self._keeper.opened() as opened:
                if opened.reach is None:
                    continue
                line = line_at(opened.snapshot, ref.offset) if ref.offset < opened.reach.index.size else None
                row = decode_line(line.data) if line is not None else None
                # What is out of sight and what never was there get the same answer.
                if (
                    line is None
                    or not isinstance(row, Row)
                    or fingerprint(line.data, session=self._session) != ref.fingerprint
                    or not opened.reach.sees(row, ref.offset)
                    or not WholeBatches(opened.snapshot.file_at(ref.offset)).holds(row, line)
                ):
                    raise StaleItem(_STALE)
                return _Found(self._item(Candidate(row, line.data, ref.offset, 0), opened), row)

    def _find_newest(self, ref: SeqRef | RowIdRef) -> _Found | None:
        for _ in range(_TRIES):
            try:
                window = self._window_of(ref) if isinstance(ref, SeqRef) else ""
                found = self._scan_for(ref, window) if window else None
                return found or self._scan_for(ref, "")
            except HistoryChanged:
                continue
        raise HistoryChanged(CHANGED)

    def _window_of(self, ref: SeqRef) -> str:
        """Return the id of the window in which a row of that number lies, if they count up; empty if all is one."""
        while True:
            with self._keeper.opened() as opened:
                if opened.reach is None:
                    continue
                windows = opened.reach.index.windows
                before = (window for window in reversed(windows) if _seq_of(window.id) <= ref.seq)
                found = next(before, None)
                return found.id if found is not None and len(windows) > 1 else ""

    def _scan_for(self, ref: SeqRef | RowIdRef, window_id: str) -> _Found | None:
        """Return the newest row of a window, or of all, that is meant and may be seen."""
        needle = number_field("seq", ref.seq) if isinstance(ref, SeqRef) else string_field("id", ref.row_id)
        order = Order(Filters(window_id=window_id), backward=True, caps=DEFAULT_CAPS, may_match=needle.may_match)
        found: list[_Found] = []
        mark: Mark | None = None
        while True:
            with self._keeper.opened() as opened:

                def take(candidate: Candidate, opened: Opened = opened) -> Stop | None:
                    row = candidate.row
                    if (row.seq != ref.seq) if isinstance(ref, SeqRef) else (row.id != ref.row_id):
                        return None
                    found.append(_Found(self._item(candidate, opened), row))
                    return Stop()

                piece, _ = _read_piece(opened, mark, order, take)
            if found or piece.next is None:
                return found[0] if found else None
            mark = piece.next


def _read_piece(opened: Opened, mark: Mark | None, order: Order, take: Take) -> tuple[Piece, Place]:
    """Read one page of what may be read, and say how much that is."""
    snapshot, reach = opened.snapshot, opened.reach
    if mark is not None:
        check_mark(mark, snapshot)
    if reach is None:
        waiting = mark or Mark(snapshot.epoch, snapshot.size if order.backward else 0)
        return Piece(waiting, opened.bytes_read, 0), Place(0, snapshot.size)
    place = reach.place(order.filters.window_id)
    if place.begin == place.end:
        return Piece(None, 0, 0), place
    return visit_page(snapshot, reach, place, mark, order=order, take=take), place


def _may_match(needles: Sequence[Needle], data: bytes) -> bool:
    return all(needle.may_match(data) for needle in needles)


def _seq_of(window_id: str) -> float:
    digits = window_id.removeprefix("w:")
    return int(digits) if digits.isdecimal() else float("inf")
