"""How answers are cut to size, on entries made up for it; what real chats give is in test_session_history.py."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.budget.tokens import TokenCounter
from app.domain.errors import HistoryChanged
from app.domain.text import Utf16Text, utf16_units
from app.domain.windows import HistoryItem, ItemText, Mark, Skipped
from app.history.cursor import NOTHING_READ, Cursors, Progress, Scope
from app.history.cursor_key import CursorKey
from app.tools.base import ToolContext
from app.tools.cap import MAX_RESULT_BYTES, Cap, rendered
from app.tools.history_answers import TextAnswer, error, outcome
from app.tools.history_arguments import parse
from app.tools.history_entries import Entry, size_words, skipped_words
from app.tools.history_listing import Listing
from app.tools.history_pages import Piece, Place, gather
from tests.fakes.clock import FakeClock

COUNTER = TokenCounter()
NO_COUNTER = TokenCounter(Path("nowhere"))
"""Its vocabulary can't be read: a token a byte."""
SCOPE = Scope("s1", "search", "a")
ASKED = parse({"action": "search", "query": "a"})

_WILD = st.text(
    st.characters(codec="utf-8") | st.sampled_from('"\\\x00\x1f\x7f\u2028😀\U0010ffff👩‍👩‍👧漢') | st.just("\n"),
    max_size=300,
)
_LIMITS = st.none() | st.integers(0, 400_000) | st.sampled_from([1_024, 4_096, 8_192])


def _cap(limit: int | None, counter: TokenCounter = COUNTER, factor: float = 1.6) -> Cap:
    return Cap.of(ToolContext(session="s1", limit=limit, factor=factor), counter)


def _is_within(answer: object, limit: int | None, counter: TokenCounter, factor: float) -> bool:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    size = len(text.encode("utf-8", "replace"))
    if limit is None:
        return size <= MAX_RESULT_BYTES
    tokens = size if counter is NO_COUNTER else COUNTER.count_text(text, "o200k_base") * factor
    return size <= MAX_RESULT_BYTES and math.ceil(tokens) <= limit // 8


def _item(seq: int | None = 1) -> HistoryItem:
    return HistoryItem(
        ref="r" * 40, row_id="id1", seq=seq, role="user", kind="message", created=None, model="",
        tools=(), preview="", chars=0, window_id="w:0", offset=0,
    )  # fmt: skip


def _entries(texts: Sequence[str]) -> tuple[Entry, ...]:
    return tuple(Entry({"item": f"#{at}", "role": "user"}, "snippet", text, f"#{at}") for at, text in enumerate(texts))


class Shelf:
    """A history of entries, read as the real one is: from a mark on, in pieces."""

    def __init__(self, entries: tuple[Entry, ...], most: int = 1_000) -> None:
        self.entries = entries
        self.most = most

    def fetch(self, mark: Mark | None, limit: int) -> Piece:
        start = mark.offset if mark else 0
        stop = min(start + limit, start + self.most, len(self.entries))
        following = Mark(epoch="0" * 12, offset=stop) if stop < len(self.entries) else None
        return Piece(self.entries[start:stop], following, Progress(stop - start, stop - start), len(self.entries))


@pytest.fixture
def cursors(tmp_path: Path) -> Cursors:
    return Cursors(CursorKey(tmp_path / "cursor.key"))


async def _pages(shelf: Shelf, cursors: Cursors, cap: Cap) -> list[dict[str, object]]:
    """Every answer until there is no cursor, or the one that found no room."""
    pages: list[dict[str, object]] = []
    place = Place(None, NOTHING_READ)
    while True:
        gathered = await gather(shelf.fetch, place, limit=25, clock=FakeClock())
        answer = await Listing(ASKED, gathered, SCOPE, cursors).fitted(cap)
        if answer is None:
            return pages
        pages.append(answer)
        if "cursor" not in answer:
            return pages
        place = Place(*cursors.decode(str(answer["cursor"]), SCOPE))


def _hits(pages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entry for page in pages for entry in page["hits"]]


@given(texts=st.lists(_WILD, max_size=60), limit=_LIMITS, counts=st.booleans(), most=st.integers(1, 7))
async def test_lists_never_pass_the_cap_and_give_every_entry_once(
    cursors: Cursors, texts: list[str], limit: int | None, counts: bool, most: int
) -> None:
    counter = COUNTER if counts else NO_COUNTER
    pages = await _pages(Shelf(_entries(texts), most), cursors, _cap(limit, counter))

    assert all(_is_within(page, limit, counter, 1.6) for page in pages)
    shown = _hits(pages)
    assert [entry["item"] for entry in shown] == [f"#{at}" for at in range(len(shown))]
    for entry in shown:
        text = texts[int(entry["item"][1:])]
        assert entry.get("snippet", "") in text
        assert ("shortened" in entry) == (entry.get("snippet", "") != text)
    if limit is None or limit >= 8_192:
        assert len(shown) == len(texts)
        assert pages[-1]["exhausted"] is True


async def test_a_small_window_gets_bare_entries_and_a_tiny_one_the_reason(cursors: Cursors) -> None:
    labels = {"item_id": "a19f03bb72c45d6e88f7b0c2d31e5a64f09b8c7d", "when": "2026-11-30T14:02:11Z", "model": "a/model"}
    shelf = Shelf(tuple(Entry({"item": f"#{at}"} | labels, "snippet", "word " * 60, f"#{at}") for at in range(3)))

    small = await _pages(shelf, cursors, _cap(1_024, factor=1.2))
    tiny = await _pages(shelf, cursors, _cap(300))

    assert [set(entry) for entry in _hits(small[:1])] == [{"item", "snippet", "shortened"}]
    assert "searched" not in small[0]
    assert [entry["item"] for entry in _hits(small)] == ["#0", "#1", "#2"]
    assert tiny == []


async def test_the_last_entry_is_shortened_around_what_was_found(cursors: Cursors) -> None:
    text = "b" * 20_000 + "needle" + "c" * 20_000
    shelf = Shelf((Entry({"item": "#1"}, "snippet", text, "#1", focus=(20_000, 6)),))

    [page] = await _pages(shelf, cursors, _cap(None))

    [entry] = _hits([page])
    assert entry["shortened"] is True
    assert "bbbneedleccc" in entry["snippet"]
    assert 15_000 < len(entry["snippet"]) < MAX_RESULT_BYTES


async def test_a_page_that_gives_something_else_when_read_again_starts_over(cursors: Cursors) -> None:
    shelf = Shelf(_entries(["x" * 9_000, "y" * 9_000]))
    gathered = await gather(shelf.fetch, Place(None, NOTHING_READ), limit=25, clock=FakeClock())
    shelf.entries = _entries(["new", "x" * 9_000, "y" * 9_000])

    with pytest.raises(HistoryChanged):
        await gathered.behind(1)


async def test_gathering_stops_at_enough_at_the_end_and_after_two_seconds() -> None:
    clock = FakeClock()
    reads: list[int] = []

    def slow(mark: Mark | None, limit: int) -> Piece:
        reads.append(limit)
        clock.advance(0.8)
        return Piece((), Mark(epoch="", offset=len(reads)), Progress(1, 10, Skipped(damaged=1)))

    gathered = await gather(slow, Place(None, NOTHING_READ), limit=5, clock=clock)

    assert reads == [5, 5, 5]
    assert gathered.end == Place(Mark(epoch="", offset=3), Progress(3, 30, Skipped(damaged=3)))


async def test_nothing_skipped_in_any_call_is_needed_to_have_read_everything(cursors: Cursors) -> None:
    before = Place(None, Progress(900, 9, Skipped(oversized=1, blobs=2)))
    gathered = await gather(Shelf(()).fetch, before, limit=25, clock=FakeClock())

    answer = await Listing(ASKED, gathered, SCOPE, cursors).fitted(_cap(None))

    assert answer is not None
    assert answer["exhausted"] is False
    assert answer["not_read"] == "1 line over 1 MiB, 2 long texts kept apart"
    assert "Nothing found" in str(answer["note"])
    assert "cursor" not in answer


@given(text=_WILD.map(lambda text: text * 50), limit=_LIMITS, counts=st.booleans())
def test_pieces_of_a_text_never_pass_the_cap_and_join_to_it(text: str, limit: int | None, counts: bool) -> None:
    counter = COUNTER if counts else NO_COUNTER
    whole = Utf16Text(text)
    joined, at = "", 0
    while True:
        shown, begin, end = whole.piece(at, 8_000)
        following = end if end < whole.units else None
        answer = TextAnswer(ItemText(_item(), shown, begin, following, whole.units), {}).fitted(_cap(limit, counter))
        if answer is None:
            assert limit is not None
            assert limit < 2_048
            return
        assert _is_within(answer, limit, counter, 1.6)
        joined += str(answer["text"])
        if "next_offset_chars" not in answer:
            break
        assert answer["next_offset_chars"] == utf16_units(joined) > at
        at = utf16_units(joined)
        if len(joined) > 2_000 and limit is not None:
            assert text.startswith(joined)
            return
    assert joined == text


@given(limit=st.integers(0, 2_000), counts=st.booleans(), sentence=st.text(max_size=2_000))
def test_errors_never_pass_the_cap_either(limit: int, counts: bool, sentence: str) -> None:
    counter = COUNTER if counts else NO_COUNTER
    failed = error("invalid_arguments", sentence, _cap(limit, counter))

    assert failed.is_error
    assert failed.output == "" or _is_within(failed.output, limit, counter, 1.6)
    if limit >= 1_024:
        assert failed.output != ""


def test_no_room_is_said_in_a_small_window() -> None:
    failed = outcome(None, _cap(1_024))

    assert failed.is_error
    assert isinstance(failed.output, dict)
    assert failed.output["error"] == "no_room"
    assert "too small" in failed.output["message"]


def test_an_answer_is_measured_as_it_is_sent() -> None:
    assert rendered({"a": "é\ud83d\n"}) == '{"a":"é\ufffd\\n"}'


@pytest.mark.parametrize(
    ("read", "total", "words"),
    [
        (0, None, "0 bytes"),
        (999, None, "999 bytes"),
        (1_000, None, "1 KB"),
        (48_200_000, 910_000_000, "48.2 of 910 MB"),
        (910_000_000, 910_000_000, "910 of 910 MB"),
        (2_000, 1_000, "1 of 1 KB"),
        (0, 0, "0 of 0 bytes"),
        (1_234_567_890, None, "1.2 GB"),
    ],
)
def test_sizes_in_words(read: int, total: int | None, words: str) -> None:
    assert size_words(read, total) == words


def test_skipped_things_in_words() -> None:
    assert skipped_words(Skipped()) == ""
    assert skipped_words(Skipped(2, 1, 0)) == "2 lines over 1 MiB, 1 damaged row"
