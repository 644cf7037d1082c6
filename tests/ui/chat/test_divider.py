from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtWidgets import QApplication

from app.domain.rows import Boundary, Row
from app.ui.chat.accessible import accessible_name
from app.ui.chat.divider import divider_height, divider_text
from app.ui.chat.furniture import time_text
from app.ui.chat.items import Item
from app.ui.chat.row_items import item_of
from app.ui.chat.style import make_style
from app.ui.chat.transcript_model import RowKind
from app.ui.chat.transcript_view import TranscriptView
from app.ui.theme import load_theme
from tests.ui.chat.conftest import reply

NOW = datetime.now(UTC)


def _divider(kind: str, *, created: datetime | None = NOW, tokens: int | None = None) -> Item:
    boundary = Boundary(kind=kind, context_tokens=tokens)
    item = item_of(Row(id="b", session="s", seq=9, role="user", created=created, kind=kind, boundary=boundary), str)
    assert item is not None
    return item


def _plain(item: Item) -> str:
    return divider_text(item).replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("reset", "Started afresh · {time} · the model is shown nothing from above; you can still read all of it"),
        ("rollover", "Context window rollover · {time} · earlier messages stay in History"),
        ("compaction", "Summary · {time} · the model goes on from a summary of what stands above"),
        ("of tomorrow", "A fresh context window begins here · {time}"),
    ],
)
def test_each_kind_of_boundary_says_what_it_means(kind: str, words: str) -> None:
    assert _plain(_divider(kind)) == words.format(time=time_text(NOW).replace("\u00a0", " "))


def test_what_is_not_known_is_not_said() -> None:
    assert _plain(_divider("rollover", created=None)) == "Context window rollover · earlier messages stay in History"
    assert " · after 96k tokens · " in _plain(_divider("rollover", tokens=96_400))
    assert " · after 640 tokens · " in _plain(_divider("rollover", tokens=640))


def test_a_boundary_of_another_day_says_the_date() -> None:
    before = NOW - timedelta(days=40)
    assert len(_plain(_divider("reset", created=before))) > len(_plain(_divider("reset")))


def test_a_divider_wraps_where_it_finds_no_room(qapp: QApplication) -> None:
    style = make_style(load_theme(dark=False), QApplication.font())
    heights = [divider_height(style, _divider("reset"), width) for width in (760, 336, 160)]
    assert heights == sorted(heights)
    assert heights[0] < heights[2]


def test_a_divider_is_one_row_that_is_painted_copied_and_read_aloud(view: TranscriptView) -> None:
    item = _divider("reset")
    view.set_items([reply("a", "above"), item, reply("c", "below")], more_above=False)
    node = view.nodes[1]
    assert [row.kind for row in node.rows] == [RowKind.DIVIDER]
    assert accessible_name(node).startswith("Started afresh · ")
    view.select_all()
    assert view.selected_text().split("\n\n")[1].startswith("Started afresh · ")
    view.resize(320, 400)
    assert view.rect_of(node).height() > 0
    assert not view.grab().isNull()
