"""Whole listings and searches in tests, page by page, as the panel and the tool make them."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from app.domain.windows import Filters, HistoryItem, ItemsPage, Mark, SearchHit, SearchPage, Skipped, View
from app.history.files import ChatFiles
from app.history.view import HistoryView
from tests.unit.history.rows import SESSION

EVERYTHING = Filters()
MOST_PAGES = 5_000


def view_of(files: ChatFiles, view: View = View.PERSON) -> HistoryView:
    """A view as a new process would make it."""
    return HistoryView(ChatFiles(files.folder), session=SESSION, view=view)


class _Page(Protocol):
    @property
    def next(self) -> Mark | None: ...

    @property
    def skipped(self) -> Skipped: ...


P = TypeVar("P", bound=_Page)


def all_pages(read: Callable[[Mark | None], P]) -> list[P]:
    pages: list[P] = []
    mark: Mark | None = None
    for _ in range(MOST_PAGES):
        page = read(mark)
        pages.append(page)
        if page.next is None:
            return pages
        mark = page.next
    raise AssertionError("never exhausted")


def item_pages(
    view: HistoryView, *, filters: Filters = EVERYTHING, recent_first: bool = True, limit: int = 50
) -> list[ItemsPage]:
    return all_pages(lambda mark: view.items(mark, filters=filters, recent_first=recent_first, limit=limit))


def search_pages(
    view: HistoryView, query: str, *, filters: Filters = EVERYTHING, recent_first: bool = True, limit: int = 25
) -> list[SearchPage]:
    return all_pages(lambda mark: view.search(query, mark, filters=filters, recent_first=recent_first, limit=limit))


def all_items(
    view: HistoryView, *, filters: Filters = EVERYTHING, recent_first: bool = True, limit: int = 50
) -> list[HistoryItem]:
    pages = item_pages(view, filters=filters, recent_first=recent_first, limit=limit)
    return [item for page in pages for item in page.items]


def all_hits(
    view: HistoryView, query: str, *, filters: Filters = EVERYTHING, recent_first: bool = True, limit: int = 25
) -> list[SearchHit]:
    pages = search_pages(view, query, filters=filters, recent_first=recent_first, limit=limit)
    return [hit for page in pages for hit in page.hits]


def whole_text(view: HistoryView, ref: str, *, limit_chars: int = 8_000) -> str:
    texts: list[str] = []
    at: int | None = 0
    while at is not None:
        piece = view.read(ref, offset_chars=at, limit_chars=limit_chars)
        assert piece is not None
        assert piece.offset_chars == at
        texts.append(piece.text)
        at = piece.next_offset_chars
    return "".join(texts)


def skipped(pages: list[P]) -> Skipped:
    return sum((page.skipped for page in pages), Skipped())
