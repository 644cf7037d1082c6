"""Time and ids that tests control."""

import asyncio
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tests.fakes.scripted import Hold


class FakeClock:
    """Stands still until told; `sleep` returns at once and moves it on. Naps are recorded."""

    def __init__(self, start: datetime = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)) -> None:
        self._start = start
        self._seconds = 0.0
        self.naps: list[float] = []
        self.hold: Hold | None = None
        """Where the next naps wait until the test lets them go."""

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._seconds)

    def monotonic(self) -> float:
        return self._seconds

    def advance(self, seconds: float) -> None:
        self._seconds += seconds

    async def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self._seconds += seconds
        await (self.hold.wait() if self.hold is not None else asyncio.sleep(0))


def counting_ids(prefix: str = "id") -> Callable[[], str]:
    """Return a maker of ids: id1, id2, ..."""
    numbers = itertools.count(1)
    return lambda: f"{prefix}{next(numbers)}"
