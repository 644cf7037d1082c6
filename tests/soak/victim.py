"""A process that is started, listened to, and killed."""

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[2]
START_SECONDS = 30.0
GROWTH_SECONDS = 1.0


class Victim:
    """One life of `tests.soak.child`."""

    def __init__(self, root: Path, mode: str, seed: int) -> None:
        command = [sys.executable, "-m", "tests.soak.child", "--data-dir", str(root), "--mode", mode]
        self._process = subprocess.Popen([*command, "--seed", str(seed)], stdout=subprocess.PIPE, cwd=ROOT)
        self._stages: dict[str, threading.Event] = defaultdict(threading.Event)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self.acknowledged: dict[str, list[str]] = defaultdict(list)
        """Row ids by chat, in the order they were printed."""
        self.requests = 0
        self.died_early = False
        self._listener.start()

    def wait_for(self, stage: str) -> None:
        """Wait until the child says it has come to `stage`. Raises TimeoutError."""
        if not self._stages[stage].wait(START_SECONDS):
            self.kill()
            raise TimeoutError(f"the child did not come to {stage}")

    def kill(self) -> None:
        """End it with SIGKILL and read what it had printed."""
        self.died_early = self._process.poll() is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        self._listener.join()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not line.endswith(b"\n"):
                return
            told = json.loads(line)
            if "reached" in told:
                self._stages[told["reached"]].set()
            self.requests += told.get("request", 0)
            known = self.acknowledged[told["session"]] if "acknowledged" in told else []
            known.extend(row_id for row_id in told.get("acknowledged", []) if row_id not in known)


Trigger = Callable[[Random, list[Path]], None]
"""Returns at the moment of the kill; gets the files the child may write to."""


def at_random_moment(random: Random, chats: list[Path]) -> None:
    """Any time within six tenths of a second."""
    time.sleep(random.uniform(0, 0.6))


def at_once(random: Random, chats: list[Path]) -> None:
    """Within the time it takes to open a chat or two."""
    time.sleep(random.uniform(0, 0.02))


def in_an_append(random: Random, chats: list[Path]) -> None:
    """The moment one of the files has grown, which is inside an append."""
    time.sleep(random.uniform(0, 0.4))
    sizes = [_size(chat) for chat in chats]
    until = time.monotonic() + GROWTH_SECONDS
    while sizes == [_size(chat) for chat in chats] and time.monotonic() < until:
        pass


def in_a_reply(random: Random, chats: list[Path]) -> None:
    """Soon after a part of a reply was saved."""
    _wait_for_partial(chats)
    time.sleep(random.uniform(0, 0.05))


def in_a_settling(random: Random, chats: list[Path]) -> None:
    """The moment a reply of which a part was saved is written as a row."""
    chat = _wait_for_partial(chats)
    size = _size(chat)
    until = time.monotonic() + 2 * GROWTH_SECONDS
    while _size(chat) == size and time.monotonic() < until:
        pass
    time.sleep(random.uniform(0, 0.008))


def _wait_for_partial(chats: list[Path]) -> Path:
    """Return the first chat that has saved a part of a reply, any if none does in time."""
    until = time.monotonic() + 3 * GROWTH_SECONDS
    while time.monotonic() < until:
        for chat in chats:
            if chat.with_name("partial.json").exists():
                return chat
        time.sleep(0.002)
    return chats[0]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
