"""An earlier message is changed in the composer and sent again in its place."""

from pathlib import Path

from PySide6.QtCore import Qt

from app.domain.rows import MediaPart
from app.ui.chat.deeds import Deed
from tests.fakes.disk import refusing
from tests.fakes.scripted import Hold, reply
from tests.ui.chat.messages import click, is_editing, marked, messages, settled, texts, view
from tests.ui.conftest import Desk
from tests.ui.long_chats import LongChat, row_id


def two_turns(desk: Desk) -> None:
    desk.provider.play(reply("one"), reply("two"))
    desk.say("a")
    desk.say("b")


def draft(desk: Desk) -> str:
    return desk.window.page.composer.text()


def faded(desk: Desk) -> list[bool]:
    """Return for each item whether it is faded."""
    behind = view(desk).rows.look.faded_behind
    return [behind is not None and node.order > behind for node in view(desk).nodes]


def test_a_changed_message_takes_the_place_of_the_old_one(desk: Desk) -> None:
    two_turns(desk)
    desk.type("half a thought")
    first = desk.rows()[0]
    click(desk, first, Deed.EDIT)
    composer = desk.window.page.composer
    assert composer._editing_line is not None
    line = composer._editing_line.text
    assert line == "You are changing an earlier message. What follows it fades and is kept as a version."
    assert draft(desk) == "a"
    assert faded(desk) == [False, True, True, True]
    desk.provider.play(reply("one!"))
    desk.type("!")
    desk.press(Qt.Key.Key_Return)
    settled(desk, "a!", "one!")
    assert desk.rows()[0].id != first.id
    assert draft(desk) == "half a thought"
    assert faded(desk) == [False, False]
    assert not is_editing(desk)
    marked(desk, **{"a!": (2, 2)})


def test_escape_and_cancel_leave_it_as_it_was(desk: Desk) -> None:
    two_turns(desk)
    desk.type("half a thought")
    composer = desk.window.page.composer
    for way in ("escape", "cancel"):
        click(desk, desk.rows()[2], Deed.EDIT)
        desk.type("!")
        if way == "escape":
            desk.press(Qt.Key.Key_Escape)
        else:
            assert composer._editing_line is not None
            composer._editing_line.cancel.click()
        assert not is_editing(desk)
        assert draft(desk) == "half a thought"
        assert faded(desk) == [False] * 4
    assert texts(desk) == ["a", "one", "b", "two"]


def test_up_in_the_empty_field_changes_the_last_message(desk: Desk) -> None:
    desk.press(Qt.Key.Key_Up)
    assert not is_editing(desk)
    two_turns(desk)
    desk.type("x")
    desk.press(Qt.Key.Key_Up)
    assert not is_editing(desk)
    desk.press(Qt.Key.Key_Backspace)
    desk.press(Qt.Key.Key_Up)
    assert is_editing(desk)
    assert draft(desk) == "b"
    desk.provider.play(reply("two!"))
    desk.type("!")
    desk.press(Qt.Key.Key_Return)
    settled(desk, "a", "one", "b!", "two!")
    assert draft(desk) == ""


def test_the_menu_changes_the_last_message(desk: Desk) -> None:
    two_turns(desk)
    desk.window.actions_.edit_last.trigger()
    assert draft(desk) == "b"


def test_files_come_along(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("some notes")
    desk.provider.play(reply("read"), reply("read again"))
    files = desk.window.controller.files
    files.attach_files([str(path)])
    desk.until(lambda: len(files.parts) == 1)
    desk.say("a")
    click(desk, desk.rows()[0], Deed.EDIT)
    assert [part.name for part in files.parts] == ["notes.txt"]
    desk.type("!")
    desk.press(Qt.Key.Key_Return)
    settled(desk, "a!", "read again")
    assert any(isinstance(part, MediaPart) for part in desk.rows()[0].parts)
    assert files.parts == ()


def test_a_refusal_keeps_the_text_and_says_why(desk: Desk) -> None:
    two_turns(desk)
    click(desk, desk.rows()[2], Deed.EDIT)
    desk.type("!")
    chat = desk.root / "sessions" / desk.session / "chat.jsonl"
    composer = desk.window.page.composer
    with refusing(chat):
        desk.press(Qt.Key.Key_Return)
        desk.until(lambda: composer._hint.property("isError") is True)
    assert is_editing(desk)
    assert draft(desk) == "b!"
    assert texts(desk) == ["a", "one", "b", "two"]
    desk.provider.play(reply("two!"))
    desk.press(Qt.Key.Key_Return)
    settled(desk, "a", "one", "b!", "two!")


def test_a_change_that_is_sent_while_a_reply_runs_is_kept(desk: Desk) -> None:
    two_turns(desk)
    hold = Hold()
    click(desk, desk.rows()[2], Deed.EDIT)
    desk.type("!")
    desk.provider.play([hold, *reply("two again")])
    messages(desk).answer_again()
    desk.reached(hold)
    composer = desk.window.page.composer
    desk.until(lambda: not composer.field.isReadOnly())
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: composer._hint.property("isError") is True)
    assert "Stop it, or wait for its end." in composer._hint.text()
    assert draft(desk) == "b!"
    hold.release()
    settled(desk, "a", "one", "b", "two again")
    desk.provider.play(reply("two!"))
    desk.press(Qt.Key.Key_Return)
    settled(desk, "a", "one", "b!", "two!")


def test_another_message_takes_the_place_of_one_that_is_not_changed_yet(desk: Desk) -> None:
    two_turns(desk)
    desk.type("half a thought")
    first, second = desk.rows()[0], desk.rows()[2]
    click(desk, first, Deed.EDIT)
    click(desk, second, Deed.EDIT)
    assert draft(desk) == "b"
    desk.type("!")
    click(desk, first, Deed.EDIT)
    assert draft(desk) == "b!"
    assert desk.window.page.composer._hint.text() == "Save or cancel this change first."
    desk.press(Qt.Key.Key_Escape)
    assert draft(desk) == "half a thought"


def test_a_change_that_is_not_sent_when_the_chat_is_left_is_in_its_draft(desk: Desk) -> None:
    two_turns(desk)
    chat = desk.session
    desk.type("half a thought")
    click(desk, desk.rows()[2], Deed.EDIT)
    desk.type(" and more")
    desk.window.chats.new()
    desk.until(lambda: desk.session not in ("", chat))
    assert draft(desk) == ""
    assert not is_editing(desk)
    desk.window.chats.open(chat)
    desk.until(lambda: desk.session == chat)
    assert draft(desk) == "half a thought\n\nb and more"
    assert texts(desk) == ["a", "one", "b", "two"]


def test_so_is_one_that_is_not_sent_when_the_program_ends(desk: Desk) -> None:
    two_turns(desk)
    click(desk, desk.rows()[2], Deed.EDIT)
    desk.type(" and more")
    desk.restart()
    assert draft(desk) == "b and more"
    assert not is_editing(desk)


def test_deleting_another_chat_loses_nothing_of_a_change(desk: Desk) -> None:
    two_turns(desk)
    chat = desk.session
    desk.window.chats.new()
    desk.until(lambda: desk.session not in ("", chat))
    other = desk.session
    desk.window.chats.open(chat)
    desk.until(lambda: desk.session == chat)
    click(desk, desk.rows()[2], Deed.EDIT)
    desk.type(" and more")
    desk.window.panel.delete_requested.emit(other)
    assert draft(desk) == "b and more"


def test_a_fresh_start_while_a_message_is_changed_keeps_the_text(desk: Desk) -> None:
    two_turns(desk)
    click(desk, desk.rows()[2], Deed.EDIT)
    desk.type(" and more")
    desk.window.controller.reset_context()
    composer = desk.window.page.composer
    desk.until(lambda: len(desk.rows()) == 5 and not composer.field.isReadOnly())
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: composer._hint.property("isError") is True)
    assert "newest context window" in composer._hint.text()
    assert draft(desk) == "b and more"


def test_a_message_that_is_too_long_for_the_field_is_not_changed_there(desk: Desk) -> None:
    chat = LongChat(desk, 2, lambda number: "word " * 20_000 if number == 0 else "Long.")
    chat.open()
    click(desk, row_id(0), Deed.EDIT)
    assert not is_editing(desk)
    assert "too long to be changed here" in desk.window.page.composer._hint.text()
