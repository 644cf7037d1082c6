from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.ui.chat.flow import Flow
from app.ui.chat.items import Item, Section, Speaker
from app.ui.chat.transcript_model import Node, TranscriptModel

MARGIN = 10
WINDOW = 300


def reply(name: str, blocks: int = 3) -> Item:
    text = "\n\n".join(f"{name} {number}" for number in range(blocks))
    return Item(name, Speaker.ASSISTANT, sections=[Section("text", text)])


class Screen:
    """A flow over rows whose real height has nothing to do with the estimate."""

    def __init__(self, items: int = 40) -> None:
        self.model = TranscriptModel()
        self.model.set_items([reply(f"i{number}") for number in range(items)])
        self.wide = 1
        self.flow = Flow(self.model, self.measure, margin=MARGIN)
        self.flow.height = WINDOW
        self.flow.settle()

    def measure(self, node: Node, at: int) -> int:
        row = node.rows[at]
        if row.measured != self.wide:
            self.model.set_height(node, at, 17 + (ord(node.item.id[-1]) + 37 * (row.key.block + 2)) % 90 * self.wide)
            row.measured = self.wide
        return node.heights[at]

    def shown(self) -> dict[tuple[str, tuple[int, int]], int]:
        return {(each.node.item.id, each.node.rows[each.row].key): each.y for each in self.flow.placed}

    def covers_the_window(self) -> bool:
        placed = self.flow.placed
        edges = [(one.y + one.height, other.y) for one, other in pairwise(placed)]
        return placed[0].y <= MARGIN and all(one == other for one, other in edges)


def test_it_opens_at_the_end() -> None:
    screen = Screen()

    last = screen.flow.placed[-1]
    assert last.node.item.id == "i39"
    assert last.y + last.height == WINDOW - MARGIN
    assert screen.flow.is_at_end
    assert screen.flow.value == screen.flow.total - WINDOW


def test_a_short_text_begins_at_the_top() -> None:
    screen = Screen(items=1)
    screen.flow.height = 2 * WINDOW
    screen.flow.settle()

    assert screen.flow.placed[0].y == MARGIN
    assert screen.flow.is_at_end
    assert screen.flow.value == 0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-500, 500), min_size=1, max_size=30))
def test_scrolling_moves_what_stays_on_screen_by_exactly_that_much(steps: list[int]) -> None:
    screen = Screen()
    for step in steps:
        before, value = screen.shown(), screen.flow.value
        screen.flow.scroll_by(step)
        after = screen.shown()
        moved = {before[key] - after[key] for key in before.keys() & after.keys()}
        assert len(moved) <= 1
        assert screen.covers_the_window()
        if moved and not screen.flow.is_at_end and screen.flow.value > 0 and value > 0:
            assert moved == {step}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_any_value_of_the_scroll_bar_leads_somewhere(value: int) -> None:
    screen = Screen()

    screen.flow.scroll_to(value)

    assert screen.covers_the_window()
    assert 0 <= screen.flow.value <= max(0, screen.flow.total - WINDOW)


def test_scrolling_up_stops_following_and_reaching_the_end_resumes_it() -> None:
    screen = Screen()
    screen.flow.scroll_by(-1)
    assert not screen.flow.following

    screen.flow.scroll_by(400)
    assert screen.flow.following


def test_new_items_below_move_nothing_for_a_reader_above() -> None:
    screen = Screen()
    screen.flow.scroll_by(-700)
    before = screen.shown()

    screen.model.append(reply("new", 9))
    screen.flow.settle()

    assert screen.shown() == before
    assert not screen.flow.is_at_end


def test_new_items_below_are_followed_by_a_reader_at_the_end() -> None:
    screen = Screen()

    screen.model.append(reply("new", 9))
    screen.flow.settle()

    assert screen.flow.placed[-1].node.item.id == "new"
    assert screen.flow.is_at_end


@pytest.mark.parametrize("up", [0, 250, 5_000])
def test_older_items_above_move_nothing(up: int) -> None:
    screen = Screen()
    screen.flow.scroll_by(-up)
    before, value = screen.shown(), screen.flow.value

    screen.model.prepend([reply(f"old{number}", 7) for number in range(20)])
    screen.flow.settle()

    assert before.items() <= screen.shown().items()
    assert screen.flow.value > value


def test_rows_above_that_change_their_height_move_nothing() -> None:
    screen = Screen()
    screen.flow.scroll_by(-900)
    before = screen.shown()
    node = screen.model.nodes[2]
    screen.model.expand(node)

    for at in range(len(node.rows)):
        screen.model.set_height(node, at, 1_000)
    screen.flow.settle()

    assert screen.shown() == before


@pytest.mark.parametrize("up", [880, 900, 930, 977])
def test_the_first_row_that_begins_stays_when_everything_is_laid_out_anew(up: int) -> None:
    screen = Screen()
    screen.flow.scroll_by(-up)
    first = next((key, y) for key, y in screen.shown().items() if y >= 0)

    screen.wide = 2
    screen.flow.settle()

    assert screen.shown()[first[0]] == first[1]


def test_a_removed_first_item_leaves_its_neighbours_on_screen() -> None:
    screen = Screen()
    screen.flow.scroll_by(-900)
    node = screen.flow.placed[0].node
    at = screen.model.index_of(node)

    screen.model.remove(node.item.id)
    screen.flow.settle()

    assert screen.flow.placed[0].node is screen.model.nodes[at]


def test_a_transcript_may_become_empty() -> None:
    screen = Screen(items=1)
    screen.model.remove("i0")
    screen.flow.settle()
    screen.flow.scroll_by(10)
    screen.flow.scroll_to(10)

    assert screen.flow.placed == []
    assert screen.flow.is_at_end
