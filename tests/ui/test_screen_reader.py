"""What a screen reader is told: everything that takes the keyboard or the mouse has a name, in plain words."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QWidget

from tests.ui.chat.test_attachments import attach
from tests.ui.chat.test_composer_queue import begin, queue, tray
from tests.ui.conftest import Desk


def faults(top: QWidget) -> list[str]:
    """Return what has no name, and what would be read with the tags of a rich text."""
    found = []
    for widget in [top, *top.findChildren(QWidget)]:
        told = QAccessible.queryAccessibleInterface(widget)
        if not widget.isVisible() or told is None:
            continue
        name = told.text(QAccessible.Text.Name)
        is_met = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) or isinstance(widget, QAbstractButton)
        if is_met and not name.strip():
            found.append(f"{type(widget).__name__} {widget.objectName()} has no name")
        if "<qt>" in name + told.text(QAccessible.Text.Description):
            found.append(f"{type(widget).__name__} “{name}” is read with tags")
    return found


def test_all_that_can_be_pressed_has_a_name_in_plain_words(desk: Desk, tmp_path: Path) -> None:
    window = desk.window
    assert not faults(window)
    begin(desk)
    queue(desk, "one")
    queue(desk, "two")
    attach(desk, tmp_path / "a.txt", b"a")
    assert not faults(window)
    tray(desk).list.setFocus()
    desk.qtbot.keyClick(tray(desk).list, Qt.Key.Key_F2)
    assert not faults(window)
    desk.qtbot.keyClick(window.page.composer.field, Qt.Key.Key_Escape)
    window.actions_.stop.trigger()
    desk.idle()
    window.resize(360, 760)
    desk.until(lambda: window.width() == 360)
    assert not faults(window)
    window.resize(1_400, 760)
    for action in (window.actions_.find, window.actions_.show_memory, window.actions_.show_history):
        action.trigger()
    assert not faults(window)
