"""Sends to Anthropic's Messages, and to servers that speak it, through Anthropic's library."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing, suppress
from typing import TYPE_CHECKING, Any, Final

from app.aio import TaskSet, run_blocking
from app.domain.errors import BugError, ProviderError
from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.providers.anthropic.events import EventReader
from app.providers.anthropic.listing import PAGE_MODELS, PATH, Page, read_page
from app.providers.anthropic.wire import build, with_thinking, without_thinking
from app.providers.base import GetKey, Piece
from app.providers.faults import check_key, fault_of_answer, fault_of_event, malformed, not_an_api
from app.providers.http import Heartbeat, TimeLimits, make_client, proxy_of, time_limits
from app.providers.json_body import encode_body
from app.providers.listing import list_in_time, not_a_list
from app.providers.network_faults import fault_of_exception
from app.providers.phrases import says_thinking_is_refused, says_thinking_is_wanted
from app.providers.quiet import QuietLimits, watch
from app.settings.schema import Endpoint, ListedModel, Network

if TYPE_CHECKING:
    import anthropic
    import httpx2

_MOST_MODELS: Final = 10_000
_MESSAGES_PATH: Final = "/v1/messages"
_DRAIN_SECONDS: Final = 0.2
"""The end of the HTTP message is waited for so long after the end of the reply: the connection can be used again."""
_PLACEHOLDER: Final = "none"
"""The library insists on a key, and looks for one in the environment otherwise. It is never sent."""


class AnthropicProvider:
    """One endpoint that speaks Anthropic's Messages."""

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
        self._limits = limits or time_limits(endpoint.base_url)
        self._quiet_limits = quiet_limits or QuietLimits()
        self._tasks = TaskSet(_unheard)
        self._building = asyncio.Lock()
        self._http: httpx2.AsyncClient | None = None
        self._client: tuple[str, anthropic.AsyncAnthropic] | None = None

    @property
    def name(self) -> str:
        return self._endpoint.id

    def models(self) -> tuple[ModelCard, ...]:
        return self._cards

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Send `request` and yield the reply as it comes.

        Raises `ProviderError`. Closing the generator ends the request on the wire at once.
        """
        heartbeat = Heartbeat()
        return watch(self._pieces(request, heartbeat), heartbeat, tasks=self._tasks, limits=self._quiet_limits)

    async def list_models(self) -> tuple[ListedModel, ...]:
        """Return the models of the endpoint's own list, in its order. Raises `ProviderError`."""
        key = await self._key()
        client = await self._client_for(key)
        listed: list[ListedModel] = []
        after: str | None = ""
        try:
            async with list_in_time(self._endpoint.name):
                while after is not None and len(listed) < _MOST_MODELS:
                    page = await self._page(client, key, after)
                    listed += page.models
                    after = page.next_after or None
        except _failures() as error:
            raise self._fault(error, key) from None
        return tuple(listed)

    async def close(self) -> None:
        """Close every connection. Streams that run end with an error."""
        await self._tasks.close()
        http, self._http, self._client = self._http, None, None
        if http is not None:
            await http.aclose()

    async def _page(self, client: "anthropic.AsyncAnthropic", key: str, after: str) -> Page:
        """Ask for one page of the list. The library's own reading breaks on lists of other servers."""
        params: dict[str, object] = {"limit": PAGE_MODELS, **({"after_id": after} if after else {})}
        body = await client.get(PATH, cast_to=object, options={"params": params, "headers": _headers(key)})
        page = read_page(body)
        if page is None:
            raise not_a_list(body, self._endpoint.base_url)
        return page

    async def _pieces(self, request: ModelRequest, heartbeat: Heartbeat) -> AsyncGenerator[Piece, None]:
        key = await self._key()
        client = await self._client_for(key)
        card = next((card for card in self._cards if card.id == request.model), None)
        # Off the loop: attachments of many megabytes are encoded.
        arguments: dict[str, Any] = await run_blocking(build, request, card)
        reader = EventReader(keys=_known(key))
        try:
            async with AsyncExitStack() as stack:
                with heartbeat.hears():
                    stream = await _send(client, arguments, key)
                await stack.enter_async_context(stream)
                async with aclosing(self._read(stream, reader, key)) as pieces:
                    async for piece in pieces:
                        yield piece
        except _failures() as error:
            if not reader.is_finished:
                # Without its cause: that may quote the header with the key.
                raise self._fault(error, key) from None

    async def _read(
        self, stream: "anthropic.AsyncStream[Any]", reader: EventReader, key: str
    ) -> AsyncGenerator[Piece, None]:
        content_type = stream.response.headers.get("content-type", "")
        if content_type.startswith("text/html"):
            raise not_an_api(str(stream.response.url))
        if content_type.startswith("application/json"):
            body = json.loads(await stream.response.aread())
            if not isinstance(body, dict) or body.get("type") != "message":
                raise fault_of_event(body, keys=_known(key))
            for piece in reader.pieces_of_message(body):
                yield piece
            return
        async for event in stream:
            for piece in reader.pieces(event):
                yield piece
            if reader.is_finished:
                await _drain(stream)
                return
        for piece in reader.finish():
            yield piece

    async def _key(self) -> str:
        """Return the key, empty if there is none and none is needed."""
        key = await self._get_key()
        check_key(key, self._endpoint.name, is_needed=self._endpoint.needs_key)
        return key or ""

    async def _client_for(self, key: str) -> "anthropic.AsyncAnthropic":
        async with self._building:
            if self._http is None:
                self._http = await run_blocking(make_client, self._endpoint, self._network, limits=self._limits)
            if self._client is None or self._client[0] != key:
                self._client = (key, await run_blocking(_make_library_client, self._endpoint, key, self._http))
            return self._client[1]

    def _fault(self, error: BaseException, key: str) -> ProviderError:
        import anthropic

        keys = _known(key)
        base_url = self._endpoint.base_url
        if isinstance(error, anthropic.APIStatusError):
            response = error.response
            if response.is_success:
                return fault_of_event(error.body, keys=keys)
            return fault_of_answer(
                response.status_code, response.text, headers=response.headers, url=str(response.url), keys=keys
            )
        if isinstance(error, anthropic.APIResponseValidationError):
            return malformed(base_url)
        proxy = proxy_of(base_url, self._network)
        return fault_of_exception(error, url=base_url, keys=keys, read_seconds=self._limits.read_seconds, proxy=proxy)


def _make_library_client(endpoint: Endpoint, key: str, http: "httpx2.AsyncClient") -> "anthropic.AsyncAnthropic":
    """Make the library's client; takes more than a second the first time. Nothing of the environment gets in.

    A key that is passed keeps out `ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, profiles and files of credentials; the
    address keeps out `ANTHROPIC_BASE_URL`.
    """
    import anthropic

    # At debug level, which ANTHROPIC_LOG may ask for, it logs whole requests.
    logging.getLogger("anthropic").setLevel(logging.WARNING)
    client = anthropic.AsyncAnthropic(
        api_key=key or _PLACEHOLDER,
        auth_token=None,
        webhook_key="",
        base_url=endpoint.base_url,
        timeout=http.timeout,
        max_retries=0,
        default_headers={},
        open_telemetry=False,
        http_client=http,
    )
    # Those of ANTHROPIC_CUSTOM_HEADERS; the library has no other way to leave them out.
    client._custom_headers = {}
    return client


async def _send(
    client: "anthropic.AsyncAnthropic", arguments: dict[str, Any], key: str
) -> "anthropic.AsyncStream[Any]":
    """Return the answer as soon as its headers have come; asked once more with thinking as the server wants it."""
    import anthropic

    stream: anthropic.AsyncStream[Any]
    try:
        stream = await _post(client, arguments, key)
    except anthropic.BadRequestError as error:
        mended = _mended(arguments, error.response.text)
        if mended == arguments:
            raise
        stream = await _post(client, mended, key)
    return stream


def _mended(arguments: dict[str, Any], words: str) -> dict[str, Any]:
    """Return the request with the thinking of earlier replies as a server's `words` want it."""
    if says_thinking_is_refused(words):
        return without_thinking(arguments)
    return with_thinking(arguments) if says_thinking_is_wanted(words) else arguments


async def _post(
    client: "anthropic.AsyncAnthropic", arguments: dict[str, Any], key: str
) -> "anthropic.AsyncStream[Any]":
    """Send what `messages.create` would, which makes JSON of it on the loop, however long it is."""
    import anthropic
    from anthropic.types import Message, RawMessageStreamEvent

    return await client.post(
        _MESSAGES_PATH,
        cast_to=Message,
        content=await run_blocking(encode_body, {**arguments, "stream": True}),
        options={"headers": _headers(key)},
        stream=True,
        stream_cls=anthropic.AsyncStream[RawMessageStreamEvent],
    )


def _headers(key: str) -> "dict[str, str | anthropic.Omit]":
    import anthropic

    return {} if key else {"Authorization": anthropic.Omit()}


def _known(key: str) -> tuple[str, ...]:
    return (key,) if key else ()


def _failures() -> tuple[type[Exception], ...]:
    """Return what the library and what lies below it raise when the far end or the network fails.

    A cut or malformed stream comes as an error of httpx2 or json; the library passes those on as they are.
    """
    import anthropic
    import httpx2

    return (
        anthropic.AnthropicError,
        httpx2.HTTPError,
        httpx2.InvalidURL,
        httpx2.StreamError,
        ValueError,
        RecursionError,
        OSError,
    )


async def _drain(stream: "anthropic.AsyncStream[Any]") -> None:
    with suppress(TimeoutError, *_failures()):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in stream:
                pass


def _unheard(task: str, error: BaseException) -> None:
    """Streams hear of the end of their own tasks."""
    raise BugError(f"nobody waited for {task}") from error
