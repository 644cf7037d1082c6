"""Stop ends a search over all chats: nothing more is asked for, and Continue asks once."""

import asyncio

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from app.aio import TaskSet
from app.domain.chat_search import ChatSearchCursor, ChatSearchPage
from app.domain.windows import Skipped
from app.ui.chat_search import ChatSearch
from app.ui.theme import load_theme

CHATS = 5


class Chats:
    """Chats in which nothing is found; every answer waits for `hold`."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.hold = asyncio.Event()

    async def search_chats(self, text: str, cursor: ChatSearchCursor | None) -> ChatSearchPage:
        searched = CHATS - len(cursor.waiting) if cursor is not None else 0
        self.asked.append(searched)
        await self.hold.wait()
        await asyncio.sleep(0)
        left = tuple(range(CHATS - searched - 1))
        following = ChatSearchCursor(left, CHATS) if left else None  # type: ignore[arg-type]
        return ChatSearchPage((), following, searched + 1, CHATS, Skipped(), 0)


async def started(qapp: QApplication, chats: Chats, tasks: TaskSet) -> ChatSearch:
    search = ChatSearch(chats, tasks, load_theme(dark=False), qapp)  # type: ignore[arg-type]
    search.search("temple")
    search._pause.stop()
    search._begin()
    await until_asked(chats, 1)
    return search


async def until_asked(chats: Chats, times: int) -> None:
    async with asyncio.timeout(5):
        while len(chats.asked) < times:  # noqa: ASYNC110 - the fake tells of no call
            await asyncio.sleep(0)


async def test_stop_asks_for_nothing_more_and_continue_for_the_rest_once(qapp: QApplication) -> None:
    failed: list[BaseException] = []
    tasks = TaskSet(lambda _name, error: failed.append(error))
    chats = Chats()
    search = await started(qapp, chats, tasks)
    search.results.button.click()
    assert not search.is_running
    assert search.results.button.text() == "Continue"
    chats.hold.set()
    await tasks.drain(timeout_seconds=5)
    assert chats.asked == [0]
    assert search.results.status.text() == "Stopped."

    search.results.button.click()
    await tasks.drain(timeout_seconds=5)
    assert chats.asked == [0, 0, 1, 2, 3, 4]
    assert search.results.status.text() == "Not found in the messages of any chat."
    assert failed == []
    search.results.deleteLater()
    search.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
