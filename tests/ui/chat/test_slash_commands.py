import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.providers.base import TextPiece
from app.ui.chat.command_popup import CommandPopup
from app.ui.chat.slash_commands import completions, find_command, slash_commands
from tests.fakes.scripted import Hold, reply
from tests.ui.conftest import Desk


def _popup(desk: Desk) -> CommandPopup:
    found = desk.window.findChildren(CommandPopup)
    assert len(found) == 1
    return found[0]


def _is_listing(desk: Desk) -> bool:
    return any(popup.isVisible() for popup in desk.window.findChildren(CommandPopup))


def _names(desk: Desk) -> list[str]:
    listed = _popup(desk).list
    return [listed.item(row).text().partition(":")[0] for row in range(listed.count())]


@pytest.mark.parametrize(
    "text", ["/new", "/clear", "/clear --soft", "/clear   --soft ", "/title", "/title A b", "/help"]
)
def test_what_is_known_exactly_is_a_command(text: str) -> None:
    found = find_command(text)
    assert found is not None
    assert found.argument == ("A b" if text == "/title A b" else "")


@pytest.mark.parametrize(
    "text",
    [
        "/etc/hosts",
        "/foo",
        "/foo bar",
        "/new chat",
        "/clear --hard",
        "/clear\nplease",
        " /new",
        "new",
        "/",
        "/New",
        "/titles x",
    ],
)
def test_anything_else_is_a_message(text: str) -> None:
    assert find_command(text) is None


def test_a_slash_and_letters_are_completed_and_nothing_else() -> None:
    assert completions("/") == slash_commands()
    assert [command.name for command in completions("/cl")] == ["/clear", "/clear --soft"]
    assert [command.name for command in completions("/NE")] == ["/new"]
    for text in ("", "/clear ", "/1", "/é", "/xyz", "new", "//"):
        assert completions(text) == ()


def test_a_command_is_chosen_with_the_keys_and_then_done(desk: Desk) -> None:
    desk.provider.play(reply("ok"))
    desk.say("hi")
    desk.type("/")
    assert _is_listing(desk)
    assert _names(desk)[:3] == ["/new", "/clear", "/clear --soft"]
    desk.press(Qt.Key.Key_Down)
    desk.press(Qt.Key.Key_Down)
    desk.press(Qt.Key.Key_Tab)
    assert desk.window.page.composer.text() == "/clear --soft"
    assert desk.window.page.composer.field.hasFocus()
    assert not _is_listing(desk)
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: len(desk.rows()) == 3)
    desk.idle()
    boundary = desk.rows()[-1].boundary
    assert boundary is not None
    assert boundary.kind == "reset"
    assert desk.window.page.composer.text() == ""
    assert "Started afresh" in desk.shown()


def test_escape_closes_the_list_and_stops_no_reply(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([TextPiece("half"), hold, *reply(" more")])
    desk.type("first")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    desk.until(lambda: desk.window.controller.is_streaming and not desk.window.page.composer.field.isReadOnly())
    desk.type("/")
    assert _is_listing(desk)
    desk.press(Qt.Key.Key_Escape)
    assert not _is_listing(desk)
    assert desk.window.controller.is_streaming
    desk.type("n")
    assert not _is_listing(desk), "it stays away until another command is begun"
    desk.press(Qt.Key.Key_Backspace)
    desk.press(Qt.Key.Key_Backspace)
    desk.type("/n")
    assert _names(desk) == ["/new"]
    hold.release()
    desk.idle()
    desk.window.page.composer.set_text("")


def test_a_click_completes_and_other_text_closes_the_list(desk: Desk) -> None:
    desk.type("/ti")
    listed = _popup(desk).list
    QTest.mouseClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=listed.visualItemRect(listed.item(0)).center())
    assert desk.window.page.composer.text() == "/title "
    assert not _is_listing(desk)
    desk.type("Kyoto in spring")
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: desk.titles() == ["Kyoto in spring"])
    assert desk.rows() == []


def test_what_is_no_command_is_sent_as_it_is(desk: Desk) -> None:
    for text in ("/etc/hosts", "/foo"):
        desk.provider.play(reply("ok"))
        desk.say(text)
    assert [row.text for row in desk.rows()][::2] == ["/etc/hosts", "/foo"]


def test_clearing_waits_for_the_reply_and_says_so_while_a_new_chat_does_not(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([TextPiece("half"), hold, *reply(" more")])
    desk.type("first")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    desk.until(lambda: desk.window.controller.is_streaming and not desk.window.page.composer.field.isReadOnly())
    composer, session = desk.window.page.composer, desk.session
    for text in ("/clear", "/clear --soft"):
        composer.set_text(text)
        composer.submit()
        assert composer.text() == text
        assert composer._hint.text() == "A reply is being written. Wait for its end, or stop it first."
    composer.set_text("/new")
    composer.submit()
    desk.until(lambda: desk.session != session)
    assert len(desk.titles()) == 2
    hold.release()
    desk.until(lambda: len(desk.rows(session)) == 2)


def test_clear_moves_the_chat_to_the_trash_and_undo_brings_it_back(desk: Desk) -> None:
    desk.provider.play(reply("ok"))
    desk.say("hi")
    session = desk.session
    desk.type("/clear")
    desk.press(Qt.Key.Key_Escape)
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: desk.window.chats.can_undo_delete and desk.session not in ("", session))
    desk.window.actions_.undo_delete.trigger()
    desk.until(lambda: desk.session == session and not desk.window.page.shows_empty)
    assert desk.window.page.composer.text() == ""


def test_help_lists_every_command(desk: Desk) -> None:
    desk.type("/help")
    desk.press(Qt.Key.Key_Return)
    assert _names(desk) == [f"{each.name} {each.argument}".strip() for each in slash_commands()]
    desk.press(Qt.Key.Key_Escape)
    assert not _is_listing(desk)
    desk.type("/mo")
    assert _names(desk) == ["/model"]
    desk.press(Qt.Key.Key_Tab)
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: desk.window._picker is not None and desk.window._picker.isVisible())


def test_nothing_is_completed_while_an_input_method_composes(desk: Desk) -> None:
    field = desk.window.page.composer.field
    desk.type("/")
    assert _is_listing(desk)
    QApplication.sendEvent(field, QInputMethodEvent("ね", []))
    assert not _is_listing(desk)
    done = QInputMethodEvent()
    done.setCommitString("ne")
    QApplication.sendEvent(field, done)
    assert _names(desk) == ["/new"]
    desk.window.page.composer.set_text("")


@pytest.mark.parametrize("width", [360, 1000])
def test_the_list_stands_above_the_field_within_the_window(desk: Desk, width: int) -> None:
    desk.window.resize(width, 640)
    desk.type("/")
    popup, window = _popup(desk), desk.window
    desk.until(lambda: window.rect().contains(popup.geometry()))
    assert popup.geometry().bottom() < window.page.composer.mapTo(window, window.page.composer.rect().bottomLeft()).y()
    bar = popup.list.verticalScrollBar()
    assert bar.maximum() == 0, "every command finds room"
    desk.window.page.composer.set_text("")


def test_history_is_shown_beside_the_chat_and_stays(desk: Desk) -> None:
    desk.provider.play(reply("ok"))
    desk.say("hi")
    for _ in range(2):
        desk.window.page.composer.set_text("/history")
        desk.window.page.composer.submit()
        desk.until(lambda: desk.window.panes.shows_history)
        assert desk.window.page.composer.text() == ""


def test_find_looks_for_the_words_behind_it(desk: Desk) -> None:
    desk.window.page.composer.set_text("/find heron")
    desk.window.page.composer.submit()
    assert desk.window.page.composer._hint.text() == "Nothing was said here yet."
    desk.window.page.composer.set_text("")
    desk.provider.play(reply("A grey heron stood there."))
    desk.say("hi")
    desk.window.page.composer.set_text("/find grey heron")
    desk.window.page.composer.submit()
    find = desk.window._find
    assert find is not None
    assert find.is_open
    assert find.bar.field.text() == "grey heron"
    desk.until(lambda: find.bar.count.text().startswith("1"))
