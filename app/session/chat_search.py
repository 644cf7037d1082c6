"""A literal search over the messages of all chats, in bounded pieces, the latest chats first.

Needs no lease and keeps nothing between two pieces but the view of the chat that is being searched.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from app.aio import run_blocking
from app.domain.chat_search import ChatHits, ChatSearchCursor, ChatSearchPage
from app.domain.chats import ChatSummary
from app.domain.errors import ChatNotFound, HistoryChanged, StorageError
from app.domain.windows import SearchPage, View
from app.history.library import Library
from app.history.view import HistoryView

HITS_PER_CHAT: Final = 3
PAGE_SECONDS: Final = 0.1
"""A piece ends after this, or as soon as it has found something, whichever comes first."""
MAX_RESTARTS: Final = 3
"""A chat that is rewritten again and again while it is searched counts as unreadable."""

Monotonic = Callable[[], float]


class ChatSearch:
    """Searches the chats of a library."""

    def __init__(self, library: Library, *, monotonic: Monotonic = time.monotonic) -> None:
        self._library = library
        self._monotonic = monotonic
        self._view: tuple[str, HistoryView] | None = None

    async def page(self, query: str, cursor: ChatSearchCursor | None) -> ChatSearchPage:
        """Return the next piece of a search; None begins one. `query` is not empty.

        Chats that are deleted meanwhile are passed over. Raises StorageError if the list can't be read.
        """
        return await run_blocking(self._page, query, cursor)

    def _page(self, query: str, cursor: ChatSearchCursor | None) -> ChatSearchPage:
        if cursor is None:
            chats = self._library.summaries()
            cursor = ChatSearchCursor(chats, len(chats))
        until = self._monotonic() + PAGE_SECONDS
        found: tuple[ChatHits, ...] = ()
        while cursor.waiting and not found and self._monotonic() < until:
            cursor, found = self._advance(query, cursor)
        return ChatSearchPage(
            found=found,
            next=cursor if cursor.waiting else None,
            searched=cursor.total - len(cursor.waiting),
            total=cursor.total,
            skipped=cursor.skipped,
            unreadable=cursor.unreadable,
        )

    def _advance(self, query: str, cursor: ChatSearchCursor) -> tuple[ChatSearchCursor, tuple[ChatHits, ...]]:
        """Search one more page of the first chat that waits; return also what is to be told of it, if that is new."""
        chat, before = cursor.waiting[0], cursor.hits
        # What was told of a chat that is gone or was rewritten holds no longer.
        taken_back = (ChatHits(chat, ()),) if before else ()
        try:
            page = self._search(chat, query, cursor)
        except ChatNotFound:
            return _next_chat(cursor), taken_back
        except HistoryChanged:
            if cursor.restarts < MAX_RESTARTS:
                return replace(cursor, mark=None, hits=(), restarts=cursor.restarts + 1), taken_back
            return _next_chat(cursor, unreadable=1), taken_back
        except StorageError:
            return _next_chat(cursor, unreadable=1), ()
        hits = (*before, *page.hits)
        has_more = len(hits) > HITS_PER_CHAT
        told = (ChatHits(chat, hits[:HITS_PER_CHAT], has_more=has_more),) if page.hits else ()
        cursor = replace(cursor, mark=page.next, hits=hits, skipped=cursor.skipped + page.skipped)
        return _next_chat(cursor) if page.exhausted or has_more else cursor, told

    def _search(self, chat: ChatSummary, query: str, cursor: ChatSearchCursor) -> SearchPage:
        session, view = self._view or ("", None)
        if view is None or session != chat.id:
            view = HistoryView(self._library.files(chat.id), session=chat.id, view=View.PERSON)
            self._view = (chat.id, view)
        # One more than is shown tells whether there are more.
        return view.search(query, cursor.mark, recent_first=True, limit=HITS_PER_CHAT + 1 - len(cursor.hits))


def _next_chat(cursor: ChatSearchCursor, *, unreadable: int = 0) -> ChatSearchCursor:
    unreadable += cursor.unreadable
    return ChatSearchCursor(cursor.waiting[1:], cursor.total, skipped=cursor.skipped, unreadable=unreadable)
