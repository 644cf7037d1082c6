"""Searches all windows of a chat, page after page, and lists what is found under its window."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from app.aio import TaskSet
from app.domain.errors import HistoryChanged, KnownError
from app.domain.windows import Filters, Mark, SearchHit, SearchPage, Skipped, WindowInfo
from app.ui.bridge import Bridge
from app.ui.history.entries import HitGroup
from app.ui.history.model import Group, HistoryModel
from app.ui.history.shelf import Splice

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

PAUSE_AFTER: Final = 2_000
"""After so many hits the search waits for the person to go on; they make room for the next ones then."""
MOST_RESTARTS: Final = 5


class SearchStatus(StrEnum):
    """How a search stands."""

    NONE = "none"
    RUNNING = "running"
    STOPPED = "stopped"
    """By the person, or because the panel was hidden: it can go on."""
    PAUSED = "paused"
    """Enough was found for the moment: it can go on."""
    DONE = "done"
    OUTGROWN = "outgrown"
    """All was searched, and more was said since."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for, and how far that has come."""

    query: str = ""
    filters: Filters = field(default_factory=Filters)
    status: SearchStatus = SearchStatus.NONE
    hits: int = 0
    """That are listed."""
    passed: int = 0
    """Hits that were listed before those, and made room for them."""
    bytes_read: int = 0
    total_bytes: int = 0
    skipped: Skipped = field(default_factory=Skipped)
    restarts: int = 0
    """How often the chat was rewritten meanwhile, so that all began again."""
    reason: str = ""


class Searching(QObject):
    """Drives the model of hits for one chat at a time."""

    changed = Signal()
    """`search` is another now."""
    grouped = Signal(str)
    """The first hits of a window are listed."""
    tools_seen = Signal(object)
    """Names of tools."""

    def __init__(
        self,
        model: HistoryModel,
        bridge: Bridge,
        tasks: TaskSet,
        parent: QObject,
        *,
        window: Callable[[str], WindowInfo | None],
    ) -> None:
        """`window` gives what is known of a window."""
        super().__init__(parent)
        self._model = model
        self._bridge = bridge
        self._tasks = tasks
        self._window = window
        self._session = ""
        self._mark: Mark | None = None
        self._task: asyncio.Task[None] | None = None
        self._has_more_below = False
        """More was said since the search began, at the end of the chat."""
        self.search = Search()
        self.offsets: list[int] = []
        """Where the rows of all hits begin, newest first."""

    def start(self, session: str, query: str, filters: Filters) -> None:
        """Search for something else; nothing is searched for an empty query."""
        self._end_task()
        self._session = session
        self._forget_hits()
        if query and session:
            self._show(Search(query, filters, SearchStatus.RUNNING))
            self._run()
        else:
            self._show(Search())

    def stop(self) -> None:
        """Leave it at what is found until now."""
        self._end_task()
        if self.search.status is SearchStatus.RUNNING:
            self._show(replace(self.search, status=SearchStatus.STOPPED))

    def go_on(self) -> None:
        """Search the rest."""
        if self.search.status in (SearchStatus.FAILED, SearchStatus.OUTGROWN):
            self.start(self._session, self.search.query, self.search.filters)
        elif self.search.status in (SearchStatus.STOPPED, SearchStatus.PAUSED):
            search = self.search
            if search.hits >= PAUSE_AFTER:
                self._list_nothing()
                search = replace(search, hits=0, passed=search.passed + search.hits)
            self._show(replace(search, status=SearchStatus.RUNNING))
            self._run()

    def note_growth(self) -> None:
        """Something was said: what is found is no longer all there is to find."""
        self._has_more_below = True
        if self.search.status is SearchStatus.DONE:
            self._show(replace(self.search, status=SearchStatus.OUTGROWN))

    def note_windows(self) -> None:
        """Bring what the list says of windows up to date: they are known now, or others."""
        for row, group in enumerate(self._model.groups):
            window = self._window(group.key)
            if window is not None and isinstance(group.value, HitGroup):
                self._model.set_value(row, HitGroup(window, group.value.hits))

    def _run(self) -> None:
        self._task = self._tasks.spawn(self._search(), name="search the history")

    def _end_task(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _forget_hits(self) -> None:
        self._mark = None
        self._has_more_below = False
        self._list_nothing()

    def _list_nothing(self) -> None:
        self.offsets = []
        self._model.clear()

    async def _search(self) -> None:
        try:
            while self.search.status is SearchStatus.RUNNING:
                await self._read_page()
        except KnownError as error:
            self._show(replace(self.search, status=SearchStatus.FAILED, reason=str(error)))

    async def _read_page(self) -> None:
        search = self.search
        try:
            page = await self._bridge.search_history(self._session, search.query, self._mark, filters=search.filters)
        except HistoryChanged:
            if search.restarts >= MOST_RESTARTS:
                raise
            self._forget_hits()
            begun = Search(search.query, search.filters, SearchStatus.RUNNING, restarts=search.restarts + 1)
            self._show(begun)
            return
        self._mark = page.next
        self._add(page)

    def _add(self, page: SearchPage) -> None:
        self.offsets += [hit.item.offset for hit in page.hits]
        self._list(page.hits)
        if names := {tool.name for hit in page.hits for tool in hit.item.tools}:
            self.tools_seen.emit(names)
        search = replace(
            self.search,
            hits=len(self.offsets),
            bytes_read=self.search.bytes_read + page.bytes_read,
            total_bytes=page.total_bytes,
            skipped=self.search.skipped + page.skipped,
        )
        if page.exhausted:
            is_all = not self._has_more_below
            search = replace(search, status=SearchStatus.DONE if is_all else SearchStatus.OUTGROWN)
        elif len(self.offsets) >= PAUSE_AFTER:
            search = replace(search, status=SearchStatus.PAUSED)
        self._show(search)

    def _list(self, hits: tuple[SearchHit, ...]) -> None:
        """Put hits below their windows; neighbours of one window at once."""
        at = 0
        while at < len(hits):
            key = hits[at].item.window_id
            end = at
            while end < len(hits) and hits[end].item.window_id == key:
                end += 1
            self._list_in(key, hits[at:end])
            at = end

    def _list_in(self, key: str, hits: tuple[SearchHit, ...]) -> None:
        group = self._model.group(key)
        if group is None:
            found = self._window(key)
            window = found or WindowInfo(id=key, number=0, kind="unknown", start=0, end=0, rows=0)
            group = Group(key, HitGroup(window, 0))
            self._model.add_group(group)
        had = len(group.children)
        self._model.splice(key, Splice(had, 0, hits))
        assert isinstance(group.value, HitGroup)
        row = self._model.group_index(key).row()
        self._model.set_value(row, HitGroup(group.value.window, had + len(hits)))
        if not had:
            self.grouped.emit(key)

    def _show(self, search: Search) -> None:
        self.search = search
        self.changed.emit()
