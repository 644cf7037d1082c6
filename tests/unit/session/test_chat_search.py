"""A search over all chats, on real files."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.domain.chat_search import ChatHits, ChatSearchPage
from app.domain.rows import Boundary, Flag, Row, TextPart
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.library import Library
from app.history.sidecars import SessionMeta, write_sidecar
from app.session.chat_search import HITS_PER_CHAT, ChatSearch
from tests.fakes.clock import counting_ids

NOW = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)


class Shelf:
    """Chats to search."""

    def __init__(self, root: Path) -> None:
        self.library = Library(root, new_id=counting_ids())
        self.search = ChatSearch(self.library, monotonic=lambda: 0.0)

    def add(self, title: str, *texts: str | Row, days: int = 0) -> str:
        session = self.library.create(model="p/m", now=NOW).id
        files = self.library.files(session)
        moment = NOW - timedelta(days=days)
        write_sidecar(files.meta, SessionMeta(title=title, created=moment, updated=moment))
        self.say(session, *texts)
        return session

    def say(self, session: str, *texts: str | Row) -> None:
        files = self.library.files(session)
        seq = files.chat.read_bytes().count(b"\n") if files.chat.exists() else 0
        with files.chat.open("ab") as file:
            for number, said in enumerate(texts, start=seq + 1):
                row = said if isinstance(said, Row) else text_row(said)
                file.write(encode_row(row.model_copy(update={"session": session, "seq": number, "id": f"r{number}"})))
                file.write(b"\n")

    async def pages(self, query: str) -> list[ChatSearchPage]:
        pages = [await self.search.page(query, None)]
        while pages[-1].next is not None:
            pages.append(await self.search.page(query, pages[-1].next))
        return pages

    async def found(self, query: str) -> dict[str, ChatHits]:
        """What is told of each chat in the end, in the order told."""
        found = {hits.chat.title: hits for page in await self.pages(query) for hits in page.found}
        return {title: hits for title, hits in found.items() if hits.hits}


def text_row(text: str, **fields: object) -> Row:
    given = {"id": "", "session": "", "role": "user", "created": NOW, "parts": (TextPart(text=text),), **fields}
    return Row.model_validate(given)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


async def test_the_latest_chats_come_first(shelf: Shelf) -> None:
    shelf.add("old", "a temple", days=9)
    shelf.add("none", "a shrine", days=1)
    shelf.add("new", "Temples", days=0)
    found = await shelf.found("temple")
    assert list(found) == ["new", "old"]
    hit = found["new"].hits[0]
    assert hit.snippet[hit.start : hit.start + hit.length] == "Temple"


async def test_a_chat_shows_its_newest_hits_and_says_that_there_are_more(shelf: Shelf) -> None:
    shelf.add("many", *(f"temple {n}" for n in range(10)))
    shelf.add("as many as fit", *(f"temple {n}" for n in range(HITS_PER_CHAT)), days=1)
    found = await shelf.found("temple")
    assert [hit.item.seq for hit in found["many"].hits] == [10, 9, 8]
    assert found["many"].has_more
    assert len(found["as many as fit"].hits) == HITS_PER_CHAT
    assert not found["as many as fit"].has_more


async def test_every_page_tells_how_far_it_is(shelf: Shelf) -> None:
    for number in range(5):
        shelf.add(f"chat {number}", "a temple", days=number)
    pages = await shelf.pages("temple")
    assert [page.searched for page in pages] == [1, 2, 3, 4, 5]
    assert {page.total for page in pages} == {5}


async def test_a_page_ends_when_its_time_is_over(shelf: Shelf) -> None:
    for number in range(4):
        shelf.add(f"chat {number}", "nothing", days=number)
    seconds = iter(number * 0.06 for number in range(100))
    shelf.search = ChatSearch(shelf.library, monotonic=lambda: next(seconds))
    pages = await shelf.pages("temple")
    assert [page.searched for page in pages] == [1, 2, 3, 4]
    assert not any(page.found for page in pages)


async def test_a_long_chat_is_searched_page_by_page(shelf: Shelf) -> None:
    shelf.add("long", "a temple", *("x" * 1000 for _ in range(6000)), "a temple")
    pages = await shelf.pages("temple")
    assert len(pages) > 1
    told = [hits for page in pages for hits in page.found]
    assert [len(hits.hits) for hits in told] == [1, 2]
    assert pages[0].searched == 0


async def test_the_person_finds_what_lies_above_a_reset_and_nothing_that_is_hidden(shelf: Shelf) -> None:
    reset = text_row("", boundary=Boundary(kind="reset"), kind="reset", parts=())
    shelf.add("reset", "temple above", reset, text_row("temple hidden", flags=(Flag.HIDDEN,)), "below")
    found = await shelf.found("temple")
    assert [hit.item.seq for hit in found["reset"].hits] == [1]


async def test_chats_that_are_deleted_meanwhile_are_passed_over(shelf: Shelf) -> None:
    first = shelf.add("first", "a temple")
    second = shelf.add("second", "a temple", days=1)
    shelf.add("third", "a temple", days=2)
    page = await shelf.search.page("temple", None)
    shelf.library.delete(second, now=NOW)
    shelf.add("new", "a temple")
    titles = [hits.chat.title for hits in page.found]
    while page.next is not None:
        page = await shelf.search.page("temple", page.next)
        titles += [hits.chat.title for hits in page.found]
    assert titles == ["first", "third"]
    assert (page.searched, page.total, page.unreadable) == (3, 3, 0)
    assert shelf.library.summary(first).title == "first"


async def test_hits_of_a_chat_that_goes_while_it_is_searched_go_too(shelf: Shelf) -> None:
    session = shelf.add("long", *("x" * 1000 for _ in range(6000)), "a temple")
    page = await shelf.search.page("temple", None)
    assert [len(hits.hits) for hits in page.found] == [1]
    shelf.library.delete(session, now=NOW)
    shelf.search = ChatSearch(shelf.library, monotonic=lambda: 0.0)
    page = await shelf.search.page("temple", page.next)
    assert [(hits.chat.id, hits.hits) for hits in page.found] == [(session, ())]
    assert page.next is None


async def test_a_chat_that_is_rewritten_while_it_is_searched_is_searched_again(shelf: Shelf) -> None:
    session = shelf.add("long", *("x" * 1000 for _ in range(6000)), "a temple")
    page = await shelf.search.page("temple", None)
    shelf.library.files(session).chat.unlink()
    shelf.say(session, "another temple", "a third temple")
    told = list(page.found)
    while page.next is not None:
        page = await shelf.search.page("temple", page.next)
        told += page.found
    assert [hit.snippet for hit in told[-1].hits] == ["a third temple", "another temple"]


async def test_what_can_not_be_read_is_counted(shelf: Shelf) -> None:
    broken = shelf.add("broken", days=1)
    chat = shelf.library.files(broken).chat
    chat.unlink()
    chat.mkdir()
    good = shelf.add("good", "a temple")
    with shelf.library.files(good).chat.open("ab") as file:
        file.write(b'{"x":"' + b"x" * 2**20 + b'"}\n')
    pages = await shelf.pages("temple")
    assert [hits.chat.title for page in pages for hits in page.found] == ["good"]
    assert pages[-1].unreadable == 1
    assert pages[-1].skipped.oversized == 1


async def test_a_chat_that_another_process_holds_is_searched_too(shelf: Shelf) -> None:
    session = shelf.add("held", "a temple")
    other = ChatFiles(shelf.library.files(session).folder)
    other.lease.take()
    try:
        assert list(await shelf.found("temple")) == ["held"]
    finally:
        other.lease.release()


async def test_no_chats_are_an_answer_too(shelf: Shelf) -> None:
    (page,) = await shelf.pages("temple")
    assert (page.found, page.next, page.searched, page.total) == ((), None, 0, 0)


async def test_two_searches_at_once_keep_apart(shelf: Shelf) -> None:
    shelf.add("one", "temple and shrine")
    shelf.add("two", "shrine", days=1)
    temple = await shelf.search.page("temple", None)
    shrine = await shelf.search.page("shrine", None)
    assert temple.next is not None
    assert shrine.next is not None
    assert (await shelf.search.page("temple", temple.next)).found == ()
    assert [hits.chat.title for hits in (await shelf.search.page("shrine", shrine.next)).found] == ["two"]
