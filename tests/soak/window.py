"""Kills the real program in mid-reply: its window on a virtual screen, a message typed, SIGKILL, the next start."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from tests.soak.look import Added, Fields, look_behind, read_partial, text_of
from tests.soak.screen import Keyboard, virtual_screen
from tests.soak.victim import ROOT

WORDS_PER_SECOND = 200
REPLY_WORDS = 1_500
FIRST_MESSAGE = f"write {REPLY_WORDS} words"
LAST_MESSAGE = "What is Muntin?"
WAIT_SECONDS = 20.0
QUIET_SECONDS = 1.5
"""Longer than it takes a reply that nobody asked for to reach the disk."""
OPENING_SECONDS = 0.5
"""From the lease, which can be seen, to the transcript and the composer, which can't."""


class WindowSoak:
    """One data folder that the real program is killed on."""

    def __init__(self, root: Path, seed: int, tell: Callable[[str], None]) -> None:
        self.problems: list[str] = []
        self.interrupted = 0
        self._root = root
        self._random = Random(seed)
        self._tell = tell
        self._rows: list[Fields] = []
        self._partial: Fields | None = None

    def run(self, kills: int) -> None:
        """Kill `kills` times in mid-reply, start once more and quit as people do."""
        with virtual_screen() as display:
            for number in range(kills):
                before = len(self.problems)
                with self._program(display) as process:
                    keyboard = Keyboard(display, process.pid)
                    self._check_start(process)
                    keyboard.type_line(FIRST_MESSAGE)
                    self._wait("a part of the reply", lambda: self._files("partial.json"))
                    time.sleep(self._random.uniform(0, 2))
                    process.kill()
                    process.wait()
                self._look_at_remains()
                self._tell(f"window kill {number + 1}: {'; '.join(self.problems[before:]) or 'ok'}")
            with self._program(display) as process:
                self._finish(Keyboard(display, process.pid), process)

    @contextlib.contextmanager
    def _program(self, display: str) -> Iterator[subprocess.Popen[bytes]]:
        command = [sys.executable, "-m", "app", "--data-dir", str(self._root), "--new-instance", "--offline"]
        env = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        env.pop("WAYLAND_DISPLAY", None)
        process = subprocess.Popen([*command, "--practice-speed", str(WORDS_PER_SECOND)], env=env, cwd=ROOT)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def _check_start(self, process: subprocess.Popen[bytes]) -> None:
        """What was cut is a row now, everything else is as it was, and nothing goes on by itself."""
        self._wait("an open chat", lambda: self._is_held_by(process.pid))
        time.sleep(OPENING_SECONDS)
        if self._partial is None:
            return
        partial, self._partial = self._partial, None
        self._wait("the end of partial.json", lambda: not self._files("partial.json"))
        time.sleep(QUIET_SECONDS)
        rows = self._history().rows
        if rows[:-1] != self._rows:
            self.problems.append("rows have changed")
        self._check_interrupted(rows[-1], partial)
        self._rows = rows
        if process.poll() is not None:
            self.problems.append(f"the program ended with {process.returncode}")

    def _check_interrupted(self, row: Fields, partial: Fields) -> None:
        self.interrupted += 1
        if (row["id"], text_of(row)) != (partial["id"], text_of(partial)):
            self.problems.append("the cut reply is not what was saved of it")
        if "interrupted" not in row.get("flags", []):
            self.problems.append("the cut reply is not flagged interrupted")

    def _look_at_remains(self) -> None:
        """Take what the kill left for what must be there at the next start."""
        added = self._history()
        self.problems += added.problems
        numbers = [row["seq"] for row in added.rows]
        if numbers != sorted(set(numbers)):
            self.problems.append(f"numbers out of order: {numbers}")
        if added.rows[: len(self._rows)] != self._rows:
            self.problems.append("rows have changed")
        texts = [text_of(row) for row in added.rows[len(self._rows) :]]
        if texts != [FIRST_MESSAGE]:
            self.problems.append(f"the message is not there once: {texts}")
        self._rows = added.rows
        paths = self._files("partial.json")
        self._partial = read_partial(paths[0]) if paths else None
        if self._partial is None:
            self.problems.append("the kill did not hit a reply")

    def _finish(self, keyboard: Keyboard, process: subprocess.Popen[bytes]) -> None:
        self._check_start(process)
        known = len(self._rows)
        keyboard.type_line(LAST_MESSAGE)
        self._wait("the last reply", lambda: len(self._history().rows) == known + 2)
        question, reply = self._history().rows[-2:]
        if text_of(question) != LAST_MESSAGE or reply.get("flags") or not text_of(reply):
            self.problems.append("the next message did not work")
        keyboard.press("ctrl+q")
        try:
            if process.wait(WAIT_SECONDS) != 0:
                self.problems.append(f"quitting ended with {process.returncode}")
        except subprocess.TimeoutExpired:
            self.problems.append("quitting does not end")

    def _is_held_by(self, pid: int) -> bool:
        holders = self._files("session.holder.json")
        return bool(holders) and f": {pid}}}" in holders[0].read_text("utf-8")

    def _history(self) -> Added:
        chats = self._files("chat.jsonl")
        return look_behind(chats[0].parent, 0) if chats else Added()

    def _files(self, name: str) -> list[Path]:
        return sorted(self._root.glob(f"sessions/*/{name}"))

    def _wait(self, what: str, condition: Callable[[], object]) -> None:
        until = time.monotonic() + WAIT_SECONDS
        while not condition():
            if time.monotonic() > until:
                raise TimeoutError(f"{what} does not come")
            time.sleep(0.01)
