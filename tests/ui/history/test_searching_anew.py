"""A search in the panel that the chat is rewritten under: it begins again by itself, and not for ever."""

from PySide6.QtCore import QObject

from app.aio import TaskSet
from app.domain.errors import HistoryChanged
from app.domain.windows import Filters, Mark, SearchPage, Skipped
from app.ui.history.model import HistoryModel
from app.ui.history.searching import MOST_RESTARTS, Searching, SearchStatus
from tests.fakes.history import PlayedHistory


class Rewritten(PlayedHistory):
    """Is rewritten whenever its second page is asked for, so often."""

    rewrites = 1

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


async def searched(rewrites: int) -> tuple[Searching, HistoryModel, PlayedHistory]:
    history = Rewritten(page_size=10, skipped=Skipped(damaged=1))
    history.rewrites = rewrites
    history.add_window("first", [("user", f"message {number}") for number in range(30)])
    parent = QObject()
    model = HistoryModel(lambda model: model, parent)
    tasks = TaskSet(lambda _name, error: (_ for _ in ()).throw(error))
    searching = Searching(model, history, tasks, parent, window=lambda _id: history.windows[0])  # type: ignore[arg-type]
    searching.setParent(None)
    model.setParent(None)
    searching.start("s", "message", Filters())
    await tasks.drain(timeout_seconds=5)
    return searching, model, history


async def test_what_was_found_before_counts_no_more() -> None:
    searching, model, history = await searched(rewrites=2)
    search = searching.search
    assert (search.status, search.hits, search.restarts) == (SearchStatus.DONE, 30, 2)
    assert search.skipped == Skipped(damaged=3)
    assert len(searching.offsets) == len(set(searching.offsets)) == 30
    assert [len(group.children) for group in model.groups] == [30]
    assert search.bytes_read == search.total_bytes
    assert history.calls.count("search") == 5


async def test_a_chat_that_is_always_rewritten_is_given_up() -> None:
    searching, _, _ = await searched(rewrites=1_000)
    assert searching.search.status is SearchStatus.FAILED
    assert searching.search.restarts == MOST_RESTARTS
    assert searching.search.reason == "rewritten"
