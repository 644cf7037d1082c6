"""A search over all chats does not stay for ever with one that is rewritten again and again."""

import itertools
from pathlib import Path

from app.domain.chat_search import ChatSearchCursor
from app.session.chat_search import MAX_RESTARTS, ChatSearch
from tests.unit.session.test_chat_search import Shelf

ROWS = 1_200


async def test_a_chat_that_never_holds_still_is_unreadable_and_the_next_is_searched(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    busy = shelf.add("busy", *(f"shrine {number}" for number in range(ROWS)), days=0)
    shelf.add("quiet", "a temple", days=1)
    files = shelf.library.files(busy)
    # The time is up after one page of each call.
    search = ChatSearch(shelf.library, monotonic=itertools.cycle((0.0, 0.0, 1.0)).__next__)
    cursor: ChatSearchCursor | None = None
    restarts = set()
    for turn in range(200):
        page = await search.page("temple", cursor)
        cursor = page.next
        if cursor is None:
            break
        restarts.add(cursor.restarts)
        old, new = (b"shrine", b"bridge") if turn % 2 == 0 else (b"bridge", b"shrine")
        files.chat.write_bytes(files.chat.read_bytes().replace(old, new))
    assert cursor is None
    assert page.unreadable == 1
    assert restarts == set(range(MAX_RESTARTS + 1))
    assert [hits.chat.title for hits in page.found] == ["quiet"]
