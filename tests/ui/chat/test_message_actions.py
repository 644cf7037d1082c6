"""What can be done with a message: offered below it and in its menu, by the mouse and the keyboard."""

import json

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox

from app.domain.errors import ErrorKind, ProviderError
from app.ui.chat.deeds import Deed
from app.ui.chat.raw_entry import RawEntry
from app.ui.chat.targets import TargetKind
from app.ui.chat.transcript_model import RowKind
from tests.fakes.scripted import Hold, ScriptedTool, calls, reply
from tests.ui.chat.messages import (
    button,
    choose,
    click,
    deeds,
    is_editing,
    labels,
    marked,
    menu_of,
    messages,
    popup,
    press,
    reaches_end,
    settled,
    texts,
    view,
)
from tests.ui.conftest import Desk
from tests.ui.long_chats import LongChat, row_id, words


def two_turns(desk: Desk) -> None:
    desk.provider.play(reply("one"), reply("two"))
    desk.say("a")
    desk.say("b")


def bar_tops(desk: Desk) -> list[int]:
    return [placed.y for placed in view(desk).flow.placed if placed.node.rows[placed.row].kind is RowKind.BAR]


def boxes() -> list[QMessageBox]:
    return [box for box in QApplication.topLevelWidgets() if isinstance(box, QMessageBox) and box.isVisible()]


# What is offered


def test_each_message_offers_what_can_be_done_with_it(desk: Desk) -> None:
    two_turns(desk)
    own, answer = desk.rows()[2:]
    assert deeds(desk, own) == [Deed.COPY, Deed.COPY_PLAIN, Deed.QUOTE, Deed.EDIT, Deed.BRANCH, Deed.RAW]
    again = [Deed.ANSWER_AGAIN, Deed.ANSWER_WITH]
    assert deeds(desk, answer) == [Deed.COPY, Deed.COPY_PLAIN, Deed.QUOTE, *again, Deed.BRANCH, Deed.RAW]
    menu = menu_of(desk, own)
    assert labels(menu) == [
        "Copy message",
        "Copy message as plain text",
        "Quote in your message",
        "Edit and send again",
        "Branch a new chat from here",
        "Show raw entry",
        "Select all",
    ]
    menu.deleteLater()


def test_every_button_says_what_it_does(desk: Desk) -> None:
    two_turns(desk)
    own, answer = desk.rows()[2:]
    assert button(desk, own, Deed.EDIT).name == "Edit this message"
    assert button(desk, own, Deed.COPY).name == "Copy this message"
    assert button(desk, answer, Deed.ANSWER_AGAIN).name == "Answer again"
    assert button(desk, answer, Deed.BRANCH).name == "Branch a new chat from here"
    assert button(desk, answer, Deed.MORE).name == "More about this message"


def test_nothing_moves_when_the_buttons_come_and_go(desk: Desk) -> None:
    two_turns(desk)
    before = bar_tops(desk)
    for placed in list(view(desk).flow.placed):
        view(desk)._hover(QPointF(300, placed.y + 5))
        assert view(desk).rows.bars.look.pointed == placed.node.order
        assert bar_tops(desk) == before


def test_a_message_above_a_fresh_start_can_not_be_changed_and_says_why(desk: Desk) -> None:
    two_turns(desk)
    desk.window.controller.reset_context()
    desk.until(lambda: len(desk.rows()) == 5)
    desk.idle()
    own, answer = desk.rows()[2:4]
    sealed = [Deed.COPY, Deed.COPY_PLAIN, Deed.QUOTE, Deed.BRANCH, Deed.RAW, Deed.WHY]
    assert deeds(desk, own) == deeds(desk, answer) == sealed
    choose(menu_of(desk, own), "Why is this not in the window?")
    (box,) = boxes()
    assert "You have let the model start afresh" in box.text()
    box.close()
    actions = desk.window.actions_
    assert [each.isEnabled() for each in (actions.edit_last, actions.answer_again, actions.branch)] == [False] * 3


def test_while_a_reply_runs_nothing_can_be_changed_and_that_is_said(desk: Desk) -> None:
    two_turns(desk)
    hold = Hold()
    desk.provider.play([hold, *reply("three")])
    desk.type("c")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    own = desk.rows()[2]
    assert button(desk, own, Deed.EDIT).name == "Edit this message. Stop the reply first."
    click(desk, own, Deed.EDIT)
    assert not is_editing(desk)
    assert desk.window.page.composer._hint.text() == "Stop the reply first."
    menu = menu_of(desk, own)
    edit = next(action for action in menu.actions() if action.text() == "Edit and send again")
    assert not edit.isEnabled()
    assert "Stop the reply first." in edit.toolTip()
    menu.deleteLater()
    assert not desk.window.actions_.edit_last.isEnabled()
    assert not desk.window.actions_.answer_again.isEnabled()
    hold.release()
    settled(desk, "a", "one", "b", "two", "c", "three")
    assert desk.window.actions_.edit_last.isEnabled()


def test_a_far_older_message_of_a_long_chat_is_not_offered_for_a_change_if_it_is_sealed(desk: Desk) -> None:
    chat = LongChat(desk, 2_000)
    desk.provider.play(reply("fresh"))
    chat.open()
    desk.window.controller.reset_context()
    desk.until(lambda: len(chat.rows()) == 2_001 and not desk.window.page.composer.field.isReadOnly())
    desk.say("now")
    chat.show(20)
    desk.until(lambda: messages(desk).window.holds(row_id(20)) is False)
    assert Deed.EDIT not in [offer.deed for offer in messages(desk).offers(row_id(20))]


def test_a_far_older_message_of_the_window_can_be_changed(desk: Desk) -> None:
    chat = LongChat(desk, 2_000)
    chat.open()
    chat.show(20)
    assert not reaches_end(desk)
    desk.until(lambda: messages(desk).window.holds(row_id(20)) is True)
    desk.provider.play(reply("changed"))
    click(desk, row_id(20), Deed.EDIT)
    composer = desk.window.page.composer
    assert composer.text() == words(20)
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: len(chat.rows()) == 22)
    desk.idle()
    assert view(desk).nodes[-1].item.id == chat.rows()[-1].id
    assert reaches_end(desk)
    desk.until(lambda: len(view(desk).rows.bars.look.marks) == 1)


# By the keyboard


def test_the_keyboard_stops_once_at_a_message_and_goes_along_its_buttons(desk: Desk) -> None:
    two_turns(desk)
    view(desk).setFocus(Qt.FocusReason.TabFocusReason)
    seen = []
    for _ in range(4):
        press(desk, Qt.Key.Key_Tab)
        seen.append(view(desk).focused_item)
    assert seen == [row.id for row in desk.rows()]
    names = []
    for _ in range(5):
        found = view(desk)._focus.current()
        assert found is not None
        names.append(found[1].name)
        press(desk, Qt.Key.Key_Right)
    assert names == [
        "Copy this message",
        "Quote this message in yours",
        "Answer again",
        "Branch a new chat from here",
        "More about this message",
    ]
    press(desk, Qt.Key.Key_Left)
    press(desk, Qt.Key.Key_Left)
    desk.provider.play(reply("two again"))
    press(desk, Qt.Key.Key_Left)
    press(desk, Qt.Key.Key_Right)
    press(desk, Qt.Key.Key_Return)
    settled(desk, "a", "one", "b", "two again")


@pytest.mark.qt_log_ignore("This plugin does not support (raise|grabbing)", extend=True)
def test_more_opens_the_menu(desk: Desk) -> None:
    two_turns(desk)
    answer = desk.rows()[3]
    click(desk, answer, Deed.MORE)
    menu = popup()
    assert menu is not None
    assert "Show raw entry" in labels(menu)
    assert "Select all" not in labels(menu)
    menu.close()


@pytest.mark.qt_log_ignore("This plugin does not support (raise|grabbing)", extend=True)
def test_the_menu_key_opens_the_menu_of_the_message_the_keyboard_is_on(desk: Desk) -> None:
    two_turns(desk)
    view(desk).setFocus(Qt.FocusReason.TabFocusReason)
    press(desk, Qt.Key.Key_Tab)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(1, 1), QPoint(1, 1))
    QApplication.sendEvent(view(desk).viewport(), event)
    menu = popup()
    assert menu is not None
    assert "Edit and send again" in labels(menu)
    menu.close()


def test_where_there_is_little_room_the_rest_is_in_the_menu(desk: Desk) -> None:
    two_turns(desk)
    bars, style = view(desk).rows.bars, view(desk).rows.style
    node = view(desk).nodes[3]
    size = bars.height(style)
    few = bars.targets(style, node, QRectF(0, 0, 3 * size, size))
    assert [target.name for target in few] == [
        "Copy this message",
        "Quote this message in yours",
        "More about this message",
    ]
    assert len(bars.targets(style, node, QRectF(0, 0, 5 * size, size))) == 5


# Copy and quote


def test_a_message_is_copied_as_markdown_and_as_plain_text(desk: Desk) -> None:
    desk.provider.play(reply("some **bold** words"))
    desk.say("a")
    answer = desk.rows()[1]
    click(desk, answer, Deed.COPY)
    assert QGuiApplication.clipboard().text() == "some **bold** words"
    choose(menu_of(desk, answer), "Copy message as plain text")
    assert QGuiApplication.clipboard().text() == "some bold words"


def test_a_reply_of_several_steps_has_one_line_and_is_copied_whole(desk: Desk) -> None:
    desk.tools.append(ScriptedTool("look"))
    desk.provider.play(calls(("look", {}), text="I look."), reply("Found it."))
    desk.type("look")
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: len(desk.rows()) == 3)
    desk.idle()
    first, last = desk.rows()[1:]
    assert not any(row.kind is RowKind.BAR for row in view(desk).model.nodes[1].rows)
    click(desk, last, Deed.COPY)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("I look.")
    assert copied.endswith("Found it.")
    view(desk)._hover(QPointF(300, view(desk).rect_of(view(desk).nodes[1]).top() + 20))
    assert view(desk).rows.bars.look.pointed == view(desk).nodes[2].order
    assert deeds(desk, first) == deeds(desk, last)


def test_a_quotation_goes_into_the_composer(desk: Desk) -> None:
    two_turns(desk)
    click(desk, desk.rows()[3], Deed.QUOTE)
    assert desk.window.page.composer.text() == "> two\n\n"


# Branch, raw entry


def test_a_branch_from_a_message_opens_at_once(desk: Desk) -> None:
    two_turns(desk)
    before = desk.session
    click(desk, desk.rows()[1], Deed.BRANCH)
    desk.until(lambda: desk.session not in ("", before))
    assert texts(desk) == ["a", "one"]
    assert texts(desk, before) == ["a", "one", "b", "two"]


@pytest.mark.parametrize("way", ["menu", "typed"])
def test_the_newest_message_is_branched_from_by_menu_and_by_command(desk: Desk, way: str) -> None:
    assert not desk.window.actions_.branch.isEnabled()
    if way == "typed":
        desk.type("/fork")
        desk.press(Qt.Key.Key_Return)
        desk.press(Qt.Key.Key_Return)
        assert desk.window.page.composer._hint.text() == "Nothing was said here yet."
        desk.window.page.composer.set_text("")
    two_turns(desk)
    before = desk.session
    if way == "menu":
        desk.window.actions_.branch.trigger()
    else:
        desk.window.page.composer.set_text("/fork")
        desk.window.page.composer.submit()
    desk.until(lambda: desk.session not in ("", before))
    assert texts(desk) == ["a", "one", "b", "two"]
    assert desk.window.page.composer.text() == ""


def test_the_raw_entry_is_shown_as_it_lies_on_disk(desk: Desk) -> None:
    two_turns(desk)
    row = desk.rows()[2]
    choose(menu_of(desk, row), "Show raw entry")
    dialogs: list[RawEntry] = []

    def found() -> bool:
        dialogs[:] = [each for each in QApplication.topLevelWidgets() if isinstance(each, RawEntry)]
        return bool(dialogs)

    desk.until(found)
    (dialog,) = dialogs
    assert json.loads(dialog.text.toPlainText())["id"] == row.id
    assert dialog.text.isReadOnly()
    dialog.copy_button.click()
    assert json.loads(QGuiApplication.clipboard().text())["parts"][0]["text"] == "b"
    dialog.close()


# Answer again


def test_a_reply_is_given_again_in_its_place(desk: Desk) -> None:
    two_turns(desk)
    hold = Hold()
    desk.provider.play([*reply("two again")[:1], hold, *reply("two again")[1:]])
    click(desk, desk.rows()[3], Deed.ANSWER_AGAIN)
    desk.reached(hold)
    desk.until(lambda: desk.shown().split() == ["a", "one", "b", "two", "again"] or "two again" not in desk.shown())
    assert len(view(desk).nodes) <= 4
    hold.release()
    settled(desk, "a", "one", "b", "two again")
    assert view(desk).is_at_end()


def test_the_menu_has_the_newest_reply_given_again(desk: Desk) -> None:
    two_turns(desk)
    desk.provider.play(reply("two again"))
    desk.window.actions_.answer_again.trigger()
    settled(desk, "a", "one", "b", "two again")


def test_another_model_can_answer_again(desk: Desk) -> None:
    two_turns(desk)
    desk.provider.play(reply("two again"))
    choose(menu_of(desk, desk.rows()[3]), "Answer again with another model…")
    picker = desk.window._picker
    assert picker is not None
    desk.until(picker.isVisible)
    picker.close_up()
    picker.chosen.emit("scripted/model")
    settled(desk, "a", "one", "b", "two again")
    # The next choice is one for the chat only.
    desk.window.actions_.choose_model.trigger()
    picker.close_up()
    picker.chosen.emit("scripted/model")
    assert texts(desk) == ["a", "one", "b", "two again"]


def test_a_reply_that_fails_when_given_again_can_be_tried_again(desk: Desk) -> None:
    two_turns(desk)
    desk.provider.play([ProviderError(ErrorKind.AUTHENTICATION, "No.")])
    desk.window.actions_.answer_again.trigger()
    desk.until(lambda: not desk.window.controller.is_streaming and desk.window.controller.may_resume)
    desk.idle()
    marked(desk, **{desk.rows()[3].text: (2, 2)})
    desk.provider.play(reply("at last"))
    desk.window.controller.resume()
    desk.until(lambda: texts(desk)[-1] == "at last")


def test_the_right_button_opens_the_menu_of_the_message_below_it(desk: Desk) -> None:
    two_turns(desk)
    node = view(desk).nodes[2]
    point = QPoint(view(desk).rect_of(node).center().x(), view(desk).rect_of(node).top() + 30)
    assert [target.kind for target in [button(desk, node.item.id, Deed.EDIT)]] == [TargetKind.MESSAGE]
    menu = view(desk).make_menu(point)
    assert "Edit and send again" in labels(menu)
    choose(menu, "Edit and send again")
    assert is_editing(desk)
    QTest.keyClick(desk.window.page.composer.field, Qt.Key.Key_Escape)
    assert not is_editing(desk)
