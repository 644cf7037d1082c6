"""Stop at every moment reaches the server at once; silence is told."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import aclosing

import pytest

from app.domain.errors import ErrorKind, ProviderError
from app.providers.base import Piece, QuietPiece, TextPiece
from app.providers.http import TimeLimits
from app.providers.openai.provider import OpenAIProvider
from app.providers.quiet import QuietLimits
from app.settings.schema import Dialect
from tests.fakes.farend import Answer, FarEnd, Reasoning, Stall, ToolCall, reply
from tests.unit.providers.openai.connect import DIALECTS, HELLO, ask, closing, fail, provider, until

both = pytest.mark.parametrize("dialect", DIALECTS)

MOMENTS: dict[str, Answer] = {
    "before the headers": reply("Hi").but(Stall(before_headers=True)),
    "after the headers": reply("Hi").but(Stall(after_headers=True)),
    "within an event": reply("Hi").but(Stall(after_bytes=10)),
    "while it reasons": reply(Reasoning("Hm."), Stall()),
    "after text": reply("Hi", Stall()),
    "within arguments": reply(tool=ToolCall("c1", "look", '{"q":', Stall())),
    "before the end": reply("Hi").but(Stall(after_events=2)),
}


@pytest.mark.parametrize("moment", MOMENTS)
@both
async def test_stop_ends_the_request_within_a_second(far: FarEnd, dialect: Dialect, moment: str) -> None:
    far.play(MOMENTS[moment])
    async with closing(provider(far, dialect)) as asked, asyncio.TaskGroup() as group:
        running = group.create_task(ask(asked))
        await until(lambda: far.stalled)

        stopped_at = time.monotonic()
        running.cancel()
        await until(lambda: far.requests[0].is_disconnected)

        assert far.requests[0].disconnected_at is not None
        assert far.requests[0].disconnected_at - stopped_at < 1
    assert running.cancelled()


@both
async def test_closing_the_stream_ends_the_request(far: FarEnd, dialect: Dialect) -> None:
    far.play(reply("A", "B", Stall()))
    async with closing(provider(far, dialect)) as asked:
        async with aclosing(asked.stream(HELLO)) as pieces:
            assert await anext(pieces) == TextPiece("A")
            closed_at = time.monotonic()

        await until(lambda: far.requests[0].is_disconnected)
        assert far.requests[0].disconnected_at is not None
        assert far.requests[0].disconnected_at - closed_at < 1


@both
async def test_stop_leaves_other_requests_alone(far: FarEnd, dialect: Dialect) -> None:
    far.play(reply("A", Stall()), reply("B", Stall(), "C"))
    async with closing(provider(far, dialect)) as asked, asyncio.TaskGroup() as group:
        stopped = group.create_task(ask(asked))
        await until(lambda: far.stalled == 1)
        kept = group.create_task(ask(asked))
        await until(lambda: far.stalled == 2)

        stopped.cancel()
        await until(lambda: far.requests[0].is_disconnected)
        far.release()

        assert [piece.text for piece in await kept if isinstance(piece, TextPiece)] == ["B", "C"]


@both
async def test_closing_the_provider_ends_what_runs_and_lets_it_serve_again(far: FarEnd, dialect: Dialect) -> None:
    far.play(reply("A", Stall()), reply("B"))
    asked = provider(far, dialect)
    async with closing(asked):
        async with asyncio.TaskGroup() as group:
            running = group.create_task(_failure_of(ask(asked)))
            await until(lambda: far.stalled)
            await asked.close()
            await until(lambda: far.requests[0].is_disconnected)
        assert running.result().kind is ErrorKind.NETWORK
        assert TextPiece("B") in await ask(asked)


async def _failure_of(listening: Awaitable[object]) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        await listening
    return raised.value


@pytest.mark.parametrize("moment", ["before the headers", "after text"])
@both
async def test_silence_is_told_and_the_request_goes_on(far: FarEnd, dialect: Dialect, moment: str) -> None:
    far.play(MOMENTS[moment])
    quiet_limits = QuietLimits(first_seconds=0.05, then_seconds=0.05)
    async with closing(provider(far, dialect, quiet_limits=quiet_limits)) as asked:
        heard = [piece async for piece in _until_quiet_twice(asked, far)]

    assert sum(isinstance(piece, QuietPiece) for piece in heard) >= 2
    assert [piece for piece in heard if isinstance(piece, TextPiece)] == [TextPiece("Hi")]
    assert far.requests[0].is_answered


async def _until_quiet_twice(asked: OpenAIProvider, far: FarEnd) -> AsyncIterator[Piece]:
    quiet = 0
    async for piece in asked.stream(HELLO):
        yield piece
        quiet += isinstance(piece, QuietPiece)
        # On a busy machine it may take longer until the request is there.
        if quiet >= 2 and far.stalled:
            far.release()


@pytest.mark.parametrize("moment", ["before the headers", "after text"])
@both
async def test_silence_that_lasts_too_long_is_an_error(far: FarEnd, dialect: Dialect, moment: str) -> None:
    far.play(MOMENTS[moment])

    text, failure = await fail(provider(far, dialect, limits=TimeLimits(read_seconds=0.1)))

    assert text == ("Hi" if moment == "after text" else "")
    assert failure.kind is ErrorKind.NETWORK
    assert failure.detail == "No byte for 0.1 s."
    await until(lambda: far.requests[0].is_disconnected)
