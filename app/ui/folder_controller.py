"""The folder of the open chat: attached, changed, opened, detached, and what was always allowed in it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, QUrl, Signal, Slot
from shiboken6 import isValid

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.ui.bridge import Bridge
from app.ui.chat.composer import Composer

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from PySide6.QtWidgets import QMenu

    from app.domain.chats import ChatSummary


class FolderController(QObject):
    """Drives the chip and the button beside one composer's field."""

    failed = Signal(str)
    """A sentence for people about something of a chat that is not shown any more."""
    changed = Signal()
    """What may be done with the folder is another thing now."""

    def __init__(self, composer: Composer, bridge: Bridge, tasks: TaskSet, parent: QObject) -> None:
        super().__init__(parent)
        self._composer = composer
        self._bridge = bridge
        self._tasks = tasks
        self._chat: ChatSummary | None = None
        self._is_there = True
        self._may_change = False
        self._is_asking = False
        self._refused = ""
        composer.folder_button.clicked.connect(self.choose)
        composer.folder_chip.clicked.connect(self._show_menu)
        self._show_parts()

    # Which chat

    @property
    def session(self) -> str:
        """The chat whose folder is shown, empty for none."""
        return self._chat.id if self._chat is not None else ""

    @property
    def has_grants(self) -> bool:
        """Whether something is always allowed in the chat."""
        return self._chat is not None and bool(self._chat.grants)

    def show(self, chat: ChatSummary | None) -> None:
        """Show the folder of a chat as it is now."""
        before, self._chat = self._chat, chat
        if before is None or chat is None or before.folder != chat.folder or before.id != chat.id:
            self._is_there = True
        if before is None or chat is None or before.id != chat.id:
            self._refused = ""
        self._show_parts()
        self.look()
        if self.has_grants != (before is not None and bool(before.grants)):
            self.changed.emit()

    def allow(self, *, on: bool) -> None:
        """Say whether anything about the chat may be changed here."""
        self._may_change = on
        self._show_parts()

    @Slot()
    def look(self) -> None:
        """See whether the folder is still there."""
        if self._chat is not None and self._chat.folder:
            self._tasks.spawn(self._look(self._chat.folder), name="look for a folder")

    async def _look(self, folder: str) -> None:
        is_there = await self._bridge.run_aside(partial(_is_folder, folder))
        if isValid(self) and self._chat is not None and self._chat.folder == folder and is_there != self._is_there:
            self._is_there = is_there
            self._show_parts()

    def _show_parts(self) -> None:
        folder = self._chat.folder if self._chat is not None else ""
        self._composer.folder_chip.show_folder(folder, is_there=self._is_there)
        self._composer.folder_button.setVisible(not folder)
        self._composer.folder_button.setEnabled(self._may_change and self._chat is not None)

    # What the person wants

    @Slot()
    def choose(self) -> None:
        """Ask for a folder with the desktop's own dialog."""
        from PySide6.QtWidgets import QFileDialog

        if not self._may_change or self._chat is None:
            return
        start = self._chat.folder if self._is_there else ""
        dialog = QFileDialog(self._composer.window(), self.tr("Attach a folder"), start or str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        session = self.session
        dialog.fileSelected.connect(lambda folder: self.attach(session, folder))
        dialog.open()

    def attach(self, session: str, folder: str) -> None:
        """Let a chat work in a folder from its next message on."""
        self._tasks.spawn(self._run(session, self._bridge.set_folder(session, folder)), name="attach a folder")

    @Slot(str, str)
    def offer(self, session: str, folder: str) -> None:
        """Ask whether a folder that was dropped is to be attached."""
        from PySide6.QtWidgets import QMessageBox

        if session != self.session or not self._may_change or self._chat is None or self._is_asking:
            return
        if self._chat.folder and Path(folder) == Path(self._chat.folder):
            self._composer.set_hint(self.tr("This folder is attached to the chat already."))
            return
        self._is_asking = True
        box = QMessageBox(self._composer.window())
        box.setWindowTitle(self.tr("Attach a folder"))
        box.setIcon(QMessageBox.Icon.Question)
        box.setTextFormat(Qt.TextFormat.PlainText)
        said = self.tr("The model may read the files in it and asks before it changes any.")
        box.setText(f"{self._question(Path(folder).name or folder)} {said}")
        attach = box.addButton(self.tr("Attach"), QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(attach)
        attach.clicked.connect(lambda: self.attach(session, folder))
        box.finished.connect(self._end_asking)
        box.finished.connect(box.deleteLater)
        box.open()

    def _question(self, name: str) -> str:
        if self._chat is not None and self._chat.folder:
            text = self.tr("Attach the folder “{name}” to this chat instead of “{old}”?")
            return text.format(name=name, old=Path(self._chat.folder).name)
        return self.tr("Attach the folder “{name}” to this chat?").format(name=name)

    @Slot()
    def _end_asking(self) -> None:
        self._is_asking = False

    @Slot()
    def detach(self) -> None:
        """Let the chat work in no folder any more."""
        if self._chat is not None:
            self.attach(self._chat.id, "")

    @Slot()
    def ask_again(self) -> None:
        """Have everything asked again that was always allowed in the chat."""
        if self._chat is not None:
            session = self._chat.id
            self._tasks.spawn(self._run(session, self._bridge.revoke_grants(session)), name="ask again for everything")

    @Slot()
    def open_folder(self) -> None:
        """Show the folder in the desktop's own file manager."""
        from PySide6.QtGui import QDesktopServices

        if self._chat is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(self._chat.folder)):
            self._composer.set_hint(self.tr("The folder could not be opened."), is_error=True)

    async def _run(self, session: str, change: Coroutine[object, object, ChatSummary]) -> None:
        """Wait for a change; the event that follows it shows it."""
        try:
            await change
        except KnownError as error:
            if session == self.session:
                self._refused = str(error)
                self._composer.set_hint(self._refused, is_error=True)
            else:
                self.failed.emit(str(error))
            return
        if self._refused and session == self.session:
            # What was wrong is not any more.
            self._refused = ""
            self._composer.set_hint("")

    # The menu

    @Slot()
    def _show_menu(self) -> None:
        self.look()
        chip = self._composer.folder_chip
        menu = self.make_menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(chip.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def make_menu(self) -> QMenu:
        """Return what can be done with the folder."""
        from PySide6.QtWidgets import QMenu

        menu = QMenu(self._composer.folder_chip)
        menu.addAction(self.tr("Open folder"), self.open_folder).setEnabled(self._is_there)
        menu.addAction(self.tr("Change…"), self.choose).setEnabled(self._may_change)
        if self._chat is not None and self._chat.grants:
            from app.ui.tool_wording import tool_label

            menu.addSeparator()
            named = ", ".join(tool_label(name) for name in self._chat.grants).replace("&", "&&")
            menu.addAction(self.tr("Always allowed here: {tools}").format(tools=named)).setEnabled(False)
            menu.addAction(self.tr("Ask again for everything"), self.ask_again).setEnabled(self._may_change)
        menu.addSeparator()
        menu.addAction(self.tr("Detach"), self.detach).setEnabled(self._may_change)
        return menu


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False
