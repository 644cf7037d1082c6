"""Items by their references: exact ones where they say, others by a search from the newest row back.

See context-windows.md, 7.
"""

from typing import Final, NamedTuple

from app.domain.errors import HistoryChanged, StaleItem
from app.domain.rows import Row
from app.domain.windows import Filters, HistoryItem, Mark
from app.history.codec import decode_line
from app.history.item_ref import ExactRef, RowIdRef, SeqRef, fingerprint, parse_ref
from app.history.listing import item_of
from app.history.needles import number_field, string_field
from app.history.reach import Opened, ReachKeeper
from app.history.scanner import DEFAULT_CAPS
from app.history.stretch_page import CHANGED, line_at
from app.history.visiting import Candidate, Order, Stop, item_from, read_piece
from app.history.whole_batches import WholeBatches

_TRIES: Final = 3
_STALE: Final = "This part of the chat is not where it was."


class Found(NamedTuple):
    """An item and its row."""

    item: HistoryItem
    row: Row


class ItemFinder:
    """Finds items of one chat for somebody. Safe to use from several threads."""

    def __init__(self, keeper: ReachKeeper, *, session: str) -> None:
        self._keeper = keeper
        self._session = session
        self._kept_ref: tuple[str, str] | None = None

    def find(self, ref: str) -> Found | None:
        """Return the item of a reference; None if there is none. Raises StaleItem, StorageError, HistoryChanged."""
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

    def _find_exact(self, ref: ExactRef) -> Found:
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
                return Found(item_of(row, line.data, ref.offset, opened.reach, session=self._session), row)

    def _find_newest(self, ref: SeqRef | RowIdRef) -> Found | None:
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

    def _scan_for(self, ref: SeqRef | RowIdRef, window_id: str) -> Found | None:
        """Return the newest row of a window, or of all, that is meant and may be seen."""
        needle = number_field("seq", ref.seq) if isinstance(ref, SeqRef) else string_field("id", ref.row_id)
        order = Order(Filters(window_id=window_id), backward=True, caps=DEFAULT_CAPS, may_match=needle.may_match)
        found: list[Found] = []
        mark: Mark | None = None
        while True:
            with self._keeper.opened() as opened:

                def take(candidate: Candidate, opened: Opened = opened) -> Stop | None:
                    row = candidate.row
                    if (row.seq != ref.seq) if isinstance(ref, SeqRef) else (row.id != ref.row_id):
                        return None
                    found.append(Found(item_from(candidate, opened, session=self._session), row))
                    return Stop()

                piece, _ = read_piece(opened, mark, order, take)
            if found or piece.next is None:
                return found[0] if found else None
            mark = piece.next


def _seq_of(window_id: str) -> float:
    digits = window_id.removeprefix("w:")
    return int(digits) if digits.isdecimal() else float("inf")
