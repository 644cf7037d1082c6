"""The keyboard: letters of menus, and the order in which the Tab key goes through the window."""

from collections import Counter

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.ui.chat.queue_tray import QueueTray
from tests.fakes.scripted import reply
from tests.ui.chat.test_composer_queue import begin, queue
from tests.ui.conftest import Desk


def stops(desk: Desk) -> list[str]:
    """Return the names of what the Tab key comes to, from the button for the list of chats to Send."""
    first = desk.window.page._header.panel_button
    found: list[str] = []
    at: QWidget | None = first
    while at is not None:
        if at.isVisible() and at.isEnabled() and at.focusPolicy() & Qt.FocusPolicy.TabFocus:
            found.append(at.accessibleName() or at.property("text"))
        at = at.nextInFocusChain()
        if at is first:
            break
    return found


def middle(desk: Desk) -> list[str]:
    """Return what stands between the model and the list of chats."""
    found = stops(desk)
    return found[found.index("History") + 1 : found.index("Search chats")]


def test_no_two_entries_of_a_menu_have_the_same_letter(desk: Desk) -> None:
    bar = desk.window.menuBar()
    assert_apart(bar.actions())
    menus = [action.menu() for action in bar.actions()]
    assert len(menus) > 3
    for menu in menus:
        assert isinstance(menu, QMenu)
        assert_apart(menu.actions())


def assert_apart(actions: list[QAction]) -> None:
    letters = Counter(QKeySequence.mnemonic(each.text()).toString() for each in actions if not each.isSeparator())
    assert not [each.text() for each in actions if letters[QKeySequence.mnemonic(each.text()).toString()] > 1]


def test_the_tab_key_goes_from_the_top_to_the_bottom(desk: Desk) -> None:
    assert stops(desk)[:4] == ["List of chats", "Profile: Assistant", "Model: Scripted model", "History"]
    assert middle(desk)[3:] == ["Message", "Attach a folder", "Attach files"], "the prompts stand above the field"

    hold = begin(desk, "a", "b")
    queue(desk, "one")
    desk.type("x")
    buttons = ["Attach a folder", "Attach files", "Queue the message", "When to send the message", "Stop the reply"]
    assert middle(desk) == ["Transcript", "Queued messages", "Message", *buttons]

    tray: QueueTray = desk.window.page.queue_tray
    tray.list.setFocus()
    desk.qtbot.keyClick(tray.list, Qt.Key.Key_F2)
    assert middle(desk)[1:5] == ["Queued messages", "Save", "Cancel", "Message"]
    desk.qtbot.keyClick(desk.window.page.composer.field, Qt.Key.Key_Escape)
    assert middle(desk) == ["Transcript", "Queued messages", "Message", *buttons]

    desk.window.page.composer.field.clear()
    hold.release()
    desk.until(lambda: len(desk.rows()) == 4)
    desk.idle()
    assert middle(desk) == ["Transcript", "Message", "Attach a folder", "Attach files"]


def test_the_tab_key_comes_to_the_find_bar_before_the_transcript(desk: Desk) -> None:
    desk.provider.play(reply("yes"))
    desk.say("hello")
    desk.idle()
    desk.window.actions_.find.trigger()
    assert middle(desk)[0] == "Find in this chat"
    assert middle(desk)[-4:] == ["Transcript", "Message", "Attach a folder", "Attach files"]
