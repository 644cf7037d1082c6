"""A place where an answer waits until a test lets it go."""

import threading
import time
from asyncio import AbstractEventLoop, Event, get_running_loop, sleep


class Hold:
    """A place where an answer waits until the test, on whatever thread, lets it go."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[AbstractEventLoop, Event]] = []
        self._is_reached = threading.Event()
        self._is_released = threading.Event()

    @property
    def is_reached(self) -> bool:
        return self._is_reached.is_set()

    @property
    def is_released(self) -> bool:
        return self._is_released.is_set()

    async def wait(self) -> None:
        """Wait for `release`; for the server."""
        event = Event()
        with self._lock:
            self._is_reached.set()
            if self.is_released:
                return
            self._waiting.append((get_running_loop(), event))
        await event.wait()

    async def reached(self, *, timeout_seconds: float = 5) -> None:
        """Wait, on whatever loop, until an answer has come to this place. TimeoutError if none does."""
        deadline = time.monotonic() + timeout_seconds
        while not self.is_reached:
            if time.monotonic() > deadline:
                raise TimeoutError("no answer came to the hold")
            await sleep(0.002)

    def release(self) -> None:
        """Let go what waits here and what will come; callable on every thread."""
        with self._lock:
            self._is_released.set()
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)
