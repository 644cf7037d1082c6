"""Tries an endpoint step by step, and says in words which step failed."""

import asyncio
import contextlib
import errno
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from app.aio import run_blocking
from app.domain.connections import StepResult, TestReport, TestStep
from app.domain.errors import ErrorKind, ProviderError
from app.domain.request import ModelRequest
from app.domain.rows import Row, TextPart
from app.offline import OfflineError
from app.providers.base import QuietPiece, RemoteProvider, ReplayPiece, UsagePiece
from app.providers.catalogue import Catalogue
from app.providers.endpoints import GetKey
from app.providers.faults import fault_of_exception
from app.providers.http import make_client, proxy_of
from app.providers.listing import list_chat_models
from app.settings.schema import Endpoint, ListedModel, Network

CONNECT_SECONDS: Final = 10.0
TOTAL_SECONDS: Final = 60.0
QUESTION: Final = "Say OK."
MAX_TOKENS: Final = 16
"""The least that OpenAI's Responses take."""
_NO_LIST: Final = frozenset({ErrorKind.INVALID_REQUEST, ErrorKind.MODEL_NOT_FOUND})
"""Kinds of error that may only mean that a server has no list of models; its models can be asked all the same."""

_NOT_TLS: Final = frozenset(
    {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNEXPECTED_EOF_WHILE_READING"}
)
"""What OpenSSL says of a server that answers in plain HTTP, or that hangs up on what it can't read."""


@dataclass(frozen=True, slots=True)
class ProbeLimits:
    """How long is waited."""

    connect_seconds: float = CONNECT_SECONDS
    total_seconds: float = TOTAL_SECONDS


class Probe:
    """One test of one endpoint. `provider` speaks to it; whoever made it closes it."""

    def __init__(
        self,
        endpoint: Endpoint,
        network: Network,
        provider: RemoteProvider,
        *,
        get_key: GetKey,
        catalogue: Catalogue,
        model: str = "",
        limits: ProbeLimits | None = None,
    ) -> None:
        """`model` is the one to ask; empty for the first of its list."""
        self._endpoint = endpoint
        self._network = network
        self._provider = provider
        self._get_key = get_key
        self._catalogue = catalogue
        self._model = model
        self._limits = limits or ProbeLimits()
        self._proxy = proxy_of(endpoint.base_url, network)
        self._steps: dict[TestStep, StepResult] = {}
        self._current = TestStep.NAME

    async def run(self) -> TestReport:
        """Take the steps until one fails, at most `total_seconds`. Raises only if it is cancelled."""
        return await self._take(asks=True)

    async def reach(self) -> TestReport:
        """Take the steps that need no key: name, connection, certificate. Raises only if it is cancelled."""
        return await self._take(asks=False)

    async def _take(self, *, asks: bool) -> TestReport:
        answered = ""
        try:
            async with asyncio.timeout(self._limits.total_seconds):
                await self._find_name()
                await self._connect()
                if urlsplit(self._endpoint.base_url).scheme == "https":
                    await self._check_certificate()
                if asks:
                    answered = await self._ask(await self._try_key())
        except _Failed as failure:
            self._steps[failure.step] = StepResult(failure.step, passed=False, detail=failure.detail)
        except TimeoutError:
            detail = f"No answer within {self._limits.total_seconds:g} seconds."
            if self._current is TestStep.MODEL:
                detail += " A local server may still be loading the model: try again in a while."
            self._steps[self._current] = StepResult(self._current, passed=False, detail=detail)
        return TestReport(steps=tuple(self._steps[step] for step in TestStep if step in self._steps), model=answered)

    # --- the steps ---

    async def _find_name(self) -> None:
        self._current = TestStep.NAME
        host, port = self._target()
        if not host:
            raise _Failed(TestStep.NAME, "The address has no host.")
        if _is_ip_address(host):
            return
        loop = asyncio.get_running_loop()
        try:
            await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OfflineError as error:
            raise _Failed(TestStep.NAME, str(error)) from error
        except (OSError, UnicodeError) as error:
            whose = "of the proxy " if self._proxy else ""
            raise _Failed(
                TestStep.NAME,
                f"The name {whose}{host} could not be found. Is it spelled right, and is there a network?",
            ) from error
        self._pass(TestStep.NAME, self._by_proxy())

    async def _connect(self) -> None:
        self._current = TestStep.CONNECT
        host, port = self._target()
        try:
            async with asyncio.timeout(self._limits.connect_seconds):
                await _reach(host, port)
        except TimeoutError as error:
            raise _Failed(
                TestStep.CONNECT,
                f"{self._shown_target()} does not answer within {self._limits.connect_seconds:g} seconds. "
                "A firewall may be in the way.",
            ) from error
        except OSError as error:
            raise _Failed(TestStep.CONNECT, self._connect_sentence(error)) from error
        self._pass(TestStep.CONNECT, self._by_proxy())

    async def _check_certificate(self) -> None:
        """Send what needs no key over the very client that sends requests; only the handshake matters."""
        import httpx2

        self._current = TestStep.CERTIFICATE
        with self._failing(TestStep.CERTIFICATE):
            client = await run_blocking(make_client, self._endpoint, self._network)
        async with client:
            try:
                async with (
                    asyncio.timeout(self._limits.connect_seconds),
                    client.stream("GET", self._endpoint.base_url),
                ):
                    pass
            except TimeoutError:
                # The handshake or the answer: the next step tells, with a longer limit.
                return
            except (httpx2.HTTPError, OSError) as error:
                tls = _tls_error_in(error)
                if tls is not None or isinstance(error, httpx2.ProxyError):
                    raise _Failed(TestStep.CERTIFICATE, self._tls_sentence(error, tls)) from error
        unchecked = "It was not checked, as the settings of this provider say."
        self._pass(TestStep.CERTIFICATE, "" if self._endpoint.verify else unchecked)

    async def _try_key(self) -> tuple[ListedModel, ...]:
        """Ask for the list of models: the cheapest request that needs a key."""
        self._current = TestStep.KEY
        with self._failing(TestStep.KEY):
            key = await self._get_key()
        try:
            models = await list_chat_models(
                self._provider, self._endpoint, self._network, key=key, catalogue=self._catalogue
            )
        except ProviderError as error:
            if error.kind in _NO_LIST and (self._model or self._endpoint.models):
                # The model tells whether the key is right.
                return self._endpoint.models
            raise _Failed(TestStep.KEY, str(error)) from error
        count = f"{len(models)} model{'' if len(models) == 1 else 's'}"
        with_key = "" if key else " without a key"
        self._pass(TestStep.KEY, f"The server offers {count}{with_key}.")
        return models

    async def _ask(self, models: tuple[ListedModel, ...]) -> str:
        """Have a model begin an answer; return its id."""
        self._current = TestStep.MODEL
        model = self._model or next((entry.id for entry in models), "")
        if not model:
            raise _Failed(TestStep.MODEL, "The server lists no model to chat with. Load one there, or enter its name.")
        try:
            await self._hear(model)
        except ProviderError as error:
            # Some servers show their list to everybody and look at the key only now.
            step = TestStep.KEY if error.kind is ErrorKind.AUTHENTICATION else TestStep.MODEL
            raise _Failed(step, str(error)) from error
        if TestStep.KEY not in self._steps:
            self._pass(TestStep.KEY, "The server has no list of models.")
        self._pass(TestStep.MODEL, f"{model} answers.")
        return model

    async def _hear(self, model: str) -> None:
        """Return at the first piece of an answer. Raises ProviderError."""
        row = Row(id="test", session="test", role="user", turn="test", parts=(TextPart(text=QUESTION),))
        request = ModelRequest(model=model, system="", rows=(row,), max_tokens=MAX_TOKENS)
        async with contextlib.aclosing(self._provider.stream(request)) as pieces:
            async for piece in pieces:
                if not isinstance(piece, QuietPiece | UsagePiece | ReplayPiece):
                    return
        raise ProviderError(ErrorKind.TRUNCATED, f"{model} began an answer that ended at once.")

    # --- words ---

    def _pass(self, step: TestStep, detail: str = "") -> None:
        self._steps[step] = StepResult(step, passed=True, detail=detail)

    @contextlib.contextmanager
    def _failing(self, step: TestStep) -> Iterator[None]:
        try:
            yield
        except ProviderError as error:
            raise _Failed(step, str(error)) from error

    def _target(self) -> tuple[str, int]:
        """Return host and port that are connected to: the proxy's, if there is one."""
        parts = urlsplit(f"//{self._proxy}" if self._proxy else self._endpoint.base_url)
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

    def _shown_target(self) -> str:
        host, port = self._target()
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        return f"The proxy {place}" if self._proxy else place

    def _by_proxy(self) -> str:
        return f"By way of the proxy {self._proxy}." if self._proxy else ""

    def _connect_sentence(self, error: OSError) -> str:
        if isinstance(error, OfflineError):
            return str(error)
        if error.errno == errno.ECONNREFUSED:
            asked = "is it running?" if self._proxy else "is the server running?"
            return f"{self._shown_target()} refuses the connection: {asked}"
        if error.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL):
            return f"{self._shown_target()} can't be reached from this network."
        return f"{self._shown_target()} can't be reached: {error.strerror or 'no reason was given'}."

    def _tls_sentence(self, error: Exception, tls: ssl.SSLError | None) -> str:
        if tls is not None and tls.reason in _NOT_TLS:
            place = urlsplit(self._endpoint.base_url).netloc
            return f"{place} does not speak https. If it is a server of your own, its address may begin with http://."
        fault = fault_of_exception(error, url=self._endpoint.base_url, keys=(), read_seconds=None, proxy=self._proxy)
        return str(fault)


class _Failed(Exception):
    """Ends the test. `detail` is a sentence for people."""

    def __init__(self, step: TestStep, detail: str) -> None:
        super().__init__(detail)
        self.step = step
        self.detail = detail


async def _reach(host: str, port: int) -> None:
    """Connect by TCP to one of a host's addresses. Raises the first OSError if none answers."""
    loop = asyncio.get_running_loop()
    addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    first: OSError | None = None
    for family, kind, protocol, _, address in addresses:
        try:
            with socket.socket(family, kind, protocol) as connection:
                connection.setblocking(False)
                await loop.sock_connect(connection, address)
        except OSError as error:
            first = first or error
        else:
            return
    raise first or OSError(errno.EADDRNOTAVAIL, "the name has no address")


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _tls_error_in(error: BaseException | None) -> ssl.SSLError | None:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return error
        error = error.__cause__ or error.__context__
    return None
