"""A card that asks: what it shows of the change, its buttons, and how they are reached."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.domain.approvals import Question, Verdict
from app.tools.text_diff import Change, unified
from app.ui.chat.accessible import accessible_name
from app.ui.chat.items import Item, Section, Speaker, ToolCall
from app.ui.chat.style import make_style
from app.ui.chat.targets import TargetKind
from app.ui.chat.tool_card import ToolCards
from app.ui.chat.tool_text import has_more, remainder
from app.ui.chat.transcript_model import RowKind
from app.ui.chat.transcript_view import TranscriptView
from app.ui.theme import load_theme
from tests.ui.chat.conftest import Driver, many

DIFF = unified(Change.of("Title\nat nine\nend\n", "Title\nat eight\nend\n"), "plan.md")
QUESTION = Question("Change 1 line of plan.md", DIFF, "edit_file")
ASKING = ToolCall("c1", "edit_file", "asking", {"path": "plan.md", "new": "at eight"}, diff=DIFF, question=QUESTION)


def _item(*calls: ToolCall, text: str = "I change it.", streaming: bool = True) -> Item:
    sections = [Section("text", text), *(Section("tool", "", call) for call in calls)]
    return Item("a", Speaker.ASSISTANT, "Model", sections=sections, streaming=streaming)


def _kinds(view: TranscriptView) -> list[RowKind]:
    return [row.kind for row in view.nodes[-1].rows if row.kind is not RowKind.BAR]


def _codes(view: TranscriptView) -> list[str]:
    return [row.block.code for row in view.nodes[-1].rows if row.block is not None and row.block.code]


def _names(view: TranscriptView) -> list[str]:
    return [target.name for _, target in view.on_screen.targets() if target.kind is TargetKind.ANSWER]


def _said(view: TranscriptView) -> list[tuple[str, Verdict]]:
    said: list[tuple[str, Verdict]] = []
    view.answered.connect(lambda call_id, verdict: said.append((call_id, verdict)))
    return said


def test_a_card_that_asks_is_open_and_shows_the_change_above_its_buttons(view: TranscriptView) -> None:
    view.set_items([_item(ASKING)], more_above=False)
    assert _kinds(view) == [RowKind.HEADER, RowKind.BLOCK, RowKind.TOOL, RowKind.BLOCK, RowKind.ASK]
    assert _codes(view) == ["  Title\n- at nine\n+ at eight\n  end"]
    about = QUESTION.summary
    assert _names(view) == [f"Allow: {about}", f"Always in this chat: {about}", f"Don’t allow: {about}"]


def test_a_card_opens_when_it_begins_to_ask_and_stays_open_when_it_is_answered(view: TranscriptView) -> None:
    view.set_items([_item(replace(ASKING, state="running", question=None))], more_above=False)
    assert RowKind.BLOCK not in _kinds(view)[2:]
    view.update_item(_item(ASKING))
    assert RowKind.ASK in _kinds(view)
    done = replace(ASKING, state="done", question=None, output="Changed.")
    view.update_item(_item(done))
    assert RowKind.ASK not in _kinds(view)
    assert _codes(view) == ["  Title\n- at nine\n+ at eight\n  end", "Changed."]


def test_a_card_that_was_closed_by_hand_keeps_its_buttons_and_stays_closed(
    view: TranscriptView, driver: Driver
) -> None:
    view.set_items([_item(ASKING)], more_above=False)
    driver.click(TargetKind.FOLD)
    view.update_item(_item(ASKING, ToolCall("c2", "look")))
    assert _codes(view) == []
    assert RowKind.ASK in _kinds(view)


def test_without_a_change_to_show_the_arguments_are_shown(view: TranscriptView) -> None:
    view.set_items([_item(replace(ASKING, diff="", question=Question("Do it")))], more_above=False)
    assert _codes(view) == ["path: plan.md\nnew: at eight"]
    assert _names(view) == ["Allow: Do it", "Don’t allow: Do it"], "nothing names what always would allow"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_click_answers(view: TranscriptView, driver: Driver, number: int) -> None:
    said = _said(view)
    view.set_items([_item(ASKING)], more_above=False)
    driver.click(TargetKind.ANSWER, number)
    assert said == [("c1", [Verdict.ALLOW, Verdict.ALWAYS, Verdict.DENY][number])]


def test_the_buttons_are_reached_with_tab_and_pressed_with_enter(view: TranscriptView) -> None:
    said = _said(view)
    view.set_items([_item(ASKING)], more_above=False)
    view.setFocus()
    for _ in range(5):
        QTest.keyClick(view, Qt.Key.Key_Tab)
    found = view._focus.current()
    assert found is not None
    assert found[1].name.startswith("Don’t allow")
    held = QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", autorep=True)
    QApplication.sendEvent(view, held)
    assert said == [], "a key that is held from before answers nothing"
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert said == [("c1", Verdict.DENY)]
    view.update_item(_item(replace(ASKING, state="denied", question=None)))
    found = view._focus.current()
    assert found is not None, "the keyboard goes on from the card"
    assert found[1].kind is TargetKind.FOLD


def test_a_question_far_away_is_gone_to_with_its_card(view: TranscriptView) -> None:
    view.set_items([*many(20), _item(ASKING), *many(20, start=20)], more_above=False)
    view.scroll_to_item("i0")
    assert not view.shows_question("c1")
    assert view.go_to_question("c1")
    assert view.shows_question("c1")
    focused = view._focus.current()
    assert focused is not None
    assert focused[1].name == f"Allow: {QUESTION.summary}"
    assert view.rect_of(view.nodes[20]).bottom() > 0
    assert not view.go_to_question("unheard")
    assert not view.shows_question("unheard")


def test_a_change_higher_than_the_window_is_gone_to_at_its_buttons(view: TranscriptView) -> None:
    long = unified(Change.of("", "\n".join("word " * 60 for _ in range(30))), "a")
    view.set_items([_item(replace(ASKING, diff=long), text="words " * 800)], more_above=False)
    assert view.go_to_question("c1")
    assert view.shows_question("c1")


def test_only_the_begin_of_a_long_change_is_shown_until_more_is_asked_for(view: TranscriptView, driver: Driver) -> None:
    long = replace(ASKING, diff="\n".join(f"+line {number}" for number in range(60)))
    assert has_more(long)
    view.resize(600, 900)
    view.set_items([_item(long)], more_above=False)
    assert _kinds(view)[-2:] == [RowKind.MORE, RowKind.ASK]
    assert _codes(view)[0].endswith("line 23")
    driver.click(TargetKind.MORE)
    assert _codes(view)[0].endswith("line 59")
    assert _kinds(view)[-1] is RowKind.ASK
    assert remainder(long) == ""
    assert remainder(replace(ASKING, diff=long.diff * 20)) == "More is changed than is shown here."


def test_the_arguments_of_a_change_that_was_made_are_shown_when_more_is_asked_for(
    view: TranscriptView, driver: Driver
) -> None:
    done = replace(ASKING, state="done", question=None, output="Changed.")
    view.resize(600, 900)
    view.set_items([_item(done, streaming=False)], more_above=False)
    driver.click(TargetKind.FOLD)
    assert [code.strip() for code in _codes(view)] == ["Title\n- at nine\n+ at eight\n  end", "Changed."]
    driver.click(TargetKind.MORE)
    assert _codes(view)[1] == "path: plan.md\nnew: at eight"
    assert RowKind.MORE not in _kinds(view)


def test_a_card_with_a_change_is_copied_and_said_with_its_sentence_and_the_change(view: TranscriptView) -> None:
    done = replace(ASKING, state="done", question=None, output="Changed.", arguments=None)
    view.set_items([_item(ASKING, text="I change it.")], more_above=False)
    view.update_item(_item(done, streaming=False))
    view.copy_item("a")
    assert QGuiApplication.clipboard().text() == (
        "I change it.\n\n**Tool: Change a file** (done)\n\n"
        "Change:\n\n```diff\n  Title\n- at nine\n+ at eight\n  end\n```\n\nResult:\n\n```\nChanged.\n```"
    )
    assert "- at nine\n+ at eight" in accessible_name(view.nodes[0])


def test_what_is_asked_is_shown_to_its_last_word_however_narrow_the_card(qapp: QApplication) -> None:
    style, cards = make_style(load_theme(dark=False), QApplication.font()), ToolCards()
    long = replace(ASKING, question=Question("Write 120 lines to " + "a/very/long/way/to/a " * 8 + "file.txt"))
    assert cards.height(style, ASKING, 700) == cards.height(style, replace(ASKING, question=None), 700)
    assert cards.height(style, long, 700) > cards.height(style, ASKING, 700)
    assert cards.height(style, long, 340) > cards.height(style, long, 700)
    assert cards.height(style, ASKING, 200) > cards.height(style, ASKING, 700), "it begins below the state"


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [240, 320, 900])
def test_what_comes_and_what_goes_have_a_ground_of_their_own(
    view: TranscriptView, *, is_dark: bool, width: int
) -> None:
    theme = load_theme(dark=is_dark)
    view.resize(width, 700)
    view.set_theme(theme)
    view.set_items([_item(ASKING)], more_above=False)
    image = view.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(0, width, 2) for y in range(0, 700, 2)}
    assert {theme.added.name(), theme.removed.name()} <= colours
    assert len(_names(view)) == 3
    column = view.rows.column
    rects = [target.rect for _, target in view.on_screen.targets() if target.kind is TargetKind.ANSWER]
    assert all(rect.right() <= sum(column) for rect in rects), "buttons without room go on below"
