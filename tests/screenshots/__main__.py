"""`make screenshots`: the pictures of the documentation, taken from the real window with the Practice model."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication

from app.bootstrap import Program
from tests.benchmarks.driver import drive, until

IMAGES: Final = Path(__file__).parents[2] / "docs" / "images"
FONT: Final = "Noto Sans"
SIZE: Final = (1280, 800)
NARROW: Final = (360, 740)
MAX_BYTES: Final = 200_000
SETTLE_SECONDS: Final = 0.3
WORDS_PER_SECOND: Final = 60


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description=__doc__)
    parser.add_argument("--output", type=Path, default=IMAGES, metavar="FOLDER")
    output: Path = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="muntin-screenshots-") as folder:
        drive(
            Path(folder),
            lambda program: Photographer(program, output).take_all(),
            arguments=["--practice-speed", str(WORDS_PER_SECOND)],
        )
    return 0


class Photographer:
    """Uses the window as a person does and takes pictures of it."""

    def __init__(self, program: Program, output: Path) -> None:
        self._window = program.window
        self._output = output

    async def take_all(self) -> None:
        """Take every picture, in an order in which each chat is there when it is needed."""
        if QFontInfo(QApplication.font()).family() != FONT and FONT in QFontDatabase.families():
            QApplication.setFont(QFont(FONT, 10))
        self._window.resize(*SIZE)
        self._window.raise_window()
        self._use(Qt.ColorScheme.Light)
        await until(lambda: self._window.controller.session)
        await self._take("first-start")
        await self._say("What is Muntin?")
        await self._say("How do I stop a reply?")
        await self._new_chat()
        await self._say("table")
        await self._say("code")
        await self._take("conversation")
        self._use(Qt.ColorScheme.Dark)
        await self._take("dark")
        self._use(Qt.ColorScheme.Light)
        self._window.resize(*NARROW)
        await self._take("narrow")
        self._window.resize(*SIZE)
        await self._new_chat()
        self._type("write 120 words")
        await until(lambda: self._words_shown() > 60)
        await self._take("streaming", settle_seconds=0)
        self._window.actions_.stop.trigger()
        await until(lambda: not self._window.controller.is_streaming)
        await self._take("interrupted")

    async def _new_chat(self) -> None:
        known = self._window.controller.session
        self._window.actions_.new_chat.trigger()
        await until(lambda: self._window.controller.session not in ("", known))

    async def _say(self, text: str) -> None:
        """Send a message and wait for the whole reply."""
        known = len(self._window.page.transcript.nodes)
        self._type(text)
        await until(lambda: len(self._window.page.transcript.nodes) == known + 2)
        await until(lambda: not self._window.controller.is_streaming)

    def _type(self, text: str) -> None:
        self._window.page.composer.set_text(text)
        self._window.page.composer.submit()

    def _words_shown(self) -> int:
        nodes = self._window.page.transcript.nodes
        return sum(section.words for section in nodes[-1].sections) if nodes else 0

    @staticmethod
    def _use(scheme: Qt.ColorScheme) -> None:
        # A bare X server has no setting that could be changed; the window hears as if it had been.
        QGuiApplication.styleHints().colorSchemeChanged.emit(scheme)

    async def _take(self, name: str, *, settle_seconds: float = SETTLE_SECONDS) -> None:
        """Wait until everything is laid out, then write what the window shows."""
        await asyncio.sleep(settle_seconds)
        path = self._output / f"{name}.png"
        _write(self._window.grab().toImage(), path)
        sys.stdout.write(f"{path.name}: {path.stat().st_size // 1000} kB\n")


def _write(image: QImage, path: Path) -> None:
    """Write a PNG, with a palette of 256 colours if it would be too large otherwise."""
    image.convertToFormat(QImage.Format.Format_RGB32).save(str(path), quality=0)
    if path.stat().st_size > MAX_BYTES:
        image.convertToFormat(QImage.Format.Format_Indexed8).save(str(path), quality=0)


if __name__ == "__main__":
    sys.exit(main())
