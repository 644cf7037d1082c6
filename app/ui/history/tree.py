"""The list of windows with their items or hits: chosen by click and arrows, gone to by Enter."""

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTreeView

from app.domain.windows import SearchHit
from app.ui.history.delegate import HistoryDelegate, corner
from app.ui.history.entries import Note, NoteKind, Value, item_of
from app.ui.history.model import HistoryModel, Index
from app.ui.history.wording import ModelName
from app.ui.theme import Theme

_MOST_ON_SCREEN: Final = 200
"""No screen shows more rows than this."""


class HistoryTree(QTreeView):
    """Two levels without branches drawn: a window opens at a click. Fetches what comes into view."""

    chosen = Signal(object, bool)
    """The value that is current now; whether a click chose it, so that a second may follow."""
    activated_item = Signal(object)
    """The `HistoryItem` or `SearchHit` that the person means to go to."""
    menu_wanted = Signal(object, QPoint)
    """A value, and the place on the screen for its menu."""
    copy_wanted = Signal(object)
    more_wanted = Signal(str)
    earlier_wanted = Signal(str)
    retry_wanted = Signal(str)
    """The key of a group."""
    escaped = Signal()

    def __init__(self, model: HistoryModel, theme: Theme, model_name: ModelName, *, snippet_lines: int = 0) -> None:
        """`snippet_lines` are for each hit; 0 where none are listed."""
        super().__init__()
        self.setObjectName("historyList")
        self._values = model
        self._is_clicked = False
        self.setModel(model)
        self.delegate = HistoryDelegate(theme, model_name, self, snippet_lines=snippet_lines)
        self.setItemDelegate(self.delegate)
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setRootIsDecorated(False)
        self.setIndentation(0)
        self.setExpandsOnDoubleClick(False)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._anchor: tuple[QPersistentModelIndex, int] | None = None
        self._fetcher = QTimer(self)
        self._fetcher.setSingleShot(True)
        self._fetcher.setInterval(0)
        self._fetcher.timeout.connect(self._fetch_in_view)
        self.verticalScrollBar().valueChanged.connect(lambda _value: self._fetcher.start())
        self.expanded.connect(lambda _index: self._fetcher.start())
        model.about_to_splice.connect(self._remember_place)
        model.spliced.connect(self._keep_place)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`."""
        self.delegate.set_theme(theme)
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    def current_value(self) -> Value | None:
        """Return the value that is current."""
        return self._values.value_at(self.currentIndex())

    def choose_first(self) -> None:
        """Choose the first hit; of windows, the newest."""
        self.executeDelayedItemsLayout()
        first = self._values.index(0, 0)
        below = self.indexBelow(first)
        self.setCurrentIndex(below if isinstance(self._values.value_at(below), SearchHit) else first)

    def step(self, by: int) -> bool:
        """Choose the next item or hit, or the one before; return whether there is one."""
        index = self.currentIndex()
        while index.isValid():
            index = self.indexBelow(index) if by > 0 else self.indexAbove(index)
            if item_of(self._values.value_at(index)) is not None:
                self.setCurrentIndex(index)
                return True
        return False

    def show_group(self, key: str) -> None:
        """Bring a window to the top, open."""
        index = self._values.group_index(key)
        if index.isValid():
            self.expand(index)
            self.setCurrentIndex(index)
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtTop)

    def copy(self) -> None:
        """Copy what is current: the Edit menu's Copy."""
        self.copy_wanted.emit(self.current_value())

    def currentChanged(self, current: Index, previous: Index) -> None:  # noqa: N802 - Qt's name
        super().currentChanged(current, previous)
        if current.isValid():
            self.chosen.emit(self._values.value_at(current), self._is_clicked)

    # Keys and mouse

    def keyPressEvent(self, event: QKeyEvent) -> None:
        value = self.current_value()
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._activate(self.currentIndex())
            case Qt.Key.Key_Space if value is not None:
                if item_of(value) is None:
                    self._activate(self.currentIndex())
                else:
                    self.chosen.emit(value, False)
            case Qt.Key.Key_Escape:
                self.escaped.emit()
            case Qt.Key.Key_Menu:
                self._show_menu(self.currentIndex())
            case _:
                super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.RightButton:
            # It asks about an entry; it doesn't choose it.
            return
        index = self.indexAt(event.position().toPoint())
        was_current = index.isValid() and index == self.currentIndex()
        self._is_clicked = True
        super().mousePressEvent(event)
        self._is_clicked = False
        if event.button() != Qt.MouseButton.LeftButton or not index.isValid():
            return
        value = self._values.value_at(index)
        if item_of(value) is None:
            self._activate(index)
        elif was_current:
            self.chosen.emit(value, True)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and item_of(self._values.value_at(index)) is not None:
            self._activate(index)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            self._show_menu(self.currentIndex())
        else:
            self._show_menu(self.indexAt(event.pos()), event.globalPos())

    def _show_menu(self, index: QModelIndex, place: QPoint | None = None) -> None:
        value = self._values.value_at(index)
        if value is not None:
            place = place or self.viewport().mapToGlobal(corner(self.visualRect(index)))
            self.menu_wanted.emit(value, place)

    def _activate(self, index: QModelIndex) -> None:
        value, group = self._values.value_at(index), self._values.group_at(index)
        if value is None or group is None:
            return
        if item_of(value) is not None:
            self.activated_item.emit(value)
        elif isinstance(value, Note) and value.kind is NoteKind.ERROR:
            self.retry_wanted.emit(group.key)
        elif self._values.hasChildren(index):
            self.setExpanded(index, not self.isExpanded(index))

    # What is in view

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fetcher.start()

    @Slot()
    def _fetch_in_view(self) -> None:
        """Ask for what the lines in view stand for."""
        index = self.indexAt(QPoint(4, 1))
        bottom = self.viewport().height()
        for _ in range(_MOST_ON_SCREEN):
            if not index.isValid() or self.visualRect(index).top() > bottom:
                return
            value, group = self._values.value_at(index), self._values.group_at(index)
            if isinstance(value, Note) and group is not None:
                if value.kind is NoteKind.LOADING:
                    self.more_wanted.emit(group.key)
                elif value.kind is NoteKind.EARLIER:
                    self.earlier_wanted.emit(group.key)
            elif self.isExpanded(index) and self._values.canFetchMore(index):
                self._values.fetchMore(index)
            index = self.indexBelow(index)

    @Slot()
    def _remember_place(self) -> None:
        """Note which entry is at the top, before others come or go above it."""
        if self._anchor is not None:
            return
        index = top = self.indexAt(QPoint(4, 1))
        while index.isValid() and not self._may_anchor(index):
            index = self.indexBelow(index)
        if index.isValid() and (index != top or self.verticalScrollBar().value()):
            self._anchor = (QPersistentModelIndex(index), self.visualRect(index).top())

    def _may_anchor(self, index: QModelIndex) -> bool:
        """Return whether what comes next to an entry comes below it, or far above."""
        below = self._values.value_at(self.indexBelow(index))
        is_above_earlier = isinstance(below, Note) and below.kind is NoteKind.EARLIER
        return not is_above_earlier and not isinstance(self._values.value_at(index), Note)

    @Slot()
    def _keep_place(self) -> None:
        anchor, self._anchor = self._anchor, None
        if anchor is not None and anchor[0].isValid():
            self.executeDelayedItemsLayout()
            moved = self.visualRect(anchor[0]).top() - anchor[1]
            if moved:
                bar = self.verticalScrollBar()
                bar.setValue(bar.value() + moved)
        self._fetcher.start()
