"""The list of commands above the field that a message is written in. The focus stays in the field."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.ui.chat.slash_commands import SlashCommand

_MARGIN: Final = 6
_BORDER: Final = 1
"""As the style sheet has it."""
_PADDING: Final = 8
_WRAPS: Final = int(Qt.TextFlag.TextWordWrap)
_NARROW_CHARS: Final = 56
"""In a list narrower than that many letters, what a command does stands below its name."""


class CommandPopup(QFrame):
    """Shows commands, one of which is current."""

    chosen = Signal(object)
    """A `SlashCommand` was clicked."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        self._host = host
        self.setObjectName("commandPopup")
        self.list = QListWidget()
        self.list.setObjectName("commandList")
        self.list.setAccessibleName(self.tr("Commands"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)
        self._delegate = _CommandDelegate(self.list)
        self.list.setItemDelegate(self._delegate)
        self.list.itemClicked.connect(self._choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        layout.addWidget(self.list)
        self.hide()

    def show_commands(self, commands: Sequence[SlashCommand], anchor: QWidget) -> None:
        """Show `commands` above `anchor`, the first of them current."""
        self.list.clear()
        for command in commands:
            item = QListWidgetItem(f"{typed_name(command)}: {command.text}")
            item.setData(Qt.ItemDataRole.UserRole, command)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self.place(anchor)
        self.show()
        self.raise_()

    def place(self, anchor: QWidget) -> None:
        """Stand above `anchor`, as wide as it is."""
        top_left = anchor.mapTo(self._host, QPoint(0, 0))
        room = top_left.y() - 2 * _MARGIN
        frame = 2 * (_MARGIN + _BORDER)
        rows = self._set_heights(anchor.width() - frame)
        if rows + frame > room:
            rows = self._set_heights(anchor.width() - frame - self.list.verticalScrollBar().sizeHint().width())
        self.setFixedSize(anchor.width(), max(0, min(rows + frame, room)))
        self.move(top_left.x(), top_left.y() - self.height() - 4)

    @property
    def current(self) -> SlashCommand | None:
        """The command that the keys have gone to."""
        item = self.list.currentItem()
        command = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        return command if isinstance(command, SlashCommand) else None

    def step(self, by: int) -> None:
        """Go on to the next command or back, round the ends."""
        count = self.list.count()
        if count:
            self.list.setCurrentRow((self.list.currentRow() + by) % count)

    def _set_heights(self, width: int) -> int:
        """Give each row the height that it takes in that width; return that of all."""
        option = QStyleOptionViewItem()
        option.initFrom(self.list)
        option.rect = QRect(0, 0, width, 0)
        heights = [self._delegate.height(option, self.list.model().index(row, 0)) for row in range(self.list.count())]
        for row, height in enumerate(heights):
            self.list.item(row).setSizeHint(QSize(0, height))
        return sum(heights)

    @Slot(QListWidgetItem)
    def _choose(self, item: QListWidgetItem) -> None:
        self.chosen.emit(item.data(Qt.ItemDataRole.UserRole))


def typed_name(command: SlashCommand) -> str:
    """Return the command as it is typed, with what may follow."""
    return f"{command.name} {command.argument}" if command.argument else command.name


class _CommandDelegate(QStyledItemDelegate):
    """Paints a name and, beside or below it, what it does."""

    def height(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> int:
        """Return how high a row is in the width of `option`."""
        name, text = self._rects(option, index)
        return max(name.bottom(), text.bottom()) - option.rect.top() + 1 + _PADDING

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        is_current = bool(option.state & QStyle.StateFlag.State_Selected)
        role = QPalette.ColorRole
        painter.save()
        if is_current:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(option.palette.color(role.Highlight))
            painter.drawRoundedRect(option.rect.adjusted(1, 1, -1, -1), 6, 6)
        command = index.data(Qt.ItemDataRole.UserRole)
        name, text = self._rects(option, index)
        painter.setFont(_bold(option.font))
        painter.setPen(option.palette.color(role.HighlightedText if is_current else role.Text))
        painter.drawText(name, Qt.AlignmentFlag.AlignLeft, command.name)
        name.setLeft(name.left() + QFontMetrics(_bold(option.font)).horizontalAdvance(f"{command.name} "))
        painter.setFont(option.font)
        painter.setPen(option.palette.color(role.HighlightedText if is_current else role.PlaceholderText))
        painter.drawText(name, Qt.AlignmentFlag.AlignLeft, command.argument)
        painter.drawText(text, _WRAPS, command.text)
        painter.restore()

    def _rects(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> tuple[QRect, QRect]:
        """Return where the name and what it does stand."""
        bold, plain = QFontMetrics(_bold(option.font)), QFontMetrics(option.font)
        inner = option.rect.adjusted(_PADDING, _PADDING - 2, -_PADDING, 0)
        name = QRect(inner.left(), inner.top(), inner.width(), bold.height())
        column = max(
            bold.horizontalAdvance(typed_name(index.model().index(row, 0).data(Qt.ItemDataRole.UserRole)))
            for row in range(index.model().rowCount())
        )
        left, top = inner.left() + column + 2 * _PADDING, inner.top()
        if inner.width() < _NARROW_CHARS * plain.averageCharWidth():
            left, top = inner.left(), name.bottom() + 1
        room = QRect(left, top, inner.right() - left, 10_000)
        return name, plain.boundingRect(room, _WRAPS, index.data(Qt.ItemDataRole.UserRole).text)


def _bold(font: QFont) -> QFont:
    made = QFont(font)
    made.setWeight(QFont.Weight.DemiBold)
    return made
