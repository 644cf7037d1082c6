"""The list of waiting messages: chosen by click and arrows, ordered by dragging and Alt with the arrows."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QContextMenuEvent, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.ui.chat.queue_tray_line import QueueLine, Wish, wish_menu
from app.ui.chat.queue_tray_model import QueueModel
from app.ui.theme import Theme

_Index = QModelIndex | QPersistentModelIndex
_NARROW_PX: Final = 520
"""Below this width, before any zoom, a message stands in two lines."""
_MOST_LINES: Final = 4
_MOST_HEIGHT: Final = 0.3
"""Share of the page's height the list may take; one message is always shown."""


class QueueList(QListView):
    """Each message is a line with its own buttons; F2 or Enter changes, Delete removes, Ctrl+Shift+Enter sends."""

    wished = Signal(str, object)
    """Id of a message, and a `Wish`."""

    def __init__(self, model: QueueModel, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("queueList")
        self.setAccessibleName(self.tr("Queued messages"))
        self._values = model
        self._theme = theme
        self._page_height = 0
        self._may_change = True
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setUniformItemSizes(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDragDropOverwriteMode(False)
        self.setModel(model)
        self._delegate = _Ground(theme, self)
        self.setItemDelegate(self._delegate)
        model.rowsInserted.connect(self._add_lines)
        model.rowsRemoved.connect(self._fit)
        model.dataChanged.connect(self._show_changed)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._theme = self._delegate.theme = theme
        for line in self.lines():
            line.set_theme(theme)
        self._lay_out_lines()

    def set_changeable(self, *, on: bool) -> None:
        """Say whether anything may be done with the messages here."""
        self._may_change = on
        self._values.set_changeable(on=on)
        for line in self.lines():
            line.set_changeable(on=on)

    def fit(self, *, page_height: int) -> None:
        """Leave enough of a page of that height to the chat."""
        if page_height != self._page_height:
            self._page_height = page_height
            self._fit()

    def lines(self) -> list[QueueLine]:
        """Return what stands for the messages, in order."""
        found = [self.indexWidget(self._values.index(row)) for row in range(self._values.rowCount())]
        return [line for line in found if isinstance(line, QueueLine)]

    def current_id(self) -> str:
        """Return the id of the message that is current, empty for none."""
        message = self._values.message_at(self.currentIndex())
        return message.id if message is not None else ""

    # Lines

    @Slot(QModelIndex, int, int)
    def _add_lines(self, _parent: QModelIndex, first: int, last: int) -> None:
        for row in range(first, last + 1):
            index = self._values.index(row)
            message = self._values.message_at(index)
            if message is not None:
                line = QueueLine(self._values, message, self._theme)
                line.set_changeable(on=self._may_change)
                line.set_narrow(on=self._is_narrow)
                line.wished.connect(self.wished)
                self.setIndexWidget(index, line)
        if not self.currentIndex().isValid():
            self.setCurrentIndex(self._values.index(0))
        self._fit()

    @Slot(QModelIndex, QModelIndex)
    def _show_changed(self, first: QModelIndex, last: QModelIndex) -> None:
        for row in range(first.row(), last.row() + 1):
            index = self._values.index(row)
            line, message = self.indexWidget(index), self._values.message_at(index)
            if isinstance(line, QueueLine) and message is not None:
                line.show_message(message)

    @property
    def _is_narrow(self) -> bool:
        return self.width() < self._theme.px(_NARROW_PX)

    def _lay_out_lines(self) -> None:
        for line in self.lines():
            line.set_narrow(on=self._is_narrow)
        self.scheduleDelayedItemsLayout()
        self._fit()

    @Slot()
    def _fit(self) -> None:
        """Be as high as the messages, up to four of them; a part of the fifth shows that there are more."""
        count = self._values.rowCount()
        if not count:
            return
        line = self.line_height()
        most = max(1, min(_MOST_LINES, int(self._page_height * _MOST_HEIGHT) // line))
        self.setFixedHeight(min(count, most) * line + (line // 2 if count > most > 1 else 0))

    def line_height(self) -> int:
        """Return the height of a message in pixels."""
        text = self.fontMetrics().height()
        px = self._theme.px
        return max(2 * text + px(18), px(44)) if self._is_narrow else max(text + px(12), px(32))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._lay_out_lines()

    # Keys

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _wish_of(event):
            # The window has other uses for some of these keys.
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        wish = _wish_of(event)
        if wish is None:
            super().keyPressEvent(event)
        elif self._may_change and self.current_id():
            self.wished.emit(self.current_id(), wish)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        is_by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if is_by_key else self.indexAt(self.viewport().mapFromGlobal(event.globalPos()))
        message = self._values.message_at(index)
        if message is None or not self._may_change:
            return
        menu = wish_menu(self, message, lambda wish: self.wished.emit(message.id, wish))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        corner = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft() + QPoint(self._theme.px(10), 0))
        menu.popup(corner if is_by_key else event.globalPos())


def _wish_of(event: QKeyEvent) -> Wish | None:
    """Return what a key means for the message that is current."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    control_shift = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    match event.key(), modifiers:
        case _, mods if is_enter and mods == control_shift:
            return Wish.SEND
        case key, Qt.KeyboardModifier.NoModifier if is_enter or key == Qt.Key.Key_F2:
            return Wish.EDIT
        case ((Qt.Key.Key_Delete | Qt.Key.Key_Backspace), Qt.KeyboardModifier.NoModifier):
            return Wish.REMOVE
        case Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier:
            return Wish.MOVE_UP
        case Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier:
            return Wish.MOVE_DOWN
    return None


class _Ground(QStyledItemDelegate):
    """Paints what is below a line: whether it is chosen, and where the keyboard is."""

    def __init__(self, theme: Theme, owner: QueueList) -> None:
        super().__init__(owner)
        self.theme = theme
        self._owner = owner

    def sizeHint(self, _option: QStyleOptionViewItem, _index: _Index) -> QSize:
        return QSize(80, self._owner.line_height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:  # noqa: ARG002
        colour: QColor | None = None
        if option.state & QStyle.StateFlag.State_Selected and self._owner.hasFocus():
            colour = self.theme.hover
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = option.rect.adjusted(1, 1, -2, -2)
        painter.setPen(self.theme.accent if option.state & QStyle.StateFlag.State_HasFocus else Qt.PenStyle.NoPen)
        painter.setBrush(colour or Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(rect, self.theme.px(6), self.theme.px(6))
        painter.restore()

    def createEditor(self, _parent: QWidget, _option: QStyleOptionViewItem, _index: _Index) -> QWidget:
        raise AssertionError("a queued message is changed in the composer")
