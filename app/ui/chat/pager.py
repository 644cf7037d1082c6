"""Shows any stretch of the open chat's history in the transcript, page by page, as far back as one likes.

A stretch that does not reach to the end takes no new rows: they lie below it, and come when its end does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.ui.bridge import Bridge
from app.ui.chat.items import Item
from app.ui.chat.loaded_rows import LoadedRows
from app.ui.chat.page import ChatPage

if TYPE_CHECKING:  # These load pydantic, which must wait for the first paint.
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from app.domain.rows import Row
    from app.history.reader import Entry
    from app.history.stretch import Edge, Stretch

AGAIN_MS: Final = 2_000
"""After a page could not be read it may be asked for again."""


class StretchPager(QObject):
    """Knows which rows the transcript shows, and loads those beside them."""

    failed = Signal(str)
    """A sentence for people about what can't be shown."""
    more_loaded = Signal()
    """Other rows are in the transcript now."""
    end_reached = Signal()
    """The stretch reaches to the newest row again; what belongs below it is still to be shown."""

    def __init__(
        self, page: ChatPage, bridge: Bridge, tasks: TaskSet, model_name: Callable[[str], str], parent: QObject
    ) -> None:
        super().__init__(parent)
        self.session = ""
        self.shown: set[str] = set()
        """Ids of the items that the transcript has."""
        self.loaded = LoadedRows()
        self.older: Edge | None = None
        self.newer: Edge | None = None
        self._is_cut = False
        """Whether what is shown was cut off, and is shown until it is known what is there instead."""
        self._page = page
        self._bridge = bridge
        self._tasks = tasks
        self._model_name = model_name
        self._offsets: dict[str, int] = {}
        self._missed: list[Row] = []
        self._loads = 0
        self._stretches = 0
        page.older_wanted.connect(self._load_older)
        page.newer_wanted.connect(self._load_newer)
        page.latest_wanted.connect(self.show_latest)

    @property
    def reaches_end(self) -> bool:
        """Whether the newest row is, or would be, in the transcript."""
        return self.newer is None and not self._is_cut

    def begin(self, session: str, stretch: Stretch) -> bool:
        """Show the newest page of a chat; return whether there is anything in it to see."""
        self.session = session
        return self._show(stretch)

    def reset(self) -> None:
        """Show nothing."""
        self.session = ""
        self.shown.clear()
        self._offsets.clear()
        self._missed.clear()
        self.loaded.clear()
        self.older = self.newer = None
        self._is_cut = False
        self._stretches += 1
        self._page.transcript.set_items([], more_above=False)

    def offset_of(self, item_id: str) -> int | None:
        """Return how many bytes of the history lie before an item's row; None if it has come since, or is no row."""
        return self._offsets.get(item_id)

    def miss(self, rows: Iterable[Row]) -> None:
        """Take note of rows that came below what is shown."""
        from app.ui.chat.row_items import item_of

        for row in rows:
            if self._loads:
                # What is being read may end just above it.
                self._missed.append(row)
            if item_of(row, self._model_name) is not None:
                self._page.transcript.note_beyond(row.id)

    def take_missed(self) -> list[Row]:
        """Return rows that came while the end was being loaded; some of them may be shown."""
        missed, self._missed = self._missed, []
        return missed

    def cut(self, after: str) -> None:
        """Take out all that stood behind a row. It has been cut off, so that row is the end of the history now."""
        # What is on its way may have been read before.
        self._stretches += 1
        self._missed.clear()
        gone = self.loaded.cut(after, from_begin=self.begins)
        if gone is None:
            # It is not known which of the rows that are shown are still there.
            self._is_cut = True
            self._tasks.spawn(self._show_latest(self.session, self._stretches), name="show what is left")
            return
        self.newer = None
        self.shown.difference_update(gone)
        for row_id in gone:
            self._offsets.pop(row_id, None)
        self._page.transcript.cut_items(gone)

    @property
    def begins(self) -> bool:
        """Whether the begin of the history is in the transcript."""
        return self.older is None

    def show(
        self, row_id: str, offset: int, then: Callable[[str], None], *, lost: Callable[[], None] | None = None
    ) -> None:
        """Call `then` with the item of a row, or the nearest that is shown, once the transcript has it.

        The row begins `offset` bytes into the history. If it is not there any more, `lost` is called, or that is told.
        """
        if row_id in self.shown:
            then(row_id)
        elif self.session:
            self._stretches += 1
            work = self._show_around(self.session, self._stretches, row_id, offset, then, lost)
            self._tasks.spawn(work, name="show a message")

    @Slot()
    def show_latest(self) -> None:
        """Show the newest messages, at their end."""
        if self.session and not self.reaches_end:
            self._stretches += 1
            self._tasks.spawn(self._show_latest(self.session, self._stretches), name="show the latest messages")

    # Other stretches

    async def _show_around(
        self,
        session: str,
        number: int,
        row_id: str,
        offset: int,
        then: Callable[[str], None],
        lost: Callable[[], None] | None,
    ) -> None:
        stretch = await self._load(lambda: self._bridge.page_around(session, offset))
        if stretch is None or not self._is_current(session, number):
            return
        found = _nearest(stretch.entries, row_id, {item.id for item in self._all_items(stretch)})
        if found is None:
            (lost or self._tell_of_loss)()
            return
        self._show(stretch, first=found)
        if self.reaches_end:
            self.end_reached.emit()
        then(found)

    def _tell_of_loss(self) -> None:
        self.failed.emit(self.tr("This message is not there any more: the chat's history was changed."))

    async def _show_latest(self, session: str, number: int) -> None:
        stretch = await self._load(lambda: self._bridge.page_before(session, None))
        if stretch is not None and self._is_current(session, number):
            self._show(stretch)
            self.end_reached.emit()
            self._page.transcript.scroll_to_end()

    def _show(self, stretch: Stretch, *, first: str = "") -> bool:
        """Show a stretch and nothing else."""
        self._stretches += 1
        self.shown.clear()
        self._offsets.clear()
        self.loaded.clear()
        self._is_cut = False
        items = self._fresh_items(stretch)
        self.loaded.append(_rows_in(stretch))
        self.older, self.newer = stretch.older, stretch.newer
        self._page.transcript.set_items(
            items, more_above=self.older is not None, more_below=self.newer is not None, first=first
        )
        self.more_loaded.emit()
        return bool(items)

    # More of this stretch

    @Slot()
    def _load_older(self) -> None:
        if self.session and self.older is not None:
            self._tasks.spawn(self._show_older(self.session, self.older), name="load older messages")

    @Slot()
    def _load_newer(self) -> None:
        if self.session and self.newer is not None:
            self._tasks.spawn(self._show_newer(self.session, self.newer), name="load newer messages")

    async def _show_older(self, session: str, end: Edge) -> None:
        page = await self._load(lambda: self._bridge.page_before(session, end))
        if session != self.session or end is not self.older:
            return
        if page is None:
            QTimer.singleShot(AGAIN_MS, self, lambda: self._ask_older_again(end))
            return
        self.older = page.older
        self.loaded.prepend(_rows_in(page))
        self._page.transcript.prepend_items(self._fresh_items(page), more_above=page.older is not None)
        self.more_loaded.emit()

    async def _show_newer(self, session: str, start: Edge) -> None:
        page = await self._load(lambda: self._bridge.page_after(session, start))
        if session != self.session or start is not self.newer:
            return
        if page is None:
            QTimer.singleShot(AGAIN_MS, self, lambda: self._ask_newer_again(start))
            return
        self.newer = page.newer
        self.loaded.append(_rows_in(page))
        self._page.transcript.append_items(self._fresh_items(page), more_below=page.newer is not None)
        self.more_loaded.emit()
        if self.reaches_end:
            self.end_reached.emit()

    def _ask_older_again(self, end: Edge) -> None:
        """Let the transcript ask once more for what could not be read."""
        if end is self.older:
            self._page.transcript.prepend_items([], more_above=True)

    def _ask_newer_again(self, start: Edge) -> None:
        if start is self.newer:
            self._page.transcript.append_items([], more_below=True)

    async def _load(self, read: Callable[[], Awaitable[Stretch]]) -> Stretch | None:
        """Return what is read, None if that failed and was told."""
        if not self._loads:
            self._missed.clear()
        self._loads += 1
        try:
            return await read()
        except KnownError as error:
            self.failed.emit(str(error))
            return None
        finally:
            self._loads -= 1

    def _is_current(self, session: str, number: int) -> bool:
        """Whether nothing else was asked for since."""
        return session == self.session and number == self._stretches

    def _fresh_items(self, stretch: Stretch) -> list[Item]:
        """Return the items that are not shown yet; they are from now on."""
        items = [item for item in self._all_items(stretch) if item.id not in self.shown]
        self.shown.update(item.id for item in items)
        self._offsets.update(_offsets_in(stretch))
        return items

    def _all_items(self, stretch: Stretch) -> list[Item]:
        from app.ui.chat.row_items import items_of

        return items_of(stretch.entries, self._model_name)


def _offsets_in(stretch: Stretch) -> dict[str, int]:
    from app.history.batches import row_of

    rows = ((row_of(entry), entry) for entry in stretch.entries)
    return {row.id: stretch.offset_of(entry) for row, entry in rows if row is not None}


def _rows_in(stretch: Stretch) -> list[Row]:
    from app.history.batches import row_of

    return [row for entry in stretch.entries if (row := row_of(entry)) is not None]


def _nearest(entries: Sequence[Entry], row_id: str, shown: set[str]) -> str | None:
    """Return which of the shown rows is nearest to a row, the row itself if it is; None if the row is not there."""
    from app.history.batches import row_of

    ids = [row.id if (row := row_of(entry)) is not None else "" for entry in entries]
    if row_id not in ids:
        return None
    at = ids.index(row_id)
    by_distance = sorted(range(len(ids)), key=lambda index: (abs(index - at), index < at))
    return next((ids[index] for index in by_distance if ids[index] in shown), None)
