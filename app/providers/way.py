"""The way to a server: its name, the connection, its certificate. Nothing here needs or sends a key."""

import asyncio
import errno
import ipaddress
import socket
import ssl
from typing import Final
from urllib.parse import urlsplit

from app.aio import run_blocking
from app.domain.connections import TestStep
from app.domain.errors import ProviderError
from app.offline import OfflineError
from app.providers.http import make_client, proxy_of
from app.providers.network_faults import fault_of_exception
from app.settings.schema import Endpoint, Network

CONNECT_SECONDS: Final = 10.0


class StepFailed(Exception):
    """A step went wrong. `detail` is a sentence for people."""

    def __init__(self, step: TestStep, detail: str) -> None:
        super().__init__(detail)
        self.step = step
        self.detail = detail


class Way:
    """From here to the server of one endpoint, or to the proxy in between.

    Each step returns what there is to say of it, None if it does not apply, and raises StepFailed.
    """

    def __init__(self, endpoint: Endpoint, network: Network, *, connect_seconds: float = CONNECT_SECONDS) -> None:
        self._endpoint = endpoint
        self._network = network
        self._connect_seconds = connect_seconds
        self._proxy = proxy_of(endpoint.base_url, network)
        parts = urlsplit(f"//{self._proxy}" if self._proxy else endpoint.base_url)
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if parts.scheme == "https" else 80)

    async def find_name(self) -> str | None:
        """Look the host up."""
        if not self._host:
            raise StepFailed(TestStep.NAME, "The address has no host.")
        if _is_ip_address(self._host):
            return None
        loop = asyncio.get_running_loop()
        try:
            await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        except OfflineError as error:
            raise StepFailed(TestStep.NAME, str(error)) from error
        except (OSError, UnicodeError) as error:
            whose = "of the proxy " if self._proxy else ""
            raise StepFailed(
                TestStep.NAME,
                f"The name {whose}{self._host} could not be found. Is it spelled right, and is there a network?",
            ) from error
        return self._by_proxy

    async def connect(self) -> str | None:
        """Open a connection and close it again."""
        try:
            async with asyncio.timeout(self._connect_seconds):
                await _reach(self._host, self._port)
        except TimeoutError as error:
            raise StepFailed(
                TestStep.CONNECT,
                f"{self._target} does not answer within {self._connect_seconds:g} seconds. "
                "A firewall may be in the way.",
            ) from error
        except OSError as error:
            raise StepFailed(TestStep.CONNECT, self._connect_sentence(error)) from error
        return self._by_proxy

    async def check_certificate(self) -> str | None:
        """Ask for the address itself with the very client that sends requests; only the handshake matters."""
        import httpx2

        if urlsplit(self._endpoint.base_url).scheme != "https":
            return None
        try:
            client = await run_blocking(make_client, self._endpoint, self._network)
        except ProviderError as error:
            raise StepFailed(TestStep.CERTIFICATE, str(error)) from error
        async with client:
            try:
                async with asyncio.timeout(self._connect_seconds), client.stream("GET", self._endpoint.base_url):
                    pass
            except TimeoutError:
                # The handshake or the answer: the next step tells, with a longer limit.
                return None
            except (httpx2.HTTPError, OSError) as error:
                if _is_about_tls(error) or isinstance(error, httpx2.ProxyError):
                    raise StepFailed(TestStep.CERTIFICATE, self._certificate_sentence(error)) from error
        return "" if self._endpoint.verify else "It was not checked, as the settings of this provider say."

    @property
    def _target(self) -> str:
        place = f"[{self._host}]:{self._port}" if ":" in self._host else f"{self._host}:{self._port}"
        return f"The proxy {place}" if self._proxy else place

    @property
    def _by_proxy(self) -> str:
        return f"By way of the proxy {self._proxy}." if self._proxy else ""

    def _connect_sentence(self, error: OSError) -> str:
        if isinstance(error, OfflineError):
            return str(error)
        if error.errno == errno.ECONNREFUSED:
            asked = "is it running?" if self._proxy else "is the server running?"
            return f"{self._target} refuses the connection: {asked}"
        if error.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL):
            return f"{self._target} can't be reached from this network."
        return f"{self._target} can't be reached: {error.strerror or 'no reason was given'}."

    def _certificate_sentence(self, error: Exception) -> str:
        url = self._endpoint.base_url
        return str(fault_of_exception(error, url=url, keys=(), read_seconds=None, proxy=self._proxy))


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


def _is_about_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
