"""Stop at every moment reaches the server at once; silence is told."""

import asyncio
import time
from contextlib import aclosing

import pytest

from app.aio import TaskSet
from app.domain.errors import ErrorKind
from app.providers.base import Piece, QuietPiece, ReasoningPiece, TextPiece, ToolInputPiece
from app.providers.quiet import QuietLimits
from tests.fakes.farend import Answer, Drip, FarEnd, Ping, Reasoning, Stall, ToolCall, reply
from tests.unit.providers.anthropic.connect import HELLO, ask, fail, provider, text_of, until

MOMENTS: dict[str, tuple[Answer, list[Piece]]] = {
    "before the headers": (reply("Hi").but(Stall(before_headers=True)), []),
    "after the headers": (reply("Hi").but(Stall(after_headers=True)), []),
    "within an event": (reply("Hi").but(Stall(after_bytes=10)), []),
    "while it thinks": (reply(Reasoning("Hm."), Stall()), [ReasoningPiece("Hm.")]),
    "after text": (reply("Hi", Stall()), [TextPiece("Hi")]),
    "within arguments": (
        reply(tool=ToolCall("c1", "look", '{"q":', Stall())),
        [ToolInputPiece("c1", '{"q":')],
    ),
}
moments = pytest.mark.parametrize("moment", MOMENTS)


def never(task: str, error: BaseException) -> None:
    raise AssertionError(task) from error


async def left_within_a_second(far: FarEnd, stopped_at: float) -> None:
    await until(lambda: far.requests[0].is_disconnected)
    assert far.requests[0].disconnected_at is not None
    assert far.requests[0].disconnected_at - stopped_at < 1


@moments
async def test_stop_ends_the_request_within_a_second(far: FarEnd, moment: str) -> None:
    answer, expected = MOMENTS[moment]
    far.play(answer)
    heard: list[Piece] = []
    tasks = TaskSet(never)

    async with provider(far) as asked:

        async def listen() -> None:
            async for piece in asked.stream(HELLO):
                heard.append(piece)  # noqa: PERF401 - what came before Stop counts

        listening = tasks.spawn(listen(), name="listener")
        await until(lambda: far.stalled and all(piece in heard for piece in expected))
        stopped_at = time.monotonic()
        listening.cancel()
        await left_within_a_second(far, stopped_at)
        await asyncio.wait({listening})

    assert listening.cancelled()


@pytest.mark.parametrize("moment", ["while it thinks", "after text", "within arguments"])
async def test_closing_the_stream_ends_the_request(far: FarEnd, moment: str) -> None:
    answer, expected = MOMENTS[moment]
    far.play(answer)

    async with provider(far) as asked:
        async with aclosing(asked.stream(HELLO)) as pieces:
            async for piece in pieces:
                if piece == expected[-1]:
                    break
            stopped_at = time.monotonic()
        await left_within_a_second(far, stopped_at)


async def test_stop_while_the_connection_is_being_made() -> None:
    """The server never answers the first packet of TLS, so that no request has been written yet."""
    tasks = TaskSet(never)
    arrived, left = asyncio.Event(), asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        arrived.set()
        await reader.read()
        left.set()
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with provider(url) as asked:
            asking = tasks.spawn(ask(asked), name="asker")
            await arrived.wait()
            asking.cancel()
            async with asyncio.timeout(1):
                await asyncio.wait({asking})
                await left.wait()


async def test_stop_leaves_other_chats_alone(far: FarEnd) -> None:
    far.play(reply("A", Stall()), reply("B", Stall(), "C"))
    tasks = TaskSet(never)

    async with provider(far) as asked:
        stopped = tasks.spawn(ask(asked), name="stopped")
        await until(lambda: far.stalled == 1)
        kept = tasks.spawn(ask(asked), name="kept")
        await until(lambda: far.stalled == 2)
        stopped.cancel()
        await until(lambda: far.requests[0].is_disconnected)
        far.release()

        assert text_of(await kept) == "BC"


async def test_closing_the_provider_ends_what_runs(far: FarEnd) -> None:
    far.play(reply("A", Stall()))
    tasks = TaskSet(never)

    async with provider(far) as asked:
        asking = tasks.spawn(fail(asked), name="asker")
        await until(lambda: far.stalled)
        await asked.close()
        _, failure = await asking

    assert failure.kind is ErrorKind.NETWORK
    await until(lambda: far.requests[0].is_disconnected)


@pytest.mark.parametrize("moment", ["before the headers", "after text"])
async def test_silence_is_told_and_the_request_goes_on(far: FarEnd, moment: str) -> None:
    far.play(MOMENTS[moment][0])
    quiet = QuietLimits(first_seconds=0.05, then_seconds=0.05)
    heard: list[Piece] = []

    async with provider(far, quiet=quiet) as asked:
        async for piece in asked.stream(HELLO):
            heard.append(piece)
            # On a busy machine it may take longer until the request is there.
            if sum(isinstance(piece, QuietPiece) for piece in heard) >= 2 and far.stalled:
                far.release()

    assert sum(isinstance(piece, QuietPiece) for piece in heard) >= 2
    assert text_of(heard) == "Hi"
    assert far.requests[0].is_answered


async def test_pings_are_no_silence(far: FarEnd) -> None:
    """More time passes than the limit allows, but never between two bytes."""
    far.play(reply(*[Ping()] * 40, "Hi").but(Drip(chunk_bytes=64, seconds=0.03)))

    async with provider(far, quiet=QuietLimits(first_seconds=0.6, then_seconds=0.6)) as asked:
        began = time.monotonic()
        pieces = await ask(asked)

    assert time.monotonic() - began > 0.6
    assert not any(isinstance(piece, QuietPiece) for piece in pieces)
