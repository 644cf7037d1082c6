"""The HTTP client each provider's library sends with, and the moment the last byte came.

The client follows no redirect, so that a key goes to no address but the one a person entered, keeps no cookies,
and reads nothing from the environment but proxies: no certificates, no `.netrc`.
"""

import contextlib
import logging
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Final, Protocol, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from app import APP_NAME, VERSION
from app.domain.errors import ErrorKind, ProviderError
from app.providers.answer_limits import ACCEPTED, AnswerLimits, keep_within
from app.settings.addresses import is_local
from app.settings.checks import PROXY_SCHEMES

if TYPE_CHECKING:
    import httpx2

    from app.settings.schema import Endpoint, Network

log = logging.getLogger(__name__)

CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 300.0
"""Without a byte for so long a request to a remote server fails."""

_CONNECTIONS: Final = 100
_KEPT: Final = 20
_KEPT_LOCAL: Final = 0
"""llama.cpp ends a connection after a stream without saying so: a step that follows at once would fail on it."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long a connection may take to come about, and how long no byte may come; None for ever."""

    connect_seconds: float = CONNECT_SECONDS
    read_seconds: float | None = READ_SECONDS


class Heartbeat:
    """When the last byte of one answer came, comments and pings included; its own making counts as a byte."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        """`monotonic` returns seconds that never run backwards."""
        self._monotonic = monotonic
        self.last = monotonic()

    def beat(self) -> None:
        """Note that something came."""
        self.last = self._monotonic()

    def quiet_seconds(self) -> float:
        """Return how long nothing has come."""
        return self._monotonic() - self.last

    @contextlib.contextmanager
    def hears(self) -> Iterator[None]:
        """Beat, and have the answers to requests that are sent inside the block beat, as long as they last."""
        self.beat()
        token = _LISTENER.set(self)
        try:
            yield
        finally:
            _LISTENER.reset(token)


_LISTENER: ContextVar[Heartbeat | None] = ContextVar("heartbeat of the request being sent", default=None)
"""One client carries the streams of many chats; the context tells whose request is being sent."""


def time_limits(base_url: str) -> TimeLimits:
    """Return the limits for an address: a local server may be loading its model, and is never given up."""
    return TimeLimits(read_seconds=None) if is_local(base_url) else TimeLimits()


def make_client(endpoint: "Endpoint", network: "Network", *, limits: TimeLimits | None = None) -> "httpx2.AsyncClient":
    """Make the client for an endpoint. Reads certificates from disk: call it through `run_blocking`.

    Its `timeout` is what the library that sends with it must be given too. Raises ProviderError (network) if
    the file of certificates or the proxy of the settings can't be used.
    """
    import httpx2

    # At debug level it logs the password of a proxy.
    logging.getLogger("httpcore2").setLevel(logging.INFO)
    local = is_local(endpoint.base_url)
    limits = limits or time_limits(endpoint.base_url)
    read = limits.read_seconds
    uses_system_proxy = network.proxy == "system" and not local
    whose = "The system's proxy" if uses_system_proxy else "The proxy in the settings"
    trust = make_trust(network, verify=endpoint.verify)
    try:
        if uses_system_proxy:
            _check_proxy(_system_proxy(endpoint.base_url))
        return httpx2.AsyncClient(
            headers=ACCEPTED,
            # None is kept: they would tell a server which requests are of the same person.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            verify=trust,
            proxy=_custom_proxy(network) if network.proxy == "custom" and not local else None,
            trust_env=uses_system_proxy,
            follow_redirects=False,
            timeout=httpx2.Timeout(connect=limits.connect_seconds, read=read, write=read, pool=limits.connect_seconds),
            limits=httpx2.Limits(
                max_connections=_CONNECTIONS,
                max_keepalive_connections=_KEPT_LOCAL if local else _KEPT,
                keepalive_expiry=60,
            ),
            event_hooks={"request": [_say_only_who_asks, _end_with_its_handshake], "response": [_bound, _listen]},
        )
    except (ValueError, httpx2.InvalidURL) as error:
        raise ProviderError(
            ErrorKind.NETWORK, f"{whose} has an address Muntin can't use; it takes http, https and socks5."
        ) from error


def make_trust(network: "Network", *, verify: bool) -> ssl.SSLContext:
    """Return what certificates are checked against: the system's, and those of `network.ca_file`.

    Raises ProviderError (network) if that file can't be read.
    """
    import httpx2

    if not verify:
        return httpx2.create_ssl_context(verify=False)
    # Only Windows and macOS go through truststore here; elsewhere OpenSSL's own folders are the system's store.
    trust = httpx2.create_ssl_context(trust_env=False)
    if network.ca_file:
        try:
            trust.load_verify_locations(cafile=network.ca_file)
        except ssl.SSLError as error:
            raise ProviderError(
                ErrorKind.NETWORK, f"The file {network.ca_file} holds no certificates in PEM form."
            ) from error
        except OSError as error:
            reason = error.strerror or "it can't be opened"
            raise ProviderError(
                ErrorKind.NETWORK, f"The file of certificates {network.ca_file} can't be read: {reason}."
            ) from error
    return trust


def proxy_of(base_url: str, network: "Network") -> str:
    """Return host and port of the proxy that requests to `base_url` go through, empty if they go directly.

    Empty too for an address that no client is made with.
    """
    if network.proxy == "none" or is_local(base_url):
        return ""
    url = network.proxy_url if network.proxy == "custom" else _system_proxy(base_url)
    try:
        _check_proxy(url)
    except ValueError:
        return ""
    return urlsplit(url).netloc.rpartition("@")[2]


def _system_proxy(base_url: str) -> str:
    """Return the address of the proxy for `base_url`, with its name and password; empty if there is none."""
    parts = urlsplit(base_url)
    proxies = getproxies()
    url = proxies.get(parts.scheme) or proxies.get("all") or ""
    if not url or proxy_bypass(parts.hostname or ""):
        return ""
    return url if "://" in url else f"http://{url}"


def _custom_proxy(network: "Network") -> str:
    if not network.proxy_url:
        raise ValueError("no proxy address")
    _check_proxy(network.proxy_url)
    return network.proxy_url


def _check_proxy(url: str) -> None:
    """Raise ValueError if `url` is no address of a proxy; an empty one stands for none."""
    parts = urlsplit(url)
    if url and (parts.scheme not in PROXY_SCHEMES or not parts.hostname or parts.port == 0):
        raise ValueError("no proxy address")


async def _say_only_who_asks(request: "httpx2.Request") -> None:
    """Leave out what the vendors' libraries tell of this computer: its system, its processor, its Python."""
    for name in [name for name in request.headers if name.startswith("x-stainless-")]:
        del request.headers[name]
    request.headers["user-agent"] = f"{APP_NAME}/{VERSION}"


async def _end_with_its_handshake(request: "httpx2.Request") -> None:
    """Have the connection closed if the request ends while TLS or a proxy is being spoken to.

    The library closes it for a failure but not for a cancellation, and never for one of SOCKS.
    """
    opened: list[object] = []

    async def trace(event: str, info: Mapping[str, object]) -> None:
        if event.endswith(".connect_tcp.complete"):
            opened.append(info["return_value"])
        elif event.endswith((".start_tls.failed", ".setup_socks5_connection.failed")):
            for stream in opened:
                await cast("_Closable", stream).aclose()

    request.extensions = {**request.extensions, "trace": trace}


class _Closable(Protocol):
    async def aclose(self) -> None: ...


async def _bound(response: "httpx2.Response") -> None:
    keep_within(response, AnswerLimits())


async def _listen(response: "httpx2.Response") -> None:
    request = response.request
    what = f"{request.method} {request.url.host}{request.url.path}"
    log.debug("%s: %d", what, response.status_code)
    heartbeat = _LISTENER.get()
    if heartbeat is not None:
        heartbeat.beat()
        response.stream = _listening(response.stream, heartbeat, what)


def _listening(stream: object, heartbeat: Heartbeat, what: str) -> "httpx2.AsyncByteStream":
    import httpx2

    assert isinstance(stream, httpx2.AsyncByteStream)
    inner = stream
    begun = time.monotonic()
    size = 0

    class Listening(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            nonlocal size
            async for chunk in inner:
                heartbeat.beat()
                size += len(chunk)
                yield chunk

        async def aclose(self) -> None:
            await inner.aclose()
            log.debug("%s: %d bytes in %.1f s", what, size, time.monotonic() - begun)

    return Listening()
