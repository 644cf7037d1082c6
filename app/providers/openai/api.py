"""OpenAI's library: one client an endpoint, requests in both dialects, and its errors as ours.

The only module that knows the library. Requests go out and events come in as plain JSON (`post` with `cast_to=object`):
what a compatible server leaves out or adds is for the wire modules to judge, and none of the library's 1,500 types
is loaded.
"""

import asyncio
import contextlib
import functools
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from app.aio import TaskSet, run_blocking
from app.domain.errors import ErrorKind, ProviderError
from app.domain.models import Abilities, ModelCard
from app.domain.request import ModelRequest
from app.providers import faults
from app.providers.base import Piece
from app.providers.http import Heartbeat, TimeLimits, make_client, proxy_of
from app.providers.openai import chat_wire, responses_wire
from app.providers.openai.chat_reader import ChatReader
from app.providers.openai.faults import fault_in_stream, fault_of_status, refused_field, without
from app.providers.openai.listing import listed_models
from app.providers.openai.parts import Json
from app.providers.openai.responses_reader import ResponsesReader
from app.providers.quiet import QuietLimits, watch
from app.settings.schema import Endpoint, ListedModel, Network

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI, AsyncStream, Omit

LIST_SECONDS: Final = 30.0
"""A list of models that isn't there by then is given up, local or not."""
_MOST_FIELDS_DROPPED: Final = 4
_DRAIN_SECONDS: Final = 0.1
"""So long the end of a whole stream is waited for: then its connection serves the next request."""


class OpenAIProvider:
    """The models of one endpoint that speaks Responses or Chat Completions."""

    def __init__(
        self,
        endpoint: Endpoint,
        cards: tuple[ModelCard, ...],
        *,
        get_key: Callable[[], Awaitable[str | None]],
        network: Network,
        limits: TimeLimits | None = None,
        quiet_limits: QuietLimits | None = None,
    ) -> None:
        """`get_key` is asked before each request; it returns None for no key and raises ProviderError.

        `limits` follow from the address if not given.
        """
        self._endpoint = endpoint
        self._cards = cards
        self._get_key = get_key
        self._network = network
        self._limits = limits
        self._quiet_limits = quiet_limits or QuietLimits()
        self._tasks = TaskSet(lambda _name, _error: None)
        self._client: AsyncOpenAI | None = None
        self._opening = asyncio.Lock()
        self._refused: set[tuple[str, str]] = set()
        """Models and the fields they were found not to take."""

    @property
    def name(self) -> str:
        return self._endpoint.id

    def models(self) -> tuple[ModelCard, ...]:
        return self._cards

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Send `request` and yield the reply. Raises `ProviderError`."""
        call = await self._call()
        heartbeat = Heartbeat()
        pieces = self._pieces(call, request, heartbeat)
        async with aclosing(watch(pieces, heartbeat, tasks=self._tasks, limits=self._quiet_limits)) as watched:
            async for piece in watched:
                yield piece

    async def list_models(self) -> tuple[ListedModel, ...]:
        """Return the models its own list names, in its order. Raises `ProviderError`."""
        call = await self._call()
        try:
            async with asyncio.timeout(LIST_SECONDS):
                with call.errors("/models"):
                    body = await call.get("/models")
        except TimeoutError:
            sentence = f"{self._endpoint.name} did not send its list of models within {LIST_SECONDS:g} s."
            raise ProviderError(ErrorKind.NETWORK, sentence) from None
        models = listed_models(body, is_openai=self._is_openai)
        if models is None:
            is_page = isinstance(body, str) and body.lstrip()[:1] == "<"
            raise faults.not_an_api(call.url("/models")) if is_page else faults.malformed(call.url("/models"))
        return models

    async def close(self) -> None:
        """Close every connection. Streams that run end with an error."""
        await self._tasks.close()
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @property
    def _is_openai(self) -> bool:
        host = urlsplit(self._endpoint.base_url).hostname or ""
        return host == "api.openai.com" or host.endswith(".api.openai.com")

    async def _call(self) -> "_Call":
        key = await self._get_key()
        if key is None and self._endpoint.needs_key:
            raise faults.no_key(self._endpoint.name)
        if key is not None and not (key.isascii() and key.isprintable()):
            raise ProviderError(
                ErrorKind.AUTHENTICATION,
                f"The key for {self._endpoint.name} has characters no key has. Enter it again.",
            )
        async with self._opening:
            if self._client is None:
                self._client = await run_blocking(_open, self._endpoint, self._network, self._limits)
        return _Call(
            self._client, self._endpoint.base_url.rstrip("/"), key, proxy_of(self._endpoint.base_url, self._network)
        )

    async def _pieces(self, call: "_Call", request: ModelRequest, heartbeat: Heartbeat) -> AsyncGenerator[Piece, None]:
        # Files are encoded on the way: megabytes, not for the loop.
        prepare = functools.partial(self._prepared, request, call.keys)
        path, body, reader = await run_blocking(prepare) if request.files else prepare()
        with call.errors(path, reader):
            with heartbeat.hears():
                stream = await self._send(call, path, body)
            async with aclosing(stream), aclosing(_events(stream, call, path)) as events:
                async for event in events:
                    for piece in reader.read(event):
                        yield piece
                    if isinstance(reader, ResponsesReader) and reader.is_whole:
                        await _drain(stream)
                        break
        for piece in reader.end():
            yield piece

    def _prepared(self, request: ModelRequest, keys: Collection[str]) -> "tuple[str, Json, _Reader]":
        if self._endpoint.dialect == "chat":
            body = chat_wire.arguments(request, is_openai=self._is_openai)
            return chat_wire.PATH, body, ChatReader(keys=keys)
        card = next((card for card in self._cards if card.id == request.model), None)
        body = responses_wire.arguments(request, card.abilities if card is not None else Abilities())
        return responses_wire.PATH, body, ResponsesReader(keys=keys)

    async def _send(self, call: "_Call", path: str, body: Json) -> "AsyncStream[object]":
        """Send a request; once more without a field that the server names as one it does not take."""
        import openai

        model = str(body["model"])
        for field in [field for known, field in self._refused if known == model]:
            body = without(body, field)
        dropped: list[str] = []
        while True:
            try:
                stream = await call.post(path, body)
            except openai.APIStatusError as error:
                refused = refused_field(error.status_code, error.response.text, _parsed(error), body)
                if refused is None or len(dropped) == _MOST_FIELDS_DROPPED:
                    raise
                dropped.append(refused)
                body = without(body, refused)
            else:
                self._refused.update((model, field) for field in dropped)
                return stream


_Reader = ResponsesReader | ChatReader


@dataclass(frozen=True, slots=True)
class _Call:
    """What one request is sent with."""

    client: "AsyncOpenAI"
    base_url: str
    key: str | None
    proxy: str

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key,) if self.key else ()

    def url(self, path: str) -> str:
        return f"{self.base_url}{path}"

    async def get(self, path: str) -> object:
        """Return the answer, as text if it is no JSON. Raises errors of the library."""
        return await self.client.get(path, cast_to=object, options={"headers": self._headers()})

    async def post(self, path: str, body: Json) -> "AsyncStream[object]":
        """Return the answer as soon as its headers have come. Raises errors of the library.

        Events come with their names and with errors as they were sent; the library's own reading loses both.
        """
        import openai

        return await self.client.post(
            path,
            cast_to=object,
            body=body,
            options={"headers": self._headers(), "stream_mode": "events", "synthesize_event_and_data": True},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )

    def _headers(self) -> "dict[str, str | Omit]":
        """Return the header with the key; without one it is left out, which the library wants to be told."""
        import openai

        return {"Authorization": f"Bearer {self.key}" if self.key else openai.Omit()}

    @contextlib.contextmanager
    def errors(self, path: str, reader: _Reader | None = None) -> Iterator[None]:
        """Raise errors of the library as `ProviderError`; a connection that breaks after the whole reply is none.

        Without their causes: those may quote the header with the key.
        """
        import httpx2
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            raise self._fault_of_status(error, path) from None
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, ValueError) as error:
            if reader is not None and reader.is_whole:
                return
            timeout = self.client.timeout
            raise faults.fault_of_exception(
                error,
                url=self.url(path),
                keys=self.keys,
                read_seconds=timeout.read if isinstance(timeout, httpx2.Timeout) else None,
                proxy=self.proxy,
            ) from None

    def _fault_of_status(self, error: "APIStatusError", path: str) -> ProviderError:
        return fault_of_status(
            error.status_code,
            error.response.text,
            _parsed(error),
            headers=error.response.headers,
            url=self.url(path),
            keys=self.keys,
        )


def _open(endpoint: Endpoint, network: Network, limits: TimeLimits | None = None) -> "AsyncOpenAI":
    """Load the library and make a client for `endpoint`; takes up to a second, off the loop.

    Everything the library would look for in the environment is given: `OPENAI_API_KEY`, `OPENAI_ADMIN_KEY`,
    `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID`, `OPENAI_WEBHOOK_SECRET`, `OPENAI_BASE_URL`. `OPENAI_CUSTOM_HEADERS` can't be
    given, so what it has put in is taken out again; `OPENAI_LOG` has only set a level by then.
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
    return client


async def _events(stream: "AsyncStream[object]", call: _Call, path: str) -> AsyncGenerator[object, None]:
    """Yield the data of each event; of a server that doesn't stream, what its one answer would have streamed.

    Raises ProviderError for an error event, and for what is no answer of a model.
    """
    content_type = stream.response.headers.get("content-type", "")
    if content_type.startswith("text/html"):
        raise faults.not_an_api(call.url(path))
    if content_type.startswith("application/json"):
        yield _as_event(json.loads(await stream.response.aread()), call, path)
        return
    async for event in stream:
        assert isinstance(event, dict)
        if event["event"] == "error":
            raise fault_in_stream(event["data"], keys=call.keys)
        yield event["data"]


def _as_event(body: object, call: _Call, path: str) -> object:
    if isinstance(body, dict) and body.get("error"):
        raise fault_in_stream(body, keys=call.keys)
    needed = "status" if path == responses_wire.PATH else "choices"
    if not isinstance(body, dict) or needed not in body:
        raise faults.malformed(call.url(path))
    return {"type": f"response.{body['status']}", "response": body} if needed == "status" else body


async def _drain(stream: "AsyncStream[object]") -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in stream:
                pass


def _parsed(error: "APIStatusError") -> object:
    try:
        body: object = json.loads(error.response.text)
    except ValueError:
        return None
    return body
