"""The line across the transcript where a context window begins, with words in the middle, painted."""

from typing import Final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from app.ui.chat.items import Item
from app.ui.chat.style import Style

_LEAST_LINE: Final = 12
"""In pixels, at each side of the words."""
_GAP: Final = 10
_FLAGS: Final = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter)


def divider_text(item: Item) -> str:
    """Return the words; a separator stays with what stands before it."""
    return "".join(section.text for section in item.sections).replace(" · ", "\u00a0· ")


def divider_height(style: Style, item: Item, width: float) -> int:
    """Return how high words and line are."""
    return _words_rect(style, item, width).height() + style.px(4)


def paint_divider(painter: QPainter, style: Style, item: Item, rect: QRectF) -> None:
    """Paint the words, and the line at both sides of them."""
    words = QRectF(_words_rect(style, item, rect.width()))
    words.moveCenter(rect.center())
    gap, middle = style.px(_GAP), round(rect.center().y())
    for left, right in ((rect.left(), words.left() - gap), (words.right() + gap, rect.right())):
        painter.fillRect(QRectF(left, middle, max(0.0, right - left), 1), style.theme.scroll)
    painter.setFont(style.small)
    painter.setPen(style.theme.muted)
    painter.drawText(words.adjusted(-1, 0, 1, 0), _FLAGS, divider_text(item))


def _words_rect(style: Style, item: Item, width: float) -> QRect:
    room = max(80, int(width) - 2 * style.px(_LEAST_LINE) - 2 * style.px(_GAP))
    return QFontMetrics(style.small).boundingRect(QRect(0, 0, room, 100_000), _FLAGS, divider_text(item))
