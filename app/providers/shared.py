"""A remote provider that many chats use at once, and that may be replaced while they stream."""

import contextlib
from collections.abc import AsyncGenerator, Callable, Iterator

from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.providers.base import Piece, RemoteProvider
from app.settings.schema import ListedModel

MakeProvider = Callable[[], RemoteProvider]


class SharedProvider:
    """Makes its provider at the first use and closes it once it is retired and nobody uses it.

    One that was retired can still be used: a turn may have found it a moment before.
    """

    def __init__(self, name: str, cards: tuple[ModelCard, ...], make: MakeProvider) -> None:
        self._name = name
        self._cards = cards
        self._make = make
        self._provider: RemoteProvider | None = None
        self._uses = 0
        self._is_retired = False

    @property
    def name(self) -> str:
        return self._name

    def models(self) -> tuple[ModelCard, ...]:
        return self._cards

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        try:
            with self._used() as provider:
                async with contextlib.aclosing(provider.stream(request)) as pieces:
                    async for piece in pieces:
                        yield piece
        finally:
            await self._close_if_done()

    async def list_models(self) -> tuple[ListedModel, ...]:
        """Return the models its own list names, in its order. Raises `ProviderError`."""
        try:
            with self._used() as provider:
                return await provider.list_models()
        finally:
            await self._close_if_done()

    async def retire(self) -> None:
        """Close every connection as soon as nothing runs on it."""
        self._is_retired = True
        await self._close_if_done()

    async def close(self) -> None:
        """Close every connection. Streams that run end with an error."""
        self._is_retired = True
        provider, self._provider = self._provider, None
        if provider is not None:
            await provider.close()

    @contextlib.contextmanager
    def _used(self) -> Iterator[RemoteProvider]:
        if self._provider is None:
            self._provider = self._make()
        self._uses += 1
        try:
            yield self._provider
        finally:
            self._uses -= 1

    async def _close_if_done(self) -> None:
        if self._is_retired and not self._uses:
            await self.close()
