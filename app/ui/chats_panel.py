"""The list of chats on the left: search, new, open, rename, delete."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.ui.chats_list import ChatDelegate, ChatList
from app.ui.chats_model import ChatsModel
from app.ui.theme import Theme, tinted_icon

MIN_WIDTH: Final = 180
_ANY_HEIGHT: Final = (1 << 24) - 1
_TITLES_SHARE: Final = 0.45
"""Of the height of the list: titles that match get no more where hits in messages stand below them."""


class ChatsPanel(QWidget):
    """Asks for what the person wants; does nothing to chats itself."""

    new_requested = Signal()
    open_requested = Signal(str)
    clicked = Signal()
    """A chat was clicked, or Enter pressed on it: the person means to go on in it."""
    delete_requested = Signal(str)
    settings_requested = Signal()
    search_changed = Signal(str)
    """What stands in the search field, empty once the search is over. Titles are filtered already."""
    first_hit_wanted = Signal()
    """Enter was pressed, and no title matches."""

    def __init__(self, model: ChatsModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chatsPanel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(MIN_WIDTH)
        self._model = model
        self._results: QWidget | None = None
        self._results_view: QAbstractItemView | None = None
        self._focus_results: Callable[[], bool] | None = None
        self.search = self._search_field()
        self._search_sign = self.search.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition)
        self._search_sign.setText(self.tr("Search chats"))
        self._search_sign.triggered.connect(self.focus_search)
        self._clear: QAction | None = None
        self._no_title = QLabel(self.tr("No chat is called that."))
        self._no_title.setObjectName("mutedText")
        self._no_title.setWordWrap(True)
        self._no_title.hide()
        self._new = QPushButton(self.tr("New chat"))
        self._new.setObjectName("newChat")
        self._new.clicked.connect(self.new_requested)
        self._new.clicked.connect(self.end_search)
        self.settings = QPushButton(self.tr("Settings"))
        self.settings.setObjectName("newChat")
        self.settings.clicked.connect(self.settings_requested)
        self.list = ChatList()
        self.list.setObjectName("chatList")
        self.list.setAccessibleName(self.tr("Chats"))
        self.list.setModel(model)
        self._delegate = ChatDelegate(theme, self.list)
        self.list.setItemDelegate(self._delegate)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._show_menu)
        self.list.delete_pressed.connect(self._delete_current)
        self.list.clicked.connect(self.clicked)
        self.list.activated.connect(self.clicked)
        self.list.selectionModel().currentChanged.connect(self._current_changed)
        self.list.installEventFilter(self)
        model.layoutChanged.connect(self._fit_list)
        layout = self._layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(8)
        layout.addWidget(self.search)
        layout.addWidget(self._new)
        layout.addWidget(self._no_title)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.settings)
        self.set_theme(theme)

    def _search_field(self) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName("chatSearch")
        field.setPlaceholderText(self.tr("Search chats"))
        field.setAccessibleName(self.tr("Search chats"))
        field.textChanged.connect(self._search)
        field.installEventFilter(self)
        return field

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`."""
        size = theme.px(16)
        self._new.setIcon(tinted_icon("plus", theme.text, size=size))
        self._new.setIconSize(QSize(size, size))
        self.settings.setIcon(tinted_icon("settings", theme.text, size=size))
        self.settings.setIconSize(QSize(size, size))
        self._theme = theme
        self._search_sign.setIcon(tinted_icon("search", theme.muted, size=size))
        if self._clear is not None:
            self._clear.setIcon(tinted_icon("x", theme.muted, size=size))
        self._no_title.setContentsMargins(theme.px(10), 0, 0, 0)
        self.list.scheduleDelayedItemsLayout()
        self._delegate.theme = theme
        self.list.viewport().update()
        self._fit_list()

    # Searching

    @property
    def is_searching(self) -> bool:
        """Whether something stands in the search field."""
        return bool(self.search.text().strip())

    @Slot()
    def focus_search(self) -> None:
        """Go to the search field; what stands in it is chosen, to be typed over."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    @Slot()
    def end_search(self) -> None:
        """Show all chats again."""
        self.search.clear()

    def show_results(self, results: QWidget, view: QAbstractItemView, focus_first: Callable[[], bool]) -> None:
        """Show `results` below the titles whenever something is searched for; `view` is the list in it."""
        self._results, self._results_view, self._focus_results = results, view, focus_first
        self._layout.insertWidget(self._layout.indexOf(self.list) + 1, results, 1)
        view.installEventFilter(self)
        results.setVisible(self.is_searching)
        self._fit_list()

    @Slot(str)
    def _search(self, text: str) -> None:
        self._show_clear(on=bool(text))
        self._model.set_filter(text)
        self.search_changed.emit(text.strip())
        if self._results is not None:
            self._results.setVisible(self.is_searching)
        self._fit_list()
        if not self.is_searching and self.list.currentIndex().isValid():
            self.list.scrollTo(self.list.currentIndex())

    def _show_clear(self, *, on: bool) -> None:
        if on and self._clear is None:
            icon = tinted_icon("x", self._theme.muted, size=self._theme.px(16))
            self._clear = self.search.addAction(icon, QLineEdit.ActionPosition.TrailingPosition)
            self._clear.setText(self.tr("End the search"))
            self._clear.triggered.connect(self.end_search)
        if self._clear is not None:
            self._clear.setVisible(on)

    @Slot()
    def _fit_list(self) -> None:
        """Give titles that match the room they need, and the rest to what stands below."""
        rows = self._model.rowCount() if self.is_searching else 1
        self._no_title.setVisible(rows == 0)
        self.list.setVisible(rows > 0)
        if not self.is_searching or self._results is None:
            self.list.setMinimumHeight(0)
            self.list.setMaximumHeight(_ANY_HEIGHT)
            return
        most = round(_TITLES_SHARE * (self.height() - self.search.height() - self._new.height()))
        needed = 0
        for row in range(rows):
            needed += self.list.sizeHintForRow(row)
            if needed >= most:
                break
        self.list.setFixedHeight(max(1, min(needed, most)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_list()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape and self._may_end_search(watched):
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self.end_search()
                self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return True
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and _is_plain(event):
            return self._press(watched, Qt.Key(event.key()))
        return super().eventFilter(watched, event)

    def _may_end_search(self, watched: QObject) -> bool:
        is_editing = self.list.state() == QAbstractItemView.State.EditingState
        return bool(self.search.text()) and not (watched is self.list and is_editing)

    def _press(self, watched: QObject, key: Qt.Key) -> bool:
        """Go from the field to the titles and on to the hits, and back; return whether the key was for that."""
        match key:
            case Qt.Key.Key_Down if watched is self.search:
                return self._focus_titles() or self._focus_hits()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if watched is self.search and self.is_searching:
                self._open_first()
                return True
            case Qt.Key.Key_Down if watched is self.list and self.is_searching:
                is_last = self.list.currentIndex().row() >= self._model.rowCount() - 1
                return is_last and self._focus_hits()
            case Qt.Key.Key_Up if watched is self.list and _is_first(self.list):
                self.search.setFocus(Qt.FocusReason.BacktabFocusReason)
                return True
            case Qt.Key.Key_Up if (
                watched is self._results_view and self._results_view and _is_first(self._results_view)
            ):
                if not self._focus_titles():
                    self.search.setFocus(Qt.FocusReason.BacktabFocusReason)
                return True
            case _:
                return False

    def _focus_titles(self) -> bool:
        if self._model.rowCount() == 0:
            return False
        if not self.list.currentIndex().isValid():
            # The first row is a heading.
            self.list.setCurrentIndex(self._model.index(1))
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return True

    def _focus_hits(self) -> bool:
        return self._focus_results is not None and self._focus_results()

    def _open_first(self) -> None:
        chat = self._model.chat_at(self._model.index(1)) if self._model.rowCount() else None
        if chat is None:
            self.first_hit_wanted.emit()
            return
        self.open_requested.emit(chat.id)
        self.clicked.emit()

    # The list

    def select(self, session: str) -> None:
        """Show which chat is open, without asking to open it."""
        row = self._model.row_of(session)
        index = self._model.index(row) if row is not None else QModelIndex()
        selection = self.list.selectionModel()
        selection.blockSignals(True)
        self.list.setCurrentIndex(index)
        selection.blockSignals(False)
        self.list.viewport().update()
        if index.isValid():
            self.list.scrollTo(index)

    def edit_title(self, session: str) -> None:
        """Let the person rename a chat in place."""
        if self._model.row_of(session) is None:
            self.end_search()
        row = self._model.row_of(session)
        if row is not None:
            index = self._model.index(row)
            self.list.scrollTo(index)
            self.list.edit(index)

    @Slot(QModelIndex, QModelIndex)
    def _current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        chat = self._model.chat_at(current)
        if chat is not None:
            self.open_requested.emit(chat.id)

    @Slot()
    def _delete_current(self) -> None:
        chat = self._model.chat_at(self.list.currentIndex())
        if chat is not None:
            self.delete_requested.emit(chat.id)

    @Slot(QPoint)
    def _show_menu(self, pos: QPoint) -> None:
        chat = self._model.chat_at(self.list.indexAt(pos))
        if chat is None:
            return
        session = chat.id
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Rename…")).triggered.connect(lambda: self.edit_title(session))
        menu.addAction(self.tr("Delete")).triggered.connect(lambda: self.delete_requested.emit(session))
        menu.popup(self.list.viewport().mapToGlobal(pos))


def _is_plain(event: QKeyEvent) -> bool:
    # Arrows count as keys of the keypad on some systems.
    return not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier


def _is_first(view: QAbstractItemView) -> bool:
    """Whether nothing that can be chosen stands above the current row: the first is a heading."""
    return view.currentIndex().row() <= 1
