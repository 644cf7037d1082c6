"""Silence on the wire is said, pieces pass through, and an end of the watch is an end of the stream, at once."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import pytest

from app.aio import TaskSet
from app.domain.errors import ErrorKind, ProviderError
from app.providers.base import Piece, QuietPiece, TextPiece
from app.providers.http import Heartbeat
from app.providers.quiet import QuietLimits, watch


class Seconds:
    """A count of seconds that the test moves on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Source:
    """Pieces that come when the test lets them."""

    def __init__(self, *pieces: Piece, failure: Exception | None = None, hangs: bool = False) -> None:
        self.pieces = pieces
        self.failure = failure
        self.hangs = hangs
        self.is_waiting = False
        self.is_closed = False

    async def stream(self) -> AsyncGenerator[Piece, None]:
        try:
            for piece in self.pieces:
                yield piece
            if self.hangs:
                self.is_waiting = True
                await asyncio.Event().wait()
            if self.failure is not None:
                raise self.failure
        finally:
            self.is_waiting = False
            self.is_closed = True


def never(task: str, error: BaseException) -> None:
    raise AssertionError(task) from error


@pytest.fixture
def tasks() -> TaskSet:
    return TaskSet(never)


async def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.001)


async def test_pieces_pass_in_their_order(tasks: TaskSet) -> None:
    said = tuple(TextPiece(str(number)) for number in range(100))
    source = Source(*said)

    async with aclosing(watch(source.stream(), Heartbeat(), tasks=tasks)) as pieces:
        assert tuple([piece async for piece in pieces]) == said

    assert source.is_closed
    await until(lambda: not len(tasks))


async def test_a_failure_comes_after_the_pieces_before_it(tasks: TaskSet) -> None:
    source = Source(TextPiece("one"), failure=ProviderError(ErrorKind.SERVER, "broken"))
    pieces = watch(source.stream(), Heartbeat(), tasks=tasks)

    assert await anext(pieces) == TextPiece("one")
    with pytest.raises(ProviderError, match="broken"):
        await anext(pieces)


async def test_silence_is_said_again_and_again_until_a_byte_comes(tasks: TaskSet) -> None:
    seconds = Seconds()
    heartbeat = Heartbeat(seconds)
    source = Source(TextPiece("one"), hangs=True)
    limits = QuietLimits(first_seconds=0.06, then_seconds=0.03)

    async with aclosing(watch(source.stream(), heartbeat, tasks=tasks, limits=limits)) as pieces:
        assert await anext(pieces) == TextPiece("one")
        seconds.now = 60
        assert await anext(pieces) == QuietPiece(60)
        seconds.now = 90
        assert await anext(pieces) == QuietPiece(90)
        heartbeat.beat()
        seconds.now = 150
        assert await anext(pieces) == QuietPiece(60)

    assert source.is_closed


def test_a_minute_may_be_silent_and_then_half_a_one() -> None:
    assert QuietLimits() == QuietLimits(first_seconds=60, then_seconds=30)


async def test_closing_ends_a_stream_that_waits(tasks: TaskSet) -> None:
    source = Source(TextPiece("one"), hangs=True)
    pieces = watch(source.stream(), Heartbeat(), tasks=tasks)
    await anext(pieces)
    await until(lambda: source.is_waiting)

    await pieces.aclose()

    assert source.is_closed
    assert not len(tasks)


async def test_cancelling_ends_a_stream_that_waits(tasks: TaskSet) -> None:
    source = Source(hangs=True)

    async def listen() -> None:
        async with aclosing(watch(source.stream(), Heartbeat(), tasks=tasks)) as pieces:
            async for _ in pieces:
                pass

    listening = tasks.spawn(listen(), name="listener")
    await until(lambda: source.is_waiting)
    listening.cancel()
    await asyncio.wait({listening})

    assert listening.cancelled()
    assert source.is_closed


async def test_a_watch_closed_before_its_first_piece_asks_nothing(tasks: TaskSet) -> None:
    source = Source(TextPiece("one"))

    await watch(source.stream(), Heartbeat(), tasks=tasks).aclose()

    assert not len(tasks)


async def test_the_end_of_the_tasks_is_an_error_of_the_network(tasks: TaskSet) -> None:
    source = Source(TextPiece("one"), hangs=True)
    pieces = watch(source.stream(), Heartbeat(), tasks=tasks)
    await anext(pieces)
    await until(lambda: source.is_waiting)

    await tasks.close()

    with pytest.raises(ProviderError) as failure:
        await anext(pieces)
    assert failure.value.kind is ErrorKind.NETWORK


async def test_a_burst_leaves_the_loop_to_others(tasks: TaskSet) -> None:
    source = Source(*[TextPiece("x")] * 5000)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    running = tasks.spawn(other(), name="another chat")
    async for _ in watch(source.stream(), Heartbeat(), tasks=tasks):
        pass
    running.cancel()
    await asyncio.wait({running})

    assert turns > 100
