"""The program as a process of its own, as a desktop starts and ends it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.history.files import ChatFiles

START_SECONDS = 30.0


class Running:
    """A started Muntin; what it says is read all the while."""

    def __init__(self, data_dir: Path, *arguments: str) -> None:
        self.data_dir = data_dir
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", "--data-dir", str(data_dir), "--new-instance", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        )
        self.said = ""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.said = self.process.stderr.read()

    def chat(self) -> ChatFiles | None:
        """The first chat's files, once there is one with its lease taken."""
        holders = list(self.data_dir.glob("sessions/*/session.holder.json"))
        return ChatFiles(holders[0].parent) if holders else None

    def until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + START_SECONDS
        pause = threading.Event()
        while not condition():
            assert self.process.poll() is None, self.said
            assert time.monotonic() < deadline
            pause.wait(0.02)

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        code = self.process.wait(START_SECONDS)
        self._reader.join()
        return code


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Running]]:
    running: list[Running] = []
    yield running
    for each in running:
        if each.process.poll() is None:
            each.process.kill()
        each.process.wait()
        each._reader.join()
        assert each.process.stderr is not None
        each.process.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_as_closing_the_window_does(
    started: list[Running], tmp_path: Path, number: signal.Signals
) -> None:
    running = Running(tmp_path / "data")
    started.append(running)
    running.until(running.chat)
    chat = running.chat()
    assert chat is not None
    with pytest.raises(Exception, match="open in another Muntin window"):
        chat.lease.take()
    assert running.end(number) == 0
    assert running.said == ""
    chat.lease.take()
    chat.lease.release()
    kept = json.loads((tmp_path / "data" / "window.json").read_text())
    assert kept["chat"] == chat.folder.name


def test_offline_it_starts_all_the_same(started: list[Running], tmp_path: Path) -> None:
    running = Running(tmp_path / "data", "--offline", "--practice-speed", "0")
    started.append(running)
    running.until(running.chat)
    assert running.end(signal.SIGTERM) == 0
    assert running.said == ""
