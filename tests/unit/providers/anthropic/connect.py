"""Providers that speak to the far end, and what they say."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from app.domain.errors import ProviderError
from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Row, TextPart
from app.providers.anthropic.api import AnthropicProvider
from app.providers.base import Piece, TextPiece
from app.providers.http import TimeLimits
from app.providers.quiet import QuietLimits
from app.settings.schema import Endpoint, Network
from tests.fakes.farend import FarEnd

KEY: Final = "far-opensesame-0815"
CARD: Final = ModelCard(id="far-large", provider="far", name="Far Large", limit=200_000, max_output=8_000)
HELLO: Final = ModelRequest(
    model="far-large",
    system="Be brief.",
    rows=(Row(id="r1", session="s", role="user", parts=(TextPart(text="Hi"),)),),
)


@asynccontextmanager
async def provider(
    far: FarEnd | str,
    *,
    key: str | None = KEY,
    needs_key: bool = True,
    verify: bool = True,
    network: Network | None = None,
    limits: TimeLimits | None = None,
    quiet: QuietLimits | None = None,
) -> AsyncIterator[AnthropicProvider]:
    """Give a provider of the far end, or of an address, and close it."""

    async def get_key() -> str | None:
        return key

    base_url = far if isinstance(far, str) else far.url
    endpoint = Endpoint(
        id="far", name="Far", dialect="anthropic", base_url=base_url, needs_key=needs_key, verify=verify
    )
    asked = AnthropicProvider(
        endpoint, (CARD,), get_key=get_key, network=network or Network(), limits=limits, quiet_limits=quiet
    )
    try:
        yield asked
    finally:
        await asked.close()


async def ask(asked: AnthropicProvider, what: ModelRequest = HELLO) -> list[Piece]:
    """Return the pieces of a stream."""
    return [piece async for piece in asked.stream(what)]


async def fail(asked: AnthropicProvider, what: ModelRequest = HELLO) -> tuple[str, ProviderError]:
    """Return the text that came before a stream failed, and how it failed."""
    text = ""
    try:
        async for piece in asked.stream(what):
            text += piece.text if isinstance(piece, TextPiece) else ""
    except ProviderError as error:
        return text, error
    raise AssertionError("it did not fail")


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


async def until(condition: Callable[[], object]) -> None:
    """Wait for what another task is about to do."""
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(0.002)
