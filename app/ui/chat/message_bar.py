"""The line below a message: which version it is, and quiet buttons for what can be done with it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QIcon, QPainter

from app.ui.chat.deeds import (
    ICONS,
    ON_BAR,
    Deed,
    Marks,
    Offer,
    Offers,
    VersionMark,
    button_name,
    no_offers,
    short_version_text,
    steps_of,
)
from app.ui.chat.items import Speaker
from app.ui.chat.style import Style
from app.ui.chat.targets import Target, TargetKind
from app.ui.chat.transcript_model import Node, TranscriptModel
from app.ui.theme import tinted_icon

_BUTTON: Final = 26
_ICON: Final = 15
_RADIUS: Final = 6
_STEP_GAP: Final = 2
_GROUP_GAP: Final = 6
_DISABLED: Final = 0.4
_NUMBERS: Final = {deed: number for number, deed in enumerate(Deed)}


@dataclass(slots=True)
class BarLook:
    """What the lines below messages show now."""

    offers: Offers = no_offers
    marks: Marks = field(default_factory=dict)
    refusal: str = ""
    """Why no other version can be shown now."""
    pointed: int | None = None
    """The order of the item whose line is below the pointer's message."""
    focused: int | None = None
    """The order of the item on whose line the keyboard is."""


class MessageBars:
    """Lays out and paints the lines; a reply of several steps has one, below the last."""

    def __init__(self, model: TranscriptModel) -> None:
        self.look = BarLook()
        self._model = model
        self._icons: dict[tuple[str, str], QIcon] = {}

    def restyle(self) -> None:
        """Draw the icons anew."""
        self._icons.clear()

    def height(self, style: Style) -> int:
        """Return how high a line is, whether anything is on it or not."""
        return style.px(_BUTTON)

    def mark_of(self, node: Node) -> VersionMark | None:
        """Return which version begins with a message, or with the first step of a reply."""
        return self.look.marks.get(self._model.first_step(node).item.id)

    def targets(self, style: Style, node: Node, rect: QRectF) -> list[Target]:
        """Return the buttons of a line, from left to right."""
        if node.item.streaming:
            return []
        mark = self.mark_of(node)
        offers = _on_bar(self.look.offers(node.item.id))
        steps = list(steps_of(mark, self.look.refusal)) if mark is not None else []
        size = float(style.px(_BUTTON))
        figures = self._figures_width(style, mark)
        room = rect.width() - (2 * size + figures + style.px(_GROUP_GAP) if steps else 0)
        while len(offers) > 1 and len(offers) * size > room:
            # The menu has them all.
            del offers[-2]
        groups = [(steps, 2 * size + figures), (offers, len(offers) * size)]
        is_own = node.item.speaker is Speaker.USER
        gap = style.px(_GROUP_GAP) if steps and offers else 0
        left = rect.left() - (size - style.px(_ICON)) / 2
        if is_own:
            groups.reverse()
            left = rect.right() - sum(width for group, width in groups if group) - gap
        found: list[Target] = []
        for group, _ in groups:
            for at, offer in enumerate(group):
                if group is steps and at:
                    left += figures
                place = QRectF(left, rect.top(), size, size)
                found.append(_target(offer, mark, place))
                left += size
            left += gap if group else 0
        return found

    def paint(
        self, painter: QPainter, style: Style, node: Node, rect: QRectF, *, hovered: int | None, copied: int | None
    ) -> None:
        """Paint the versions always, the buttons where the pointer or the keyboard is, and below the newest reply."""
        targets = self.targets(style, node, rect)
        mark = self.mark_of(node)
        if mark is not None and targets:
            self._paint_figures(painter, style, mark, targets)
        shows_all = node.order in (self.look.pointed, self.look.focused) or self._is_newest_reply(node)
        for target in targets:
            offer = target.payload
            assert isinstance(offer, Offer)
            if shows_all or offer.deed in (Deed.PREVIOUS, Deed.NEXT):
                icon = "check" if copied == target.number else ICONS[offer.deed]
                self._paint_button(painter, style, target, icon, is_hovered=hovered == target.number)

    def _paint_button(self, painter: QPainter, style: Style, target: Target, icon: str, *, is_hovered: bool) -> None:
        theme, rect, offer = style.theme, target.rect, target.payload
        assert isinstance(offer, Offer)
        can_do = not offer.refusal
        if is_hovered and can_do:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.hover)
            painter.drawRoundedRect(rect, style.px(_RADIUS), style.px(_RADIUS))
        colour = theme.text if is_hovered and can_do else theme.muted
        size = style.px(_ICON)
        place = QRectF(0, 0, size, size)
        place.moveCenter(rect.center())
        opacity = painter.opacity()
        painter.setOpacity(opacity if can_do else opacity * _DISABLED)
        self._icon(icon, colour, size).paint(painter, place.toRect())
        painter.setOpacity(opacity)

    def _paint_figures(self, painter: QPainter, style: Style, mark: VersionMark, targets: Sequence[Target]) -> None:
        previous = next(each.rect for each in targets if each.number == _NUMBERS[Deed.PREVIOUS])
        room = QRectF(previous.right(), previous.top(), self._figures_width(style, mark), previous.height())
        painter.setFont(style.small)
        painter.setPen(style.theme.muted)
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, short_version_text(mark))

    def _figures_width(self, style: Style, mark: VersionMark | None) -> float:
        if mark is None:
            return 0.0
        return math.ceil(QFontMetricsF(style.small).horizontalAdvance(short_version_text(mark))) + style.px(_STEP_GAP)

    def _is_newest_reply(self, node: Node) -> bool:
        return node.item.speaker is Speaker.ASSISTANT and self._model.newest_message is node

    def _icon(self, name: str, colour: QColor, size: int) -> QIcon:
        key = (name, colour.name())
        if key not in self._icons:
            self._icons[key] = tinted_icon(name, colour, size=size)
        return self._icons[key]


def number_of(deed: Deed) -> int:
    """Return which of a line's targets stands for a deed."""
    return _NUMBERS[deed]


def _on_bar(offers: Sequence[Offer]) -> list[Offer]:
    """Return what has a button: what is done most, and everything in a menu."""
    shown = [offer for offer in offers if offer.deed in ON_BAR]
    return [*shown, Offer(Deed.MORE)] if len(offers) > len(shown) else shown


def _target(offer: Offer, mark: VersionMark | None, rect: QRectF) -> Target:
    return Target(TargetKind.MESSAGE, rect, button_name(offer, mark), offer, _NUMBERS[offer.deed])
