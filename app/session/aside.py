"""Long work on threads that ends early when its caller is cancelled or the program quits."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from app.aio import TaskSet, run_blocking
from app.domain.errors import StorageError

T = TypeVar("T")

GoOn = Callable[[], None]
"""Asked now and then by the work; raises `GivenUp` once nobody wants its result."""


class GivenUp(StorageError):
    """Work was ended early; whoever does it leaves nothing behind."""


class Aside:
    """Runs long work. Lives on the engine's loop."""

    def __init__(self, tasks: TaskSet) -> None:
        self._tasks: Final = tasks
        self._running: dict[asyncio.Task[Any], threading.Event] = {}

    async def run(self, work: Callable[[GoOn], T], *, name: str) -> T:
        """Return what `work` returns, run on a thread. A cancellation waits until it has ended."""
        gives_up = threading.Event()

        def go_on() -> None:
            if gives_up.is_set():
                raise GivenUp("It was given up.")

        task = self._tasks.spawn(run_blocking(work, go_on), name=name, watched=False)
        self._running[task] = gives_up
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            gives_up.set()
            await asyncio.gather(task, return_exceptions=True)
            raise
        finally:
            del self._running[task]

    async def close(self) -> None:
        """End all of it and wait for that."""
        for gives_up in self._running.values():
            gives_up.set()
        await asyncio.gather(*self._running, return_exceptions=True)
