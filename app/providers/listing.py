"""An endpoint's own list of models, as far as people can chat with them, and what it tells of each."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol

from app.providers.catalogue import Catalogue
from app.providers.chat_models import chat_models, without_wild_figures
from app.providers.json_client import JsonClient, json_client
from app.providers.local_servers import describe_lmstudio_models, describe_ollama_models, root_of
from app.settings.schema import Endpoint, ListedModel, Maker, Network

_Describe = Callable[[JsonClient, str, Sequence[ListedModel]], Awaitable[tuple[ListedModel, ...]]]
_DESCRIBE: Final[Mapping[Maker, _Describe]] = {
    "ollama": describe_ollama_models,
    "lmstudio": describe_lmstudio_models,
}


class Lister(Protocol):
    """Whoever can be asked for a list of models."""

    async def list_models(self) -> tuple[ListedModel, ...]:
        """Return the models its own list names, in its order. Raises `ProviderError`."""
        ...


async def list_chat_models(
    lister: Lister, endpoint: Endpoint, network: Network, *, key: str | None, catalogue: Catalogue
) -> tuple[ListedModel, ...]:
    """Return the models of an endpoint people can chat with, at most `MAX_MODELS`. Raises ProviderError."""
    models = chat_models(await lister.list_models(), endpoint.maker, catalogue)
    describe = _DESCRIBE.get(endpoint.maker)
    if describe is None or not models:
        return models
    async with json_client(endpoint, network, key=key) as client:
        described = await describe(client, root_of(endpoint.base_url), models)
    return tuple(map(without_wild_figures, described))
