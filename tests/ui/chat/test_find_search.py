"""What Find in chat looks for, apart from its bar: a history that is rewritten, and a text that is typed on."""

import asyncio

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from app.aio import TaskSet
from app.domain.errors import HistoryChanged, KnownError
from app.domain.windows import Filters, Mark, SearchPage
from app.ui.chat.find_search import FindSearch
from tests.fakes.history import PlayedHistory

pytestmark = pytest.mark.usefixtures("qapp")


class Rewritten(PlayedHistory):
    """Is rewritten when its second page is asked for, so often."""

    rewrites = 0

    async def search_history(
        self,
        session: str,
        query: str,
        mark: Mark | None,
        *,
        filters: Filters,
        recent_first: bool = True,
        limit: int = 50,
    ) -> SearchPage:
        if mark is not None and self.rewrites:
            self.rewrites -= 1
            raise HistoryChanged("rewritten")
        return await super().search_history(
            session, query, mark, filters=filters, recent_first=recent_first, limit=limit
        )


def a_history() -> Rewritten:
    history = Rewritten(page_size=10)
    history.add_window("first", [("user", f"message {number:02}") for number in range(30)])
    return history


def looking(history: Rewritten, qapp: QApplication) -> tuple[FindSearch, TaskSet]:
    def fail(_name: str, error: BaseException) -> None:
        raise error

    tasks = TaskSet(fail)
    return FindSearch(history, tasks, qapp), tasks  # type: ignore[arg-type]


async def asked(history: PlayedHistory, times: int) -> None:
    """Wait until the history was asked so often."""
    async with asyncio.timeout(5):
        while len(history.calls) < times:  # noqa: ASYNC110 - the fake tells of no call
            await asyncio.sleep(0)


async def test_a_history_that_is_rewritten_is_searched_again_from_its_end(qapp: QApplication) -> None:
    history = a_history()
    history.rewrites = 2
    search, tasks = looking(history, qapp)
    search.start("s", "message")
    await tasks.drain(timeout_seconds=5)
    assert not search.is_running
    assert search.problem == ""
    assert len(search.hits) == len(set(search.hits)) == 30
    search.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


async def test_a_history_that_never_holds_still_is_told(qapp: QApplication) -> None:
    history = a_history()
    history.rewrites = 1_000
    search, tasks = looking(history, qapp)
    search.start("s", "message")
    await tasks.drain(timeout_seconds=5)
    assert not search.is_running
    assert "changed all the time" in search.problem
    assert history.rewrites > 900
    search.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.mark.parametrize("late", [None, HistoryChanged("rewritten"), KnownError("refused")])
async def test_what_comes_late_for_an_older_text_counts_no_more(qapp: QApplication, late: KnownError | None) -> None:
    history = a_history()
    history.hold = asyncio.Event()
    if late is not None:
        history.errors["search"] = [late]
    search, tasks = looking(history, qapp)
    search.start("s", "message")
    await asked(history, 1)
    search.start("s", "message 07")
    await asked(history, 2)
    history.hold.set()
    await tasks.drain(timeout_seconds=5)
    assert not search.is_running
    assert search.problem == ""
    assert [hit.row_id for hit in search.hits] == ["row8"]
    search.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
