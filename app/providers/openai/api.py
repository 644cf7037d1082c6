"""OpenAI's library: requests and events as plain JSON, its errors as ours.

The only module that knows it. `post` and `get` with `cast_to=object` leave events as they were sent: what a compatible
server leaves out or adds is for the wire modules to judge, and none of the library's 1,500 types is loaded.
"""

import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.aio import run_blocking
from app.providers import faults
from app.providers.error_body import parse_json
from app.providers.http import Heartbeat, TimeLimits, make_client, proxy_of
from app.providers.json_body import encode_body
from app.providers.network_faults import fault_of_exception
from app.providers.openai import responses_wire
from app.providers.openai.faults import fault_in_stream, fault_of_status, refused_field, without
from app.providers.openai.parts import Json
from app.settings.addresses import is_local
from app.settings.schema import Endpoint, Network

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream, Omit

_MOST_FIELDS_DROPPED: Final = 4


def open_sender(endpoint: Endpoint, network: Network, limits: TimeLimits | None = None) -> "Sender":
    """Load the library and make a client for `endpoint`; takes up to a second: call it through `run_blocking`.

    Everything the library would look for in the environment is given: `OPENAI_API_KEY`, `OPENAI_ADMIN_KEY`,
    `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID`, `OPENAI_WEBHOOK_SECRET`, `OPENAI_BASE_URL`. `OPENAI_CUSTOM_HEADERS` can't be
    given, so what it has put in is taken out again; `OPENAI_LOG` has set no more than a level, which is reset.
    Raises ProviderError (network) if the network settings can't be used.
    """
    import openai

    logging.getLogger("openai").setLevel(logging.NOTSET)
    http_client = make_client(endpoint, network, limits=limits)
    client = openai.AsyncOpenAI(
        api_key="",
        admin_api_key="",
        organization="",
        project="",
        webhook_secret="",
        base_url=endpoint.base_url,
        timeout=http_client.timeout,
        max_retries=0,
        http_client=http_client,
    )
    # Empty texts would be sent as empty headers.
    client.organization = endpoint.organization or None
    client.project = endpoint.project or None
    client._custom_headers = {}
    return Sender(client, endpoint.base_url, proxy_of(endpoint.base_url, network))


@dataclass(frozen=True, slots=True)
class Sender:
    """A client with what one request is sent with. The key is never left with the client."""

    client: "AsyncOpenAI"
    base_url: str
    proxy: str
    """Host and port of the proxy in between, empty if there is none."""
    key: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """What no error may tell."""
        return (self.key,) if self.key else ()

    async def close(self) -> None:
        """Close every connection, of senders with other keys too."""
        await self.client.close()

    async def get(self, path: str) -> object:
        """Return what is there, as text if it is no JSON. Raises `ProviderError`."""
        with self._errors(path):
            return await self.client.get(path, cast_to=object, options={"headers": self._headers()})

    async def events(
        self, path: str, body: Json, heartbeat: Heartbeat, refused: set[str]
    ) -> AsyncGenerator[object, None]:
        """Send `body` and yield the data of each event; of a server that doesn't stream, its one answer as an event.

        Fields in `refused` are left out, and those the server names as ones it does not take are added to it.
        Raises ProviderError, also for an error event.
        """
        with self._errors(path):
            with heartbeat.hears():
                stream = await self._post(path, body, refused)
            async with aclosing(stream):
                content_type = stream.response.headers.get("content-type", "")
                if content_type.startswith("text/html"):
                    raise faults.not_an_api(self.url(path))
                if content_type.startswith("application/json"):
                    yield self._as_event(json.loads(await stream.response.aread()), path)
                    return
                async for event in stream:
                    assert isinstance(event, dict)
                    if event["event"] == "error":
                        raise fault_in_stream(event["data"], keys=self.keys)
                    yield event["data"]

    def url(self, path: str) -> str:
        """Return the address of `path`."""
        return f"{self.base_url.rstrip('/')}{path}"

    async def _post(self, path: str, body: Json, refused: set[str]) -> "AsyncStream[object]":
        """Send a request; once more without a field that the server refuses and that it can be asked without."""
        import openai

        for field in refused:
            body = without(body, field)
        dropped: list[str] = []
        while True:
            try:
                stream = await self._post_once(path, body)
            except openai.APIStatusError as error:
                named = refused_field(error.status_code, error.response.text, parse_json(error.response.text), body)
                if named is None or len(dropped) == _MOST_FIELDS_DROPPED:
                    raise
                dropped.append(named)
                body = without(body, named)
            else:
                refused.update(dropped)
                return stream

    async def _post_once(self, path: str, body: Json) -> "AsyncStream[object]":
        """Return the answer as soon as its headers have come.

        Events come with their names, and errors as they were sent: the library's own reading loses both.
        """
        import openai

        return await self.client.post(
            path,
            cast_to=object,
            content=await run_blocking(encode_body, body),
            options={"headers": self._headers(), "stream_mode": "events", "synthesize_event_and_data": True},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )

    def _headers(self) -> "dict[str, str | Omit]":
        """Return the header with the key; without one it is left out, which the library wants to be told.

        llama.cpp ends a connection after a stream without saying so: a step that follows at once would fail on it.
        On the way to a local server a new one costs nothing.
        """
        import openai

        key: dict[str, str | Omit] = {"Authorization": f"Bearer {self.key}" if self.key else openai.Omit()}
        return {**key, "Connection": "close"} if is_local(self.base_url) else key

    def _as_event(self, body: object, path: str) -> object:
        if isinstance(body, dict) and body.get("error"):
            raise fault_in_stream(body, keys=self.keys)
        needed = "status" if path == responses_wire.PATH else "choices"
        if not isinstance(body, dict) or needed not in body:
            raise faults.malformed(self.url(path))
        return {"type": f"response.{body['status']}", "response": body} if needed == "status" else body

    @contextlib.contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        """Raise errors of the library as `ProviderError`, without their causes: those may quote the key's header."""
        import httpx2
        import openai

        url = self.url(path)
        try:
            yield
        except openai.APIStatusError as error:
            raise fault_of_status(
                error.status_code,
                error.response.text,
                parse_json(error.response.text),
                headers=error.response.headers,
                url=url,
                keys=self.keys,
            ) from None
        except (ValueError, RecursionError):
            # No JSON, no UTF-8, or a number of thousands of digits.
            raise faults.malformed(url) from None
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            limits = self.client.timeout
            read_seconds = limits.read if isinstance(limits, httpx2.Timeout) else None
            raise fault_of_exception(
                error, url=url, keys=self.keys, read_seconds=read_seconds, proxy=self.proxy
            ) from None
