"""How the list of chats takes keys and clicks, and how its rows are painted."""

from typing import NamedTuple

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.ui.chats_model import IS_GROUP_ROLE, MARK_ROLE, QUEUED_ROLE, Mark
from app.ui.text_direction import direction_flag
from app.ui.theme import Theme

_Index = QModelIndex | QPersistentModelIndex


class ChatList(QListView):
    """Rows are chosen by click and arrows, renamed by F2; Delete asks to delete."""

    delete_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # The right button asks about a chat; it doesn't open it.
        if event.button() != Qt.MouseButton.RightButton:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete_pressed.emit()
            return
        super().keyPressEvent(event)


class _State(NamedTuple):
    """What is drawn beside a title."""

    mark: Mark
    queued: int


class ChatDelegate(QStyledItemDelegate):
    """Paints headings small and quiet, chats as rounded rows with their mark at the right."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        line = option.fontMetrics.height()
        return QSize(80, line + self.theme.px(14 if index.data(IS_GROUP_ROLE) else 16))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.data(IS_GROUP_ROLE):
            self._paint_group(painter, option, str(index.data()))
        else:
            state = _State(Mark(index.data(MARK_ROLE) or ""), index.data(QUEUED_ROLE) or 0)
            self._paint_chat(painter, option, str(index.data()), state)
        painter.restore()

    def setEditorData(self, editor: QWidget, index: _Index) -> None:
        """Fill the editor, but never over what the person has typed."""
        if not (isinstance(editor, QLineEdit) and editor.isModified()):
            super().setEditorData(editor, index)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, _index: _Index) -> None:
        editor.setGeometry(option.rect.adjusted(2, 2, -2, -2))

    def _paint_group(self, painter: QPainter, option: QStyleOptionViewItem, title: str) -> None:
        font = QFont(option.font)
        font.setPointSizeF(font.pointSizeF() * 0.88)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(self.theme.muted)
        rect = option.rect.adjusted(10, 6, -8, 0)
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)

    def _paint_chat(self, painter: QPainter, option: QStyleOptionViewItem, title: str, state: _State) -> None:
        mark = state.mark
        rect = option.rect.adjusted(1, 1, -1, -1)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        background: QColor | None = None
        if is_selected:
            background = self.theme.selection
        elif option.state & QStyle.StateFlag.State_MouseOver:
            background = self.theme.hover
        if background is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(background)
            painter.drawRoundedRect(rect, 6, 6)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(self.theme.accent)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect, 6, 6)
        text_rect = rect.adjusted(10, 0, -10, 0)
        if mark is Mark.ASKING:
            text_rect.setRight(text_rect.right() - self._paint_words(painter, option, text_rect))
        elif mark:
            self._paint_mark(painter, text_rect, mark)
            text_rect.setRight(text_rect.right() - self.theme.px(18))
        if state.queued:
            text_rect.setRight(text_rect.right() - self._paint_queued(painter, option, text_rect, state.queued))
        font = QFont(option.font)
        font.setBold(mark is Mark.UNREAD)
        painter.setFont(font)
        painter.setPen(self.theme.selection_text if is_selected else option.palette.color(QPalette.ColorRole.Text))
        shown = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, text_rect.width())
        left = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(text_rect, int(left | direction_flag(shown)), shown)

    def _paint_queued(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, count: int) -> int:
        """Paint how many messages wait in a chat; return how much room that takes."""
        words = self.tr("queued {count}").format(count=count)
        font = QFont(option.font)
        font.setPointSizeF(font.pointSizeF() * 0.88)
        painter.setFont(font)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.setPen(self.theme.selection_text if is_selected else self.theme.muted)
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)
        return painter.fontMetrics().horizontalAdvance(words) + self.theme.px(8)

    def _paint_words(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect) -> int:
        """Paint that a chat waits for the person; return how much room that takes."""
        words = self.tr("asks you")
        font = QFont(option.font)
        font.setPointSizeF(font.pointSizeF() * 0.88)
        font.setBold(True)
        painter.setFont(font)
        width = painter.fontMetrics().horizontalAdvance(words) + self.theme.px(12)
        pill = QRect(rect.right() - width, rect.top() + self.theme.px(5), width, rect.height() - self.theme.px(10))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.accent)
        painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2)
        painter.setPen(self.theme.accent_text)
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, words)
        return width + self.theme.px(8)

    def _paint_mark(self, painter: QPainter, rect: QRect, mark: Mark) -> None:
        """Three dots while streaming, one when unread, an exclamation mark after an error: shape, not colour alone."""
        middle = rect.center().y() + 1
        painter.setPen(Qt.PenStyle.NoPen)
        if mark is Mark.STREAMING:
            painter.setBrush(self.theme.accent)
            size, gap = self.theme.px(2), self.theme.px(6)
            for step in range(3):
                painter.drawEllipse(QPoint(rect.right() + (step - 2) * gap, middle), size, size)
        elif mark is Mark.UNREAD:
            painter.setBrush(self.theme.accent)
            size = self.theme.px(4)
            painter.drawEllipse(QPoint(rect.right() - size + 1, middle), size, size)
        else:
            font = painter.font()
            font.setBold(True)
            painter.setFont(font)
            painter.setPen(self.theme.error)
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, "!")

    def helpEvent(self, event: QEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: _Index) -> bool:
        """Show the whole title where it does not fit."""
        width = option.fontMetrics.horizontalAdvance(str(index.data()))
        if width <= option.rect.width() - 40:
            return False
        return super().helpEvent(event, view, option, index)  # type: ignore[arg-type]
