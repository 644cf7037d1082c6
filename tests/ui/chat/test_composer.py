import pytest
from PySide6.QtCore import QEvent, QObject
from pytestqt.qtbot import QtBot

from app.ui.chat.composer import Composer
from app.ui.theme import load_theme, style_sheet

MOST_RESIZES = 20


class ResizeCounter(QObject):
    """Counts how often a widget changes its size."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        self.count += event.type() is QEvent.Type.Resize
        return False


@pytest.mark.parametrize("width", [320, 500, 784])
def test_a_word_longer_than_the_line_settles_at_once(qtbot: QtBot, width: int) -> None:
    theme = load_theme(dark=False)
    composer = Composer(theme)
    qtbot.addWidget(composer)
    composer.setStyleSheet(style_sheet(theme))
    composer.resize(width, 400)
    with qtbot.waitExposed(composer):
        composer.show()
    counter = ResizeCounter()
    composer.field.viewport().installEventFilter(counter)
    for length in range(20, 140):
        counter.count = 0
        composer.set_text("x" * length)
        qtbot.wait(1)
        assert counter.count < MOST_RESIZES, f"at {length} characters"
        assert not composer.field.horizontalScrollBar().isVisible()
