"""Says that nothing comes, while a stream of pieces waits for the wire."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from app.aio import TaskSet
from app.domain.errors import ErrorKind, ProviderError
from app.providers.base import Piece, QuietPiece
from app.providers.http import Heartbeat

_BURST = 32
"""So many pieces that are there already are taken before others get the loop."""


@dataclass(frozen=True, slots=True)
class QuietLimits:
    """After how many seconds without a byte it is said, and how often then."""

    first_seconds: float = 60.0
    then_seconds: float = 30.0


async def watch(
    pieces: AsyncGenerator[Piece, None],
    heartbeat: Heartbeat,
    *,
    tasks: TaskSet,
    limits: QuietLimits = QuietLimits(),
) -> AsyncGenerator[Piece, None]:
    """Yield `pieces`, and a `QuietPiece` whenever `heartbeat` has been silent for too long.

    `pieces` run in a task of `tasks`; closing or cancelling the watch cancels that task, wherever it waits, and
    waits until `pieces` are closed. Raises what `pieces` raise, and ProviderError (network) if `tasks` is closed
    meanwhile.
    """
    inbox = _Inbox(heartbeat, limits)
    pump = tasks.spawn(_fill(inbox, pieces), name="provider stream", watched=False)
    pump.add_done_callback(lambda _pump: inbox.wake())
    inbox.set_alarm()
    try:
        while True:
            while inbox.pieces:
                yield inbox.pieces.popleft()
            if pump.done():
                break
            await inbox.wait()
        if pump.cancelled():
            raise ProviderError(ErrorKind.NETWORK, "The connection was closed because the settings have changed.")
        pump.result()
    finally:
        inbox.close()
        if pump.cancel():
            await asyncio.wait({pump})
        elif not pump.cancelled():
            pump.exception()  # heard, should nobody have come to it


class _Inbox:
    """What has come and was not passed on yet. One timer for the whole stream, none for each piece."""

    def __init__(self, heartbeat: Heartbeat, limits: QuietLimits) -> None:
        self.pieces: deque[Piece] = deque()
        self._heartbeat = heartbeat
        self._limits = limits
        self._since = heartbeat.last
        self._next_seconds = limits.first_seconds
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[None] | None = None
        self._alarm: asyncio.TimerHandle | None = None

    def put(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.wake()

    def wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def set_alarm(self) -> None:
        if self._heartbeat.last != self._since:
            self._since = self._heartbeat.last
            self._next_seconds = self._limits.first_seconds
        quiet_seconds = self._heartbeat.quiet_seconds()
        if quiet_seconds >= self._next_seconds:
            self.put(QuietPiece(int(quiet_seconds)))
            while self._next_seconds <= quiet_seconds:
                self._next_seconds += self._limits.then_seconds
        # A timer may go off a moment early by another clock's count.
        delay_seconds = max(self._next_seconds - quiet_seconds, 0.001)
        self._alarm = self._loop.call_later(delay_seconds, self.set_alarm)

    def close(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()


async def _fill(inbox: _Inbox, pieces: AsyncGenerator[Piece, None]) -> None:
    count = 0
    async with aclosing(pieces):
        async for piece in pieces:
            inbox.put(piece)
            count += 1
            if count % _BURST == 0:
                await asyncio.sleep(0)
