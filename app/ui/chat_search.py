"""Joins the search over all chats to the engine: one page after another, until it ends or is stopped."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Slot

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.domain.events import ChatChanged, SessionEvent
from app.ui.bridge import Bridge
from app.ui.chat_search_model import ChatSearchModel
from app.ui.chat_search_results import ChatSearchResults
from app.ui.theme import Theme

if TYPE_CHECKING:
    from app.domain.chat_search import ChatSearchCursor, ChatSearchPage

PAUSE_MS: Final = 200
"""After the last letter typed, before messages are searched."""
MIN_CHARS: Final = 2
"""A single letter stands in every message; titles are filtered by it all the same."""


class ChatSearch(QObject):
    """Searches for what stands in the field. Ends what it does for an older text at once."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._tasks = tasks
        self._model = ChatSearchModel(self)
        self.results = ChatSearchResults(self._model, theme)
        self.results.button_pressed.connect(self._press_button)
        self.text = ""
        self._cursor: ChatSearchCursor | None = None
        self._page: ChatSearchPage | None = None
        self._task: asyncio.Task[None] | None = None
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._begin)

    @property
    def is_running(self) -> bool:
        """Whether messages are being searched, or about to be."""
        return self._task is not None or self._pause.isActive()

    def search(self, text: str) -> None:
        """Search for `text` from the newest chat on, a moment after the last call."""
        text = text.strip()
        if text == self.text:
            return
        self.text = text
        self._end()
        self._cursor = self._page = None
        self._model.clear()
        if len(text) >= MIN_CHARS:
            self.results.show_status(self.tr("Searching…"))
            self._pause.start()
        else:
            self.results.show_status(self.tr("Type two letters or more to search in messages.") if text else "")

    def close(self) -> None:
        """End the search; the next one begins anew."""
        self.search("")

    def hear(self, event: SessionEvent) -> None:
        """Show the new title of a chat."""
        if isinstance(event, ChatChanged) and event.summary.title:
            self._model.rename_chat(event.session, event.summary.title)

    def forget(self, session: str) -> None:
        """Leave out a chat that was deleted."""
        self._model.remove_chat(session)

    @Slot()
    def _press_button(self) -> None:
        """Stop what runs, or go on with it."""
        if self.is_running:
            self._end()
            self._say_stopped()
        else:
            self._begin()

    @Slot()
    def _begin(self) -> None:
        self._task = self._tasks.spawn(self._run(self.text), name="search the chats")
        self.results.show_status(self._progress(), button=self.tr("Stop"))

    def _end(self) -> None:
        self._pause.stop()
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self, text: str) -> None:
        try:
            while True:
                page = await self._bridge.search_chats(text, self._cursor)
                self._cursor, self._page = page.next, page
                for found in page.found:
                    self._model.put(found)
                if page.next is None:
                    break
                self.results.show_status(self._progress(), button=self.tr("Stop"))
        except KnownError as error:
            self._task = None
            self.results.show_status(str(error), button=self.tr("Try again"), is_news=True)
            return
        self._task = None
        self.results.show_status(self._outcome(page), is_news=True)

    def _progress(self) -> str:
        if self._page is None:
            return self.tr("Searching…")
        text = self.tr("Searched {searched} of {total} chats…")
        return text.format(searched=self._page.searched, total=self._page.total)

    def _say_stopped(self) -> None:
        if self._page is None:
            text = self.tr("Stopped.")
        else:
            text = self.tr("Stopped after {searched} of {total} chats.")
            text = text.format(searched=self._page.searched, total=self._page.total)
        self.results.show_status(text, button=self.tr("Continue"), is_news=True)

    def _outcome(self, page: ChatSearchPage) -> str:
        count = self._model.chat_count
        if count == 0:
            text = self.tr("Not found in the messages of any chat.")
        elif count == 1:
            text = self.tr("Found in the messages of 1 chat.")
        else:
            text = self.tr("Found in the messages of {count} chats.").format(count=count)
        return " ".join([text, *self._left_out(page)])

    def _left_out(self, page: ChatSearchPage) -> list[str]:
        """Say what was not searched."""
        skipped = page.skipped
        sentences = [
            (page.unreadable, self.tr("Chats that could not be read: {count}.")),
            (skipped.oversized, self.tr("Entries too long to be searched: {count}.")),
            (skipped.damaged, self.tr("Damaged entries: {count}.")),
            (skipped.blobs, self.tr("Long texts that could not be searched: {count}.")),
        ]
        return [text.format(count=count) for count, text in sentences if count]
