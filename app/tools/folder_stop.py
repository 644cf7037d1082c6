"""Ending a call in a folder early, and leaving the others their time while it works."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

WORK_SECONDS: Final = 0.002
REST_SECONDS: Final = 0.006
"""Looking into many files is thousands of short calls of the system. Threads that make them pass Python's one lock back
and forth, and the window, which waits for it at every step of a paint, would stand still for a third of a second."""
SILENT_SECONDS: Final = 1.0
"""A call that has not got on for so long waits for a disk that doesn't answer; others go past it."""
_LOOK_SECONDS: Final = 0.05


class Stopped(Exception):
    """Nobody waits for the work any more; nothing was changed."""


class Stop(threading.Event):
    """Set once nobody waits for a call any more; its thread asks often."""

    def __init__(self) -> None:
        super().__init__()
        self.gets_on: Callable[[], None] | None = None
        """Told at each look of the thread."""
        self._rested = time.perf_counter()

    def check(self) -> None:
        """Tell that the call gets on, and rest a moment if it is time. Raises Stopped."""
        if self.gets_on is not None:
            self.gets_on()
        if time.perf_counter() - self._rested >= WORK_SECONDS:
            self.wait(REST_SECONDS)
            self._rested = time.perf_counter()
        if self.is_set():
            raise Stopped


class Turns:
    """Lets one call work at a time, of all chats: several at once are no faster. Any thread may use it."""

    def __init__(self, *, silent_seconds: float = SILENT_SECONDS) -> None:
        self._silent_seconds = silent_seconds
        self._free = threading.Lock()
        self._moved = 0.0

    @contextlib.contextmanager
    def turn(self, stop: Stop) -> Iterator[None]:
        """Wait for the call whose turn it is, but not if that doesn't get on. Raises Stopped."""
        has_turn = self._free.acquire(timeout=_LOOK_SECONDS)
        while not has_turn and time.monotonic() - self._moved < self._silent_seconds:
            if stop.is_set():
                raise Stopped
            has_turn = self._free.acquire(timeout=_LOOK_SECONDS)
        if not has_turn:
            yield
            return
        self._note()
        stop.gets_on = self._note
        try:
            yield
        finally:
            self._free.release()

    def _note(self) -> None:
        self._moved = time.monotonic()
