"""A crash between two operations of the disk: nothing runs any more, and the files are as they are."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class CountingPool(ThreadPoolExecutor):
    """A pool that tells when none of its threads works."""

    def __init__(self) -> None:
        super().__init__(max_workers=4)
        self._busy = 0
        self._changed = threading.Condition()

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        with self._changed:
            self._busy += 1
        future = super().submit(work, *args, **kwargs)
        future.add_done_callback(self._done)
        return future

    def wait_until_idle(self) -> None:
        """Block until what was begun has ended; while the loop stands still, nothing else begins."""
        with self._changed:
            assert self._changed.wait_for(lambda: not self._busy, 10)

    def _done(self, _future: "Future[Any]") -> None:
        with self._changed:
            self._busy -= 1
            self._changed.notify_all()


async def run_a_little(turns: int) -> None:
    """Let the loop go round so many times."""
    for _ in range(turns):
        await asyncio.sleep(0)
