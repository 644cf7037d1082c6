"""Paints the picker's rows: a model with its figures, its signs and its star."""

from typing import Final

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QIcon, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.domain.models import ModelCard
from app.ui.picker.entries import Entry, EntryKind, ability_texts, details_of
from app.ui.picker.model import ENTRY_ROLE, IS_CURRENT_ROLE, Index, can_choose
from app.ui.theme import Theme, tinted_icon

_SMALL: Final = 0.88
_ICON: Final = 15
_PADDING: Final = 10
_GAP: Final = 6
_ROOM_FOR_SIGNS: Final = 240
"""A narrower row needs its room for words; what the model can do is in its tooltip."""


class EntryDelegate(QStyledItemDelegate):
    """Draws rows in the colours of a theme."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`."""
        self._theme = theme
        self._icons: dict[tuple[str, str, bool], QIcon] = {}

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        entry: Entry = index.data(ENTRY_ROLE)
        px = self._theme.px
        line, small = option.fontMetrics.height(), QFontMetrics(_small(option.font)).height()
        match entry.kind:
            case EntryKind.HEADING:
                return QSize(80, small + px(14))
            case EntryKind.MODEL:
                return QSize(80, line + small + px(12))
            case _:
                return QSize(80, line + px(16))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry: Entry = index.data(ENTRY_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = option.rect.adjusted(1, 1, -1, -1)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_selected or (option.state & QStyle.StateFlag.State_MouseOver and can_choose(entry)):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.selection if is_selected else self._theme.hover)
            painter.drawRoundedRect(rect, 6, 6)
        match entry.kind:
            case EntryKind.HEADING | EntryKind.NOTE:
                self._paint_quiet(painter, option, entry)
            case EntryKind.KEYLESS:
                self._paint_line(
                    painter, option.font, rect.adjusted(self._theme.px(_PADDING), 0, 0, 0), entry, is_selected
                )
            case EntryKind.MODEL:
                self._paint_model(painter, option, index, entry)
        painter.restore()

    def star_at(self, index: Index, row: QRect, place: QPoint) -> ModelCard | None:
        """Return the model whose star is at a place of its row."""
        entry: Entry | None = index.data(ENTRY_ROLE)
        is_star = row.contains(place) and place.x() >= row.right() - self._theme.px(_ICON + 2 * _PADDING)
        return entry.card if entry is not None and entry.kind is EntryKind.MODEL and is_star else None

    def _paint_quiet(self, painter: QPainter, option: QStyleOptionViewItem, entry: Entry) -> None:
        px = self._theme.px
        font = _small(option.font)
        font.setBold(entry.kind is EntryKind.HEADING)
        rect = option.rect.adjusted(px(_PADDING), px(6), -px(_PADDING), 0)
        painter.setFont(font)
        painter.setPen(self._theme.muted)
        text = QFontMetrics(font).elidedText(entry.text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def _paint_model(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, entry: Entry) -> None:
        px, theme, card = self._theme.px, self._theme, entry.card
        assert card is not None
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        quiet = theme.selection_text if is_selected else theme.muted
        rect = option.rect.adjusted(px(_PADDING), px(5), -px(_PADDING), -px(5))
        star = theme.accent if card.is_favourite and not is_selected else quiet
        signs = [self._icon("star", star, is_full=card.is_favourite)]
        if index.data(IS_CURRENT_ROLE):
            signs.append(self._icon("check", quiet))
        if rect.width() >= px(_ROOM_FOR_SIGNS):
            signs += [self._icon(name, quiet) for name, _words in reversed(ability_texts(card))]
        size = px(_ICON)
        for sign in signs:
            sign.paint(painter, rect.right() - size + 1, rect.center().y() - size // 2, size, size)
            rect.setRight(rect.right() - size - px(_GAP))
        name = QRect(rect.left(), rect.top(), rect.width(), option.fontMetrics.height())
        self._paint_line(painter, option.font, name, entry, is_selected)
        below = rect.adjusted(0, name.height() + px(2), 0, 0)
        font = _small(option.font)
        painter.setFont(font)
        painter.setPen(quiet)
        text = QFontMetrics(font).elidedText(details_of(entry), Qt.TextElideMode.ElideRight, below.width())
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def _paint_line(self, painter: QPainter, font: QFont, rect: QRect, entry: Entry, is_selected: bool) -> None:  # noqa: FBT001
        """Paint the text of a row, the letters that were typed bold."""
        bold = QFont(font)
        bold.setBold(True)
        metrics, bold_metrics = QFontMetrics(font), QFontMetrics(bold)
        text = bold_metrics.elidedText(entry.text, Qt.TextElideMode.ElideMiddle, rect.width())
        places = frozenset(entry.places) if text == entry.text else frozenset[int]()
        painter.setPen(self._theme.selection_text if is_selected else self._theme.text)
        left = float(rect.left())
        for start, end in _runs(len(text), places):
            is_found = start in places
            piece = text[start:end]
            advance = (bold_metrics if is_found else metrics).horizontalAdvance(piece)
            painter.setFont(bold if is_found else font)
            room = QRectF(left, rect.top(), advance + 2, rect.height())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, piece)
            left += advance

    def _icon(self, name: str, colour: QColor, *, is_full: bool = False) -> QIcon:
        key = (name, colour.name(), is_full)
        if key not in self._icons:
            self._icons[key] = tinted_icon(name, colour, size=self._theme.px(_ICON), is_full=is_full)
        return self._icons[key]


def _runs(length: int, places: frozenset[int]) -> list[tuple[int, int]]:
    """Return the stretches of letters that are all found or all not."""
    edges = [at for at in range(1, length) if (at in places) is not (at - 1 in places)]
    return list(zip([0, *edges], [*edges, length], strict=True)) if length else []


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * _SMALL)
    return small
