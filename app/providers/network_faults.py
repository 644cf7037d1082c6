"""Turns failures to send or to read into a `ProviderError`, in words for people.

What went wrong is told by the types and numbers of an error's causes, never by its words.
"""

import errno
import json
import socket
import ssl
from collections.abc import Collection, Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from app.domain.errors import ErrorKind, ProviderError
from app.offline import OfflineError
from app.providers.faults import malformed, place_of
from app.providers.redaction import quote

_REASON_OF_CODE: Final[Mapping[int, str]] = {
    9: "it is not valid yet",
    10: "it has expired",
    18: "it is signed by itself",
    19: "an authority signed it that this computer does not know",
    20: "an authority signed it that this computer does not know",
    21: "an authority signed it that this computer does not know",
    23: "it has been revoked",
    62: "it is made out to another name",
    64: "it is made out to another address",
}
"""By OpenSSL's `X509_V_ERR_…` number."""
_NO_TLS: Final = frozenset(
    {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNEXPECTED_EOF_WHILE_READING"}
)
"""What OpenSSL makes of an answer in plain HTTP, and of a server that hangs up at the sight of TLS."""

_UNREADABLE: Final = json.JSONDecodeError | UnicodeDecodeError | RecursionError
"""What reading JSON raises, beside a plain ValueError for a number of thousands of digits."""


def fault_of_exception(
    error: BaseException, *, url: str, keys: Collection[str], read_seconds: float | None, proxy: str = ""
) -> ProviderError:
    """Return the error that a failure to send or to read means.

    `error` is of httpx2, or has one among its causes. `read_seconds` is the time limit of reading, `proxy` the host
    and port of the proxy in between, if there is one.
    """
    import httpx2

    causes = tuple(_causes(error))
    target = proxy or _host_and_port(url)
    host = target.rpartition(":")[0] if proxy else (urlsplit(url).hostname or url)
    if any(isinstance(cause, _UNREADABLE | httpx2.DecodingError) or type(cause) is ValueError for cause in causes):
        return malformed(url)
    if any(isinstance(cause, UnicodeEncodeError | httpx2.LocalProtocolError) for cause in causes):
        return ProviderError(
            ErrorKind.INVALID_REQUEST,
            f"The request to {place_of(url)} could not be written down: the key has characters no key can have.",
        )
    return ProviderError(
        ErrorKind.NETWORK,
        _offline_sentence(causes)
        or _certificate_sentence(causes, place_of(url))
        or _name_sentence(causes, host)
        or _timeout_sentence(causes, target, read_seconds)
        or _connect_sentence(causes, target, is_proxy=bool(proxy))
        or _broken_sentence(causes, place_of(url), keys),
    )


def _host_and_port(url: str) -> str:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or url
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield `error` and everything it came from, members of groups included."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop(0)
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions


def _offline_sentence(causes: tuple[BaseException, ...]) -> str:
    return next((str(cause) for cause in causes if isinstance(cause, OfflineError)), "")


def _speaks_no_tls(error: ssl.SSLError) -> bool:
    # Whether the hang-up or the plain answer is seen first is chance, and the former has no reason.
    if isinstance(error, ssl.SSLZeroReturnError | ssl.SSLEOFError):
        return True
    return getattr(error, "reason", None) in _NO_TLS


def _certificate_sentence(causes: tuple[BaseException, ...], place: str) -> str:
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = _REASON_OF_CODE.get(cause.verify_code, cause.verify_message or "the system refuses it")
            return f"The certificate of {place} is not trusted: {reason}."
    for cause in causes:
        if isinstance(cause, ssl.SSLError) and _speaks_no_tls(cause):
            return f"{place} does not seem to speak https. The address of a server of your own may begin with http://."
        if isinstance(cause, ssl.SSLError):
            reason = getattr(cause, "reason", None) or "no reason given"
            return f"No encrypted connection to {place} came about ({reason})."
    return ""


def _name_sentence(causes: tuple[BaseException, ...], host: str) -> str:
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return f"The name {host} could not be found. Is there a network, and is the name right?"
    return ""


def _timeout_sentence(causes: tuple[BaseException, ...], target: str, read_seconds: float | None) -> str:
    import httpx2

    if any(isinstance(cause, httpx2.ConnectTimeout | httpx2.PoolTimeout) for cause in causes):
        return f"{target} does not answer: no connection came about in time."
    if any(isinstance(cause, httpx2.ReadTimeout | httpx2.WriteTimeout) for cause in causes):
        return f"No byte for {read_seconds:g} s." if read_seconds else "No byte for too long."
    return ""


def _connect_sentence(causes: tuple[BaseException, ...], target: str, *, is_proxy: bool) -> str:
    import httpx2

    proxy_error = next((cause for cause in causes if isinstance(cause, httpx2.ProxyError)), None)
    if proxy_error is not None:
        status = str(proxy_error)[:3]
        wants_name = " It wants a name and a password." if status == "407" else ""
        return f"The proxy {target} did not let the request through.{wants_name}"
    numbers = {cause.errno for cause in causes if isinstance(cause, OSError)}
    connecting = any(isinstance(cause, httpx2.ConnectError) for cause in causes)
    if numbers & {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN}:
        return f"{target} can't be reached from this network."
    if connecting and is_proxy:
        return f"Nothing answers at the proxy {target}."
    if connecting:
        return f"Nothing answers at {target}: is the server running?"
    return ""


def _broken_sentence(causes: tuple[BaseException, ...], place: str, keys: Collection[str]) -> str:
    import httpx2

    if any(isinstance(cause, httpx2.UnsupportedProtocol | httpx2.InvalidURL) for cause in causes):
        return f"{quote(place, keys)} is no address that can be asked: it has to begin with http:// or https://."
    return f"The connection to {place} broke off."
