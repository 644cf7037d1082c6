"""Paints what a search over all chats has found: a title, below it pieces of messages with the hit in bold."""

from typing import Final

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.ui.chat_search_model import ENTRY_ROLE, EntryKind, Index, ResultEntry
from app.ui.text_direction import direction_flag
from app.ui.theme import Theme

_SMALL: Final = 0.88
_LINES: Final = 2
_PADDING: Final = 10
_MOST_OF_DATE: Final = 0.45
"""Of a row's width: where the date would take more, the title has all of it; each hit says when it was."""
_MOST_CHARS: Final = 300
"""More never fits two lines of a list of chats."""


class ResultDelegate(QStyledItemDelegate):
    """Draws rows in the colours of `theme`."""

    def __init__(self, theme: Theme, parent: QAbstractItemView) -> None:
        super().__init__(parent)
        self._list = parent
        self.theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        entry: ResultEntry = index.data(ENTRY_ROLE)
        px = self.theme.px
        line, small = option.fontMetrics.height(), QFontMetrics(_small(option.font)).height()
        match entry.kind:
            case EntryKind.CHAT:
                return QSize(80, line + px(14))
            case EntryKind.MORE:
                return QSize(80, small + px(10))
            case EntryKind.HIT:
                layout = _laid_out(entry, option.font, self._list.viewport().width() - 2 * px(_PADDING))
                return QSize(80, small + round(layout.boundingRect().height()) + px(10))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry: ResultEntry = index.data(ENTRY_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_selected = self._paint_ground(painter, option, entry)
        px = self.theme.px
        rect = option.rect.adjusted(px(_PADDING), px(5), -px(_PADDING), -px(5))
        match entry.kind:
            case EntryKind.CHAT:
                self._paint_title(painter, option.font, rect, entry)
            case EntryKind.HIT:
                self._paint_hit(painter, option.font, rect, entry, is_selected=is_selected)
            case EntryKind.MORE:
                painter.setFont(_small(option.font))
                painter.setPen(self.theme.selection_text if is_selected else self.theme.link)
                painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, entry.text)
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, entry: ResultEntry) -> bool:
        """Paint what shows that a row is chosen; return whether it is."""
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        rect = option.rect.adjusted(1, 1, -1, -1)
        if entry.kind is EntryKind.CHAT:
            return False
        if is_selected or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.selection if is_selected else self.theme.hover)
            painter.drawRoundedRect(rect, 6, 6)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(self.theme.accent)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect, 6, 6)
        return is_selected

    def _paint_title(self, painter: QPainter, font: QFont, rect: QRect, entry: ResultEntry) -> None:
        small = _small(font)
        painter.setFont(small)
        painter.setPen(self.theme.muted)
        room = rect.width()
        taken = QFontMetrics(small).horizontalAdvance(entry.detail) + self.theme.px(8)
        if taken < room * _MOST_OF_DATE:
            right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(rect, right, entry.detail)
            room -= taken
        bold = QFont(font)
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(self.theme.text)
        shown = QFontMetrics(bold).elidedText(entry.text, Qt.TextElideMode.ElideRight, room)
        left = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(rect, int(left | direction_flag(shown)), shown)

    def _paint_hit(self, painter: QPainter, font: QFont, rect: QRect, entry: ResultEntry, *, is_selected: bool) -> None:
        small = _small(font)
        painter.setFont(small)
        painter.setPen(self.theme.selection_text if is_selected else self.theme.muted)
        detail = QFontMetrics(small).elidedText(entry.detail, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft, detail)
        painter.setPen(self.theme.selection_text if is_selected else self.theme.text)
        layout = _laid_out(entry, font, rect.width())
        layout.draw(painter, QPointF(rect.left(), rect.top() + QFontMetrics(small).height()))


def _laid_out(entry: ResultEntry, font: QFont, width: int) -> QTextLayout:
    """Return at most two lines of a hit's text."""
    text = entry.text[:_MOST_CHARS]
    layout, end = _lines(text, entry, font, width)
    if end < len(text):
        # One letter less than fits makes room for the dots.
        layout, _ = _lines(text[: max(0, end - 2)].rstrip() + "…", entry, font, width)
    return layout


def _lines(text: str, entry: ResultEntry, font: QFont, width: int) -> tuple[QTextLayout, int]:
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    bold = QTextCharFormat()
    bold.setFontWeight(QFont.Weight.Bold)
    bold.setFontUnderline(True)
    hit = QTextLayout.FormatRange()
    hit.start, hit.length, hit.format = entry.start, entry.length, bold
    layout.setFormats([hit])
    layout.beginLayout()
    height, units = 0.0, 0
    for _ in range(_LINES):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        line.setPosition(QPointF(0, height))
        height += line.height()
        units = line.textStart() + line.textLength()
    layout.endLayout()
    end = len(text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "replace"))
    return layout, end


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * _SMALL)
    return small
