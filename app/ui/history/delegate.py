"""Paints the history's lists: windows, items, hits with the words that were found, and the floor."""

from typing import Final

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QIcon,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTreeView

from app.domain.windows import HistoryItem, SearchHit, WindowInfo
from app.ui.history.entries import Floor, HitGroup, Note, NoteKind, Value, item_of, window_of
from app.ui.history.model import VALUE_ROLE, Index
from app.ui.history.snippet import lay_out_snippet
from app.ui.history.wording import (
    ModelName,
    floor_text,
    hits_text,
    item_preview,
    item_time,
    kind_words,
    marks,
    speaker,
    tools_text,
    window_figures,
    window_name,
    window_opened,
    window_title,
)
from app.ui.text_direction import direction_flag
from app.ui.theme import Theme, tinted_icon

_SMALL: Final = 0.88
_PADDING: Final = 10
_INDENT: Final = 20
_GAP: Final = 6
_STRIPE: Final = 3
_LEFT: Final = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT: Final = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


class HistoryDelegate(QStyledItemDelegate):
    """Draws in the colours of a theme, and with its zoom."""

    def __init__(self, theme: Theme, model_name: ModelName, view: QTreeView, *, snippet_lines: int) -> None:
        """`snippet_lines` is 0 for a list without hits."""
        super().__init__(view)
        self._snippet_lines = snippet_lines
        self._model_name = model_name
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`."""
        self._theme = theme
        self._icons: dict[tuple[str, str], QIcon] = {}

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        """Every row is as high as every other: only then can thousands be laid out without a pause."""
        line, low = option.fontMetrics.height(), QFontMetrics(small(option.font)).height()
        if self._snippet_lines:
            return QSize(80, low * (1 + self._snippet_lines) + self._theme.px(14))
        return QSize(80, line + low + self._theme.px(14))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        value: Value = index.data(VALUE_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, option, index, value)
        rect = option.rect.adjusted(self._theme.px(_PADDING), 0, -self._theme.px(_PADDING), 0)
        match value:
            case WindowInfo():
                self._paint_window(painter, option, rect, value)
            case HitGroup():
                self._paint_hit_group(painter, option, rect, value)
            case HistoryItem():
                self._paint_item(painter, option, rect, value)
            case SearchHit():
                self._paint_hit(painter, option, rect, value)
            case Floor():
                self._paint_floor(painter, option)
            case Note():
                self._paint_note(painter, option, rect, value)
        painter.restore()

    # Ground

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, value: Value) -> None:
        theme = self._theme
        rect = option.rect.adjusted(1, 1, -1, -1)
        if _is_selected(option) or (option.state & QStyle.StateFlag.State_MouseOver and _reacts(value)):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.selection if _is_selected(option) else theme.hover)
            painter.drawRoundedRect(rect, 6, 6)
        if option.state & QStyle.StateFlag.State_HasFocus and _is_selected(option):
            painter.setPen(QPen(theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), 6, 6)
        # An item may have been listed before the model started afresh; its window is always up to date.
        item, window = item_of(value), window_of(value) or window_of(index.parent().data(VALUE_ROLE))
        if (item is not None and item.is_above_floor) or (window is not None and window.is_above_floor):
            # What the agent can't see has a broken line at its side.
            pen = QPen(theme.scroll, theme.px(2), Qt.PenStyle.DotLine)
            painter.setPen(pen)
            left = option.rect.left() + theme.px(_STRIPE)
            painter.drawLine(left, rect.top() + 4, left, rect.bottom() - 4)

    # Windows

    def _paint_window(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, window: WindowInfo) -> None:
        px, line = self._theme.px, option.fontMetrics.height()
        top = rect.center().y() - (2 * line + px(2)) // 2 + 1
        head = QRect(rect.left(), top, rect.width(), line)
        self._paint_arrow(painter, option, head)
        rest = self._paint_head(painter, option, head.adjusted(px(_INDENT), 0, 0, 0), window)
        painter.setFont(small(option.font))
        painter.setPen(self._quiet(option))
        draw(painter, rest, window_opened(window), _RIGHT)
        self._paint_title(painter, option, QRect(head.left(), head.bottom() + px(2), head.width(), line), window)

    def _paint_title(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, window: WindowInfo) -> None:
        """Paint how a window begins, and how much is in it."""
        px = self._theme.px
        rect = rect.adjusted(px(_INDENT), 0, 0, 0)
        painter.setFont(small(option.font))
        painter.setPen(self._quiet(option))
        figures = window_figures(window)
        width = painter.fontMetrics().horizontalAdvance(figures)
        draw(painter, rect, figures, _RIGHT)
        painter.setFont(option.font)
        painter.setPen(self._loud(option) if window.title else self._quiet(option))
        draw(painter, rect.adjusted(0, 0, -width - px(10), 0), window_title(window))

    def _paint_head(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, window: WindowInfo) -> QRect:
        """Paint number and kind; return the room that is left at their right."""
        px = self._theme.px
        bold = QFont(option.font)
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(self._loud(option))
        name = window_name(window)
        draw(painter, rect, name)
        left = rect.left() + painter.fontMetrics().horizontalAdvance(name) + px(8)
        painter.setFont(small(option.font))
        words = kind_words(window)
        width = min(painter.fontMetrics().horizontalAdvance(words) + px(12), max(0, rect.right() - left))
        pill = QRectF(left, rect.top() + 0.5, width, rect.height() - 1)
        if window.is_active:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.accent)
        else:
            painter.setPen(QPen(self._quiet(option), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2)
        painter.setPen(self._theme.accent_text if window.is_active else self._quiet(option))
        draw(painter, pill.toRect().adjusted(px(6), 0, -px(4), 0), words)
        return rect.adjusted(round(left + width) + px(8) - rect.left(), 0, 0, 0)

    def _paint_hit_group(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, group: HitGroup) -> None:
        px, line = self._theme.px, option.fontMetrics.height()
        head = QRect(rect.left(), rect.center().y() - line - px(1), rect.width(), line)
        self._paint_arrow(painter, option, head)
        rest = self._paint_head(painter, option, head.adjusted(px(_INDENT), 0, 0, 0), group.window)
        painter.setFont(small(option.font))
        painter.setPen(self._quiet(option))
        draw(painter, rest, hits_text(group.hits), _RIGHT)
        below = QRect(rect.left() + px(_INDENT), head.bottom() + px(3), rect.width() - px(_INDENT), line)
        draw(painter, below, window_title(group.window))

    def _paint_arrow(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect) -> None:
        """Paint whether the window is open: the list has no branches to show it with."""
        if not option.state & QStyle.StateFlag.State_Children:
            return
        size = self._theme.px(4)
        middle = QPointF(rect.left() + size + 2, rect.center().y() + 0.5)
        offsets = [(-0.5, -1.0), (0.5, 0.0), (-0.5, 1.0)]
        if option.state & QStyle.StateFlag.State_Open:
            offsets = [(-1.0, -0.5), (0.0, 0.5), (1.0, -0.5)]
        pen = QPen(self._quiet(option), max(1.5, size / 2.6))
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawPolyline([middle + QPointF(x * size, y * size) for x, y in offsets])

    # Items and hits

    def _paint_item(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, item: HistoryItem) -> None:
        px = self._theme.px
        line, low = option.fontMetrics.height(), QFontMetrics(small(option.font)).height()
        rect = rect.adjusted(px(_INDENT), 0, 0, 0)
        head = QRect(rect.left(), rect.center().y() - (line + low + px(2)) // 2 + 1, rect.width(), low)
        self._paint_who(painter, option, head, item)
        painter.setFont(option.font)
        painter.setPen(self._loud(option) if item.preview else self._quiet(option))
        draw(painter, QRect(rect.left(), head.bottom() + px(2), rect.width(), line), item_preview(item))

    def _paint_who(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, item: HistoryItem) -> None:
        px = self._theme.px
        quiet_font = small(option.font)
        painter.setFont(quiet_font)
        painter.setPen(self._quiet(option))
        time = item_time(item)
        draw(painter, rect, time, _RIGHT)
        rect = rect.adjusted(0, 0, -(painter.fontMetrics().horizontalAdvance(time) + px(8)), 0)
        for words in marks(item):
            rect = self._paint_mark(painter, option, rect, words)
        bold = QFont(quiet_font)
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(self._loud(option))
        name = painter.fontMetrics().elidedText(
            speaker(item, self._model_name), Qt.TextElideMode.ElideRight, rect.width()
        )
        draw(painter, rect, name)
        tools = tools_text(item)
        if tools:
            left = painter.fontMetrics().horizontalAdvance(name) + px(_GAP)
            painter.setFont(quiet_font)
            painter.setPen(self._quiet(option))
            draw(painter, rect.adjusted(left, 0, 0, 0), f"· {tools}")

    def _paint_mark(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, words: str) -> QRect:
        """Paint a word with a sign at the right; return the room at its left."""
        px = self._theme.px
        colour = self._theme.selection_text if _is_selected(option) else self._theme.error
        painter.setFont(small(option.font))
        painter.setPen(colour)
        width = painter.fontMetrics().horizontalAdvance(words)
        size = px(12)
        draw(painter, rect, words, _RIGHT)
        self._icon("triangle-alert", colour).paint(
            painter, rect.right() - width - size - px(3), rect.center().y() - size // 2, size, size
        )
        return rect.adjusted(0, 0, -(width + size + px(11)), 0)

    def _paint_hit(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, hit: SearchHit) -> None:
        px = self._theme.px
        low = QFontMetrics(small(option.font)).height()
        rect = rect.adjusted(px(_INDENT), px(5), 0, 0)
        self._paint_who(painter, option, QRect(rect.left(), rect.top(), rect.width(), low), hit.item)
        layout = lay_out_snippet(hit, small(option.font), self._theme, width=rect.width(), lines=self._snippet_lines)
        painter.setPen(self._loud(option))
        layout.draw(painter, QPointF(rect.left(), rect.top() + low + px(2)))

    # The floor, and lines about the list

    def _paint_floor(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        px, theme = self._theme.px, self._theme
        rect = option.rect.adjusted(px(4), px(4), -px(4), -px(4))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.hover if not _is_selected(option) else theme.selection)
        painter.drawRect(rect)
        painter.setBrush(theme.accent)
        painter.drawRect(rect.left(), rect.top(), rect.width(), px(2))
        colour = self._loud(option)
        size = px(14)
        self._icon("eye-off", colour).paint(painter, rect.left() + px(8), rect.center().y() - size // 2 + 1, size, size)
        painter.setFont(small(option.font))
        painter.setPen(colour)
        words = rect.adjusted(px(8) + size + px(8), px(2), -px(6), 0)
        painter.drawText(words, int(_LEFT | Qt.TextFlag.TextWordWrap), floor_text())

    def _paint_note(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, note: Note) -> None:
        painter.setFont(small(option.font))
        is_error = note.kind is NoteKind.ERROR and not _is_selected(option)
        painter.setPen(self._theme.error if is_error else self._quiet(option))
        painter.drawText(
            rect.adjusted(self._theme.px(_INDENT), 0, 0, 0), int(_LEFT | Qt.TextFlag.TextWordWrap), note.text
        )

    # Parts

    def _loud(self, option: QStyleOptionViewItem) -> QColor:
        return self._theme.selection_text if _is_selected(option) else self._theme.text

    def _quiet(self, option: QStyleOptionViewItem) -> QColor:
        return self._theme.selection_text if _is_selected(option) else self._theme.muted

    def _icon(self, name: str, colour: QColor) -> QIcon:
        key = (name, colour.name())
        if key not in self._icons:
            self._icons[key] = tinted_icon(name, colour, size=self._theme.px(16))
        return self._icons[key]


def small(font: QFont) -> QFont:
    """Return the font of what is said beside the words."""
    less = QFont(font)
    less.setPointSizeF(font.pointSizeF() * _SMALL)
    return less


def draw(painter: QPainter, rect: QRect, text: str, align: Qt.AlignmentFlag = _LEFT) -> None:
    """Draw one line, with an ellipsis where it doesn't fit; nothing if there is no room at all."""
    if rect.width() > painter.fontMetrics().averageCharWidth():
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, int(align | Qt.TextFlag.TextSingleLine | direction_flag(shown)), shown)


def _is_selected(option: QStyleOptionViewItem) -> bool:
    return bool(option.state & QStyle.StateFlag.State_Selected)


def _reacts(value: Value) -> bool:
    return not isinstance(value, Note) or value.kind is NoteKind.ERROR


def corner(rect: QRect) -> QPoint:
    """Return where a menu about an entry opens."""
    return QPoint(rect.left() + rect.width() // 4, rect.bottom())
