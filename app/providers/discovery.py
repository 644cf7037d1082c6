"""Finds the model servers that run on this computer."""

import asyncio
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from app.domain.connections import FoundServer
from app.providers.json_client import json_client
from app.providers.local_servers import count_lmstudio_models, count_ollama_models
from app.settings.schema import Endpoint, Network

ANSWER_SECONDS: Final = 1.5
"""For each server, all its questions together; a server on this computer needs a few milliseconds."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the servers listen unless somebody has changed it."""

    ollama: int = 11434
    lmstudio: int = 1234


async def discover(endpoints: Iterable[Endpoint], *, ports: Ports = Ports()) -> tuple[FoundServer, ...]:
    """Return the servers that answer on this computer, but for those that `endpoints` have already.

    They are asked without a key and without a proxy.
    """
    known = {place_of(endpoint.base_url) for endpoint in endpoints}
    found = await asyncio.gather(_look("ollama", ports.ollama), _look("lmstudio", ports.lmstudio))
    return tuple(server for server in found if server is not None and place_of(server.base_url) not in known)


def place_of(base_url: str) -> tuple[str, int | None]:
    """Return host and port; every name of this computer is the same host."""
    parts = urlsplit(base_url)
    host = (parts.hostname or "").rstrip(".").casefold()
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    try:
        is_here = ipaddress.ip_address(host).is_loopback or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        is_here = host == "localhost" or host.endswith(".localhost")
    return ("localhost" if is_here else host, port)


async def _look(kind: str, port: int) -> FoundServer | None:
    root = f"http://127.0.0.1:{port}"
    endpoint = Endpoint(id="found", name="Found", base_url=f"{root}/v1", needs_key=False)
    async with json_client(endpoint, Network(proxy="none")) as client:
        count = count_ollama_models if kind == "ollama" else count_lmstudio_models
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                models = await count(client, root, seconds=ANSWER_SECONDS)
        except TimeoutError:
            return None
    if models is None:
        return None
    name = "Ollama" if kind == "ollama" else "LM Studio"
    return FoundServer(kind=kind, name=name, base_url=endpoint.base_url, models=models)
