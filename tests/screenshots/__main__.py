"""`make screenshots`: the pictures of the documentation, taken from the real window."""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from app.bootstrap import Program
from tests.benchmarks.driver import drive
from tests.screenshots.backdrop import make_manager, play_ollama
from tests.screenshots.camera import Camera
from tests.screenshots.practice import take_practice
from tests.screenshots.providers import take_providers

IMAGES: Final = Path(__file__).parents[2] / "docs" / "images"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description=__doc__)
    parser.add_argument("--output", type=Path, default=IMAGES, metavar="FOLDER")
    output: Path = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="muntin-screenshots-") as folder, play_ollama() as ollama:
        data, files = Path(folder, "Muntin"), Path(folder, "files")
        files.mkdir()

        async def take_all(program: Program) -> None:
            camera = Camera(program.window, output)
            await camera.set_up()
            await take_practice(camera)
            await take_providers(camera, ollama, files)

        drive(data, take_all, make_manager=lambda emit: make_manager(data, ollama.port, emit))
    return 0


if __name__ == "__main__":
    sys.exit(main())
