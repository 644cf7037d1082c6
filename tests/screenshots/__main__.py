"""`make screenshots`: the pictures of the documentation, taken from the real window."""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QLocale

from app.bootstrap import Program
from tests.benchmarks.driver import drive
from tests.screenshots.agent import take_agent, write_trip
from tests.screenshots.backdrop import make_manager, play_ollama
from tests.screenshots.camera import Camera
from tests.screenshots.history import take_history, write_stories
from tests.screenshots.practice import take_practice
from tests.screenshots.providers import KEY, take_providers
from tests.screenshots.stories import VARIABLE

IMAGES: Final = Path(__file__).parents[2] / "docs" / "images"


def main() -> int:
    scenes: dict[str, Callable[[Path], None]] = {
        "start": draw_start,
        "history": draw_history,
        "agent": draw_agent,
    }
    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description=__doc__)
    parser.add_argument("--output", type=Path, default=IMAGES, metavar="FOLDER")
    parser.add_argument("--only", choices=scenes, help="those of one start of the program")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if options.only:
        QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
        scenes[options.only](options.output)
        return 0
    # The program starts once a process.
    command = [sys.executable, "-m", "tests.screenshots", "--output", str(options.output), "--only"]
    return max(subprocess.run([*command, name], check=False).returncode for name in scenes)


def draw_start(output: Path) -> None:
    """Draw what a person sees who starts it for the first time, and adds a provider then."""
    with tempfile.TemporaryDirectory(prefix="muntin-screenshots-") as folder, play_ollama() as ollama:
        data, files = Path(folder, "Muntin"), Path(folder, "files")
        files.mkdir()

        async def take_all(program: Program) -> None:
            camera = Camera(program.window, output)
            await camera.set_up()
            await take_practice(camera)
            await take_providers(camera, ollama, files)

        drive(data, take_all, make_manager=lambda emit: make_manager(data, ollama.port, emit, environ={}))


def draw_history(output: Path) -> None:
    """Draw a chat of several context windows among others."""
    with tempfile.TemporaryDirectory(prefix="muntin-screenshots-") as folder:
        data = Path(folder, "Muntin")
        trip = write_stories(data)

        async def take_all(program: Program) -> None:
            camera = Camera(program.window, output)
            await camera.set_up()
            await take_history(camera, trip)

        drive(data, take_all, make_manager=lambda emit: make_manager(data, 9, emit, environ={VARIABLE: KEY}))


def draw_agent(output: Path) -> None:
    """Draw models that work in a folder, messages that wait, versions, profiles and memory."""
    with tempfile.TemporaryDirectory(prefix="muntin-screenshots-") as folder, play_ollama() as ollama:
        data = Path(folder, "Muntin")
        trip = write_trip(Path(folder), data, ollama)

        async def take_all(program: Program) -> None:
            camera = Camera(program.window, output)
            await camera.set_up()
            await take_agent(camera, program.bridge, ollama, trip)

        drive(data, take_all, make_manager=lambda emit: make_manager(data, ollama.port, emit, environ={}))


if __name__ == "__main__":
    sys.exit(main())
