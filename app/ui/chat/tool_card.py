"""Tool cards painted: the head that is always there, and the line below a result that goes on."""

import math
from typing import Final

from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QIcon, QPainter, QPen

from app.ui.chat import tool_text
from app.ui.chat.items import ToolCall
from app.ui.chat.section_text import ToolSection
from app.ui.chat.style import Style
from app.ui.chat.targets import Target, TargetKind
from app.ui.chat.transcript_model import Node
from app.ui.text_direction import direction_flag
from app.ui.theme import Theme, tinted_icon

_PADDING: Final = 10
_ABOVE: Final = 7
_RADIUS: Final = 8
_GAP: Final = 8
_ICON: Final = 15
_LEAST_SUMMARY: Final = 120
"""Arguments that find less room beside the name go below it."""
_LEAST_TITLE: Final = 160
"""A question that finds less room beside the state goes below it."""
_ICONS: Final = {
    "asking": "circle-question-mark",
    "waiting": "clock",
    "running": "wrench",
    "done": "check",
    "failed": "triangle-alert",
    "interrupted": "stop",
    "denied": "ban",
}
_LEFT: Final = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_WRAPPED: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop) | int(Qt.TextFlag.TextWordWrap)
_RIGHT: Final = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


class ToolCards:
    """Lays out and paints the heads of tool cards; holds their icons."""

    def __init__(self) -> None:
        self._icons: dict[str, QIcon] = {}

    def restyle(self) -> None:
        """Draw the icons anew, in other colours."""
        self._icons.clear()

    def height(self, style: Style, tool: ToolCall, width: float) -> int:
        """Return how high the head of a card is."""
        lines = len(_lines_below(style, tool, width)) * style.small_height
        return _title_height(style, tool, width) + lines + 2 * style.px(_ABOVE)

    def target(self, node: Node, section: int, rect: QRectF) -> Target:
        """Return what folds and unfolds a card."""
        text = node.sections[section]
        assert isinstance(text, ToolSection)
        is_folded, has_result = node.is_folded(section), text.tool.output is not None
        hidden = _tr("arguments and result are hidden") if has_result else _tr("details are hidden")
        parts = (text.headline, tool_text.trouble(text.tool), hidden if is_folded else _tr("shown below"))
        name = ", ".join(part for part in parts if part)
        return Target(TargetKind.FOLD, rect, name, section)

    def paint(self, painter: QPainter, style: Style, node: Node, section: int, rect: QRectF, *, hovered: bool) -> None:
        """Paint the head of a card."""
        text = node.sections[section]
        assert isinstance(text, ToolSection)
        theme, tool = style.theme, text.tool
        painter.setPen(QPen(_edge(theme, tool), 1))
        painter.setBrush(theme.hover if hovered else theme.code_header)
        radius = style.px(_RADIUS)
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        padding = style.px(_PADDING)
        line = QRectF(rect.left() + padding, rect.top() + style.px(_ABOVE), rect.width() - 2 * padding, 0)
        line.setHeight(style.small_height)
        self._paint_icon(painter, style, tool, line)
        line.setLeft(line.left() + style.px(_ICON) + style.px(_GAP))
        _paint_line(painter, style, tool, line, sign="▸" if node.is_folded(section) else "▾", width=rect.width())
        line.translate(0, _title_height(style, tool, rect.width()) - style.small_height)
        for text_below in _lines_below(style, tool, rect.width()):
            line.translate(0, style.small_height)
            _draw(painter, style.small, theme.text, line, text_below)

    def _paint_icon(self, painter: QPainter, style: Style, tool: ToolCall, line: QRectF) -> None:
        icon = self._icons.get(tool.state)
        size = style.px(_ICON)
        if icon is None:
            icon = self._icons[tool.state] = tinted_icon(_ICONS[tool.state], _colour(style.theme, tool), size=size)
        place = QRectF(line.left(), line.center().y() - size / 2, size, size)
        icon.paint(painter, place.toRect())


def more_text(section: ToolSection) -> str:
    """Return what the line below a result says."""
    return _tr("Show more") if section.has_more else section.note


def more_targets(style: Style, section: ToolSection, rect: QRectF) -> list[Target]:
    """Return the button below a result of which more can be shown."""
    if not section.has_more:
        return []
    width = QFontMetricsF(style.small).horizontalAdvance(more_text(section)) + 2 * style.px(14)
    return [Target(TargetKind.MORE, QRectF(rect.left(), rect.top(), width, rect.height()), more_text(section))]


def more_height(style: Style, section: ToolSection, width: float) -> int:
    """Return how high the line below a result is."""
    if section.has_more:
        return style.small_height + style.px(10)
    room = QRectF(0, 0, width, 100_000)
    flags = int(Qt.TextFlag.TextWordWrap)
    return round(QFontMetricsF(style.small).boundingRect(room, flags, section.note).height()) + 2


def paint_more(painter: QPainter, style: Style, section: ToolSection, rect: QRectF, *, hovered: bool) -> None:
    """Paint the button, or what is missing in words."""
    theme = style.theme
    painter.setFont(style.small)
    for target in more_targets(style, section, rect):
        painter.setPen(QPen(theme.border, 1))
        painter.setBrush(theme.hover if hovered else theme.surface)
        frame = target.rect.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(frame, 8, 8)
        painter.setPen(theme.text)
        painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, target.name)
        return
    painter.setPen(theme.muted)
    painter.drawText(rect, int(Qt.TextFlag.TextWordWrap), section.note)


def _paint_line(painter: QPainter, style: Style, tool: ToolCall, line: QRectF, *, sign: str, width: float) -> None:
    """Paint title, what stands beside it, and state; what finds no room ends in an ellipsis, but for a question."""
    theme = style.theme
    state = f"{tool_text.state_text(tool)}  {sign}"
    _draw(painter, style.small, _colour(theme, tool), line, state, align=_RIGHT)
    room = line.width() - QFontMetricsF(style.small).horizontalAdvance(state) - style.px(_GAP)
    title = tool_text.title(tool)
    if tool.question is not None:
        place = QRectF(line.left(), line.top(), line.width(), _title_height(style, tool, width))
        if _is_beside_state(style, tool, width):
            place.setWidth(max(0.0, room))
        else:
            place.setTop(line.bottom())
        painter.setFont(style.name)
        painter.setPen(theme.text)
        # One line stands in the middle as the state beside it does.
        is_one_line = place.height() <= style.small_height
        painter.drawText(place, int((_LEFT if is_one_line else _WRAPPED) | direction_flag(title)), title)
        return
    wide = max(0.0, min(QFontMetricsF(style.name).horizontalAdvance(title) + 1, room))
    _draw(painter, style.name, theme.text, QRectF(line.left(), line.top(), wide, line.height()), title)
    if _has_room(style, tool, width):
        left = line.left() + wide + style.px(_GAP)
        place = QRectF(left, line.top(), line.left() + room - left, line.height())
        _draw(painter, style.small, theme.muted, place, tool_text.beside(tool))


def _title_height(style: Style, tool: ToolCall, width: float) -> int:
    """Return the height of the title: a question is shown to its last word, whatever lines that takes."""
    if tool.question is None:
        return style.small_height
    room = _room_of_title(style, tool, width)
    above = 0
    if not _is_beside_state(style, tool, width):
        room, above = width - _taken_by_frame(style), style.small_height
    box = QRectF(0, 0, max(20.0, room), 100_000)
    bounds = QFontMetricsF(style.name).boundingRect(box, _WRAPPED, tool_text.title(tool))
    return above + max(style.small_height, math.ceil(bounds.height()))


def _is_beside_state(style: Style, tool: ToolCall, width: float) -> bool:
    """Return whether a question finds room beside the state; it begins below it otherwise."""
    return _room_of_title(style, tool, width) >= style.px(_LEAST_TITLE)


def _room_of_title(style: Style, tool: ToolCall, width: float) -> float:
    state = QFontMetricsF(style.small).horizontalAdvance(f"{tool_text.state_text(tool)}  ▸")
    return width - _taken_by_frame(style) - state - style.px(_GAP)


def _taken_by_frame(style: Style) -> int:
    return style.px(_ICON) + style.px(_GAP) + 2 * style.px(_PADDING)


def _has_room(style: Style, tool: ToolCall, width: float) -> bool:
    """Return whether what stands beside the title finds room there, in a card of that width."""
    small = QFontMetricsF(style.small)
    left = _room_of_title(style, tool, width) - QFontMetricsF(style.name).horizontalAdvance(tool_text.title(tool))
    return left - style.px(_GAP) >= min(small.horizontalAdvance(tool_text.beside(tool)) + 1, style.px(_LEAST_SUMMARY))


def _lines_below(style: Style, tool: ToolCall, width: float) -> list[str]:
    """Return what stands below the title: arguments that find no room beside it, and why a call failed."""
    is_known = bool(tool_text.sentence(tool))
    below = "" if is_known or _has_room(style, tool, width) else tool_text.beside(tool)
    return [line for line in (below, tool_text.trouble(tool)) if line]


def _draw(
    painter: QPainter, font: QFont, colour: QColor, rect: QRectF, text: str, *, align: Qt.AlignmentFlag = _LEFT
) -> None:
    painter.setFont(font)
    painter.setPen(colour)
    shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, int(align | direction_flag(shown)), shown)


def _edge(theme: Theme, tool: ToolCall) -> QColor:
    if tool.state == "asking":
        return theme.accent
    return theme.error if _is_trouble(tool) else theme.border


def _is_trouble(tool: ToolCall) -> bool:
    return tool.state in ("failed", "denied")


def _colour(theme: Theme, tool: ToolCall) -> QColor:
    if tool.state == "asking":
        return theme.text
    return theme.error if _is_trouble(tool) else theme.muted


def _tr(text: str) -> str:
    return QCoreApplication.translate("ToolCard", text)
