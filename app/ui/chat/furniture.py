"""Rows without a document: an item's header, fold lines, waiting dots, rules, notes and buttons."""

import math
from datetime import datetime
from typing import Final

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QPainter, QPen

from app.ui.chat.items import Item, ItemAction, Speaker
from app.ui.chat.style import Style
from app.ui.chat.targets import Target, TargetKind
from app.ui.chat.transcript_model import Node

_MAX_NOTE_CHARS: Final = 2_000
_MAX_WORD_CHARS: Final = 30
_PIECE_CHARS: Final = 8
_BREAK: Final = "\u200b"
_WRAPPED: Final = int(Qt.TextFlag.TextWordWrap)
_BUTTON_PADDING: Final = 14
_BUTTON_GAP: Final = 8
_FOLD_PADDING: Final = 8
_BETWEEN: Final = " · "
_CENTRE: Final = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


def header_text(item: Item) -> tuple[str, str]:
    """Return the speaker's name, with what is told beside it, and the time, in the words of the locale."""
    name = f"{speaker_name(item)} · {item.aside}" if item.aside else speaker_name(item)
    return name, "" if item.created is None else time_text(item.created)


def speaker_name(item: Item) -> str:
    """Return who speaks."""
    if item.name:
        return item.name[:200].replace("\n", " ")
    if item.speaker is Speaker.USER:
        return QCoreApplication.translate("TranscriptView", "You")
    return QCoreApplication.translate("TranscriptView", "Assistant")


def time_text(moment: datetime) -> str:
    """Return the time of day, with the date unless it is today."""
    local = moment.astimezone()
    shown = QDateTime.fromMSecsSinceEpoch(int(local.timestamp() * 1000))
    locale = QLocale()
    time = locale.toString(shown.time(), QLocale.FormatType.ShortFormat)
    if local.date() == datetime.now().astimezone().date():
        return time
    return f"{locale.toString(shown.date(), QLocale.FormatType.ShortFormat)} {time}"


def fold_text(node: Node, section: int) -> str:
    """Return the line that stands for a reasoning section."""
    text = node.sections[section]
    sign = "▸" if node.is_folded(section) else "▾"
    if text.is_live and section == len(node.sections) - 1:
        return QCoreApplication.translate("TranscriptView", "Thinking…") + f"  {sign}"
    if text.words == 1:
        told = QCoreApplication.translate("TranscriptView", "Reasoning · 1 word")
    else:
        words = QLocale().toString(text.words)
        told = QCoreApplication.translate("TranscriptView", "Reasoning · %1 words").replace("%1", words)
    if text.seconds is not None:
        seconds = QLocale().toString(round(text.seconds))
        told += " · " + QCoreApplication.translate("TranscriptView", "%1 s").replace("%1", seconds)
    return f"{told}  {sign}"


def action_text(action: ItemAction) -> str:
    """Return the label of an item's button."""
    match action:
        case ItemAction.CONTINUE:
            return QCoreApplication.translate("TranscriptView", "Continue")
        case ItemAction.RETRY:
            return QCoreApplication.translate("TranscriptView", "Try again")
        case ItemAction.NEW_CHAT:
            return QCoreApplication.translate("TranscriptView", "New chat")
        case ItemAction.SAVE:
            return QCoreApplication.translate("TranscriptView", "Save again")
        case ItemAction.SETTINGS:
            return QCoreApplication.translate("TranscriptView", "Providers and keys…")
        case ItemAction.MODEL:
            return QCoreApplication.translate("TranscriptView", "Choose a model…")


def header_height(style: Style, item: Item, width: float) -> int:
    """Return the height of the header: two lines where what is told of the speaker finds no room beside its name."""
    return style.small_height * (2 if item.aside and not _has_room_for_aside(style, item, width) else 1)


def paint_header(painter: QPainter, style: Style, item: Item, rect: QRectF) -> None:
    """Paint the name and the time; a user's header stands at the right, above its bubble."""
    name, time = speaker_name(item), "" if item.created is None else time_text(item.created)
    line = QRectF(rect.left(), rect.top(), rect.width(), style.small_height)
    small = QFontMetricsF(style.small)
    time_width = small.horizontalAdvance(time)
    has_room = bool(item.aside) and _has_room_for_aside(style, item, rect.width())
    aside = f"{_BETWEEN}{item.aside}" if has_room else ""
    aside_width = small.horizontalAdvance(aside)
    name_width = min(QFontMetricsF(style.name).horizontalAdvance(name), line.width() - time_width - aside_width - 8)
    left = line.left()
    if item.speaker is Speaker.USER:
        left = line.right() - name_width - (time_width + 8 if time else 0)
    name = QFontMetricsF(style.name).elidedText(name, Qt.TextElideMode.ElideRight, name_width + 1)
    painter.setFont(style.name)
    painter.setPen(style.theme.text)
    painter.drawText(QRectF(left, line.top(), name_width + 2, line.height()), _CENTRE, name)
    painter.setFont(style.small)
    painter.setPen(style.theme.muted)
    painter.drawText(QRectF(left + name_width, line.top(), aside_width + 2, line.height()), _CENTRE, aside)
    left += name_width + aside_width + 8
    painter.drawText(QRectF(left, line.top(), time_width + 2, line.height()), _CENTRE, time)
    if item.aside and not has_room:
        below = small.elidedText(item.aside, Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line.translated(0, line.height()), _CENTRE, below)


def _has_room_for_aside(style: Style, item: Item, width: float) -> bool:
    name, time = speaker_name(item), "" if item.created is None else time_text(item.created)
    taken = QFontMetricsF(style.name).horizontalAdvance(name)
    return taken + QFontMetricsF(style.small).horizontalAdvance(f"{_BETWEEN}{item.aside}{time}") + 8 <= width


def fold_rect(style: Style, node: Node, section: int, rect: QRectF) -> QRectF:
    """Return where the fold line is within its row."""
    advance = QFontMetricsF(style.small).horizontalAdvance(fold_text(node, section))
    return QRectF(
        rect.left() - _FOLD_PADDING, rect.top(), min(rect.width(), advance) + 2 * _FOLD_PADDING, rect.height()
    )


def paint_fold(painter: QPainter, style: Style, node: Node, section: int, rect: QRectF, *, hovered: bool) -> None:
    """Paint the line that unfolds a reasoning section."""
    pill = fold_rect(style, node, section, rect)
    if hovered:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(style.theme.hover)
        painter.drawRoundedRect(pill, 6, 6)
    painter.setFont(style.small)
    painter.setPen(style.theme.text if hovered else style.theme.muted)
    inner = pill.adjusted(_FOLD_PADDING, 0, 0, 0)
    painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, fold_text(node, section))


def paint_wait(painter: QPainter, style: Style, rect: QRectF, step: int | None) -> None:
    """Paint three dots, one of them stronger at each `step`; all alike without a step."""
    size, gap = style.px(6), style.px(5)
    painter.setPen(Qt.PenStyle.NoPen)
    for number in range(3):
        colour = style.theme.muted
        colour = type(colour)(colour)
        colour.setAlphaF(0.9 if step is None or step % 3 == number else 0.35)
        painter.setBrush(colour)
        painter.drawEllipse(QRectF(rect.left() + 2 + number * (size + gap), rect.center().y() - size / 2, size, size))


def note_height(style: Style, item: Item, width: float) -> int:
    """Return the height of the note below an item's text."""
    if not item.note:
        return 0
    room = QRect(0, 0, int(width), 100_000)
    return QFontMetrics(style.small).boundingRect(room, _WRAPPED, _note(item)).height() + 4


def footer_height(style: Style, item: Item, width: float) -> int:
    """Return the height of note and buttons together."""
    targets = footer_targets(style, item, QRectF(0, 0, width, 0))
    return math.ceil(targets[-1].rect.bottom()) - 4 + style.px(6) if targets else note_height(style, item, width)


def footer_targets(style: Style, item: Item, rect: QRectF) -> list[Target]:
    """Return the buttons below an item; those that find no room begin a new line."""
    found: list[Target] = []
    left, top = rect.left(), rect.top() + note_height(style, item, rect.width()) + 4
    for number, action in enumerate(item.actions):
        label = action_text(action)
        width = QFontMetricsF(style.small).horizontalAdvance(label) + 2 * style.px(_BUTTON_PADDING)
        if number and left + width > rect.right():
            left, top = rect.left(), top + _button_height(style) + style.px(_BUTTON_GAP)
        found.append(Target(TargetKind.ACTION, QRectF(left, top, width, _button_height(style)), label, action, number))
        left += width + style.px(_BUTTON_GAP)
    return found


def paint_footer(painter: QPainter, style: Style, item: Item, rect: QRectF, hovered: int | None) -> None:
    """Paint note and buttons."""
    theme = style.theme
    painter.setFont(style.small)
    if item.note:
        painter.setPen(theme.error if item.is_error else theme.muted)
        painter.drawText(QRectF(rect.left(), rect.top(), rect.width(), 100_000), _WRAPPED, _note(item))
    for target in footer_targets(style, item, rect):
        painter.setPen(QPen(theme.border, 1))
        painter.setBrush(theme.hover if hovered == target.number else theme.surface)
        frame = target.rect.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(frame, 8, 8)
        painter.setPen(theme.text)
        painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, target.name)


def _button_height(style: Style) -> int:
    return style.small_height + style.px(10)


def _note(item: Item) -> str:
    """Return a note that wraps between words, and within the long ones, such as addresses."""
    return " ".join(map(_breakable, item.note[:_MAX_NOTE_CHARS].split(" ")))


def _breakable(word: str) -> str:
    if len(word) <= _MAX_WORD_CHARS:
        return word
    return _BREAK.join(word[start : start + _PIECE_CHARS] for start in range(0, len(word), _PIECE_CHARS))
