"""Lines that are painted by hand read the way their text does."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from app.ui.history.delegate import draw
from app.ui.text_direction import direction_flag

LEFT, RIGHT = Qt.TextFlag.TextForceLeftToRight, Qt.TextFlag.TextForceRightToLeft


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("", LEFT),
        ("Kyoto", LEFT),
        ("… 京都", LEFT),
        ("مرحبا", RIGHT),
        ("12 … שלום Kyoto", RIGHT),
        ("Kyoto שלום", LEFT),
        ("👍🏽", LEFT),
    ],
)
def test_the_first_letter_tells_the_way(text: str, flag: Qt.TextFlag) -> None:
    assert direction_flag(text) is flag


@pytest.mark.parametrize(("text", "ends_left"), [("אבגד " * 20, True), ("abcd " * 20, False)])
def test_the_dots_of_a_shortened_line_stand_at_its_end(qapp: QApplication, text: str, *, ends_left: bool) -> None:
    image = QImage(160, 40, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    draw(painter, QRect(0, 0, 160, 40), text)
    painter.end()
    inked = [(x, y) for x in range(160) for y in range(40) if image.pixelColor(x, y).lightness() < 160]
    first, last = min(x for x, _ in inked), max(x for x, _ in inked)

    def highest(left: int, right: int) -> int:
        return min(y for x, y in inked if left <= x <= right)

    at_left, at_right = highest(first, first + 4), highest(last - 4, last)
    # Dots lie on the line; letters rise above it.
    assert (at_left > at_right) is ends_left
