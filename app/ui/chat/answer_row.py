"""The buttons below a question in a tool card: what can be answered, laid out and painted."""

from typing import Final

from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from app.domain.approvals import Verdict
from app.ui.chat.section_text import ToolSection
from app.ui.chat.style import Style
from app.ui.chat.targets import Answer, Target, TargetKind
from app.ui.chat.tool_text import title

_PADDING: Final = 14
_GAP: Final = 8
_RADIUS: Final = 8


def answer_text(verdict: Verdict) -> str:
    """Return the label of a button."""
    return {
        Verdict.ALLOW: _tr("Allow"),
        Verdict.ALWAYS: _tr("Always in this chat"),
        Verdict.DENY: _tr("Don’t allow"),
    }[verdict]


def answer_targets(style: Style, section: ToolSection, rect: QRectF) -> list[Target]:
    """Return the buttons; those that find no room begin a new line. Their names say what they are about."""
    found: list[Target] = []
    height = _button_height(style)
    left, top = rect.left(), rect.top()
    for number, verdict in enumerate(_verdicts(section)):
        label = answer_text(verdict)
        width = QFontMetricsF(style.small).horizontalAdvance(label) + 2 * style.px(_PADDING)
        if number and left + width > rect.right():
            left, top = rect.left(), top + height + style.px(_GAP)
        place = QRectF(left, top, width, height)
        name = f"{label}: {title(section.tool)}"
        found.append(Target(TargetKind.ANSWER, place, name, Answer(section.tool.call_id, verdict), number))
        left += width + style.px(_GAP)
    return found


def answer_height(style: Style, section: ToolSection, width: float) -> int:
    """Return how high the buttons are together."""
    targets = answer_targets(style, section, QRectF(0, 0, width, 0))
    return round(targets[-1].rect.bottom()) + style.px(4)


def paint_answers(painter: QPainter, style: Style, section: ToolSection, rect: QRectF, *, hovered: int | None) -> None:
    """Paint the buttons, all alike: none of them is urged on anybody."""
    theme = style.theme
    painter.setFont(style.small)
    radius = style.px(_RADIUS)
    for target in answer_targets(style, section, rect):
        assert isinstance(target.payload, Answer)
        painter.setPen(QPen(theme.scroll, 1))
        painter.setBrush(theme.hover if hovered == target.number else theme.surface)
        frame = target.rect.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(frame, radius, radius)
        painter.setPen(theme.text)
        painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, answer_text(target.payload.verdict))


def _verdicts(section: ToolSection) -> tuple[Verdict, ...]:
    """Return what can be answered; “always” only where the question says what that would allow."""
    question = section.tool.question
    if question is not None and question.scope:
        return Verdict.ALLOW, Verdict.ALWAYS, Verdict.DENY
    return Verdict.ALLOW, Verdict.DENY


def _button_height(style: Style) -> int:
    return style.small_height + style.px(10)


def _tr(text: str) -> str:
    return QCoreApplication.translate("ToolCard", text)
