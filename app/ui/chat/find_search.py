"""The search behind find in chat: the whole history, newest first, page by page in the background."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from app.aio import TaskSet
from app.domain.errors import HistoryChanged, KnownError
from app.domain.windows import Filters, Skipped
from app.ui.bridge import Bridge

if TYPE_CHECKING:
    from app.domain.windows import Mark, SearchPage

MOST_HITS: Final = 10_000
_PAGE_HITS: Final = 500
_NEW_ROWS_MS: Final = 250
"""How long rows are waited for before what is new is searched: they come in twos and threes."""
_MOST_RESTARTS: Final = 20
"""A history that is rewritten all the time is not searched for ever."""


class Found(NamedTuple):
    """A hit: where its row begins in the history, where it stands in the row's text, and the row."""

    offset: int
    at: int
    row_id: str


class FindSearch(QObject):
    """Keeps the hits of one text in one chat, in reading order, and searches what comes."""

    changed = Signal()
    """There are more hits, more has been searched, or it is over."""
    restarted = Signal()
    """The history was rewritten: the hits so far are none."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, parent: QObject) -> None:
        super().__init__(parent)
        self.text = ""
        self.hits: list[Found] = []
        self.is_running = False
        self.is_full = False
        """Whether there are more hits than are counted."""
        self.searched_bytes = self.total_bytes = 0
        self.skipped = Skipped()
        self.problem = ""
        """Why it ended early, in words."""
        self._bridge = bridge
        self._tasks = tasks
        self._session = ""
        self._turn = 0
        self._restarts = 0
        self._covered = 0
        self._second: Mark | None = None
        """Where the first page ended: it holds as long as the history is the same."""
        self._has_new_rows = False
        self._new_rows = QTimer(self)
        self._new_rows.setSingleShot(True)
        self._new_rows.setInterval(_NEW_ROWS_MS)
        self._new_rows.timeout.connect(self._search_new_rows)

    def start(self, session: str, text: str) -> None:
        """Look for `text` in a chat from now on; what was looked for before is given up."""
        self._restarts = 0
        self._begin(session, text)

    def stop(self) -> None:
        """Look for nothing."""
        self._begin("", "")

    def restart(self) -> None:
        """Begin again: the history is another one."""
        self._restarts += 1
        if self._restarts <= _MOST_RESTARTS:
            self._begin(self._session, self.text)
            self.restarted.emit()
        else:
            self.is_running = False
            self.problem = self.tr("This chat is being changed all the time.")
            self.changed.emit()

    def verify(self) -> None:
        """Begin again if the history is another one by now; something was not where it was found."""
        if self.text and not self.is_running:
            self._tasks.spawn(self._verify(self._turn), name="verify what was found")

    def note_new_rows(self) -> None:
        """Search what has come at the end of the history, soon."""
        if self.text:
            self._new_rows.start()

    def number_in_row(self, index: int) -> tuple[int, int]:
        """Return which hit of its row a hit is, and how many its row has."""
        offset = self.hits[index].offset
        first = bisect_left(self.hits, (offset,))
        return index - first, bisect_left(self.hits, (offset + 1,)) - first

    def _begin(self, session: str, text: str) -> None:
        self._turn += 1
        self._session, self.text = session, text
        self.hits = []
        self.is_full = self._has_new_rows = False
        self.searched_bytes = self.total_bytes = self._covered = 0
        self._second = None
        self.skipped = Skipped()
        self.problem = ""
        self._new_rows.stop()
        self.is_running = bool(session and text)
        if self.is_running:
            self._tasks.spawn(self._search(self._turn), name="find in chat")

    async def _search(self, turn: int) -> None:
        mark: Mark | None = None
        while True:
            page = await self._page(turn, mark)
            if page is None:
                return
            if mark is None:
                self._covered, self._second = page.total_bytes, page.next
            self.total_bytes = max(self.total_bytes, page.total_bytes)
            self.searched_bytes = min(self.searched_bytes + page.bytes_read, self.total_bytes)
            self.skipped += page.skipped
            self._add(page)
            mark = page.next
            self.is_full = len(self.hits) >= MOST_HITS and mark is not None
            self.is_running = mark is not None and not self.is_full
            self.changed.emit()
            if not self.is_running:
                break
        if self._has_new_rows:
            self._has_new_rows = False
            self._search_new_rows()

    def _search_new_rows(self) -> None:
        if self.is_running:
            self._has_new_rows = True
        elif self._session and self.text and not self.problem:
            self._tasks.spawn(self._search_end(self._turn), name="find in new messages")

    async def _search_end(self, turn: int) -> None:
        """Search from the end back to what has been searched."""
        mark: Mark | None = None
        covered = self._covered
        while True:
            page = await self._page(turn, mark)
            if page is None:
                return
            if page.total_bytes < covered:
                self.restart()
                return
            self._covered = max(self._covered, page.total_bytes)
            self._add(page, since=covered)
            mark = page.next
            if mark is None or mark.offset <= covered or len(self.hits) >= MOST_HITS:
                break
        self.changed.emit()

    async def _verify(self, turn: int) -> None:
        """Read one page again: it is refused if the history was rewritten, or says something else."""
        page = await self._page(turn, self._second)
        if page is None:
            return
        found = set(_hits(page))
        is_all = self._second is None and page.next is None
        if not found <= set(self.hits) or (is_all and len(found) != len(self.hits)):
            self.restart()

    async def _page(self, turn: int, mark: Mark | None) -> SearchPage | None:
        """Return the next page; None if it is wanted no more, or can't be had."""
        try:
            page = await self._bridge.search_history(
                self._session, self.text, mark, filters=Filters(), recent_first=True, limit=_PAGE_HITS
            )
        except HistoryChanged:
            if turn == self._turn:
                self.restart()
            return None
        except KnownError as error:
            if turn == self._turn:
                self.is_running = False
                self.problem = str(error)
                self.changed.emit()
            return None
        return page if turn == self._turn else None

    def _add(self, page: SearchPage, *, since: int = 0) -> None:
        """Add what a page found, from `since` on in the history; most lies before all that is known."""
        added = sorted({each for each in _hits(page) if each.offset >= since})
        is_apart = not self.hits or not added or added[-1] < self.hits[0]
        self.hits = added + self.hits if is_apart else sorted({*added, *self.hits})
        del self.hits[:-MOST_HITS]


def _hits(page: SearchPage) -> list[Found]:
    return [Found(hit.item.offset, hit.offset_chars, hit.item.row_id) for hit in page.hits]
