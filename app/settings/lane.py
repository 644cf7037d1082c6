"""Calls that may block for minutes, each on a thread of its own, and waited for only so long.

Not the engine's pool: a prompt that nobody answers would use it up, and quitting must not wait for it.
"""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from typing import TypeVar

from app.domain.errors import KnownError

T = TypeVar("T")


class NoAnswer(KnownError):
    """A call took longer than its limit. If it had begun it goes on; otherwise it never will."""


class Lane:
    """Runs one call at a time; those that come meanwhile wait within their own limits. Lives on one loop."""

    def __init__(self, name: str) -> None:
        """`name` is that of the threads."""
        self._name = name
        self._running: concurrent.futures.Future[object] | None = None

    async def run(self, work: Callable[[], T], *, seconds: float, unanswered: str) -> T:
        """Return what `work` returns. Raises what it raises, and NoAnswer with the sentence `unanswered`."""
        try:
            async with asyncio.timeout(seconds) as limit:
                while self._running is not None and not self._running.done():
                    earlier = asyncio.wrap_future(self._running)
                    # Its error is for whoever asked it.
                    earlier.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
                    await asyncio.wait([earlier])
                return await asyncio.wrap_future(self._start(work))
        except TimeoutError:
            if not limit.expired():
                raise
            raise NoAnswer(unanswered) from None

    def _start(self, work: Callable[[], T]) -> concurrent.futures.Future[T]:
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        future.set_running_or_notify_cancel()
        self._running = future  # type: ignore[assignment] # only looked at for its end

        def run() -> None:
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - whoever waits gets it
                future.set_exception(error)
            else:
                future.set_result(result)

        threading.Thread(target=run, name=self._name, daemon=True).start()
        return future
