"""Find in chat: joins the bar, the search over the whole history and the marks in the transcript."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal, Slot

from app.ui.chat.accessible import announce
from app.ui.chat.find_bar import FindBar
from app.ui.chat.find_marks import FindMarks
from app.ui.chat.find_search import MOST_HITS, FindSearch, Found
from app.ui.chat.find_wording import found_text, note_text

if TYPE_CHECKING:
    from app.aio import TaskSet
    from app.ui.bridge import Bridge
    from app.ui.chat.controller import ChatController
    from app.ui.chat.page import ChatPage
    from app.ui.chat.transcript_model import Node, Place
    from app.ui.theme import Theme

_MOST_SELECTED: Final = 100
"""A longer selection, or one of several lines, is not what somebody looks for."""


class FindController(QObject):
    """Drives the bar while it is open."""

    closed = Signal()

    def __init__(
        self, page: ChatPage, controller: ChatController, bridge: Bridge, tasks: TaskSet, theme: Theme
    ) -> None:
        super().__init__(page)
        self.bar = FindBar(theme)
        self.search = FindSearch(bridge, tasks, self)
        self._page = page
        self._controller = controller
        self._view = page.transcript
        self._marks = FindMarks(self._view, missing=self.search.verify)
        self._session = ""
        self._current: Found | None = None
        self._must_choose = False
        """Whether the hit nearest to the reader is still to be chosen by itself."""
        self._from: Place | None = None
        """The begin of what was selected when it began to be looked for."""
        self._step = 0
        """A step that waits for hits that are still looked for."""
        self._hint = ""
        self._has_announced = True
        page.insert_bar(self.bar, self.bar.stops())
        self.bar.hide()
        self.bar.text_changed.connect(self._look_for)
        self.bar.next_wanted.connect(self.go_next)
        self.bar.previous_wanted.connect(self.go_previous)
        self.bar.closed.connect(self.close_bar)
        self.search.changed.connect(self._show_progress)
        self.search.restarted.connect(self._begin_again)
        page.escape_pressed.connect(self.close_bar)
        controller.state_changed.connect(self._follow_chat)
        controller.rows_came.connect(self.search.note_new_rows)
        controller.rows_cut.connect(self._search_what_is_left)

    @property
    def is_open(self) -> bool:
        return not self.bar.isHidden()

    def open_bar(self, text: str = "") -> None:
        """Show the bar, with `text`, what is selected or what was looked for last."""
        was_open = self.is_open
        self.bar.show()
        selected, bounds = "" if text else self._selected(), self._view.selection.bounds
        self.bar.begin(text or selected or self.bar.field.text())
        self._from = bounds[0] if selected and bounds is not None else None
        self._session = self._controller.session
        if not was_open or self.bar.field.text() != self.search.text:
            self._look_for(self.bar.field.text())

    @Slot()
    def close_bar(self) -> None:
        """Put the bar and all marks away."""
        if not self.is_open:
            return
        self.search.stop()
        self._marks.look_for("")
        self._current = None
        self.bar.hide()
        self.closed.emit()

    @Slot()
    def go_next(self) -> None:
        """Go to the next place below the one that is meant, or below where the person reads."""
        self._go(1)

    @Slot()
    def go_previous(self) -> None:
        """Go to the next place above."""
        self._go(-1)

    # What is looked for

    @Slot(str)
    def _look_for(self, text: str) -> None:
        # White space alone is looked for too: whoever types it means it.
        self._marks.look_for(text)
        self._step, self._hint = 0, ""
        self._must_choose, self._has_announced = bool(text), not text
        if not text:
            self._current = None
        self.search.start(self._session, text)
        self._show_state()

    @Slot()
    def _begin_again(self) -> None:
        self._current = None
        self._must_choose = False
        self._hint = self.tr("The chat was changed elsewhere; it is searched again.")
        self._show_state()

    @Slot()
    def _search_what_is_left(self) -> None:
        """Look for the same in the history as it is after a change; nothing moves for it."""
        if self.is_open:
            self._current = None
            self._must_choose, self._step, self._hint = False, 0, ""
            self.search.start(self._session, self.search.text)
            self._show_state()

    @Slot()
    def _follow_chat(self) -> None:
        """Look for the same in another chat."""
        session = self._controller.session
        if session and session != self._session and self.is_open:
            self._session = session
            self._current = None
            self._look_for(self.bar.field.text())
        elif not session:
            self._session = ""
            self.search.stop()

    @Slot()
    def _show_progress(self) -> None:
        if self._must_choose and self.search.hits:
            self._choose_nearest()
        if self._step and (step := self._step):
            self._step = 0
            self._go(step, is_waiting=True)
        if not self.search.is_running:
            self._must_choose = False
            self._step = 0
        self._show_state()
        if not self.search.is_running and not self._has_announced:
            self._has_announced = True
            if self._current is None or not self.search.hits:
                announce(self.bar.field, self._count_text())

    # Where to go

    def _choose_nearest(self) -> None:
        """Mean the first hit at or below the place where the person reads, if it is loaded; else the last above."""
        hits = self.search.hits
        index = bisect_left(hits, self._current) if self._current is not None else self._reading_index()
        low, high = self._loaded()
        if (self._current is not None and not low <= index < high) or self._from is not None:
            index = self._reading_index()
        if index >= high:
            index = high - 1
        if low <= index < high:
            self._must_choose = False
            self._from = None
            self._go_to(index)

    def _go(self, direction: int, *, is_waiting: bool = False) -> None:
        hits = self.search.hits
        self._must_choose = False
        if not is_waiting:
            self._hint = ""
        if not hits:
            self._step = direction if self.search.is_running else 0
            return
        current = self._current
        at = bisect_left(hits, current) if current is not None else len(hits)
        if at < len(hits) and hits[at] == current and (self._marks.is_in_view() or is_waiting):
            index = at + direction
        else:
            index = self._reading_index() - (direction < 0)
            if current is None and index == len(hits):
                # Whoever begins at the end of a chat wants what was said last, not first.
                index -= 1
        if 0 <= index < len(hits):
            self._go_to(index)
        elif self.search.is_running:
            # What is beyond is not known yet.
            self._step = direction
            self._hint = self.tr("Still searching…")
            self._show_state()
        else:
            is_top = index >= len(hits)
            self._hint = self.tr("Continued from the beginning") if is_top else self.tr("Continued from the end")
            self._go_to(0 if is_top else len(hits) - 1)

    def _go_to(self, index: int) -> None:
        found = self._current = self.search.hits[index]
        self._marks.forget_place()
        self._show_state()
        announce(self.bar.field, f"{self._count_text()}. {self._hint}" if self._hint else self._count_text())
        self._has_announced = True

        def arrive(item_id: str) -> None:
            if self._current == found:
                self._arrive(item_id, found)

        self._controller.pager.show(found.row_id, found.offset, arrive, lost=self.search.restart)

    def _arrive(self, item_id: str, found: Found) -> None:
        hits = self.search.hits
        index = bisect_left(hits, found)
        if item_id != found.row_id or index >= len(hits):
            self._marks.show_item(item_id)
            return
        self._marks.show(item_id, *self.search.number_in_row(index))

    def _loaded(self) -> tuple[int, int]:
        """Return from and to which hit the transcript has loaded the rows."""
        hits, pager = self.search.hits, self._controller.pager
        low = 0 if pager.older is None else bisect_left(hits, (pager.older.offset,))
        return low, len(hits) if pager.newer is None else bisect_left(hits, (pager.newer.offset,))

    def _reading_index(self) -> int:
        """Return the first hit that is not above what is on screen, or not before what was selected."""
        low, high = self._loaded()
        placed = self._view.flow.placed
        if not placed:
            return high
        model, top = self._view.model, placed[0].node
        if self._from is not None:
            top = model.node_of_order(self._from.item) or top
        top_index = model.index_of(top)
        for index in range(low, high):
            node = model.node(self.search.hits[index].row_id)
            if node is None or model.index_of(node) < top_index:
                continue
            return index if node is not top else self._first_in(node, index)
        return high

    def _first_in(self, node: Node, index: int) -> int:
        """Return the first hit of the topmost item that is on screen, or the first one below it."""
        _, total = self.search.number_in_row(index)
        place = self._from
        first = self._marks.first_in_view(node) if place is None else self._marks.first_from(place, node)
        return index + min(first, total)

    # What is said

    def _show_state(self) -> None:
        search = self.search
        note = " · ".join(text for text in (self._hint, search.problem, note_text(search.skipped)) if text)
        is_none = bool(search.text) and not search.hits and not search.is_running
        self.bar.show_state(self._count_text(), note=note, can_step=bool(search.hits), is_none=is_none)

    def _count_text(self) -> str:
        search = self.search
        if not search.text:
            return ""
        number = 0
        if self._current is not None and search.hits:
            at = bisect_left(search.hits, self._current)
            number = at + 1 if at < len(search.hits) and search.hits[at] == self._current else 0
        count = min(len(search.hits), MOST_HITS)
        progress = (search.searched_bytes, search.total_bytes) if search.is_running else None
        return found_text(number, count, is_more=search.is_running or search.is_full, progress=progress)

    def _selected(self) -> str:
        """Return what is selected in the transcript if it is short."""
        if not self._view.has_selection() or self._view.selection.is_long:
            return ""
        text = self._view.selected_text()
        return text if len(text) <= _MOST_SELECTED and "\n" not in text.strip("\n") else ""
