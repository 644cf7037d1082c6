"""The history of any chat, for the person who looks at it: the interface's way to `history.view`, off the loop.

Needs no lease and writes nothing of a chat but its index.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from app.aio import run_blocking
from app.domain.windows import Filters, HistoryItem, ItemsPage, ItemText, Mark, SearchPage, View, WindowsPage
from app.history.library import Library

if TYPE_CHECKING:
    from app.history.view import HistoryView

KEPT_VIEWS: Final = 8


class HistoryBrowser:
    """Reads the histories of a library's chats. Every method raises ChatNotFound, StorageError, HistoryChanged."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._views: OrderedDict[str, HistoryView] = OrderedDict()

    async def windows(self, session: str) -> WindowsPage:
        """See `HistoryView.windows`."""
        return await run_blocking((await self._view(session)).windows)

    async def items(
        self, session: str, mark: Mark | None, *, filters: Filters, recent_first: bool, limit: int
    ) -> ItemsPage:
        """See `HistoryView.items`."""
        view = await self._view(session)
        return await run_blocking(view.items, mark, filters=filters, recent_first=recent_first, limit=limit)

    async def search(
        self, session: str, query: str, mark: Mark | None, *, filters: Filters, recent_first: bool, limit: int
    ) -> SearchPage:
        """See `HistoryView.search`."""
        view = await self._view(session)
        return await run_blocking(view.search, query, mark, filters=filters, recent_first=recent_first, limit=limit)

    async def item(self, session: str, ref: str) -> HistoryItem | None:
        """See `HistoryView.item`."""
        return await run_blocking((await self._view(session)).item, ref)

    async def read(self, session: str, ref: str, *, offset_chars: int, limit_chars: int) -> ItemText | None:
        """See `HistoryView.read`."""
        view = await self._view(session)
        return await run_blocking(view.read, ref, offset_chars=offset_chars, limit_chars=limit_chars)

    async def raw(self, session: str, ref: str) -> str | None:
        """See `HistoryView.raw`."""
        return await run_blocking((await self._view(session)).raw, ref)

    async def _view(self, session: str) -> HistoryView:
        view = self._views.get(session)
        if view is None:
            # Loaded when somebody looks back for the first time.
            from app.history.view import HistoryView

            files = await run_blocking(self._library.files, session)
            view = self._views[session] = HistoryView(files, session=session, view=View.PERSON)
            if len(self._views) > KEPT_VIEWS:
                self._views.popitem(last=False)
        self._views.move_to_end(session)
        return view
