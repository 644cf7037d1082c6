"""An endpoint's own list of models, as far as people can chat with them, and what it tells of each."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, Protocol

from app.domain.errors import ErrorKind, ProviderError
from app.providers.catalogue import Catalogue
from app.providers.chat_models import chat_models, without_wild_figures
from app.providers.faults import malformed, not_an_api
from app.providers.json_client import JsonClient, json_client
from app.providers.local_servers import describe_lmstudio_models, describe_ollama_models, root_of
from app.settings.schema import Endpoint, ListedModel, Maker, Network

LIST_SECONDS: Final = 30.0
"""A list of models that isn't there by then is given up, local or not."""

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


@asynccontextmanager
async def list_in_time(endpoint_name: str) -> AsyncIterator[None]:
    """Give up a list of models after `LIST_SECONDS`. Raises ProviderError (network)."""
    try:
        async with asyncio.timeout(LIST_SECONDS):
            yield
    except TimeoutError:
        raise ProviderError(
            ErrorKind.NETWORK, f"{endpoint_name} did not send its list of models within {LIST_SECONDS:g} s."
        ) from None


def not_a_list(body: object, url: str) -> ProviderError:
    """Return the error of an answer of `url` that is no list of models."""
    is_page = isinstance(body, str) and body.lstrip().startswith("<")
    return not_an_api(url) if is_page else malformed(url)


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
