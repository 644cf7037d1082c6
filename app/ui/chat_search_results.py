"""The lower part of the list of chats while something is searched for: hits in messages, and how far the search is."""

from typing import Final

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QLabel, QListView, QPushButton, QVBoxLayout, QWidget

from app.ui.chat_search_delegate import ResultDelegate
from app.ui.chat_search_model import ChatSearchModel, EntryKind
from app.ui.theme import Theme

_HEADING_SCALE: Final = 0.88


class ChatSearchResults(QWidget):
    """Shows hits; asks for what the person wants to see."""

    hit_chosen = Signal(str, str, int)
    """A message: its chat, the id of its row, and where that begins in the history."""
    more_chosen = Signal(str)
    """All hits of a chat are wanted."""
    button_pressed = Signal()

    def __init__(self, model: ChatSearchModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._heading = QLabel(self.tr("In messages"))
        self._heading.setObjectName("chatSearchHeading")
        self.list = _ResultList()
        self.list.setObjectName("chatList")
        self.list.setAccessibleName(self.tr("Found in messages"))
        self.list.setModel(model)
        self._delegate = ResultDelegate(theme, self.list)
        self.list.setItemDelegate(self._delegate)
        self.list.clicked.connect(self._choose)
        self.list.activated.connect(self._choose)
        self.status = QLabel()
        self.status.setObjectName("mutedText")
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self.status.setWordWrap(True)
        self.button = QPushButton()
        self.button.clicked.connect(self.button_pressed)
        self.button.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self._heading)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.status)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addStretch(0)
        model.rowsInserted.connect(self._fit)
        model.rowsRemoved.connect(self._fit)
        model.modelReset.connect(self._fit)
        self.set_theme(theme)
        self._fit()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`."""
        self._delegate.theme = theme
        font = self.font()
        font.setPointSizeF(font.pointSizeF() * _HEADING_SCALE)
        font.setBold(True)
        self._heading.setFont(font)
        self._heading.setContentsMargins(theme.px(10), theme.px(4), 0, 0)
        self.status.setContentsMargins(theme.px(10), 0, 0, 0)
        self.list.scheduleDelayedItemsLayout()
        self.list.viewport().update()

    def show_status(self, text: str, *, button: str = "", is_news: bool = False) -> None:
        """Say how far the search is, and offer one thing to do. `is_news` is read out to those who listen."""
        self.status.setText(text)
        had_focus = self.button.hasFocus()
        self.button.setText(button)
        self.button.setVisible(bool(button))
        if had_focus and not button:
            self.list.setFocus()
        if is_news:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def focus_first(self) -> bool:
        """Go to the first hit; return whether there is one."""
        for row in range(self._model.rowCount()):
            index = self._model.index(row)
            if self._model.flags(index) & Qt.ItemFlag.ItemIsSelectable:
                self.list.setCurrentIndex(index)
                self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return True
        return False

    def choose_first(self) -> None:
        """Open the first hit, if there is one."""
        if self.focus_first():
            self._choose(self.list.currentIndex())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.list.scheduleDelayedItemsLayout()

    @Slot(QModelIndex)
    def _choose(self, index: QModelIndex) -> None:
        entry = self._model.entry_at(index)
        if entry is None:
            return
        match entry.kind:
            case EntryKind.HIT:
                self.hit_chosen.emit(entry.session, entry.row_id, entry.offset)
            case EntryKind.MORE:
                self.more_chosen.emit(entry.session)
            case EntryKind.CHAT:
                pass

    @Slot()
    def _fit(self) -> None:
        """Show no list where there is nothing to list: the sentence then stands right below the heading."""
        self.list.setVisible(self._model.rowCount() > 0)


class _ResultList(QListView):
    def __init__(self) -> None:
        super().__init__()
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
