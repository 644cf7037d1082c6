"""Pages of a listing or a search until there is enough, and the place behind any entry of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from app.aio import Clock, run_blocking
from app.domain.errors import HistoryChanged
from app.domain.windows import Mark
from app.history.cursor import Progress
from app.tools.history_entries import Entry

GATHER_SECONDS: Final = 2.0
"""So long a model waits for an answer, and then gets what was found by then."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one page of the history gave."""

    entries: tuple[Entry, ...]
    next: Mark | None
    """None if there is no more."""
    read: Progress
    total_bytes: int | None = None
    """Of all there is to read for the question, if that is known."""


Fetch = Callable[[Mark | None, int], Piece]
"""Reads the next piece, of at most so many entries."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where to go on (None at the end), and what was read until there."""

    next: Mark | None
    progress: Progress


@dataclass(frozen=True, slots=True)
class _Step:
    start: Place
    entries: tuple[Entry, ...]
    behind: Place


class Gathered:
    """What a few pages gave, at most as much as was wanted."""

    def __init__(self, fetch: Fetch, steps: Sequence[_Step], total_bytes: int | None) -> None:
        self._fetch = fetch
        self._steps = steps
        self.total_bytes: Final = total_bytes
        self.entries: Final = tuple(entry for step in steps for entry in step.entries)

    @property
    def end(self) -> Place:
        """Where the last page ended."""
        return self._steps[-1].behind

    async def behind(self, count: int) -> Place:
        """Return the place behind the first `count` entries.

        A page that is cut is read again for that. Raises HistoryChanged if it gives other entries by now.
        """
        if count == len(self.entries):
            return self.end
        for step in self._steps:
            if count <= len(step.entries):
                return step.behind if count == len(step.entries) else await self._inside(step, count)
            count -= len(step.entries)
        return self.end

    async def _inside(self, step: _Step, count: int) -> Place:
        if count == 0:
            return step.start
        piece = await run_blocking(self._fetch, step.start.next, count)
        if piece.entries != step.entries[:count]:
            raise HistoryChanged("This chat was changed while it was read.")
        return Place(piece.next, step.start.progress + piece.read)


async def gather(fetch: Fetch, start: Place, *, limit: int, clock: Clock) -> Gathered:
    """Read pages until there are `limit` entries, the history is exhausted, or 2 s have gone.

    Cancellation is heard between two pages. Raises what `fetch` does.
    """
    deadline = clock.monotonic() + GATHER_SECONDS
    steps: list[_Step] = []
    place, missing = start, limit
    while True:
        piece = await run_blocking(fetch, place.next, missing)
        behind = Place(piece.next, place.progress + piece.read)
        if steps and not steps[-1].entries:
            # Nothing can be cut within a step that found nothing.
            steps.pop()
        steps.append(_Step(place, piece.entries, behind))
        missing -= len(piece.entries)
        if behind.next is None or missing <= 0 or clock.monotonic() >= deadline:
            return Gathered(fetch, steps, piece.total_bytes)
        place = behind
