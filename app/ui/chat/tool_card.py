"""Tool cards painted: the line that is always there, and the one below a result that goes on."""

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
"""A summary that finds less room beside the name goes below it."""
_ICONS: Final = {
    "running": "wrench",
    "done": "check",
    "failed": "triangle-alert",
    "interrupted": "stop",
    "denied": "ban",
}
_LEFT: Final = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
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
        lines = 1 + len(_lines_below(style, tool, width))
        return lines * style.small_height + 2 * style.px(_ABOVE)

    def target(self, node: Node, section: int, rect: QRectF) -> Target:
        """Return what folds and unfolds a card."""
        text = node.sections[section]
        assert isinstance(text, ToolSection)
        shown = _tr("arguments and result are hidden") if node.is_folded(section) else _tr("shown below")
        name = ", ".join(part for part in (text.headline, tool_text.trouble(text.tool), shown) if part)
        return Target(TargetKind.FOLD, rect, name, section)

    def paint(self, painter: QPainter, style: Style, node: Node, section: int, rect: QRectF, *, hovered: bool) -> None:
        """Paint the head of a card."""
        text = node.sections[section]
        assert isinstance(text, ToolSection)
        theme, tool = style.theme, text.tool
        painter.setPen(QPen(theme.error if _is_trouble(tool) else theme.border, 1))
        painter.setBrush(theme.hover if hovered else theme.code_header)
        radius = style.px(_RADIUS)
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        padding = style.px(_PADDING)
        line = QRectF(rect.left() + padding, rect.top() + style.px(_ABOVE), rect.width() - 2 * padding, 0)
        line.setHeight(style.small_height)
        self._paint_icon(painter, style, tool, line)
        line.setLeft(line.left() + style.px(_ICON) + style.px(_GAP))
        _paint_line(painter, style, tool, line, sign="▸" if node.is_folded(section) else "▾", width=rect.width())
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
    """Paint name, arguments and state beside each other; what finds no room ends in an ellipsis."""
    theme = style.theme
    state = f"{tool_text.state_text(tool)}  {sign}"
    _draw(painter, style.small, _colour(theme, tool), line, state, align=_RIGHT)
    room = line.width() - QFontMetricsF(style.small).horizontalAdvance(state) - style.px(_GAP)
    name = tool_text.tool_name(tool)
    wide = max(0.0, min(QFontMetricsF(style.name).horizontalAdvance(name) + 1, room))
    _draw(painter, style.name, theme.text, QRectF(line.left(), line.top(), wide, line.height()), name)
    if _has_room(style, tool, width):
        left = line.left() + wide + style.px(_GAP)
        place = QRectF(left, line.top(), line.left() + room - left, line.height())
        _draw(painter, style.small, theme.muted, place, tool_text.summary(tool))


def _has_room(style: Style, tool: ToolCall, width: float) -> bool:
    """Return whether the arguments find room beside name and state, in a card of that width."""
    small = QFontMetricsF(style.small)
    taken = small.horizontalAdvance(f"{tool_text.state_text(tool)}  ▸")
    taken += QFontMetricsF(style.name).horizontalAdvance(tool_text.tool_name(tool))
    taken += style.px(_ICON) + 3 * style.px(_GAP) + 2 * style.px(_PADDING)
    return width - taken >= min(small.horizontalAdvance(tool_text.summary(tool)) + 1, style.px(_LEAST_SUMMARY))


def _lines_below(style: Style, tool: ToolCall, width: float) -> list[str]:
    """Return what stands below the name: arguments that find no room beside it, and why a call failed."""
    below = "" if _has_room(style, tool, width) else tool_text.summary(tool)
    return [line for line in (below, tool_text.trouble(tool)) if line]


def _draw(
    painter: QPainter, font: QFont, colour: QColor, rect: QRectF, text: str, *, align: Qt.AlignmentFlag = _LEFT
) -> None:
    painter.setFont(font)
    painter.setPen(colour)
    shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, int(align | direction_flag(shown)), shown)


def _is_trouble(tool: ToolCall) -> bool:
    return tool.state in ("failed", "denied")


def _colour(theme: Theme, tool: ToolCall) -> QColor:
    return theme.error if _is_trouble(tool) else theme.muted


def _tr(text: str) -> str:
    return QCoreApplication.translate("ToolCard", text)
