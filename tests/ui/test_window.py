import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QListWidget, QMenu, QPushButton

from app.domain.errors import ErrorKind, ProviderError
from app.domain.rows import Flag
from app.history.files import ChatFiles
from app.providers.base import QuietPiece, TextPiece
from app.ui.chat.items import ItemAction
from app.ui.chats_model import Mark
from tests.fakes.disk import refusing
from tests.fakes.scripted import Hold, reply
from tests.ui.conftest import Desk


def test_a_first_start_offers_ways_to_begin(desk: Desk) -> None:
    assert desk.window.page.shows_empty
    assert desk.titles() == ["New chat"]
    assert desk.window.page.composer.field.hasFocus() or not desk.window.isActiveWindow()


def test_a_message_is_sent_with_enter_and_answered(desk: Desk) -> None:
    desk.provider.play(reply("Hello ", "**there**"))
    desk.say("hi you")
    assert [row.text for row in desk.rows()] == ["hi you", "Hello **there**"]
    assert "hi you" in desk.shown()
    assert "Hello there" in desk.shown().replace("**", "")
    assert desk.window.page.composer.text() == ""
    assert desk.titles() == ["hi you"]
    assert desk.window.windowTitle().startswith("hi you")


def test_a_sample_prompt_is_sent(desk: Desk) -> None:
    desk.provider.play(reply("ok"))
    button = desk.window.page.empty.findChildren(QPushButton)[0]
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.until(lambda: len(desk.rows()) == 2)
    desk.idle()
    assert button.text() == desk.rows()[0].text
    assert not desk.window.page.shows_empty


def test_shift_enter_starts_a_new_line(desk: Desk) -> None:
    desk.provider.play(reply("ok"))
    desk.type("one")
    desk.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    desk.say("two")
    assert desk.rows()[0].text == "one\ntwo"


def test_enter_never_sends_while_an_input_method_composes(desk: Desk) -> None:
    field = desk.window.page.composer.field
    QApplication.sendEvent(field, QInputMethodEvent("にほん", []))
    desk.press(Qt.Key.Key_Return)
    done = QInputMethodEvent()
    done.setCommitString("日本")
    QApplication.sendEvent(field, done)
    assert field.toPlainText().replace("\n", "") == "日本"
    assert desk.rows() == []


def test_only_plain_text_is_pasted(desk: Desk) -> None:
    from PySide6.QtCore import QMimeData

    data = QMimeData()
    data.setHtml('<img src="file:///dev/zero"><b>bold</b>')
    data.setText("bold")
    QGuiApplication.clipboard().setMimeData(data)
    desk.window.page.composer.field.paste()
    assert desk.window.page.composer.text() == "bold"
    desk.window.page.composer.set_text("")


def test_escape_stops_and_continue_goes_on(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([TextPiece("half"), hold], reply(" rest"))
    desk.type("go")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    desk.until(desk.window.actions_.stop.isEnabled)
    desk.press(Qt.Key.Key_Escape)
    desk.until(lambda: len(desk.rows()) == 2)
    desk.idle()
    assert desk.rows()[1].flags == (Flag.INTERRUPTED,)
    assert desk.window.actions_.resume.isEnabled()

    desk.window.actions_.resume.trigger()
    desk.until(lambda: len(desk.rows()) == 4)
    desk.idle()
    assert "half" in desk.shown()
    assert "rest" in desk.shown()
    assert not desk.window.actions_.resume.isEnabled()


def test_the_button_is_send_and_then_stop(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([hold, *reply("x")])
    button = desk.window.page.composer.buttons.main
    assert (button.accessibleName(), button.isEnabled()) == ("Send", False)
    desk.type("go")
    assert button.isEnabled()
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.reached(hold)
    desk.until(lambda: button.accessibleName() == "Stop the reply")
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.idle()
    assert button.accessibleName() == "Send"


def test_everything_is_there_after_a_restart(desk: Desk) -> None:
    desk.provider.play(reply("one"), reply("two"))
    desk.say("a")
    desk.type("unfinished thought")
    session = desk.session
    desk.restart()
    assert session == desk.session
    assert "one" in desk.shown()
    assert desk.window.page.composer.text() == "unfinished thought"
    desk.window.page.composer.set_text("")
    desk.say("b")
    assert [row.text for row in desk.rows()] == ["a", "one", "b", "two"]


def test_quitting_in_mid_reply_keeps_it(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([TextPiece("as far"), hold])
    desk.type("go")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    desk.restart()
    assert [(row.text, row.flags) for row in desk.rows()] == [("go", ()), ("as far", (Flag.INTERRUPTED,))]
    assert "as far" in desk.shown()
    assert len(desk.provider.requests) == 1, "nothing is sent by itself"
    assert desk.window.actions_.resume.isEnabled()


def test_the_size_of_the_window_is_remembered(desk: Desk) -> None:
    desk.window.resize(700, 520)
    desk.restart()
    assert (desk.window.width(), desk.window.height()) == (700, 520)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"geometry": 7, "panel_width": "x", "chat": null}', "\0"])
def test_a_broken_window_file_is_no_reason_not_to_start(desk: Desk, content: str) -> None:
    desk.close()
    (desk.root / "window.json").write_text(content)
    desk.program = desk._start()
    assert desk.window.page.isVisible()


def test_a_chat_streams_on_while_another_is_shown(desk: Desk) -> None:
    first_hold, second_hold = Hold(), Hold()
    desk.provider.play([TextPiece("one "), first_hold, *reply("done")], [TextPiece("two "), second_hold, *reply("end")])
    desk.type("first")
    desk.press(Qt.Key.Key_Return)
    desk.reached(first_hold)
    first = desk.session
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session not in ("", first))
    desk.type("second")
    desk.press(Qt.Key.Key_Return)
    desk.reached(second_hold)
    second = desk.session
    marks = desk.window.chats_model
    assert (marks.mark(first), marks.mark(second)) == (Mark.STREAMING, Mark.STREAMING)

    desk.window.chats.open(first)
    desk.until(lambda: desk.session == first)
    assert "one" in desk.shown(), "what came while it was not shown"
    second_hold.release()
    desk.until(lambda: marks.mark(second) is Mark.UNREAD)
    first_hold.release()
    desk.idle()
    assert [row.text for row in desk.rows(first)] == ["first", "one done"]
    assert [row.text for row in desk.rows(second)] == ["second", "two end"]
    assert marks.mark(first) == Mark.NONE
    desk.window.chats.open(second)
    assert marks.mark(second) == Mark.NONE
    desk.until(lambda: desk.session == second)


def test_drafts_belong_to_their_chats(desk: Desk) -> None:
    desk.provider.play(reply("ok"))
    desk.say("a chat")
    first = desk.session
    desk.type("draft one")
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session not in ("", first))
    assert desk.window.page.composer.text() == ""
    desk.type("draft two")
    desk.window.chats.open(first)
    desk.until(lambda: desk.session == first)
    assert desk.window.page.composer.text() == "draft one"


def test_new_chat_makes_no_second_empty_chat(desk: Desk) -> None:
    for _ in range(3):
        desk.window.actions_.new_chat.trigger()
    assert desk.titles() == ["New chat"]


def test_a_deleted_chat_comes_back_with_undo(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("keep me")
    session = desk.session
    desk.window.actions_.delete.trigger()
    desk.until(lambda: desk.session not in ("", session))
    assert desk.titles() == ["New chat"]
    assert "keep me" in desk.window.toast._text.text()
    desk.qtbot.mouseClick(desk.window.toast.button, Qt.MouseButton.LeftButton)
    desk.until(lambda: desk.session == session)
    assert "one" in desk.shown()
    assert not desk.window.toast.isVisible()


def test_a_deleted_chat_comes_back_from_recently_deleted(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("keep me")
    session = desk.session
    desk.window.actions_.delete.trigger()
    desk.until(lambda: desk.session not in ("", session))
    desk.window.actions_.recently_deleted.trigger()
    dialog = desk.window.findChild(QDialog)
    assert dialog is not None
    entries = dialog.findChild(QListWidget)
    assert isinstance(entries, QListWidget)
    desk.until(lambda: entries.count() == 1)
    assert "keep me" in entries.item(0).text()
    restore = next(button for button in dialog.findChildren(QPushButton) if button.text() == "Restore")
    desk.qtbot.mouseClick(restore, Qt.MouseButton.LeftButton)
    desk.until(lambda: desk.session == session)
    dialog.close()


def test_a_chat_is_renamed_in_place(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("old name")
    desk.window.actions_.rename.trigger()
    editor = QApplication.focusWidget()
    assert editor is not None
    desk.qtbot.keyClicks(editor, "  New   name ")
    desk.qtbot.keyClick(editor, Qt.Key.Key_Return)
    desk.until(lambda: desk.titles() == ["New name"])
    assert desk.window.windowTitle().startswith("New name")
    desk.restart()
    assert desk.titles() == ["New name"]


@pytest.mark.parametrize("kind", [ErrorKind.AUTHENTICATION, ErrorKind.CONTEXT_EXCEEDED, ErrorKind.REFUSAL])
def test_a_failure_is_said_in_words_with_a_way_on(desk: Desk, kind: ErrorKind) -> None:
    from app.ui.wording import error_sentence

    desk.provider.play([ProviderError(kind, "Because of tests.", is_quote=True)], reply("better"))
    desk.say("go")
    assert error_sentence(kind) in desk.spoken()
    assert desk.window.actions_.resume.isEnabled()
    desk.window.actions_.resume.trigger()
    desk.until(lambda: len(desk.rows()) == 3)
    desk.idle()
    assert sum(row.role == "user" for row in desk.rows()) == 1


def test_waiting_for_the_next_try_is_shown_and_can_be_stopped(desk: Desk) -> None:
    desk.provider.play([ProviderError(ErrorKind.NETWORK, "Nothing answers at my server.")])
    desk.type("go")
    desk.press(Qt.Key.Key_Return)
    hint = desk.window.page.composer._hint
    desk.until(lambda: "Trying again in 2 s (try 2 of 6)" in hint.text())
    assert "Nothing answers at my server. Waiting to try again." in desk.spoken()
    desk.press(Qt.Key.Key_Escape)
    desk.idle()
    assert "Trying again" not in hint.text()


def test_silence_of_a_provider_is_said_until_it_goes_on(desk: Desk) -> None:
    silent, speaking = Hold(), Hold()
    desk.provider.play([QuietPiece(60), silent, TextPiece("Here "), speaking, *reply("I am")])
    desk.type("anybody?")
    desk.press(Qt.Key.Key_Return)
    hint = desk.window.page.composer._hint
    desk.until(lambda: hint.text() == "No answer for 60 s. Esc stops.")
    silent.release()
    desk.until(lambda: "Here" in desk.shown())
    desk.until(lambda: "No answer" not in hint.text())
    speaking.release()
    desk.until(lambda: len(desk.rows()) == 2)
    desk.idle()


def test_a_silent_provider_can_be_stopped(desk: Desk) -> None:
    desk.provider.play([QuietPiece(60), Hold()])
    desk.type("anybody?")
    desk.press(Qt.Key.Key_Return)
    hint = desk.window.page.composer._hint
    desk.until(lambda: "No answer for 60 s" in hint.text())
    desk.press(Qt.Key.Key_Escape)
    desk.idle()
    assert "No answer" not in hint.text()
    assert desk.provider.closed_early == 1


def test_a_message_the_disk_refuses_stays_in_the_composer(desk: Desk) -> None:
    files = ChatFiles(desk.root / "sessions" / desk.session)
    with refusing(files.chat):
        desk.type("precious")
        desk.press(Qt.Key.Key_Return)
        hint = desk.window.page.composer._hint
        desk.until(lambda: hint.property("isError") is True)
        desk.idle()
        assert desk.window.page.composer.text() == "precious"
    desk.provider.play(reply("ok"))
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: len(desk.rows()) == 2)
    desk.idle()
    assert desk.window.page.composer.text() == ""


def test_older_messages_are_loaded_as_one_scrolls(desk: Desk) -> None:
    from app.history.store import Store
    from tests.unit.history.rows import text_row

    session = desk.session
    desk.close()
    store = Store(ChatFiles(desk.root / "sessions" / session), session=session)
    last = store.repair()
    for start in range(0, 1200, 30):
        rows = [
            text_row(f"m{n}", f"message number {n}").model_copy(update={"session": session})
            for n in range(start, start + 30)
        ]
        last += len(store.append(rows, expected_last_seq=last))
    desk.program = desk._start()
    transcript = desk.window.page.transcript
    assert "message number 1199" in desk.shown()
    assert transcript.is_at_end()

    def first_is_shown() -> bool:
        transcript.verticalScrollBar().setValue(0)
        return "message number 0\n" in desk.shown() + "\n"

    desk.until(first_is_shown)


def test_a_chat_open_elsewhere_is_read_only_and_can_be_taken_over(desk: Desk) -> None:
    desk.provider.play(reply("one"), reply("two"))
    desk.say("a")
    session = desk.session
    desk.close()
    other = ChatFiles(desk.root / "sessions" / session)
    other.lease.take()
    desk.program = desk._start()
    page = desk.window.page
    assert "one" in desk.shown()
    assert page.banner.isVisible()
    assert page.composer.field.isReadOnly()
    other.lease.release()
    desk.until(page.banner._button.isVisible)
    desk.qtbot.mouseClick(page.banner._button, Qt.MouseButton.LeftButton)
    desk.until(lambda: not page.banner.isVisible() and desk.session == session)
    desk.say("b")
    assert [row.text for row in desk.rows()] == ["a", "one", "b", "two"]


def test_a_narrow_window_shows_the_list_or_the_chat(desk: Desk) -> None:
    window = desk.window
    window.resize(360, 700)
    desk.until(lambda: not window.panel.isVisible())
    assert window.page.isVisible()
    window.actions_.show_chats.trigger()
    assert window.panel.isVisible()
    assert not window.page.isVisible()
    row = window.chats_model.row_of(desk.session)
    assert row is not None
    rect = window.panel.list.visualRect(window.chats_model.index(row))
    desk.qtbot.mouseClick(window.panel.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert window.page.isVisible()
    window.resize(1000, 700)
    desk.until(window.panel.isVisible)


def test_f6_walks_through_the_panes(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("a")
    window = desk.window
    window.page.composer.field.setFocus()
    walked = []
    for _ in range(3):
        window.actions_.next_pane.trigger()
        walked.append(QApplication.focusWidget())
    assert [window.panel.list, window.page.transcript, window.page.composer.field] == walked


def test_the_right_button_opens_no_chat(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("a")
    first = desk.session
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session not in ("", first))
    second = desk.session
    row = desk.window.chats_model.row_of(first)
    assert row is not None
    pos: QPoint = desk.window.panel.list.visualRect(desk.window.chats_model.index(row)).center()
    desk.qtbot.mousePress(desk.window.panel.list.viewport(), Qt.MouseButton.RightButton, pos=pos)
    assert second == desk.session


def test_about_names_the_licences(desk: Desk) -> None:
    desk.window.actions_.about.trigger()
    from PySide6.QtWidgets import QPlainTextEdit

    from app.ui.settings.window import SettingsWindow

    dialog = desk.window.findChild(SettingsWindow)
    assert dialog is not None
    assert dialog.page is dialog.about
    notices = dialog.about.findChild(QPlainTextEdit)
    assert notices is not None
    assert "LGPL" in notices.toPlainText()
    dialog.close()


def test_every_control_has_a_name(desk: Desk) -> None:
    from PySide6.QtGui import QAccessible
    from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QPlainTextEdit

    nameless = []
    for kind in (QAbstractButton, QAbstractItemView, QPlainTextEdit):
        for widget in desk.window.findChildren(kind):
            interface = QAccessible.queryAccessibleInterface(widget)
            if widget.isVisible() and interface and not interface.text(QAccessible.Text.Name):
                nameless.append(widget)
    assert nameless == []


def test_the_theme_follows_the_system(desk: Desk) -> None:
    before = desk.window.palette().window().color()
    scheme_changed = QGuiApplication.styleHints().colorSchemeChanged
    scheme_changed.emit(Qt.ColorScheme.Dark)
    assert desk.window.palette().window().color().lightness() < 80
    scheme_changed.emit(Qt.ColorScheme.Light)
    assert before == desk.window.palette().window().color()


def test_a_reply_that_ends_while_its_chat_opens_is_shown(desk: Desk) -> None:
    """The row may be told before the chat is shown: it must not fall between."""
    for number in range(8):
        hold = Hold()
        desk.provider.play([TextPiece(f"reply {number} "), hold, *reply("is whole")])
        desk.type(f"message {number}")
        desk.press(Qt.Key.Key_Return)
        desk.reached(hold)
        first = desk.session
        desk.window.actions_.new_chat.trigger()
        desk.until(lambda first=first: desk.session not in ("", first))  # type: ignore[misc]
        desk.window.chats.open(first)
        hold.release()
        desk.until(lambda first=first: desk.session == first)  # type: ignore[misc]
        desk.idle()
        assert desk.shown().count(f"reply {number} is whole") == 1


# What using it as a person has found


def test_what_is_typed_before_the_first_chat_is_open_is_kept(desk: Desk) -> None:
    desk.close()
    desk.program = desk.show()
    assert not desk.session
    desk.type("early bird")
    desk.until(lambda: bool(desk.session))
    assert desk.window.page.composer.text() == "early bird"
    desk.restart()
    assert desk.window.page.composer.text() == "early bird"


def test_a_reply_the_disk_refuses_says_so_and_is_saved_again(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([TextPiece("precious"), hold, *reply(" words")])
    desk.type("go")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    files = ChatFiles(desk.root / "sessions" / desk.session)
    with refusing(files.chat):
        hold.release()
        desk.until(lambda: "not saved yet" in desk.spoken())
        desk.idle()
        assert "precious words" in desk.spoken()
        assert "no reply" not in desk.spoken()
        assert not desk.window.actions_.resume.isEnabled()
    desk.window.page.transcript.action_triggered.emit("", ItemAction.SAVE)
    desk.until(lambda: "not saved yet" not in desk.spoken())
    assert [row.text for row in desk.rows()] == ["go", "precious words"]


def test_a_title_that_is_being_typed_survives_the_end_of_a_reply(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([TextPiece("x"), hold, *reply("y")])
    desk.type("first words")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    desk.until(lambda: desk.titles() == ["first words"])
    desk.window.actions_.rename.trigger()
    editor = QApplication.focusWidget()
    assert isinstance(editor, QLineEdit)
    desk.qtbot.keyClicks(editor, "Half typed")
    hold.release()
    desk.idle()
    assert editor.text() == "Half typed"
    desk.qtbot.keyClick(editor, Qt.Key.Key_Return)
    desk.until(lambda: desk.titles() == ["Half typed"])


def test_renaming_a_chat_without_a_title_to_nothing_leaves_it_so(desk: Desk) -> None:
    desk.window.actions_.rename.trigger()
    editor = QApplication.focusWidget()
    assert isinstance(editor, QLineEdit)
    desk.qtbot.keyClick(editor, Qt.Key.Key_Return)
    desk.until(desk.window.panel.list.hasFocus)
    desk.provider.play(reply("ok"))
    desk.window.page.composer.field.setFocus()
    desk.say("a title of its own")
    assert desk.titles() == ["a title of its own"]


@pytest.mark.parametrize("text", ["10\u00a0km", "a\u2028b", "tab\tand  two spaces", "x\u200by"])
def test_a_message_is_kept_to_the_character(desk: Desk, text: str) -> None:
    desk.provider.play(reply("ok"))
    desk.window.page.composer.set_text(text)
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: len(desk.rows()) == 2)
    desk.idle()
    assert desk.rows()[0].text == text


@pytest.mark.parametrize("text", ["\u200b", " \n\t", "\ufeff"])
def test_a_message_that_cannot_be_seen_is_not_sent(desk: Desk, text: str) -> None:
    desk.window.page.composer.set_text(text)
    assert not desk.window.page.composer.buttons.main.isEnabled()
    desk.press(Qt.Key.Key_Return)
    assert desk.rows() == []
    desk.window.page.composer.set_text("")


def test_html_alone_is_pasted_as_its_text(desk: Desk) -> None:
    from PySide6.QtCore import QMimeData

    data = QMimeData()
    data.setHtml('<img src="file:///dev/zero"><p>one <b>two</b></p>')
    QGuiApplication.clipboard().setMimeData(data)
    desk.window.page.composer.field.paste()
    assert desk.window.page.composer.text().strip("\ufffc\n ") == "one two"
    desk.window.page.composer.set_text("")


def two_chats(desk: Desk) -> tuple[str, str]:
    """Say something in a first chat, and open a second, empty one."""
    first = desk.session
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session not in ("", first))
    return first, desk.session


def test_coming_back_to_a_running_reply_offers_no_second_one(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([TextPiece("half "), hold, *reply("done")])
    desk.type("go")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    first, _ = two_chats(desk)
    desk.window.chats.open(first)
    desk.until(lambda: desk.session == first)
    assert "half" in desk.spoken()
    assert "no reply" not in desk.spoken()
    assert not desk.window.actions_.resume.isEnabled()
    hold.release()
    desk.idle()


def test_coming_back_to_a_chat_that_waits_shows_what_for(desk: Desk) -> None:
    desk.provider.play([ProviderError(ErrorKind.RATE_LIMIT, retry_after_seconds=200)])
    desk.type("go")
    desk.press(Qt.Key.Key_Return)
    hint = desk.window.page.composer._hint
    desk.until(lambda: "Trying again" in hint.text())
    assert "Waiting to try again" in desk.spoken()
    first, second = two_chats(desk)
    assert "Trying again" not in hint.text()
    desk.window.chats.open(first)
    desk.until(lambda: desk.session == first)
    assert "Trying again" in hint.text()
    assert "Waiting to try again" in desk.spoken()
    desk.press(Qt.Key.Key_Escape)
    desk.idle()
    assert "Waiting to try again" not in desk.spoken()
    assert second != first


def test_tab_reaches_everything_both_ways(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("a")
    desk.type("x")
    window = desk.window
    window.page.composer.field.setFocus()
    walks = []
    for key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
        walked = []
        for _ in range(20):
            walked.append(QApplication.focusWidget())
            desk.qtbot.keyClick(QApplication.focusWidget(), key)
        walks.append({widget for widget in walked if widget is not None})
        window.page.composer.field.setFocus()
    wanted = {window.panel._new, window.panel.list, window.page._header.panel_button, window.page.transcript}
    wanted |= {window.page.composer.field, window.page.composer.buttons.main}
    assert wanted <= walks[0]
    assert wanted <= walks[1]


def test_enter_in_the_list_goes_on_to_the_message_field(desk: Desk) -> None:
    window = desk.window
    window.resize(360, 640)
    desk.until(lambda: not window.panel.isVisible())
    window.actions_.show_chats.trigger()
    assert QApplication.focusWidget() is window.panel.list
    desk.qtbot.keyClick(window.panel.list, Qt.Key.Key_Return)
    assert window.page.isVisible()
    assert QApplication.focusWidget() is window.page.composer.field
    window.actions_.show_chats.trigger()
    window.actions_.next_pane.trigger()
    assert QApplication.focusWidget() is window.page.composer.field


def test_every_delete_can_be_undone_by_the_keyboard(desk: Desk) -> None:
    desk.provider.play(reply("one"), reply("two"))
    desk.say("first chat")
    two_chats(desk)
    desk.say("second chat")
    undo = desk.window.actions_.undo_delete
    assert not undo.isEnabled()
    for _ in range(2):
        count = len(desk.titles())
        desk.window.actions_.delete.trigger()
        desk.until(lambda count=count: len(desk.titles()) < count or desk.titles() == ["New chat"])  # type: ignore[misc]
        desk.until(lambda: bool(desk.session))
    for title in ("first chat", "second chat"):
        desk.until(undo.isEnabled)
        undo.trigger()
        desk.until(lambda title=title: title in desk.titles())  # type: ignore[misc]
    assert not undo.isEnabled()
    assert not desk.window.toast.isVisible()


def test_a_chat_that_cannot_be_opened_says_why_and_tries_again(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("a")
    first, _ = two_chats(desk)
    files = ChatFiles(desk.root / "sessions" / first)
    with refusing(files.chat):
        desk.window.chats.open(first)
        banner = desk.window.page.banner
        desk.until(banner._button.isVisible)
    desk.qtbot.mouseClick(banner._button, Qt.MouseButton.LeftButton)
    desk.until(lambda: desk.session == first)
    assert "one" in desk.shown()
    assert not banner.isVisible()


def test_a_data_folder_that_cannot_be_read_is_named(desk: Desk) -> None:
    desk.close()
    moved = desk.root.rename(desk.root.parent / "moved")
    desk.root.write_text("a file where the folder should be")
    desk.program = desk.show()
    banner = desk.window.page.banner
    desk.until(banner.isVisible)
    assert str(desk.root) in banner._text.text()
    assert desk.window.page.composer.field.isReadOnly()
    desk.root.unlink()
    moved.rename(desk.root)
    desk.qtbot.mouseClick(banner._button, Qt.MouseButton.LeftButton)
    desk.until(lambda: bool(desk.session))


def test_a_chat_that_has_outgrown_its_model_leads_to_a_new_one(desk: Desk) -> None:
    desk.provider.play([ProviderError(ErrorKind.CONTEXT_EXCEEDED)])
    desk.say("long")
    first = desk.session
    desk.window.page.transcript.action_triggered.emit("", ItemAction.NEW_CHAT)
    desk.until(lambda: desk.session not in ("", first))
    assert desk.window.page.shows_empty


def test_the_edit_menu_offers_what_can_be_done(desk: Desk) -> None:
    actions = desk.window.actions_
    menu = next(menu for menu in desk.window.menuBar().findChildren(QMenu) if menu.title() == "&Edit")
    all_of_them = (actions.undo, actions.redo, actions.cut, actions.copy, actions.paste, actions.select_all)

    def offered() -> list[bool]:
        menu.aboutToShow.emit()
        found = [action.isEnabled() for action in all_of_them]
        menu.aboutToHide.emit()
        return found

    QGuiApplication.clipboard().clear()
    field = desk.window.page.composer.field
    field.setFocus()
    assert offered() == [False] * 6
    desk.type("text")
    field.selectAll()
    QGuiApplication.clipboard().setText("x")
    assert offered() == [True, False, True, True, True, True]
    desk.window.panel.list.setFocus()
    assert offered() == [False] * 6
    assert all(action.isEnabled() for action in all_of_them), "keys work when the menu is shut"
    desk.window.page.composer.set_text("")


def test_letters_typed_in_the_transcript_go_to_the_message_field(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("a")
    desk.window.page.transcript.setFocus()
    desk.qtbot.keyClicks(desk.window.page.transcript, "hi")
    assert desk.window.page.composer.text().startswith("h")
    assert QApplication.focusWidget() is desk.window.page.composer.field
    desk.window.page.composer.set_text("")


@pytest.mark.parametrize("width", [360, 512, 700, 801, 1100, 1299])
def test_the_composer_stands_below_the_transcripts_column(desk: Desk, width: int) -> None:
    desk.provider.play(reply("one"))
    desk.say("a")
    desk.window.resize(width, 640)
    page = desk.window.page
    viewport = page.transcript.viewport()
    column = min(760, viewport.width() - 24)
    left = viewport.mapTo(page, QPoint((viewport.width() - column) // 2, 0)).x()
    frame = page.composer._frame
    assert column == frame.width()
    assert abs(left - frame.mapTo(page, QPoint(0, 0)).x()) <= 1, "half a pixel may fall either way"


def held_chat(desk: Desk) -> tuple[str, str, ChatFiles]:
    """Two chats; the first is open in another process, shown here, and free again by now."""
    desk.provider.play(reply("one"))
    desk.say("a")
    first, second = two_chats(desk)
    desk.window.chats.open(first)
    desk.until(lambda: desk.session == first)
    desk.close()
    other = ChatFiles(desk.root / "sessions" / first)
    other.lease.take()
    desk.program = desk._start()
    other.lease.release()
    desk.until(desk.window.page.banner._button.isVisible)
    return first, second, other


def test_open_here_and_then_another_chat_shows_the_other(desk: Desk) -> None:
    _first, second, _other = held_chat(desk)
    desk.qtbot.mouseClick(desk.window.page.banner._button, Qt.MouseButton.LeftButton)
    desk.window.chats.open(second)
    desk.until(lambda: desk.session == second)
    desk.qtbot.wait(200)
    assert desk.session == desk.window.chats.open_session == second
    assert desk.window.page.shows_empty


def test_what_is_typed_while_the_first_chat_opens_goes_to_the_one_chosen_next(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("a")
    first, second = two_chats(desk)
    desk.close()
    desk.program = desk.show()
    desk.type("early")
    desk.until(lambda: bool(desk.window.chats.open_session))
    desk.window.chats.open(first if desk.window.chats.open_session == second else second)
    desk.until(lambda: bool(desk.session))
    desk.until(lambda: not desk.window.page.composer.field.isReadOnly())
    if not desk.window.page.composer.text():
        # The first one was there before the other was chosen: the text is its draft.
        other = first if desk.session == second else second
        desk.window.chats.open(other)
        desk.until(lambda: desk.session == other)
    assert desk.window.page.composer.text() == "early"


def test_new_chat_while_another_opens_is_shown(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("a")
    first, _second = two_chats(desk)
    desk.window.chats.open(first)
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session == desk.window.chats.open_session != first)
    assert desk.window.page.shows_empty


def test_undo_in_the_moment_the_only_chat_goes_shows_it_again(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("keep me")
    session = desk.session
    desk.window.chats.deleted.connect(desk.window.actions_.undo_delete.trigger)
    desk.window.actions_.delete.trigger()
    desk.until(lambda: set(desk.titles()) == {"keep me", "New chat"})
    desk.until(lambda: desk.session == session)
    assert desk.window.chats.open_session == session
    assert "one" in desk.shown()


def test_undo_pressed_twice_brings_both_chats_back(desk: Desk) -> None:
    desk.provider.play(reply("one"), reply("two"))
    desk.say("first chat")
    two_chats(desk)
    desk.say("second chat")
    for _ in range(2):
        session = desk.session
        desk.window.actions_.delete.trigger()
        desk.until(lambda session=session: desk.session not in ("", session))  # type: ignore[misc]
    desk.window.actions_.undo_delete.trigger()
    desk.window.actions_.undo_delete.trigger()
    desk.until(lambda: {"first chat", "second chat"} <= set(desk.titles()))
    assert not desk.window.toast.isVisible()


def test_a_chat_restored_as_the_dialog_shuts_is_in_the_list(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("keep me")
    session = desk.session
    desk.window.actions_.delete.trigger()
    desk.until(lambda: desk.session not in ("", session))
    desk.window.actions_.recently_deleted.trigger()
    dialog = desk.window.findChild(QDialog)
    assert dialog is not None
    entries = dialog.findChild(QListWidget)
    assert isinstance(entries, QListWidget)
    desk.until(lambda: entries.count() == 1)
    restore = next(button for button in dialog.findChildren(QPushButton) if button.text() == "Restore")
    desk.qtbot.mouseClick(restore, Qt.MouseButton.LeftButton)
    dialog.close()
    desk.until(lambda: "keep me" in desk.titles())


def test_a_row_of_an_impossible_time_is_shown_without_one(desk: Desk) -> None:
    session = desk.session
    desk.close()
    line = f'{{"v":1,"id":"a","session":"{session}","role":"user","created":"0001-01-01T00:00:00Z",'
    line += '"parts":[{"type":"text","text":"from afar"}]}\n'
    ChatFiles(desk.root / "sessions" / session).chat.write_text(line)
    desk.program = desk._start()
    assert "from afar" in desk.shown()
    desk.window.page.transcript.grab()
