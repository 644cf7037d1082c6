"""Fetches a chat's windows and their items for the list, and keeps it in step with the chat."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal, Slot

from app.aio import TaskSet
from app.domain.errors import HistoryChanged, KnownError
from app.domain.windows import Filters, ItemsPage, Mark, WindowInfo
from app.ui.bridge import Bridge
from app.ui.history.entries import Floor, Note, NoteKind
from app.ui.history.model import Group, HistoryModel
from app.ui.history.shelf import NoteWords, Shelf, Splice, splices
from app.ui.history.wording import skipped_words

if TYPE_CHECKING:
    import asyncio

MOST_ITEMS: Final = 1_000
"""So many items are kept; others are fetched again when they come into view. More would take too long to lay out."""
MOST_RESTARTS: Final = 5
"""A history that changes this often while it is read is told as an error."""


class ListStatus(StrEnum):
    """What is known of the list of windows."""

    NONE = "none"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ListState:
    """`bytes_read` of `total_bytes` were read for the list; 0 if nothing had to be."""

    status: ListStatus = ListStatus.NONE
    bytes_read: int = 0
    total_bytes: int = 0
    reason: str = ""
    """A sentence for people, if it failed."""


class Listing(QObject):
    """Drives the model of windows for one chat at a time."""

    changed = Signal()
    """`state` or `windows` are others now."""
    tools_seen = Signal(object)
    """Names of tools."""

    def __init__(self, model: HistoryModel, bridge: Bridge, tasks: TaskSet, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self._bridge = bridge
        self._tasks = tasks
        self.session = ""
        self.state = ListState()
        self.windows: tuple[WindowInfo, ...] = ()
        self._shelves: dict[str, Shelf] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._loading: set[str] = set()
        self._is_refreshing = False
        self._is_stale = False
        self._restarts = 0
        self._turn = 0
        model.wanted.connect(self.load)

    # What the panel asks

    def show_chat(self, session: str) -> None:
        """List another chat; what runs for the one before ends."""
        self.stop()
        self.session = session
        self.windows = ()
        self._shelves.clear()
        self._restarts = 0
        self._model.clear()
        self._set_state(ListState())

    def stop(self) -> None:
        """End what runs. What it was to fetch is fetched when it is wanted again."""
        self._turn += 1
        for task in list(self._running):
            task.cancel()
        self._running.clear()
        for key in self._loading:
            if key in self._shelves and not self._shelves[key].pages:
                del self._shelves[key]
                self._model.empty(key)
        self._loading.clear()
        self._is_refreshing = self._is_stale = False
        if self.state.status is ListStatus.LOADING:
            self._set_state(ListState(ListStatus.READY if self.windows else ListStatus.NONE))

    def refresh(self) -> None:
        """Bring the list up to date."""
        if not self.session:
            return
        if self._is_refreshing:
            self._is_stale = True
            return
        self._is_refreshing = True
        self._spawn(self._refresh(self.session, self._turn), name="list windows")

    @Slot(str)
    def load(self, key: str) -> None:
        """Fetch the first items of a window."""
        if key not in self._shelves:
            self._shelves[key] = Shelf(self._words())
            group = self._model.group(key)
            if group is not None:
                waiting = Note(NoteKind.LOADING, self.tr("Loading…"))
                self._model.splice(key, Splice(0, len(group.children), (waiting,)))
            self._fetch(key, None, earlier=False)

    @Slot(str)
    def load_more(self, key: str) -> None:
        """Fetch the next items of a window."""
        shelf = self._shelves.get(key)
        if shelf is not None and shelf.pages and shelf.next is not None:
            self._fetch(key, shelf.next, earlier=False)

    @Slot(str)
    def load_earlier(self, key: str) -> None:
        """Fetch the items again that stood above the first that are kept."""
        shelf = self._shelves.get(key)
        if shelf is not None and shelf.before:
            self._fetch(key, shelf.before[-1], earlier=True)

    @Slot(str)
    def try_again(self, key: str) -> None:
        """Read once more what could not be read: a window, or with an empty key the list of them."""
        self._restarts = 0
        if key:
            self._shelves.pop(key, None)
            self.load(key)
        else:
            self.refresh()

    # The windows

    async def _refresh(self, session: str, turn: int) -> None:
        try:
            await self._read_windows(session)
        except HistoryChanged as error:
            self._begin_again(error)
        except KnownError as error:
            self._set_state(ListState(ListStatus.FAILED, reason=str(error)))
        finally:
            if turn == self._turn:
                self._is_refreshing = False
        if self._is_stale:
            self._is_stale = False
            self.refresh()

    async def _read_windows(self, session: str) -> None:
        if not self.windows:
            self._set_state(ListState(ListStatus.LOADING))
        page = await self._bridge.history_windows(session)
        while not page.is_complete:
            self._set_state(ListState(ListStatus.LOADING, page.bytes_read, page.total_bytes))
            page = await self._bridge.history_windows(session)
        had = {window.id: window for window in self.windows}
        self.windows = page.windows
        gone = [key for key in self._shelves if all(window.id != key for window in page.windows)]
        for key in gone:
            del self._shelves[key]
        self._model.show_groups(_groups(page.windows))
        self._set_state(ListState(ListStatus.READY))
        for window in page.windows:
            if window.id in had and _grew(had[window.id], window):
                await self._fetch_end(session, window.id)

    async def _fetch_end(self, session: str, key: str) -> None:
        """Read the last page of a window again if it is kept: something was said."""
        shelf = self._shelves.get(key)
        if shelf is None or not shelf.ends or key in self._loading:
            return
        mark = shelf.pages[-1].mark
        page = await self._bridge.history_items(session, mark, filters=Filters(window_id=key))
        if self._shelves.get(key) is shelf and shelf.ends and shelf.pages[-1].mark == mark:
            shelf.replace_last(page)
            self._show(key)

    # Items

    def _fetch(self, key: str, mark: Mark | None, *, earlier: bool) -> None:
        if key not in self._loading:
            self._loading.add(key)
            self._spawn(self._fetch_page(self.session, key, mark, earlier=earlier), name="list a window")

    async def _fetch_page(self, session: str, key: str, mark: Mark | None, *, earlier: bool) -> None:
        shelf = self._shelves[key]
        try:
            mark, page = await self._read_page(session, key, mark)
        except HistoryChanged as error:
            self._loading.discard(key)
            self._begin_again(error)
            return
        except KnownError as error:
            self._loading.discard(key)
            self._show_error(key, str(error))
            return
        self._loading.discard(key)
        if self._shelves.get(key) is not shelf:
            return
        self._restarts = 0
        if earlier:
            shelf.prepend(page)
        else:
            shelf.append(mark, page)
        # The newest last: the others are put away first.
        self._shelves[key] = self._shelves.pop(key)
        self._put_away(key, earlier=earlier)
        self._show(key)

    async def _read_page(self, session: str, key: str, mark: Mark | None) -> tuple[Mark | None, ItemsPage]:
        """Return the next page that holds something, and the mark that gives it."""
        while True:
            page = await self._bridge.history_items(session, mark, filters=Filters(window_id=key))
            if page.items or page.next is None:
                return mark, page
            mark = page.next

    def _put_away(self, key: str, *, earlier: bool) -> None:
        """Keep memory bounded: first other windows go, then the far end of this one."""
        kept = sum(shelf.items for shelf in self._shelves.values())
        for other in list(self._shelves):
            if kept <= MOST_ITEMS:
                return
            if other != key and other not in self._loading:
                kept -= self._shelves.pop(other).items
                self._model.empty(other)
        shelf = self._shelves[key]
        while shelf.items > MOST_ITEMS and len(shelf.pages) > 1:
            if earlier:
                shelf.drop_last()
            else:
                shelf.drop_first()

    def _show(self, key: str) -> None:
        group, shelf = self._model.group(key), self._shelves.get(key)
        if group is None or shelf is None:
            return
        if names := {tool.name for page in shelf.pages for item in page.items for tool in item.tools}:
            self.tools_seen.emit(names)
        shelf.skipped_note = skipped_words(shelf.skipped, searched=False)
        if changes := splices(group.children, shelf.children()):
            self._model.splice(key, *changes)

    def _show_error(self, key: str, reason: str) -> None:
        group = self._model.group(key)
        if group is not None:
            words = self.tr("{reason} Click to try again.").format(reason=reason)
            self._model.splice(key, Splice(0, len(group.children), (Note(NoteKind.ERROR, words),)))

    # Beginning again

    def _begin_again(self, error: HistoryChanged) -> None:
        """The history was rewritten: marks hold no longer, so all is read anew."""
        self._restarts += 1
        gives_up = self._restarts > MOST_RESTARTS
        for key in [key for key in self._shelves if key not in self._loading]:
            if gives_up:
                self._show_error(key, str(error))
            else:
                del self._shelves[key]
                self._model.empty(key)
        if gives_up:
            self._set_state(ListState(ListStatus.FAILED, reason=str(error)))
        elif self._is_refreshing:
            self._is_stale = True
        else:
            self.refresh()

    def _words(self) -> NoteWords:
        return NoteWords(
            loading=self.tr("Loading more…"),
            earlier=self.tr("Loading earlier ones…"),
            nothing=self.tr("Nothing was said in this window."),
        )

    def _set_state(self, state: ListState) -> None:
        self.state = state
        self.changed.emit()

    def _spawn(self, work: Coroutine[object, object, None], *, name: str) -> None:
        task = self._tasks.spawn(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)


def _grew(had: WindowInfo, has: WindowInfo) -> bool:
    return (had.rows, had.end) != (has.rows, has.end)


def _groups(windows: tuple[WindowInfo, ...]) -> list[Group]:
    """Return the windows, newest first, with the floor between those on either side of it."""
    groups: list[Group] = []
    for window in windows:
        if window.is_above_floor and groups and not isinstance(groups[-1].value, Floor):
            newer = groups[-1].value
            if isinstance(newer, WindowInfo) and not newer.is_above_floor:
                groups.append(Group(f"floor:{newer.id}", Floor(newer.id)))
        groups.append(Group(window.id, window, may_have_more=True))
    return groups
