"""Chats in the trash: get back, or remove for good."""

from typing import Final

from PySide6.QtCore import QDateTime, QLocale, QModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from app.aio import TaskSet
from app.domain.chats import DeletedChat
from app.domain.errors import KnownError
from app.ui.bridge import Bridge

_ID_ROLE: Final = Qt.ItemDataRole.UserRole
_TITLE_ROLE: Final = Qt.ItemDataRole.UserRole + 1


class RecentlyDeleted(QDialog):
    """Lists deleted chats, the latest first."""

    restore_requested = Signal(str)
    """Id of a chat to get back."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._tasks = tasks
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Recently deleted"))
        self._note = QLabel(self.tr("Deleted chats are kept for 30 days and then removed."))
        self._note.setTextFormat(Qt.TextFormat.PlainText)
        self._note.setWordWrap(True)
        self._list = QListWidget()
        self._list.setAccessibleName(self.tr("Deleted chats"))
        self._list.currentItemChanged.connect(self._show_what_works)
        self._list.doubleClicked.connect(self._restore_clicked)
        self._restore_button = QPushButton(self.tr("Restore"))
        self._restore_button.clicked.connect(self._restore)
        self._restore_button.setDefault(True)
        self._purge_button = QPushButton(self.tr("Remove for good…"))
        self._purge_button.clicked.connect(self._ask_to_purge)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(self._restore_button)
        row.addWidget(self._purge_button)
        row.addStretch(1)
        row.addWidget(buttons)
        layout = QVBoxLayout(self)
        layout.addWidget(self._note)
        layout.addWidget(self._list, 1)
        layout.addLayout(row)
        self.resize(min(480, max(320, parent.width() - 40)), 360)
        self._show_what_works()
        self.reload()

    async def _load(self) -> None:
        reason = ""
        chats: tuple[DeletedChat, ...] = ()
        try:
            chats = await self._bridge.list_deleted()
        except KnownError as error:
            reason = str(error)
        if not isValid(self):
            # Shut meanwhile.
            return
        if reason:
            self._note.setText(reason)
            return
        self._list.clear()
        for chat in chats:
            self._list.addItem(self._item(chat))
        if not chats:
            self._note.setText(self.tr("No deleted chats."))
        else:
            self._list.setCurrentRow(0)
        self._show_what_works()

    def _item(self, chat: DeletedChat) -> QListWidgetItem:
        deleted = QDateTime.fromSecsSinceEpoch(int(chat.deleted.timestamp()))
        moment = QLocale().toString(deleted, QLocale.FormatType.ShortFormat)
        title = chat.title or self.tr("New chat")
        item = QListWidgetItem(self.tr("{title} — deleted {moment}").format(title=title, moment=moment))
        item.setData(_ID_ROLE, chat.id)
        item.setData(_TITLE_ROLE, title)
        return item

    @Slot()
    def _show_what_works(self) -> None:
        has_one = self._list.currentItem() is not None
        self._restore_button.setEnabled(has_one)
        self._purge_button.setEnabled(has_one)

    def _current(self) -> str | None:
        item = self._list.currentItem()
        return str(item.data(_ID_ROLE)) if item is not None else None

    @Slot(QModelIndex)
    def _restore_clicked(self, _index: QModelIndex) -> None:
        self._restore()

    @Slot()
    def _restore(self) -> None:
        session = self._current()
        if session is not None:
            self.restore_requested.emit(session)

    @Slot()
    def reload(self) -> None:
        """Show the trash as it is now."""
        self._tasks.spawn(self._load(), name="list deleted chats")

    @Slot()
    def _ask_to_purge(self) -> None:
        session = self._current()
        if session is None:
            return
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle(self.tr("Remove for good"))
        box.setTextFormat(Qt.TextFormat.PlainText)
        item = self._list.currentItem()
        assert item is not None
        question = self.tr("Remove “{title}” for good? It can't be brought back.")
        box.setText(question.format(title=item.data(_TITLE_ROLE)))
        remove = box.addButton(self.tr("Remove"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        remove.clicked.connect(lambda: self._tasks.spawn(self._purge(session), name="remove a chat"))
        box.open()

    async def _purge(self, session: str) -> None:
        try:
            await self._bridge.purge_chat(session)
        except KnownError as error:
            if isValid(self):
                self._note.setText(str(error))
            return
        if isValid(self):
            await self._load()
