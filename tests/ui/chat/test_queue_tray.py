"""The tray: what waits can be sent now, changed, ordered and removed, by mouse and by keyboard, and nothing is lost."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.domain.events import ChatChanged
from app.domain.queue import When
from app.history.files import ChatFiles
from app.history.sidecars import Queue, read_sidecar
from app.ui.chat.queue_tray_line import QueueLine, Wish
from app.ui.chats_model import QUEUED_ROLE
from tests.ui.chat.test_composer_queue import CONTROL, SHIFT, begin, finish, queue, texts, tray, waiting
from tests.ui.conftest import Desk

ALT = Qt.KeyboardModifier.AltModifier
LEFT = Qt.MouseButton.LeftButton


def choose(desk: Desk, row: int) -> None:
    """Put the keyboard on a message."""
    tray(desk).list.setFocus()
    tray(desk).list.setCurrentIndex(tray(desk).model.index(row))


def key(desk: Desk, which: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    desk.qtbot.keyClick(tray(desk).list, which, modifiers)


def line(desk: Desk, row: int) -> QueueLine:
    return tray(desk).list.lines()[row]


def moments(desk: Desk) -> list[When]:
    model = tray(desk).model
    found = [model.message_at(model.index(row)) for row in range(model.rowCount())]
    return [each.when for each in found if each is not None]


def stop(desk: Desk) -> None:
    """End what runs, so that what waits goes on waiting."""
    desk.window.actions_.stop.trigger()
    desk.idle()


def on_disk(desk: Desk, session: str) -> list[str]:
    found = read_sidecar(ChatFiles(desk.root / "sessions" / session).queue, Queue)
    return [entry.text for entry in found.messages] if found is not None else []


# Order


def test_alt_and_the_arrows_order(desk: Desk) -> None:
    begin(desk)
    for text in ("one", "two", "three"):
        queue(desk, text)
    choose(desk, 2)
    key(desk, Qt.Key.Key_Up, ALT)
    desk.until(lambda: waiting(desk) == ["one", "three", "two"])
    assert tray(desk).list.current_id() == tray(desk).model.message_at(tray(desk).model.index(1)).id  # type: ignore[union-attr]
    key(desk, Qt.Key.Key_Up, ALT)
    desk.until(lambda: waiting(desk) == ["three", "one", "two"])
    key(desk, Qt.Key.Key_Up, ALT)
    key(desk, Qt.Key.Key_Down, ALT)
    desk.until(lambda: waiting(desk) == ["one", "three", "two"])
    assert len(tray(desk).list.lines()) == 3
    stop(desk)


def test_a_drop_orders(desk: Desk) -> None:
    begin(desk)
    for text in ("one", "two", "three"):
        queue(desk, text)
    model = tray(desk).model
    model.dropMimeData(model.mimeData([model.index(0)]), Qt.DropAction.MoveAction, 3, 0, model.index(-1))
    desk.until(lambda: waiting(desk) == ["two", "three", "one"])
    stop(desk)


def test_the_moment_of_a_line_can_be_changed(desk: Desk) -> None:
    begin(desk)
    queue(desk, "one")
    queue(desk, "two")
    menu = line(desk, 1).moment.menu()
    assert [(each.text(), each.isChecked()) for each in menu.actions()] == [
        ("After this step", False),
        ("After this turn", True),
    ]
    menu.actions()[0].trigger()
    desk.until(lambda: waiting(desk) == ["two", "one"])
    assert moments(desk) == [When.AFTER_STEP, When.AFTER_TURN]
    assert line(desk, 0).moment.text().startswith("after this step")
    stop(desk)


# Sending


def test_a_line_sends_its_message_now(desk: Desk) -> None:
    begin(desk, "to two", "to one")
    queue(desk, "one")
    queue(desk, "two")
    desk.qtbot.mouseClick(line(desk, 1).buttons[Wish.SEND], LEFT)
    desk.until(lambda: len(desk.rows()) == 6)
    desk.idle()
    assert texts(desk)[2:] == ["two", "to two", "one", "to one"]


def test_control_shift_enter_in_the_list_sends_the_chosen_message(desk: Desk) -> None:
    begin(desk, "to two", "to one")
    queue(desk, "one")
    queue(desk, "two")
    choose(desk, 1)
    key(desk, Qt.Key.Key_Return, CONTROL | SHIFT)
    desk.until(lambda: len(desk.rows()) == 6)
    desk.idle()
    assert texts(desk)[2::2] == ["two", "one"]
    assert QApplication.focusWidget() is desk.window.page.composer.field


# Changing


@pytest.mark.parametrize("which", [Qt.Key.Key_F2, Qt.Key.Key_Return])
def test_a_message_is_changed_in_the_composer(desk: Desk, which: Qt.Key) -> None:
    hold = begin(desk, "fine")
    queue(desk, "wrnog")
    desk.type("my draft")
    choose(desk, 0)
    key(desk, which)
    composer = desk.window.page.composer
    assert composer.text() == "wrnog"
    assert composer.is_editing
    assert not composer.buttons.queue.isVisible()
    assert "Enter saves the change" in composer._hint.text()
    composer.set_text("right")
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: waiting(desk) == ["right"])
    desk.until(lambda: composer.text() == "my draft")
    desk.until(lambda: not composer.is_editing)
    finish(desk, hold, 4)
    assert texts(desk)[2] == "right"


def test_escape_leaves_the_message_as_it_was_and_the_reply_goes_on(desk: Desk) -> None:
    hold = begin(desk, "fine")
    queue(desk, "as it was")
    desk.type("draft")
    desk.qtbot.mouseClick(line(desk, 0).buttons[Wish.EDIT], LEFT)
    desk.type(" changed")
    desk.press(Qt.Key.Key_Escape)
    assert desk.window.page.composer.text() == "draft"
    assert waiting(desk) == ["as it was"]
    assert desk.window.controller.is_streaming
    finish(desk, hold, 4)
    assert texts(desk)[1:3] == ["half more", "as it was"]


def test_the_buttons_of_the_line_save_and_cancel(desk: Desk) -> None:
    begin(desk)
    queue(desk, "before")
    for button_name, expected in (("cancel", "before"), ("save", "after")):
        choose(desk, 0)
        key(desk, Qt.Key.Key_F2)
        desk.window.page.composer.set_text("after")
        editing = desk.window.page.composer._editing_line
        assert editing is not None
        assert editing.isVisible()
        desk.qtbot.mouseClick(getattr(editing, button_name), LEFT)
        desk.until(lambda expected=expected: waiting(desk) == [expected])  # type: ignore[misc]
        desk.until(lambda: not desk.window.page.composer.is_editing)
    stop(desk)


def test_files_can_be_taken_from_a_waiting_message_and_come_back_with_cancel(desk: Desk) -> None:
    path = desk.root / "notes.txt"
    path.write_text("written down")
    begin(desk)
    desk.window.controller.files.attach_files([str(path)])
    desk.until(lambda: bool(desk.window.controller.files.parts))
    queue(desk, "with a file")
    desk.until(lambda: desk.window.controller.files.parts == ())
    choose(desk, 0)
    key(desk, Qt.Key.Key_F2)
    chips = desk.window.page.composer.tray.chips
    assert len(chips) == 1
    desk.qtbot.mouseClick(chips[0].remove_button, LEFT)
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: not desk.window.page.composer.is_editing)
    message = tray(desk).model.message_at(tray(desk).model.index(0))
    assert message is not None
    desk.until(lambda: not tray(desk).model.message_at(tray(desk).model.index(0)).attachments)  # type: ignore[union-attr]
    stop(desk)


def test_a_change_that_comes_too_late_becomes_a_new_text(desk: Desk) -> None:
    hold = begin(desk, "answered")
    queue(desk, "old words")
    desk.type("my draft")
    choose(desk, 0)
    key(desk, Qt.Key.Key_F2)
    desk.window.page.composer.set_text("new words")
    finish(desk, hold, 4)
    composer = desk.window.page.composer
    assert texts(desk)[2] == "old words"
    desk.until(lambda: composer.text() == "my draft\n\nnew words")
    assert not composer.is_editing
    assert "sent before the change was saved" in desk.window.toast._text.text()
    desk.restart()
    assert desk.window.page.composer.text() == "my draft\n\nnew words"


def test_a_message_that_is_sent_while_it_is_looked_at_leaves_the_draft_alone(desk: Desk) -> None:
    hold = begin(desk, "answered")
    queue(desk, "words")
    desk.type("my draft")
    choose(desk, 0)
    key(desk, Qt.Key.Key_F2)
    finish(desk, hold, 4)
    desk.until(lambda: desk.window.page.composer.text() == "my draft")
    assert texts(desk).count("words") == 1


def test_send_now_saves_a_change_first(desk: Desk) -> None:
    begin(desk, "answered")
    queue(desk, "old")
    choose(desk, 0)
    key(desk, Qt.Key.Key_F2)
    desk.window.page.composer.set_text("new")
    desk.press(Qt.Key.Key_Return, CONTROL | SHIFT)
    desk.until(lambda: len(desk.rows()) == 4)
    desk.idle()
    assert texts(desk)[2] == "new"
    assert desk.window.page.composer.text() == ""


def test_leaving_the_chat_saves_a_change(desk: Desk) -> None:
    begin(desk)
    queue(desk, "old")
    desk.type("my draft")
    choose(desk, 0)
    key(desk, Qt.Key.Key_F2)
    desk.window.page.composer.set_text("new")
    first = desk.session
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session not in ("", first))
    assert not tray(desk).isVisible()
    assert desk.window.page.composer.text() == ""
    desk.until(lambda: on_disk(desk, first) == ["new"])
    desk.window.chats.open(first)
    desk.until(lambda: desk.session == first)
    assert waiting(desk) == ["new"]
    assert desk.window.page.composer.text() == "my draft"
    stop(desk)


def test_closing_the_program_saves_a_change(desk: Desk) -> None:
    begin(desk)
    queue(desk, "old")
    choose(desk, 0)
    key(desk, Qt.Key.Key_F2)
    desk.window.page.composer.set_text("new")
    desk.restart()
    desk.until(lambda: waiting(desk) == ["new"])


def test_one_change_after_the_other(desk: Desk) -> None:
    begin(desk)
    queue(desk, "one")
    queue(desk, "two")
    choose(desk, 0)
    key(desk, Qt.Key.Key_F2)
    choose(desk, 1)
    key(desk, Qt.Key.Key_F2)
    composer = desk.window.page.composer
    assert composer.text() == "two"
    composer.set_text("changed")
    choose(desk, 0)
    key(desk, Qt.Key.Key_F2)
    assert composer.text() == "changed"
    assert "Save or cancel this change first." in composer._hint.text()
    desk.press(Qt.Key.Key_Escape)
    stop(desk)


# Removing


def test_delete_removes_and_undo_brings_back(desk: Desk) -> None:
    begin(desk)
    for text in ("one", "two", "three"):
        queue(desk, text)
    choose(desk, 1)
    key(desk, Qt.Key.Key_Delete)
    desk.until(lambda: waiting(desk) == ["one", "three"])
    desk.until(desk.window.toast.isVisible)
    assert desk.window.toast._text.text() == "The message is removed from the queue."
    desk.qtbot.mouseClick(desk.window.toast.button, LEFT)
    desk.until(lambda: waiting(desk) == ["one", "two", "three"])
    stop(desk)


def test_undo_sends_nothing_where_nothing_runs(desk: Desk) -> None:
    begin(desk)
    queue(desk, "only one")
    stop(desk)
    desk.until(tray(desk).go_on.isVisible)
    desk.type("draft")
    desk.qtbot.mouseClick(line(desk, 0).buttons[Wish.REMOVE], LEFT)
    desk.until(lambda: not tray(desk).isVisible())
    desk.until(desk.window.toast.isVisible)
    desk.qtbot.mouseClick(desk.window.toast.button, LEFT)
    assert desk.window.page.composer.text() == "draft\n\nonly one"
    assert len(desk.rows()) == 2


def test_undo_in_a_paused_queue_waits_with_the_others(desk: Desk) -> None:
    begin(desk)
    queue(desk, "one")
    queue(desk, "two")
    stop(desk)
    choose(desk, 0)
    key(desk, Qt.Key.Key_Delete)
    desk.until(lambda: waiting(desk) == ["two"])
    desk.until(desk.window.toast.isVisible)
    desk.qtbot.mouseClick(desk.window.toast.button, LEFT)
    desk.until(lambda: waiting(desk) == ["one", "two"])
    assert len(desk.rows()) == 2


def test_a_message_that_is_being_changed_comes_back_as_it_was_written(desk: Desk) -> None:
    begin(desk)
    queue(desk, "old")
    desk.type("draft")
    choose(desk, 0)
    key(desk, Qt.Key.Key_F2)
    desk.window.page.composer.set_text("new")
    choose(desk, 0)
    key(desk, Qt.Key.Key_Delete)
    desk.until(lambda: waiting(desk) == [])
    assert desk.window.page.composer.text() == "draft"
    desk.until(desk.window.toast.isVisible)
    desk.qtbot.mouseClick(desk.window.toast.button, LEFT)
    desk.until(lambda: waiting(desk) == ["new"])
    stop(desk)


# Looks


def test_the_menu_of_a_line_has_all_there_is_to_do(desk: Desk) -> None:
    begin(desk)
    queue(desk, "one")
    choose(desk, 0)
    menu = line(desk, 0).more.menu()
    assert [each.text() for each in menu.actions() if each.text()] == [
        "Send now",
        "Change",
        "Remove",
        "Move up",
        "Move down",
        "After this step",
        "After this turn",
    ]
    menu.actions()[2].trigger()
    desk.until(lambda: waiting(desk) == [])
    stop(desk)


def test_a_narrow_tray_keeps_everything_in_one_button(desk: Desk) -> None:
    begin(desk)
    queue(desk, "one " * 60)
    assert not line(desk, 0).more.isVisible()
    wide = tray(desk).list.height()
    desk.window.resize(360, 640)
    desk.until(line(desk, 0).more.isVisible)
    assert not line(desk, 0).buttons[Wish.SEND].isVisible()
    assert tray(desk).list.height() > wide
    assert "Remove" in [each.text() for each in line(desk, 0).more.menu().actions()]
    stop(desk)


def test_more_than_four_messages_scroll(desk: Desk) -> None:
    begin(desk)
    desk.window.resize(1000, 900)
    for number in range(4):
        queue(desk, f"m{number}")
    four = tray(desk).list.height()
    queue(desk, "m4")
    five = tray(desk).list.height()
    queue(desk, "m5")
    assert four < five == tray(desk).list.height() < 2 * four
    stop(desk)


def test_every_button_of_a_line_has_a_name(desk: Desk) -> None:
    begin(desk)
    queue(desk, "hotels")
    names = [button.accessibleName() for button in line(desk, 0).buttons.values()]
    assert names == ["Send now: hotels", "Change: hotels", "Remove: hotels"]
    assert line(desk, 0).moment.accessibleName() == "Sent after this turn: hotels"
    assert tray(desk).list.accessibleName() == "Queued messages"
    stop(desk)


def test_a_message_says_with_what_it_is_answered_if_the_chat_has_something_else_now(desk: Desk) -> None:
    begin(desk)
    queue(desk, "for the old model")
    model = tray(desk).model
    assert model.index(0).data(Qt.ItemDataRole.AccessibleTextRole) == "for the old model, after this turn"
    stop(desk)
    chat = desk.window.chats_model.find(desk.session)
    assert chat is not None
    desk.window._hear((ChatChanged(chat.id, replace(chat, model="other/new", profile="planner", level="high")),))
    said = str(model.index(0).data(Qt.ItemDataRole.AccessibleTextRole))
    name = desk.window.models.name(chat.model)
    assert said == f"for the old model, after this turn, with {name} · thinking: Standard"
    desk.until(lambda: " · as Assistant" in str(model.index(0).data(Qt.ItemDataRole.AccessibleTextRole)))


def test_the_list_of_chats_says_how_many_wait(desk: Desk) -> None:
    hold = begin(desk, "fine")
    queue(desk, "one")
    first = desk.session
    chats = desk.window.chats_model

    def said() -> str:
        return str(chats.index(chats.row_of(first) or 0).data(Qt.ItemDataRole.AccessibleTextRole))

    assert said().endswith("a reply is being written, queued 1")
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session not in ("", first))
    assert "queued 1" in said()
    hold.release()
    desk.until(lambda: len(desk.rows(first)) == 4)
    desk.until(lambda: "queued" not in said())


def test_a_chat_that_is_open_elsewhere_shows_what_waits_and_changes_nothing(desk: Desk) -> None:
    begin(desk)
    queue(desk, "one")
    stop(desk)
    session = desk.session
    desk.close()
    lease = ChatFiles(desk.root / "sessions" / session).lease
    lease.take()
    try:
        desk.program = desk._start()
        desk.until(lambda: waiting(desk) == ["one"])
        assert not line(desk, 0).buttons[Wish.REMOVE].isVisible()
        assert not tray(desk).go_on.isVisible()
        choose(desk, 0)
        key(desk, Qt.Key.Key_Delete)
        key(desk, Qt.Key.Key_F2)
        assert not desk.window.page.composer.is_editing
        assert not desk.window.actions_.send_queued.isEnabled()
        assert waiting(desk) == ["one"]
    finally:
        lease.release()


def test_what_is_told_over_the_lower_edge_covers_no_waiting_message(desk: Desk) -> None:
    begin(desk)
    for text in ("one", "two", "three"):
        queue(desk, text)
    stop(desk)
    choose(desk, 0)
    key(desk, Qt.Key.Key_Delete)
    toast = desk.window.toast
    desk.until(lambda: waiting(desk) == ["two", "three"] and toast.isVisible())
    desk.until(lambda: toast.geometry().bottom() < tray(desk).mapTo(desk.window, tray(desk).rect().topLeft()).y())


def test_the_list_of_chats_counts_what_waits_in_chats_that_were_not_opened_since_the_start(desk: Desk) -> None:
    begin(desk)
    first = desk.session
    queue(desk, "one")
    queue(desk, "two")
    stop(desk)
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session not in ("", first))
    desk.restart()
    model = desk.window.chats_model

    def counted() -> object:
        row = model.row_of(first)
        return None if row is None else model.index(row).data(QUEUED_ROLE)

    desk.until(lambda: desk.session not in ("", first))
    desk.until(lambda: counted() == 2)
    desk.window.chats.open(first)
    desk.until(lambda: desk.session == first and waiting(desk) == ["one", "two"])
    choose(desk, 0)
    key(desk, Qt.Key.Key_Delete)
    desk.until(lambda: counted() == 1)
