"""Child processes: each measured program is one of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def start(module: str, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start a child as a person would start the program: with modules compiled by an earlier start."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen([sys.executable, "-m", module, *arguments], cwd=ROOT, env=env, stdout=subprocess.PIPE)


@contextmanager
def running(module: str, *arguments: str) -> "Iterator[subprocess.Popen[bytes]]":
    """A child that is killed at the end."""
    process = start(module, *arguments)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def run(module: str, *arguments: str) -> list[Any]:
    """Run a child to its end; return the lines it printed, parsed. Raises CalledProcessError."""
    process = start(module, *arguments)
    output, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, module)
    return [json.loads(line) for line in output.splitlines()]
