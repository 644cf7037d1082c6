"""`session_history`: a model's way back to everything said in its own chat below the privacy floor.

Read-only. The chat it reads is given when it is made, never by the model, and it reads as `View.AGENT`, whatever
arguments, names or cursors say. See context-windows.md, 7.
"""

from collections.abc import Mapping
from typing import Final, assert_never

from app.aio import Clock, run_blocking
from app.budget.requests import TextCounter
from app.domain.errors import HistoryChanged, InvalidCursor, StaleItem, StorageError
from app.domain.request import ToolSpec
from app.domain.windows import ItemText, View
from app.history.cursor import NOTHING_READ, Cursors, Scope
from app.history.files import ChatFiles
from app.history.view import HistoryView
from app.tools.arguments import BadArguments
from app.tools.base import ReadingTool, ToolContext, ToolOutcome
from app.tools.cap import Cap
from app.tools.history_answers import TextAnswer, error, outcome
from app.tools.history_arguments import (
    Asked,
    ListItems,
    ListWindows,
    Paged,
    ReadItem,
    Search,
    parse,
)
from app.tools.history_fetch import fetch_of
from app.tools.history_listing import Listing, ignored_names
from app.tools.history_pages import Gathered, Place, gather
from app.tools.history_schema import SPEC

_TRIES: Final = 3
_STALE_CURSOR: Final = (
    "The chat was changed since this cursor was given, so it leads nowhere any more."
    " Make the same call without the cursor to start again."
)
_STALE_ITEM: Final = (
    "The chat was changed since this item_id was given, so it names nothing certain any more."
    ' Use the number of the message, such as "#12", or find it again with search or list_items.'
)
_NO_ITEM: Final = (
    'There is no such message in what you can read of this chat. An item_id is as the lists give it, or "#" and a'
    " number; search and list_items give those there are."
)
_NO_WINDOW: Final = "There is no such window in what you can read of this chat. list_windows gives those there are."
_UNAVAILABLE: Final = "The history can't be read from disk just now. Try again once; then tell the user."


class NotThere(Exception):
    """What was named isn't there, or not for a model; `str()` is a sentence for it."""


class SessionHistoryTool(ReadingTool):
    """Answers one chat's model. One instance a chat; calls may overlap."""

    def __init__(self, files: ChatFiles, *, session: str, cursors: Cursors, counter: TextCounter, clock: Clock) -> None:
        self._view = HistoryView(files, session=session, view=View.AGENT)
        self._session = session
        self._cursors = cursors
        self._counter = counter
        self._clock = clock

    @property
    def spec(self) -> ToolSpec:
        return SPEC

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """Answer one call; see `Tool.run`."""
        cap = Cap.of(context, self._counter)
        try:
            return await self._answer(parse(arguments), cap)
        except BadArguments as fault:
            failure = ("invalid_arguments", str(fault))
        except InvalidCursor as fault:
            failure = ("invalid_cursor", str(fault))
        except HistoryChanged:
            failure = ("stale_cursor", _STALE_CURSOR)
        except StaleItem:
            failure = ("stale_item", _STALE_ITEM)
        except NotThere as fault:
            failure = ("not_found", str(fault))
        except StorageError:
            failure = ("unavailable", _UNAVAILABLE)
        return await run_blocking(error, *failure, cap)

    async def _answer(self, asked: Asked, cap: Cap) -> ToolOutcome:
        call = asked.call
        if isinstance(call, ReadItem):
            answer = TextAnswer(await self._read(call), ignored_names(asked))
            return outcome(await run_blocking(answer.fitted, cap), cap)
        for _ in range(_TRIES):
            try:
                return outcome(await self._list(asked, call, cap), cap)
            except HistoryChanged:
                if call.cursor:
                    raise
        raise HistoryChanged("This chat was changed while it was read.")

    async def _read(self, call: ReadItem) -> ItemText:
        for _ in range(_TRIES):
            try:
                piece = await run_blocking(
                    self._view.read, call.item_id, offset_chars=call.offset_chars, limit_chars=call.limit_chars
                )
            except HistoryChanged:
                continue
            if piece is None:
                raise NotThere(_NO_ITEM)
            return piece
        raise StaleItem("This chat was changed while it was read.")

    async def _list(self, asked: Asked, call: Paged, cap: Cap) -> dict[str, object] | None:
        scope = _scope(self._session, asked.action, call)
        start = Place(None, NOTHING_READ)
        if call.cursor:
            start = Place(*await run_blocking(self._cursors.decode, call.cursor, scope))
        gathered = await gather(fetch_of(self._view, call), start, limit=call.limit, clock=self._clock)
        if not gathered.entries:
            await self._check_window(call, gathered)
        return await Listing(asked, gathered, scope, self._cursors).fitted(cap)

    async def _check_window(self, call: Paged, gathered: Gathered) -> None:
        """Tell a window that isn't there from one in which nothing was found."""
        if isinstance(call, ListWindows) or not call.window_id or gathered.end.next is not None:
            return
        page = await run_blocking(self._view.windows)
        if page.is_complete and all(window.id != call.window_id for window in page.windows):
            raise NotThere(_NO_WINDOW)


def _scope(session: str, action: str, call: Paged) -> Scope:
    match call:
        case ListWindows():
            return Scope(session, action)
        case ListItems():
            return Scope(session, action, "", call.filters, call.recent_first)
        case Search():
            return Scope(session, action, call.query, call.filters, call.recent_first)
        case _:
            assert_never(call)
