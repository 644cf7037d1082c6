"""The folder of a chat: attached by dialog or drop, named beside the field, changed, detached."""

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QObject, QPoint, QPointF, QSize, Qt, QUrl, Slot
from PySide6.QtGui import QAction, QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMessageBox, QPushButton

from app.domain.tool_names import WRITE_FILE
from app.history.files import ChatFiles
from app.ui.chat.folder_chip import FolderButton, FolderChip
from tests.fakes.scripted import reply
from tests.ui.conftest import Desk

NO_GRAB = "This plugin does not support (raise|grabbing)"


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    made = tmp_path / "Letters & notes"
    made.mkdir()
    return made


def chip(desk: Desk) -> FolderChip:
    return desk.window.page.composer.folder_chip


def button(desk: Desk) -> FolderButton:
    return desk.window.page.composer.folder_button


def hint(desk: Desk) -> str:
    return desk.window.page.composer._hint.text()


def meta(desk: Desk) -> dict[str, Any]:
    path = ChatFiles(desk.root / "sessions" / desk.session).meta
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def attach(desk: Desk, folder: Path) -> None:
    desk.window.folder.attach(desk.session, str(folder))
    desk.until(lambda: chip(desk).isVisible() and folder.name in chip(desk).label)


def menu(desk: Desk) -> dict[str, QAction]:
    made = desk.window.folder.make_menu()
    made.deleteLater()
    return {action.text(): action for action in made.actions() if not action.isSeparator()}


def questions() -> list[QMessageBox]:
    return [box for box in QApplication.topLevelWidgets() if isinstance(box, QMessageBox) and box.isVisible()]


def answer(desk: Desk, text: str) -> str:
    (box,) = questions()
    pressed = next(each for each in box.findChildren(QPushButton) if each.text().replace("&", "") == text)
    desk.qtbot.mouseClick(pressed, Qt.MouseButton.LeftButton)
    return box.text()


def drop(desk: Desk, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    page, zone = desk.window.page, desk.window.page._drop_zone
    for widget in (page, zone):
        enter = QDragEnterEvent(
            QPoint(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        )
        QApplication.sendEvent(widget, enter)
    event = QDropEvent(
        QPointF(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(zone, event)


class _Receiver(QObject):
    """Is handed addresses instead of the desktop."""

    def __init__(self, opened: list[QUrl]) -> None:
        super().__init__()
        self._opened = opened

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        self._opened.append(url)


def test_a_folder_is_chosen_in_the_dialog_and_named_beside_the_field(desk: Desk, letters: Path) -> None:
    assert button(desk).isVisible()
    assert not chip(desk).isVisible()
    desk.press(Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    dialog = desk.window.findChild(QFileDialog)
    assert dialog is not None
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    assert field is not None
    field.setText(str(letters))
    dialog.accept()
    desk.until(chip(desk).isVisible)
    assert not button(desk).isVisible()
    assert chip(desk).text() == "Letters && notes  ▾"
    assert chip(desk).accessibleName() == "Folder of this chat: Letters & notes"
    assert "asks before it changes any" in chip(desk).toolTip()
    assert meta(desk)["folder"] == str(letters)


def test_a_folder_stays_with_its_chat(desk: Desk, letters: Path) -> None:
    desk.provider.play(reply("ok"))
    desk.say("first")
    attach(desk, letters)
    first = desk.session
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session != first and button(desk).isVisible())
    assert not chip(desk).isVisible()
    desk.window.chats.open(first)
    desk.until(chip(desk).isVisible)
    desk.restart()
    desk.window.chats.open(first)
    desk.until(chip(desk).isVisible)


def test_a_folder_is_detached(desk: Desk, letters: Path) -> None:
    attach(desk, letters)
    assert list(menu(desk)) == ["Open folder", "Change…", "Detach"]
    desk.window.folder.detach()
    desk.until(button(desk).isVisible)
    assert not chip(desk).isVisible()
    assert meta(desk)["folder"] == ""


@pytest.mark.qt_log_ignore(NO_GRAB, extend=True)
def test_the_menu_of_the_chip_opens_by_keyboard(desk: Desk, letters: Path) -> None:
    attach(desk, letters)
    chip(desk).setFocus()
    desk.qtbot.keyClick(chip(desk), Qt.Key.Key_Space)
    shown = QApplication.activePopupWidget()
    assert shown is not None
    desk.qtbot.keyClick(shown, Qt.Key.Key_Up)
    desk.qtbot.keyClick(shown, Qt.Key.Key_Return)
    desk.until(button(desk).isVisible)


def test_the_folder_is_opened_in_the_file_manager(desk: Desk, letters: Path) -> None:
    attach(desk, letters)
    opened: list[QUrl] = []
    receiver = _Receiver(opened)
    QDesktopServices.setUrlHandler("file", receiver, "open")  # type: ignore[arg-type]
    try:
        desk.window.folder.open_folder()
    finally:
        QDesktopServices.unsetUrlHandler("file")
    assert [url.toLocalFile() for url in opened] == [str(letters)]


def test_a_folder_that_can_not_be_attached_is_refused_in_words(desk: Desk, tmp_path: Path) -> None:
    desk.window.folder.attach(desk.session, str(tmp_path / "nowhere"))
    desk.until(lambda: "nowhere" in hint(desk))
    assert desk.window.page.composer._hint.property("isError")
    assert not chip(desk).isVisible()
    (tmp_path / "somewhere").mkdir()
    attach(desk, tmp_path / "somewhere")
    desk.until(lambda: "nowhere" not in hint(desk))


def test_a_refusal_for_another_chat_is_told_all_the_same(desk: Desk, tmp_path: Path) -> None:
    desk.provider.play(reply("ok"))
    desk.say("first")
    first = desk.session
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session != first)
    desk.window.folder.attach(first, str(tmp_path / "nowhere"))
    desk.until(desk.window.toast.isVisible)
    assert "nowhere" not in hint(desk)


def test_a_folder_that_is_gone_is_said_so(desk: Desk, letters: Path) -> None:
    attach(desk, letters)
    letters.rmdir()
    desk.window.folder.look()
    desk.until(lambda: "not there any more" in chip(desk).label)
    assert "Choose another folder" in chip(desk).toolTip()
    assert not menu(desk)["Open folder"].isEnabled()
    letters.mkdir()
    desk.window.folder.look()
    desk.until(lambda: "not there" not in chip(desk).label)


# What is always allowed


def allow_always(desk: Desk, *names: str) -> None:
    """Put into the chat's file what an answer “always” puts there, and start again."""
    session = desk.session
    desk.close()
    path = ChatFiles(desk.root / "sessions" / session).meta
    path.write_text(json.dumps({**json.loads(path.read_text()), "grants": list(names)}))
    desk.program = desk._start()


def test_what_is_always_allowed_is_listed_and_can_be_taken_back(desk: Desk, letters: Path) -> None:
    desk.provider.play(reply("ok"))
    desk.say("first")
    attach(desk, letters)
    assert not desk.window.actions_.ask_again.isEnabled()
    allow_always(desk, WRITE_FILE)
    desk.until(chip(desk).isVisible)
    desk.until(desk.window.actions_.ask_again.isEnabled)
    entries = menu(desk)
    assert list(entries) == [
        "Open folder",
        "Change…",
        "Always allowed here: Write a file",
        "Ask again for everything",
        "Detach",
    ]
    desk.window.actions_.ask_again.trigger()
    desk.until(lambda: "Ask again for everything" not in menu(desk))
    assert meta(desk)["grants"] == []
    assert meta(desk)["folder"] == str(letters)
    desk.until(lambda: not desk.window.actions_.ask_again.isEnabled())


# Dropping


def test_a_folder_that_is_dropped_is_attached_after_a_question(desk: Desk, letters: Path) -> None:
    drop(desk, letters)
    desk.until(lambda: bool(questions()))
    assert "“Letters & notes”" in answer(desk, "Attach")
    desk.until(chip(desk).isVisible)
    assert desk.window.page.composer.tray.chips == []


def test_a_dropped_folder_can_be_declined(desk: Desk, letters: Path) -> None:
    drop(desk, letters)
    desk.until(lambda: bool(questions()))
    answer(desk, "Cancel")
    desk.until(lambda: not questions())
    assert button(desk).isVisible()
    drop(desk, letters)
    desk.until(lambda: bool(questions()))
    answer(desk, "Cancel")


def test_a_second_folder_takes_the_place_of_the_first_after_a_question(
    desk: Desk, letters: Path, tmp_path: Path
) -> None:
    attach(desk, letters)
    drop(desk, letters)
    desk.until(lambda: "attached to the chat already" in hint(desk))
    (tmp_path / "Other").mkdir()
    drop(desk, tmp_path / "Other")
    desk.until(lambda: bool(questions()))
    assert "instead of “Letters & notes”" in answer(desk, "Attach")
    desk.until(lambda: chip(desk).label == "Other")


def test_a_folder_among_files_is_refused_in_words(desk: Desk, letters: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    drop(desk, letters, tmp_path / "a.txt")
    desk.until(lambda: "is a folder. Drop it alone" in hint(desk))
    desk.until(lambda: len(desk.window.page.composer.tray.chips) == 1)
    assert questions() == []


def test_a_long_name_fits_a_narrow_window(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / ("A folder with a name that is much longer than any line of a narrow window " * 2).strip()
    folder.mkdir()
    attach(desk, folder)
    desk.window.resize(QSize(360, 700))
    composer = desk.window.page.composer
    desk.until(lambda: composer.width() <= 360)
    desk.until(lambda: "…" in chip(desk).text())
    assert chip(desk).width() <= composer.width()
    assert folder.name in chip(desk).toolTip()
