"""Asks a server for JSON beside its dialect: what is not a small, whole, friendly answer counts as none."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from app.aio import run_blocking
from app.providers.http import make_client
from app.settings.schema import Endpoint, Network

if TYPE_CHECKING:
    import httpx2

MAX_BYTES: Final = 4 * 1024 * 1024
"""A longer answer is none."""
REQUEST_SECONDS: Final = 10.0


class JsonClient:
    """Sends small requests to one server, with a key if there is one."""

    def __init__(self, client: "httpx2.AsyncClient", *, key: str | None = None) -> None:
        self._client = client
        self._headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    async def get(self, url: str, *, seconds: float = REQUEST_SECONDS) -> object:
        """Return the JSON at `url`, None if there is none within `seconds`. Raises ProviderError never."""
        return await self._ask("GET", url, None, seconds)

    async def post(self, url: str, body: Mapping[str, object], *, seconds: float = REQUEST_SECONDS) -> object:
        """Return the JSON that answers `body`, None if there is none within `seconds`."""
        return await self._ask("POST", url, body, seconds)

    async def _ask(self, method: str, url: str, body: Mapping[str, object] | None, seconds: float) -> object:
        import httpx2

        try:
            async with (
                asyncio.timeout(seconds),
                self._client.stream(method, url, json=body, headers=self._headers) as response,
            ):
                if response.status_code != 200:
                    return None
                return _parse(await _read(response))
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError):
            return None


@asynccontextmanager
async def json_client(endpoint: Endpoint, network: Network, *, key: str | None = None) -> AsyncIterator[JsonClient]:
    """Open a client for the server of `endpoint`. Raises ProviderError if the network settings can't be used."""
    async with await run_blocking(make_client, endpoint, network) as client:
        yield JsonClient(client, key=key)


async def _read(response: "httpx2.Response") -> bytes:
    pieces: list[bytes] = []
    total = 0
    async for piece in response.aiter_bytes():
        total += len(piece)
        if total > MAX_BYTES:
            return b""
        pieces.append(piece)
    return b"".join(pieces)


def _parse(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
