"""Takes pictures of windows, and does by hand what every scene needs."""

import asyncio
import sys
from collections import Counter
from pathlib import Path
from typing import Final

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.ui.main_window import MainWindow
from app.ui.picker.panel import ModelPicker
from tests.benchmarks.driver import until

FONT: Final = "Noto Sans"
SIZE: Final = (1280, 800)
NARROW: Final = (360, 740)
SETTLE_SECONDS: Final = 0.3


class Camera:
    """Uses the window as a person does and writes pictures into a folder."""

    def __init__(self, window: MainWindow, output: Path) -> None:
        self.window = window
        self._output = output

    async def set_up(self) -> None:
        """Make the window as large as the pictures are, in light colours, with a chat open."""
        if QFontInfo(QApplication.font()).family() != FONT and FONT in QFontDatabase.families():
            QApplication.setFont(QFont(FONT, 10))
        self.window.resize(*SIZE)
        self.window.raise_window()
        self.use(Qt.ColorScheme.Light)
        await until(lambda: self.window.controller.session)

    async def new_chat(self) -> None:
        known = self.window.controller.session
        self.window.actions_.new_chat.trigger()
        await until(lambda: self.window.controller.session not in ("", known))

    async def say(self, text: str) -> None:
        """Send a message and wait for the whole reply."""
        await until(lambda: self.window.page.composer.may_attach)
        known = len(self.window.page.transcript.nodes)
        self.type(text)
        await until(lambda: len(self.window.page.transcript.nodes) >= known + 2)
        await until(lambda: not self.window.controller.is_streaming)

    def type(self, text: str) -> None:
        self.window.page.composer.set_text(text)
        self.window.page.composer.submit()

    def open_picker(self) -> ModelPicker:
        self.window.actions_.choose_model.trigger()
        picker = self.window.findChild(ModelPicker)
        assert picker is not None
        return picker

    async def choose_model(self, ref: str) -> None:
        """Choose a model for the chat that is open."""
        picker = self.open_picker()
        picker.chosen.emit(ref)
        picker.close_up()
        await until(lambda: self.window.chats.open_model() == ref)

    @staticmethod
    def use(scheme: Qt.ColorScheme) -> None:
        # A bare X server has no setting that could be changed; the window hears as if it had been.
        QGuiApplication.styleHints().colorSchemeChanged.emit(scheme)

    async def take(
        self,
        name: str,
        of: QWidget | None = None,
        *,
        menu: QMenu | None = None,
        settle_seconds: float = SETTLE_SECONDS,
    ) -> None:
        """Wait until everything is laid out, then write what a window shows; without `of`, the main one.

        `menu` is one that is open over it: a window of its own, which is not part of the other.
        """
        await asyncio.sleep(settle_seconds)
        path, window = self._output / f"{name}.png", of or self.window
        image = window.grab().toImage()
        if menu is not None:
            _draw(menu, image, menu.mapToGlobal(QPoint()) - window.mapToGlobal(QPoint()))
        _write(image, path)
        sys.stdout.write(f"{path.name}: {path.stat().st_size // 1000} kB\n")


def _draw(menu: QMenu, image: QImage, place: QPoint) -> None:
    painter = QPainter(image)
    painter.drawPixmap(place, menu.grab())
    painter.end()


def _write(image: QImage, path: Path) -> None:
    """Write a PNG with a palette of its 256 commonest colours: half the size, and no eye sees the difference."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    commonest = [color for color, _ in Counter(memoryview(image.constBits()).cast("I")).most_common(256)]
    image.convertToFormat(QImage.Format.Format_Indexed8, commonest).save(str(path), quality=0)
