import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app.ui.chat.cells import Cell, TextCell
from app.ui.chat.items import Item, ItemAction, Section, Speaker
from app.ui.chat.targets import TargetKind
from app.ui.chat.transcript_view import TranscriptView
from app.ui.theme import load_theme
from tests.ui.chat.conftest import Driver, asked, many, reply


def scroll_up(view: TranscriptView, pixels: int) -> None:
    bar = view.verticalScrollBar()
    bar.setValue(bar.value() - pixels)


def has_colour(view: TranscriptView, colour: QColor) -> bool:
    image = view.viewport().grab().toImage()
    return any(
        image.pixelColor(x, y) == colour for y in range(0, image.height(), 2) for x in range(0, image.width(), 2)
    )


def test_it_opens_at_the_end(view: TranscriptView) -> None:
    view.set_items(many(200), more_above=False)

    assert view.is_at_end()
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()


def test_a_reader_at_the_end_follows_and_a_reader_above_does_not(view: TranscriptView, driver: Driver) -> None:
    view.set_items([*many(20), reply("live", "start", streaming=True)], more_above=False)
    driver.stream("live", " word" * 300)
    assert view.is_at_end()

    scroll_up(view, 30)
    assert not view.is_at_end()
    before = driver.tops()
    driver.stream("live", "\n\nmore" * 30)

    assert driver.tops() == before
    assert not view.is_at_end()

    view.scroll_to_end()
    driver.stream("live", "\n\nlast" * 30)
    assert view.is_at_end()


def test_what_arrives_below_is_counted_until_the_reader_is_there(view: TranscriptView, driver: Driver) -> None:
    counts: list[int] = []
    ends: list[bool] = []
    view.unseen_changed.connect(counts.append)
    view.at_end_changed.connect(ends.append)
    view.set_items([*many(20), reply("live", "x", streaming=True)], more_above=False)
    view.append_item(asked("seen"))
    assert counts == []

    scroll_up(view, 200)
    driver.stream("live", "one", "two")
    view.append_item(asked("new"))
    view.update_item(asked("new", "changed"))
    assert counts == [1, 2]
    jump = view.jump_button
    assert jump.isVisible()
    assert "2" in jump.text()
    assert jump.accessibleName().startswith("Jump to latest")

    jump.click()
    assert counts == [1, 2, 0]
    assert ends == [False, True]
    assert not jump.isVisible()


def test_older_items_are_wanted_once_and_move_nothing(view: TranscriptView, driver: Driver) -> None:
    asked_for: list[bool] = []
    view.older_wanted.connect(lambda: asked_for.append(True))
    view.set_items(many(60), more_above=True)
    assert asked_for == []

    view.scroll_to_item("i1")
    scroll_up(view, 5)
    assert asked_for == [True]
    before = driver.tops()

    view.prepend_items(many(40, start=1_000), more_above=True)

    assert before.items() <= driver.tops().items()
    assert asked_for == [True]
    view.verticalScrollBar().setValue(0)
    assert asked_for == [True, True]


def test_a_short_transcript_wants_older_items_at_once(view: TranscriptView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.older_wanted):
        view.set_items([asked("a")], more_above=True)


def test_nothing_older_is_wanted_when_there_is_nothing(view: TranscriptView, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(view.older_wanted):
        view.set_items([asked("a")], more_above=False)
        view.prepend_items([asked("b")], more_above=False)


@pytest.mark.parametrize("size", [(360, 400), (1_200, 700), (600, 200)])
def test_another_size_keeps_the_first_row_in_its_place(
    view: TranscriptView, driver: Driver, size: tuple[int, int]
) -> None:
    view.set_items(many(60), more_above=False)
    view.scroll_to_item("i20")
    top = driver.tops()["i20"]

    view.resize(*size)

    driver.wait_for(lambda: view.height() == size[1])
    assert driver.tops()["i20"] == top


def test_another_theme_repaints_and_moves_nothing(view: TranscriptView, driver: Driver) -> None:
    view.set_items([*many(20), asked("q"), reply("a", "```py\nx = 1\n```\n\n[a](http://x.example)")], more_above=False)
    light, dark = load_theme(dark=False), load_theme(dark=True)
    before = driver.tops()
    assert has_colour(view, light.surface)

    view.set_theme(dark)

    assert driver.tops() == before
    assert has_colour(view, dark.surface)
    assert has_colour(view, dark.user_background)
    assert not has_colour(view, light.surface)


def test_another_font_lays_out_anew(view: TranscriptView, driver: Driver) -> None:
    view.set_items(many(3), more_above=False)
    before = view.verticalScrollBar().maximum()

    font = view.font()
    font.setPointSizeF(font.pointSizeF() * 2)
    view.setFont(font)

    driver.wait_for(lambda: view.verticalScrollBar().maximum() > before)


def test_items_can_be_replaced_and_taken_out(view: TranscriptView) -> None:
    view.set_items([asked("a", "one"), reply("b", "two")], more_above=False)
    view.append_item(reply("b", "three"))
    view.remove_item("a")
    view.remove_item("nobody")
    view.update_item(asked("nobody"))
    view.append_delta("nobody", "text", "x")
    view.select_all()

    assert view.selected_text() == "three"


def test_an_item_is_found_by_where_it_is(view: TranscriptView, driver: Driver) -> None:
    view.set_items(many(30), more_above=False)
    view.scroll_to_item("i4")

    rect = view.rect_of(view.nodes[4])

    assert view.item_at(rect.center()) == "i4"
    view.set_items([], more_above=False)
    assert view.item_at(rect.center()) is None
    assert view.is_at_end()


def test_a_reply_that_ends_is_announced_once_with_its_words(view: TranscriptView, driver: Driver) -> None:
    said: list[str] = []
    view.reply_announced.connect(said.append)
    view.set_items([reply("a", streaming=True)], more_above=False)
    driver.stream("a", "hm hm", kind="reasoning")
    driver.stream("a", "one two three")
    assert said == []

    final = reply("a", "one two three", reasoning="hm hm")
    view.update_item(final)
    view.update_item(replace(final, note="Stopped."))

    assert said == ["Reply finished, 3 words"]


def test_every_kind_of_item_is_painted(view: TranscriptView) -> None:
    moment = datetime(2020, 2, 3, 4, 5, tzinfo=UTC)
    view.set_items(
        [
            Item("n", Speaker.NOTICE, sections=[Section("text", "Rolled over")]),
            replace(asked("q", "שלום\n```\ncode\n```"), created=moment),
            reply("r", "# h\n\n---\n\n> q\n\n|a|\n|-|\n|1|\n\n$x^2$ ![p](http://x.example/p)", reasoning="why"),
            replace(reply("e", note="Failed.", actions=(ItemAction.RETRY, ItemAction.CONTINUE)), is_error=True),
            reply("w", streaming=True),
        ],
        more_above=False,
    )
    for theme in (load_theme(dark=True), load_theme(dark=False)):
        view.set_theme(theme)
        for name in "nqrew":
            view.scroll_to_item(name)
            assert not view.grab().isNull()


def cell_of(view: TranscriptView, name: str) -> Cell:
    node = next(node for node in view.nodes if node.item.id == name)
    at = next(at for at, row in enumerate(node.rows) if row.block is not None)
    cell = view.rows.cell(node, at)
    assert cell is not None
    return cell


def notice(name: str, text: str) -> Item:
    return Item(name, Speaker.NOTICE, sections=[Section("text", text)])


def test_a_message_in_place_of_a_notice_looks_like_any_other(view: TranscriptView) -> None:
    view.set_items([asked("a", "something"), notice("n", "No reply yet.")], more_above=False)
    assert cell_of(view, "n").height < cell_of(view, "a").height

    view.remove_item("n")
    view.append_item(asked("b", "something"))
    assert cell_of(view, "b").height == cell_of(view, "a").height

    view.append_item(notice("c", "something"))
    small = cell_of(view, "c").height
    view.update_item(asked("c", "something"))
    assert small < cell_of(view, "c").height == cell_of(view, "a").height


def test_a_bubble_grows_with_its_text(view: TranscriptView) -> None:
    view.set_items([asked("a", "hi")], more_above=False)
    before = cell_of(view, "a").width

    view.update_item(asked("a", "hi\n\nthis is far more than a greeting"))

    assert cell_of(view, "a").width > before + 100


def test_a_notice_and_its_button_begin_where_all_text_does(view: TranscriptView, driver: Driver) -> None:
    view.set_items([replace(notice("n", "No reply yet."), actions=(ItemAction.RETRY,))], more_above=False)
    left, _ = view.rows.column

    assert view.rows.frame(view.nodes[0], 0).x == left
    assert cell_of(view, "n").is_text_at(QPointF(3, 8))
    assert driver.target(TargetKind.ACTION)[1].rect.left() == left


@pytest.mark.parametrize("width", [280, 360, 511, 512, 783, 784, 785, 899, 900, 1_600])
def test_the_column_leaves_twelve_pixels_and_is_never_wider_than_760(width: int, view: TranscriptView) -> None:
    view.set_items([asked("a")], more_above=False)

    view.rows.set_width(width)

    left, column = view.rows.column
    assert column == min(760, width - 24)
    assert 0 <= left - (width - column - left) <= 1


def test_headings_are_not_much_larger_than_the_text(view: TranscriptView) -> None:
    words = "Nine words that show how wide the letters are"
    levels = [f"{'#' * level} {words}" for level in range(1, 5)]
    view.resize(1_000, 400)
    view.set_items([reply(str(at), text) for at, text in enumerate([*levels, f"**{words}**"])], more_above=False)

    widths = [cell_of(view, str(at)).natural_width for at in range(5)]

    assert [width / widths[4] for width in widths[:4]] == pytest.approx([1.35, 1.2, 1.1, 1], abs=0.04)


def test_a_task_has_its_box_in_place_of_a_bullet(view: TranscriptView) -> None:
    view.set_items([reply("a", "- [ ] open\n- [x] done\n- plain\n  - inner\n\n1. one")], more_above=False)

    cell = cell_of(view, "a")

    assert isinstance(cell, TextCell)
    assert len(cell.marks.bullets) == 2
    assert "☐ open" in cell.text()


def test_the_bar_of_a_quote_is_where_its_lines_begin(view: TranscriptView) -> None:
    arabic = "اقتباس باللغة العربية"
    view.set_items([reply("a", "> latin"), reply("b", f"> {arabic}"), reply("c", f"> - {arabic}")], more_above=False)

    cells = [cell_of(view, name) for name in "abc"]

    assert [[bar.left() for bar in cell.marks.bars] for cell in cells if isinstance(cell, TextCell)] == [
        [0],
        [cells[1].width - 3],
        [cells[2].width - 3],
    ]


HOSTILE = {
    "one letter": "a" * 1_000_000,
    "quotes": ">" * 5_000 + "x",
    "brackets": "[" * 50_000,
    "list": "- x\n" * 20_000,
    "fence": "```py\n" + "x = 1\n" * 20_000,
    "long line of code": "```\n" + "x" * 200_000 + "\n```",
    "table": "|a|b|\n|-|-|\n" + "|1|2|\n" * 2_000,
    "columns": "|a" * 500 + "|\n" + "|-" * 500 + "|\n" + "|1" * 500 + "|",
    "controls": "a\x00b\ud800\u2028c\x1b[31m\ufffc\ufdd0" * 500,
    "bidi": "\u202e\u2066abc\u202d" * 2_000,
    "marks": "a" + "\u0301" * 20_000,
    "html": "<img src='file:///etc/passwd'><script>" * 500,
    "pictures": "![x](file:///dev/zero) ![x](http://x.example/a.png)\n\n" * 200,
    "references": "".join(f"[{number}]: http://x\n" for number in range(3_000)),
    "mathematics": "$" + "\\frac{" * 300 + "$ $$\n" + "x\n" * 300,
}


@pytest.mark.parametrize("speaker", [Speaker.ASSISTANT, Speaker.USER])
@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_stops_the_view(view: TranscriptView, driver: Driver, name: str, speaker: Speaker) -> None:
    view.set_items([Item("x", speaker, sections=[Section("text", HOSTILE[name])])], more_above=False)
    driver.wait_for(lambda: not driver.is_behind())

    for _ in range(5):
        scroll_up(view, 350)
        assert not view.grab().isNull()
    view.verticalScrollBar().setValue(0)
    view.resize(360, 400)
    assert not view.grab().isNull()
    view.select_all()
    assert len(view.selected_text()) > 0


def test_a_word_without_end_may_be_streamed(view: TranscriptView, driver: Driver) -> None:
    view.set_items([reply("a", streaming=True)], more_above=False)

    driver.stream("a", *["x" * 500] * 100)

    assert view.is_at_end()
    assert driver.sections("a") == "x" * 50_000


def test_the_view_imports_no_parser_before_there_is_text() -> None:
    program = (
        "import sys, app.ui.chat.transcript_view;"
        "print([name for name in ('markdown_it', 'pygments', 'pylatexenc', 'pydantic') if name in sys.modules])"
    )
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)

    assert run.stdout.strip() == "[]"
