"""Providers that speak to the far end, and what they say."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from app.domain.errors import ProviderError
from app.domain.models import Abilities, ModelCard
from app.domain.request import ModelRequest
from app.providers.base import Piece, TextPiece
from app.providers.http import TimeLimits
from app.providers.openai.provider import OpenAIProvider
from app.providers.quiet import QuietLimits
from app.settings.schema import Dialect, Endpoint, Network
from tests.fakes.farend import FarEnd
from tests.unit.providers.openai.build import request, user

DIALECTS: Final[tuple[Dialect, ...]] = ("responses", "chat")
KEY: Final = "far-opensesame-0815"
HELLO: Final = request(user("Hi"))


def provider(
    far: FarEnd,
    dialect: Dialect,
    *,
    key: str | None = KEY,
    needs_key: bool = True,
    organization: str = "",
    project: str = "",
    limits: TimeLimits | None = None,
    quiet_limits: QuietLimits | None = None,
    reasons: bool | None = None,
    base_url: str = "",
) -> OpenAIProvider:
    """Return a provider of the far end; the test closes it.

    With `base_url` the far end plays the proxy before that address, which is not local then.
    """

    async def get_key() -> str | None:
        return key

    endpoint = Endpoint(
        id="far",
        name="Far",
        dialect=dialect,
        base_url=base_url or f"{far.url}/v1",
        needs_key=needs_key,
        organization=organization,
        project=project,
    )
    card = ModelCard(
        id="m", provider="far", name="M", limit=None, max_output=None, abilities=Abilities(reasons=reasons)
    )
    network = Network(proxy="custom", proxy_url=far.url) if base_url else Network()
    return OpenAIProvider(endpoint, (card,), get_key=get_key, network=network, limits=limits, quiet_limits=quiet_limits)


@asynccontextmanager
async def closing(asked: OpenAIProvider) -> AsyncIterator[OpenAIProvider]:
    try:
        yield asked
    finally:
        await asked.close()


async def ask(asked: OpenAIProvider, what: ModelRequest = HELLO) -> list[Piece]:
    """Return the pieces of a stream."""
    return [piece async for piece in asked.stream(what)]


async def read(asked: OpenAIProvider, what: ModelRequest = HELLO) -> list[Piece]:
    """Return the pieces of a stream; closes the provider."""
    async with closing(asked):
        return await ask(asked, what)


async def fail(asked: OpenAIProvider, what: ModelRequest = HELLO) -> tuple[str, ProviderError]:
    """Return the text that came before a stream failed, and how it failed; closes the provider."""
    text = ""
    async with closing(asked):
        try:
            async for piece in asked.stream(what):
                text += piece.text if isinstance(piece, TextPiece) else ""
        except ProviderError as error:
            return text, error
    raise AssertionError("it did not fail")


async def until(condition: Callable[[], object]) -> None:
    """Wait for what another task is about to do."""
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(0.002)
