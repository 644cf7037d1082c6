"""Paints what is on screen: the grounds of the person's messages, then row by row."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from app.ui.chat.flow import Placed
from app.ui.chat.items import Speaker
from app.ui.chat.rows import BUBBLE_OFFSET, Rows
from app.ui.chat.selection import Selection

_MARK_BEYOND = 10
"""How far the ground of a marked item reaches beyond its column."""
_BEYOND = 40
"""A ground is painted this far beyond what is to be painted: its corners lie outside."""
_FADED = 0.4
"""How much is left of what will be cut off."""


def paint_screen(painter: QPainter, rows: Rows, shown: Sequence[Placed], clip: QRectF, selection: Selection) -> None:
    """Paint the part of `shown` that lies in `clip`."""
    _paint_mark(painter, rows, shown)
    _paint_bubbles(painter, rows, shown, clip)
    for placed in shown:
        if placed.y < clip.bottom() and placed.y + placed.height > clip.top():
            painter.setOpacity(_opacity(rows, placed))
            rows.paint(painter, placed, clip, _selected(rows, placed, selection))
    painter.setOpacity(1.0)


def _opacity(rows: Rows, placed: Placed) -> float:
    faded = rows.look.faded_behind
    return 1.0 if faded is None or placed.node.order <= faded else _FADED


def _paint_mark(painter: QPainter, rows: Rows, shown: Sequence[Placed]) -> None:
    """Paint the ground of the item that was jumped to, with a bar at its side."""
    marked = [placed for placed in shown if placed.node.order == rows.look.marked]
    if not marked:
        return
    theme, px = rows.style.theme, rows.style.px
    x, width = rows.column
    beyond = min(float(px(_MARK_BEYOND)), x)
    # The room above the header belongs to no item.
    gap = px(_MARK_BEYOND) if marked[0].row == 0 else 0
    top, bottom = marked[0].y + gap, marked[-1].y + marked[-1].height + px(_MARK_BEYOND) // 2
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.hover)
    painter.drawRoundedRect(QRectF(x - beyond, top, width + 2 * beyond, bottom - top), px(6), px(6))
    painter.setBrush(theme.accent)
    painter.drawRoundedRect(QRectF(x - beyond, top, px(4), bottom - top), px(2), px(2))


def _selected(rows: Rows, placed: Placed, selection: Selection) -> tuple[int, int] | None:
    if not selection:
        return None
    cell = rows.cell(placed.node, placed.row)
    return None if cell is None else selection.within(placed.node, placed.node.rows[placed.row], cell.length)


def _paint_bubbles(painter: QPainter, rows: Rows, shown: Sequence[Placed], clip: QRectF) -> None:
    """Paint the ground of each of the person's messages as one shape, however many rows it has."""
    seen: set[int] = set()
    for placed in shown:
        node = placed.node
        if node.item.speaker is not Speaker.USER or node.order in seen:
            continue
        seen.add(node.order)
        inside = [at for at, row in enumerate(node.rows) if row.block is not None]
        if inside:
            origin = placed.y - node.heights.top(placed.row)
            top = origin + node.heights.top(inside[0]) + rows.style.px(BUBBLE_OFFSET)
            bottom = origin + node.heights.top(inside[-1] + 1)
            top, bottom = max(top, int(clip.top()) - _BEYOND), min(bottom, int(clip.bottom()) + _BEYOND)
            if top < bottom:
                painter.setOpacity(_opacity(rows, placed))
                rows.paint_bubble(painter, node, top, bottom)
    painter.setOpacity(1.0)
