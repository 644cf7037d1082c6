"""Writing while a reply comes: Enter queues, Stop stands beside Queue, nothing is sent twice or lost."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.domain.errors import ErrorKind, ProviderError
from app.domain.queue import When
from app.domain.rows import MediaPart
from app.history.files import ChatFiles
from app.providers.base import TextPiece
from app.ui.chat.queue_tray import QueueTray
from tests.fakes.scripted import Hold, reply
from tests.ui.conftest import Desk

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def begin(desk: Desk, *more: str) -> Hold:
    """Begin a reply that waits in its middle; `more` answer what is queued."""
    hold = Hold()
    desk.provider.play([TextPiece("half"), hold, *reply(" more")], *(reply(text) for text in more))
    desk.type("first")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    desk.until(lambda: desk.window.page.composer.text() == "" and desk.window.controller.is_streaming)
    return hold


def tray(desk: Desk) -> QueueTray:
    return desk.window.page.queue_tray


def waiting(desk: Desk) -> list[str]:
    """Texts of the messages in the tray."""
    model = tray(desk).model
    return [str(model.index(row).data()) for row in range(model.rowCount())]


def queue(desk: Desk, text: str) -> None:
    """Type a message and queue it."""
    before = len(waiting(desk))
    desk.type(text)
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: len(waiting(desk)) == before + 1 and desk.window.page.composer.text() == "")


def texts(desk: Desk) -> list[str]:
    return [row.text for row in desk.rows()]


def finish(desk: Desk, hold: Hold, rows: int) -> None:
    hold.release()
    desk.until(lambda: len(desk.rows()) >= rows)
    desk.idle()


def test_enter_queues_while_a_reply_is_written(desk: Desk) -> None:
    hold = begin(desk, "second answer")
    desk.type("second")
    assert "Enter queues it for after this reply" in desk.window.page.composer._hint.text()
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: desk.window.page.composer.text() == "")
    assert waiting(desk) == ["second"]
    assert tray(desk).isVisible()
    finish(desk, hold, 4)
    assert texts(desk) == ["first", "half more", "second", "second answer"]
    desk.until(lambda: not tray(desk).isVisible())


def test_a_double_enter_queues_once(desk: Desk) -> None:
    hold = begin(desk, "answer")
    desk.type("once")
    desk.press(Qt.Key.Key_Return)
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: desk.window.page.composer.text() == "")
    desk.press(Qt.Key.Key_Return)
    assert waiting(desk) == ["once"]
    finish(desk, hold, 4)
    assert texts(desk).count("once") == 1


def test_control_enter_queues_too_and_the_menu_says_so(desk: Desk) -> None:
    hold = begin(desk, "answer")
    action = desk.window.actions_.queue
    assert not action.isEnabled()
    desk.type("by the other key")
    assert action.isEnabled()
    desk.press(Qt.Key.Key_Return, CONTROL)
    desk.until(lambda: waiting(desk) == ["by the other key"])
    desk.until(lambda: not action.isEnabled())
    finish(desk, hold, 4)


def test_control_enter_sends_where_nothing_is_written(desk: Desk) -> None:
    desk.provider.play(reply("yes"))
    desk.type("go")
    desk.press(Qt.Key.Key_Return, CONTROL)
    desk.until(lambda: len(desk.rows()) == 2)
    desk.idle()


def test_where_enter_begins_a_line_control_enter_queues(desk: Desk) -> None:
    hold = begin(desk, "answer")
    desk.window.page.composer.set_enter_sends(on=False)
    desk.type("one")
    assert "Ctrl+Enter queues it" in desk.window.page.composer._hint.text()
    desk.press(Qt.Key.Key_Return)
    desk.type("two")
    assert desk.window.page.composer.text() == "one\ntwo"
    desk.press(Qt.Key.Key_Return, CONTROL)
    desk.until(lambda: waiting(desk) == ["one two"])
    finish(desk, hold, 4)
    assert texts(desk)[2] == "one\ntwo"


def test_stop_stays_in_its_place_and_queue_comes_beside_it(desk: Desk) -> None:
    begin(desk)
    buttons = desk.window.page.composer.buttons
    assert buttons.main.accessibleName() == "Stop the reply"
    assert not buttons.queue.isVisible()
    desk.type("x")
    assert buttons.queue.isVisible()
    assert buttons.main.accessibleName() == "Stop the reply"
    desk.qtbot.mouseClick(buttons.queue, Qt.MouseButton.LeftButton)
    desk.until(lambda: waiting(desk) == ["x"])
    desk.until(lambda: not buttons.queue.isVisible())
    desk.qtbot.mouseClick(buttons.main, Qt.MouseButton.LeftButton)
    desk.idle()
    assert waiting(desk) == ["x"]


def test_the_menu_of_the_button_chooses_the_moment(desk: Desk) -> None:
    hold = begin(desk, "a", "b")
    menu = desk.window.page.composer.buttons.when.menu()
    assert [action.text().replace("&", "") for action in menu.actions()] == [
        "After this step",
        "After this turn",
        "Now (ends the reply)",
    ]
    desk.type("later")
    menu.actions()[1].trigger()
    desk.until(lambda: waiting(desk) == ["later"])
    desk.until(lambda: desk.window.page.composer.text() == "")
    desk.type("sooner")
    menu.actions()[0].trigger()
    desk.until(lambda: waiting(desk) == ["sooner", "later"])
    message = tray(desk).model.message_at(tray(desk).model.index(0))
    assert message is not None
    assert message.when is When.AFTER_STEP
    finish(desk, hold, 6)
    assert texts(desk)[2::2] == ["sooner", "later"]


def test_now_ends_the_reply(desk: Desk) -> None:
    begin(desk, "at once")
    desk.type("hurry")
    desk.window.page.composer.buttons.when.menu().actions()[2].trigger()
    desk.until(lambda: len(desk.rows()) == 4)
    desk.idle()
    assert texts(desk) == ["first", "half", "hurry", "at once"]


def test_control_shift_enter_sends_the_first_queued_message_now(desk: Desk) -> None:
    begin(desk, "to one", "to two")
    queue(desk, "one")
    queue(desk, "two")
    desk.type("draft")
    desk.press(Qt.Key.Key_Return, CONTROL | SHIFT)
    desk.until(lambda: len(desk.rows()) == 6)
    desk.idle()
    assert texts(desk) == ["first", "half", "one", "to one", "two", "to two"]
    assert desk.window.page.composer.text() == "draft"


def test_control_shift_enter_sends_what_stands_in_the_field_if_nothing_waits(desk: Desk) -> None:
    begin(desk, "at once", "again")
    action = desk.window.actions_.send_queued
    assert not action.isEnabled()
    desk.press(Qt.Key.Key_Return, CONTROL | SHIFT)
    desk.type("hurry")
    assert action.isEnabled()
    desk.press(Qt.Key.Key_Return, CONTROL | SHIFT)
    desk.until(lambda: len(desk.rows()) == 4)
    desk.idle()
    assert texts(desk)[2:] == ["hurry", "at once"]
    desk.type("idle")
    desk.press(Qt.Key.Key_Return, CONTROL | SHIFT)
    desk.until(lambda: len(desk.rows()) == 6)
    desk.idle()


def test_a_refusal_keeps_the_text_and_says_why(desk: Desk) -> None:
    begin(desk)
    in_the_way = ChatFiles(desk.root / "sessions" / desk.session).queue
    in_the_way.mkdir()
    desk.type("not now")
    desk.press(Qt.Key.Key_Return)
    hint = desk.window.page.composer._hint
    desk.until(lambda: "can't be saved" in hint.text())
    assert hint.property("isError")
    assert desk.window.page.composer.text() == "not now"
    assert waiting(desk) == []
    in_the_way.rmdir()
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: waiting(desk) == ["not now"])
    desk.window.actions_.stop.trigger()
    desk.idle()


def test_the_same_words_again_stay_a_draft_when_the_first_are_sent(desk: Desk) -> None:
    hold = begin(desk, "fine")
    queue(desk, "yes")
    desk.type("yes")
    finish(desk, hold, 4)
    assert texts(desk).count("yes") == 1
    assert desk.window.page.composer.text() == "yes"


def test_files_go_along(desk: Desk) -> None:
    path = desk.root / "notes.txt"
    path.write_text("written down")
    hold = begin(desk, "read")
    desk.window.controller.files.attach_files([str(path)])
    desk.until(lambda: bool(desk.window.controller.files.parts))
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: waiting(desk) == ["notes.txt"])
    desk.until(lambda: desk.window.controller.files.parts == ())
    finish(desk, hold, 4)
    assert [part.name for part in desk.rows()[2].parts if isinstance(part, MediaPart)] == ["notes.txt"]


def test_a_queue_goes_on_hold_after_stop_and_on_at_a_press(desk: Desk) -> None:
    begin(desk, "late answer")
    queue(desk, "later")
    desk.press(Qt.Key.Key_Escape)
    desk.idle()
    desk.until(tray(desk)._pause_line.isVisible)
    assert tray(desk)._pause_text.text() == "Waiting, because you stopped the reply."
    assert tray(desk).go_on.text() == "Send it"
    desk.qtbot.mouseClick(tray(desk).go_on, Qt.MouseButton.LeftButton)
    desk.until(lambda: len(desk.rows()) == 4)
    desk.idle()
    assert texts(desk)[2:] == ["later", "late answer"]


def test_a_failed_reply_holds_the_queue(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([TextPiece("half"), hold, ProviderError(ErrorKind.SERVER)])
    desk.type("first")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    desk.until(lambda: desk.window.controller.is_streaming)
    desk.until(lambda: desk.window.page.composer.text() == "")
    queue(desk, "one")
    queue(desk, "two")
    hold.release()
    desk.idle()
    desk.until(tray(desk)._pause_line.isVisible)
    assert tray(desk)._pause_text.text().startswith("Waiting, because the last reply failed.")
    assert tray(desk).go_on.text() == "Send them"


def test_a_restart_keeps_the_queue_and_sends_nothing(desk: Desk) -> None:
    begin(desk)
    queue(desk, "tomorrow")
    desk.restart()
    desk.until(lambda: tray(desk).isVisible())
    assert waiting(desk) == ["tomorrow"]
    assert "since the chat was last open" in tray(desk)._pause_text.text()
    assert len(desk.rows()) == 2
    model = desk.window.chats_model
    assert "queued 1" in str(model.index(model.row_of(desk.session) or 0).data(Qt.ItemDataRole.AccessibleTextRole))


@pytest.mark.parametrize("width", [360, 1280])
def test_everything_is_in_reach_of_the_tab_key(desk: Desk, width: int) -> None:
    begin(desk)
    queue(desk, "one")
    desk.press(Qt.Key.Key_Escape)
    desk.idle()
    desk.window.resize(width, 700)
    desk.type("x")
    walked = []
    desk.window.page.composer.field.setFocus()
    for _ in range(24):
        walked.append(QApplication.focusWidget())
        desk.qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert {tray(desk).list, tray(desk).go_on, desk.window.page.composer.buttons.main} <= set(walked)
    assert walked.index(tray(desk).go_on) < walked.index(tray(desk).list)
    assert walked[walked.index(tray(desk).list) + 1] is not tray(desk).go_on
