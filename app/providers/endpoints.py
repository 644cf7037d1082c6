"""The providers of all endpoints, kept in step with the settings."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from app.domain.errors import ErrorKind, KnownError, ProviderError
from app.domain.models import ModelCard
from app.providers.base import GetKey, RemoteProvider
from app.providers.catalogue import Catalogue
from app.providers.offer import Offering
from app.providers.registry import Offer
from app.providers.shared import SharedProvider
from app.settings.schema import Endpoint, Network, Settings

KeyOf = Callable[[Endpoint], Awaitable[str | None]]
MakeRemote = Callable[[Endpoint, tuple[ModelCard, ...], GetKey, Network], RemoteProvider]

NO_KEY: Final = "There is no key for {name} yet. Enter one in Settings, Providers & keys."


def make_remote(endpoint: Endpoint, cards: tuple[ModelCard, ...], get_key: GetKey, network: Network) -> RemoteProvider:
    """Return the provider that speaks the dialect of `endpoint`."""
    if endpoint.dialect == "anthropic":
        from app.providers.anthropic.api import AnthropicProvider

        return AnthropicProvider(endpoint, cards, get_key=get_key, network=network)
    from app.providers.openai.provider import OpenAIProvider

    return OpenAIProvider(endpoint, cards, get_key=get_key, network=network)


@dataclass(frozen=True, slots=True)
class _Recipe:
    """All a provider is made of; it serves as long as that is the same."""

    endpoint: Endpoint
    network: Network
    cards: tuple[ModelCard, ...]
    key_version: int


class Updated(NamedTuple):
    """What the endpoints offer now, and the providers that serve no longer."""

    offers: tuple[Offer, ...]
    replaced: tuple[SharedProvider, ...]


class EndpointProviders:
    """One provider an endpoint; those that nothing changed for keep their open connections."""

    def __init__(self, catalogue: Catalogue, key_of: KeyOf, *, make: MakeRemote = make_remote) -> None:
        """`key_of` returns the key of an endpoint, None if there is none, and raises KnownError."""
        self.catalogue = catalogue
        self._key_of = key_of
        self._make = make
        self._serving: dict[str, tuple[_Recipe, SharedProvider]] = {}
        self._key_versions: dict[str, int] = {}

    def note_key(self, endpoint_id: str) -> None:
        """Have the endpoint's provider made anew by the next `update`: its key is another one."""
        self._key_versions[endpoint_id] = self._key_versions.get(endpoint_id, 0) + 1

    def update(self, settings: Settings, *, usable: Collection[str]) -> Updated:
        """Return what the endpoints offer; `usable` are those that need no key or have one.

        Whoever calls retires what was replaced.
        """
        before = self._serving
        self._serving = {}
        offers = []
        for endpoint in settings.endpoints:
            offering = Offering(endpoint, self.catalogue, settings.models)
            cards = offering.cards()
            recipe = _Recipe(
                endpoint.model_copy(update={"models": (), "listed": None}),
                settings.network,
                tuple(replace(card, is_favourite=False) for card in cards),
                self._key_versions.get(endpoint.id, 0),
            )
            known = before.get(endpoint.id)
            provider = known[1] if known is not None and known[0] == recipe else self._shared(recipe)
            self._serving[endpoint.id] = (recipe, provider)
            offers.append(Offer(provider, cards, is_usable=endpoint.id in usable, unlisted=offering.card))
        serving = [provider for _, provider in self._serving.values()]
        return Updated(tuple(offers), tuple(old for _, old in before.values() if old not in serving))

    def find(self, endpoint_id: str) -> SharedProvider | None:
        """Return the provider of an endpoint."""
        found = self._serving.get(endpoint_id)
        return found[1] if found is not None else None

    def make(self, endpoint: Endpoint, network: Network, get_key: GetKey) -> RemoteProvider:
        """Return a provider for trying an endpoint that need not be in the settings; the caller closes it."""
        return self._make(endpoint, Offering(endpoint, self.catalogue, {}).cards(), get_key, network)

    async def close(self) -> None:
        """Close every connection. Streams that run end with an error."""
        for _, provider in self._serving.values():
            await provider.close()

    def _shared(self, recipe: _Recipe) -> SharedProvider:
        async def get_key() -> str | None:
            return await self.key(recipe.endpoint)

        return SharedProvider(
            recipe.endpoint.id,
            recipe.cards,
            lambda: self._make(recipe.endpoint, recipe.cards, get_key, recipe.network),
        )

    async def key(self, endpoint: Endpoint) -> str | None:
        """Return the key to send to `endpoint`, None if it needs none. Raises ProviderError(authentication)."""
        try:
            key = await self._key_of(endpoint)
        except KnownError as error:
            raise ProviderError(ErrorKind.AUTHENTICATION, str(error)) from error
        if key is None and endpoint.needs_key:
            raise ProviderError(ErrorKind.AUTHENTICATION, NO_KEY.format(name=endpoint.name))
        return key
