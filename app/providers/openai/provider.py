"""The models of an endpoint that speaks one of OpenAI's dialects."""

import asyncio
import contextlib
import functools
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from app.aio import TaskSet, run_blocking
from app.domain.errors import ErrorKind, ProviderError
from app.domain.models import Abilities, ModelCard, ThinkingLevel
from app.domain.request import ModelRequest
from app.providers.base import GetKey, Piece
from app.providers.faults import check_key
from app.providers.http import Heartbeat, TimeLimits
from app.providers.listing import list_in_time, not_a_list
from app.providers.openai import chat_wire, responses_wire
from app.providers.openai.api import Sender, open_sender
from app.providers.openai.chat_reader import ChatReader
from app.providers.openai.listing import listed_models
from app.providers.openai.parts import Json
from app.providers.openai.responses_reader import ResponsesReader
from app.providers.quiet import QuietLimits, watch
from app.settings.schema import Endpoint, ListedModel, Network

_DRAIN_SECONDS: Final = 0.1
"""The end of a whole stream is waited for so long: then its connection serves the next request."""

Reader = ResponsesReader | ChatReader


class OpenAIProvider:
    """One endpoint that speaks Responses or Chat Completions."""

    def __init__(
        self,
        endpoint: Endpoint,
        cards: tuple[ModelCard, ...],
        *,
        get_key: GetKey,
        network: Network,
        limits: TimeLimits | None = None,
        quiet_limits: QuietLimits | None = None,
    ) -> None:
        """`get_key` is asked anew for every request. `limits` follow from the address if not given."""
        self._endpoint = endpoint
        self._cards = cards
        self._get_key = get_key
        self._network = network
        self._limits = limits
        self._quiet_limits = quiet_limits or QuietLimits()
        self._tasks = TaskSet(lambda _name, _error: None)
        self._opened: Sender | None = None
        self._opening = asyncio.Lock()
        self._refused: dict[tuple[str, ThinkingLevel | None], set[str]] = {}
        """By model and level, the fields its server was found not to take."""

    @property
    def name(self) -> str:
        return self._endpoint.id

    def models(self) -> tuple[ModelCard, ...]:
        return self._cards

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Send `request` and yield the reply as it comes.

        Raises `ProviderError`. Closing the generator ends the request on the wire at once.
        """
        sender = await self._sender()
        heartbeat = Heartbeat()
        pieces = self._pieces(sender, request, heartbeat)
        async with aclosing(watch(pieces, heartbeat, tasks=self._tasks, limits=self._quiet_limits)) as watched:
            async for piece in watched:
                yield piece

    async def list_models(self) -> tuple[ListedModel, ...]:
        """Return the models its own list names, in its order. Raises `ProviderError`."""
        sender = await self._sender()
        async with list_in_time(self._endpoint.name):
            body = await sender.get("/models")
        models = listed_models(body)
        if models is None:
            raise not_a_list(body, sender.url("/models"))
        return models

    async def close(self) -> None:
        """Close every connection. Streams that run end with an error."""
        await self._tasks.close()
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.close()

    @property
    def _is_openai(self) -> bool:
        host = urlsplit(self._endpoint.base_url).hostname or ""
        return host == "api.openai.com" or host.endswith(".api.openai.com")

    async def _sender(self) -> Sender:
        key = await self._get_key()
        check_key(key, self._endpoint.name, is_needed=self._endpoint.needs_key)
        async with self._opening:
            if self._opened is None:
                self._opened = await run_blocking(open_sender, self._endpoint, self._network, self._limits)
            return replace(self._opened, key=key)

    async def _pieces(self, sender: Sender, request: ModelRequest, heartbeat: Heartbeat) -> AsyncGenerator[Piece, None]:
        prepare = functools.partial(self._prepared, request, sender.keys)
        # Files are encoded on the way, and texts may be long: megabytes, not for the loop.
        path, body, reader = await run_blocking(prepare)
        refused = self._refused.setdefault((request.model, request.level), set())
        try:
            async with aclosing(sender.events(path, body, heartbeat, refused)) as events:
                async for event in events:
                    for piece in reader.read(event):
                        yield piece
                    if reader.is_done:
                        await _drain(events)
                        break
        except ProviderError as error:
            # A connection that breaks after the whole reply has taken nothing away.
            if error.kind is not ErrorKind.NETWORK or not reader.is_whole:
                raise
        for piece in reader.end():
            yield piece

    def _prepared(self, request: ModelRequest, keys: Collection[str]) -> tuple[str, Json, Reader]:
        if self._endpoint.dialect == "chat":
            body = chat_wire.arguments(request, is_openai=self._is_openai)
            return chat_wire.PATH, body, ChatReader(keys=keys)
        card = next((card for card in self._cards if card.id == request.model), None)
        abilities = card.abilities if card is not None else Abilities()
        body = responses_wire.arguments(request, abilities, is_openai=self._is_openai)
        return responses_wire.PATH, body, ResponsesReader(keys=keys)


async def _drain(events: AsyncGenerator[object, None]) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in events:
                pass
