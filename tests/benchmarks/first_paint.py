"""A child process: the program until its first paint; prints the times on the way."""

# ruff: noqa: E402 - the clock is read before the imports it measures
import time

BEGAN = time.monotonic()

import sys
from pathlib import Path

from app import bootstrap

IMPORTED = time.monotonic()

from tests.benchmarks.driver import drive


async def _paint_once(program: bootstrap.Program) -> None:
    """Return at once: the window has painted when this is called."""


if __name__ == "__main__":
    times = drive(Path(sys.argv[1]), _paint_once)
    sys.stdout.write(
        f'{{"began": {BEGAN}, "imported": {IMPORTED}, "built": {times.built}, "painted": {times.painted}}}\n'
    )
