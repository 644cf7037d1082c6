import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from app.domain.request import ModelRequest
from app.providers.base import Piece, TextPiece
from app.providers.shared import SharedProvider
from app.settings.schema import ListedModel
from tests.fakes.scripted import Hold, Script, ScriptedProvider, reply

REQUEST = ModelRequest(model="model", system="", rows=())


class Remote(ScriptedProvider):
    """A scripted provider with connections to close."""

    is_open = True

    async def list_models(self) -> tuple[ListedModel, ...]:
        return (ListedModel(id="model"),)

    async def close(self) -> None:
        self.is_open = False


class Factory:
    """Makes the providers of one shared one, each with the same scripts."""

    def __init__(self, *scripts: Script) -> None:
        self.scripts = scripts
        self.made: list[Remote] = []

    def __call__(self) -> Remote:
        self.made.append(Remote(list(self.scripts)))
        return self.made[-1]

    def shared(self) -> SharedProvider:
        return SharedProvider("far", (), self)


async def texts(pieces: AsyncGenerator[Piece, None]) -> str:
    return "".join([piece.text async for piece in pieces if isinstance(piece, TextPiece)])


async def test_nothing_is_made_before_it_is_needed_and_then_once() -> None:
    factory = Factory(reply("one"), reply("two"))
    shared = factory.shared()
    assert factory.made == []
    assert [await texts(shared.stream(REQUEST)), await texts(shared.stream(REQUEST))] == ["one", "two"]
    assert await shared.list_models() == (ListedModel(id="model"),)
    assert [remote.is_open for remote in factory.made] == [True]


async def test_one_that_is_not_used_closes_when_it_is_retired() -> None:
    factory = Factory(reply("one"))
    shared = factory.shared()
    await texts(shared.stream(REQUEST))
    await shared.retire()
    assert not factory.made[0].is_open


async def test_one_that_was_never_used_retires_without_being_made() -> None:
    factory = Factory()
    await factory.shared().retire()
    assert factory.made == []


async def test_one_that_is_used_closes_after_the_last_stream() -> None:
    first, second = Hold(), Hold()
    factory = Factory([first, *reply("one")], [second, *reply("two")])
    shared = factory.shared()
    reading = [asyncio.gather(texts(shared.stream(REQUEST))) for _ in range(2)]
    await first.reached()
    await second.reached()
    await shared.retire()
    first.release()
    assert list(await reading[0]) == ["one"]
    assert factory.made[0].is_open
    second.release()
    assert list(await reading[1]) == ["two"]
    assert not factory.made[0].is_open


async def test_a_stream_that_is_left_early_counts_as_ended() -> None:
    factory = Factory(reply("one", "two"))
    shared = factory.shared()
    async with aclosing(shared.stream(REQUEST)) as pieces:
        await anext(pieces)
        await shared.retire()
        assert factory.made[0].is_open
    assert (factory.made[0].closed_early, factory.made[0].is_open) == (1, False)


async def test_one_that_is_used_after_it_was_retired_leaves_nothing_open() -> None:
    factory = Factory(reply("one"))
    shared = factory.shared()
    await shared.retire()
    assert await texts(shared.stream(REQUEST)) == "one"
    assert [remote.is_open for remote in factory.made] == [False]
