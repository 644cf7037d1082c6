"""Turns what goes wrong on the wire into a `ProviderError` of the right kind, in words for people.

The kind follows from the vendor's code or type, then from phrases known to be theirs (`phrases`), then from the
status; never from a loose word. Texts from outside are cut short and cleaned of keys.
"""

import errno
import json
import re
import socket
import ssl
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urljoin, urlsplit

from app.domain.errors import MAX_DETAIL_CHARS, ErrorKind, ProviderError
from app.offline import OfflineError
from app.providers.phrases import output_room, says_no_model, says_too_long, says_unpaid

_KIND_OF_CODE: Final[Mapping[str, ErrorKind]] = {
    # Anthropic's types
    "authentication_error": ErrorKind.AUTHENTICATION,
    "permission_error": ErrorKind.AUTHENTICATION,
    "billing_error": ErrorKind.QUOTA,
    "rate_limit_error": ErrorKind.RATE_LIMIT,
    "overloaded_error": ErrorKind.OVERLOADED,
    "api_error": ErrorKind.SERVER,
    "timeout_error": ErrorKind.SERVER,
    "request_too_large": ErrorKind.INVALID_REQUEST,
    # OpenAI's codes and types, and of those who took them over
    "invalid_api_key": ErrorKind.AUTHENTICATION,
    "insufficient_quota": ErrorKind.QUOTA,
    "billing_hard_limit_reached": ErrorKind.QUOTA,
    "billing_not_active": ErrorKind.QUOTA,
    "rate_limit_exceeded": ErrorKind.RATE_LIMIT,
    "server_is_overloaded": ErrorKind.OVERLOADED,
    "slow_down": ErrorKind.OVERLOADED,
    "server_error": ErrorKind.SERVER,
    "context_length_exceeded": ErrorKind.CONTEXT_EXCEEDED,
    "model_not_found": ErrorKind.MODEL_NOT_FOUND,
    "content_filter": ErrorKind.REFUSAL,
    "content_policy_violation": ErrorKind.REFUSAL,
    # llama.cpp's types
    "exceed_context_size_error": ErrorKind.CONTEXT_EXCEEDED,
    "unavailable_error": ErrorKind.OVERLOADED,
    # Mistral's type
    "invalid_model": ErrorKind.MODEL_NOT_FOUND,
    # Gemini's statuses and reasons
    "API_KEY_INVALID": ErrorKind.AUTHENTICATION,
    "UNAUTHENTICATED": ErrorKind.AUTHENTICATION,
    "PERMISSION_DENIED": ErrorKind.AUTHENTICATION,
    "RESOURCE_EXHAUSTED": ErrorKind.RATE_LIMIT,
    "UNAVAILABLE": ErrorKind.OVERLOADED,
}

_KIND_OF_STATUS: Final[Mapping[int, ErrorKind]] = {
    401: ErrorKind.AUTHENTICATION,
    402: ErrorKind.QUOTA,
    403: ErrorKind.AUTHENTICATION,
    407: ErrorKind.NETWORK,
    408: ErrorKind.SERVER,
    409: ErrorKind.SERVER,
    429: ErrorKind.RATE_LIMIT,
    503: ErrorKind.OVERLOADED,
    529: ErrorKind.OVERLOADED,
}

_TOO_MANY_BYTES: Final = (
    "The request is larger than this server takes in one piece (Anthropic: 32 MB). Smaller or fewer attachments help."
)
_NO_API: Final = "{place} is not a model API: it answers with a web page. Check the address."

_LIKE_A_KEY: Final = re.compile(
    r"\b(?:sk|pk|rk|key|gsk|xai|hf|nvapi|csk|tgp|fw|pplx)[-_][A-Za-z0-9][A-Za-z0-9_.*-]{6,}"
    r"|\bAIza[A-Za-z0-9_-]{10,}"
    r"|(?<=Bearer )[^\s,;\"']{6,}"
)
_SPACES: Final = re.compile(r"\s+")
_SHORTEST_KEY: Final = 4
_MAX_READ_CHARS: Final = 20_000


@dataclass(frozen=True, slots=True)
class _Words:
    """What a body says of an error, whoever wrote it."""

    message: str = ""
    names: tuple[str, ...] = ()
    """Codes, types, statuses and reasons, the most precise first."""
    status: int | None = None
    """HTTP status told within the body, as OpenRouter does in mid-stream."""
    is_moderated: bool = False
    """OpenRouter's answer to an input it won't hand on."""


def redact(text: str, keys: Collection[str]) -> str:
    """Return `text` without `keys` and without anything that looks like one."""
    for key in sorted((key for key in keys if len(key) >= _SHORTEST_KEY), key=len, reverse=True):
        text = text.replace(key, "[key]")
    return _LIKE_A_KEY.sub("[key]", text)


def quote(text: str, keys: Collection[str]) -> str:
    """Return a text from outside fit to be shown: on one line, without keys, within `MAX_DETAIL_CHARS`."""
    # Keys first: cutting could leave half of one.
    clean = _SPACES.sub(" ", redact(text[:_MAX_READ_CHARS], keys)).strip()
    return clean if len(clean) <= MAX_DETAIL_CHARS else f"{clean[: MAX_DETAIL_CHARS - 1]}…"


def no_key(endpoint_name: str) -> ProviderError:
    """Return the error of an endpoint that needs a key and has none."""
    return ProviderError(ErrorKind.AUTHENTICATION, f"There is no key for {endpoint_name} yet.")


def fault_of_answer(
    status: int,
    text: str,
    *,
    headers: Mapping[str, str],
    url: str,
    keys: Collection[str],
    now: datetime | None = None,
) -> ProviderError:
    """Return the error that an HTTP answer of `status` with the body `text` means.

    `headers` have names in lower case or don't mind case; `url` is the address that was asked; `now` is in UTC.
    """
    if 300 <= status < 400:
        return _redirected(url, headers.get("location", ""), keys)
    body = _as_json(text)
    if body is None and _is_page(text, headers.get("content-type", "")):
        return _page(status, url, headers, now)
    words = _read(body) if body is not None else _Words(message=text)
    message = quote(words.message, keys)
    room = output_room(words.message)
    kind = _kind(words, status)
    if kind is ErrorKind.INVALID_REQUEST and status == 413:
        message = f"{_TOO_MANY_BYTES} {message}".strip()
    if kind is ErrorKind.INVALID_REQUEST and status == 404:
        message = f"{_place(url)} has nothing at {urlsplit(url).path or '/'}. Check the address. {message}".strip()
    return ProviderError(
        kind,
        message[:MAX_DETAIL_CHARS] or f"{_place(url)} answered with status {status} and no words.",
        retry_after_seconds=retry_after_seconds(headers, now),
        allowed_output=room.allowed_output if room else None,
    )


def fault_of_event(body: object, *, keys: Collection[str]) -> ProviderError:
    """Return the error that an error event within a stream means; `body` is its data, parsed if it was JSON."""
    if isinstance(body, str):
        body = _as_json(body) or {"message": body}
    words = _read(body)
    room = output_room(words.message)
    status = words.status or (400 if "invalid_request_error" in words.names else 500)
    detail = quote(words.message, keys) or "The server broke off with an error it gave no words for."
    return ProviderError(
        _kind(words, status), detail, allowed_output=room.allowed_output if room else None
    )


def malformed(place: str) -> ProviderError:
    """Return the error of an answer that is not in the form the protocol asks for. `place` is an address."""
    return ProviderError(ErrorKind.SERVER, f"{_place(place)} sent something that can't be read as an answer.")


def not_an_api(url: str) -> ProviderError:
    """Return the error of an address that answers with a page for people."""
    return ProviderError(ErrorKind.INVALID_REQUEST, _NO_API.format(place=_place(url)))


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
    if any(isinstance(cause, json.JSONDecodeError | UnicodeDecodeError | httpx2.DecodingError) for cause in causes):
        return malformed(url)
    if any(isinstance(cause, UnicodeEncodeError | httpx2.LocalProtocolError) for cause in causes):
        return ProviderError(
            ErrorKind.INVALID_REQUEST,
            f"The request to {_place(url)} could not be written down: the key has characters no key can have.",
        )
    return ProviderError(
        ErrorKind.NETWORK,
        _offline_sentence(causes)
        or _certificate_sentence(causes, _place(url))
        or _name_sentence(causes, host)
        or _timeout_sentence(causes, target, read_seconds)
        or _connect_sentence(causes, target, is_proxy=bool(proxy))
        or _broken_sentence(causes, _place(url), keys),
    )


def retry_after_seconds(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return for how long a server asks to be left alone: `retry-after-ms`, seconds or an HTTP date."""
    try:
        return max(0.0, _finite(headers.get("retry-after-ms", "")) / 1000)
    except ValueError:
        pass
    value = headers.get("retry-after", "").strip()
    try:
        return max(0.0, _finite(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def _finite(value: str) -> float:
    seconds = float(value)
    if not seconds < float("inf"):
        raise ValueError("not a span of time")
    return seconds


def _kind(words: _Words, status: int) -> ErrorKind:
    if words.is_moderated:
        return ErrorKind.REFUSAL
    named = next((kind for name in words.names if (kind := _KIND_OF_CODE.get(name))), None)
    # Vague types such as `invalid_request_error` and `server_error` have the matter in their words.
    if named in (None, ErrorKind.SERVER, ErrorKind.INVALID_REQUEST, ErrorKind.RATE_LIMIT):
        if says_unpaid(words.message):
            return ErrorKind.QUOTA
        if named is not ErrorKind.RATE_LIMIT and _is_too_long(words.message):
            return ErrorKind.CONTEXT_EXCEEDED
        if named is None and says_no_model(words.message):
            return ErrorKind.MODEL_NOT_FOUND
    if named is not None:
        return named
    return _KIND_OF_STATUS.get(status, ErrorKind.SERVER if status >= 500 else ErrorKind.INVALID_REQUEST)


def _is_too_long(message: str) -> bool:
    room = output_room(message)
    return room.is_about_context if room else says_too_long(message)


def _as_json(text: str) -> object | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list | str) else None


def _read(body: object) -> _Words:
    """Find message and names in the forms that servers wrap them in."""
    if isinstance(body, list):  # Gemini's compatible API wraps the object in a list
        body = body[0] if body else {}
    if isinstance(body, str):
        return _Words(message=body)
    if not isinstance(body, dict):
        return _Words()
    inner = body.get("error") or body.get("response")
    if isinstance(inner, str):  # LM Studio, Ollama
        return _read_message(inner, ())
    if isinstance(inner, dict):
        return _read(inner)
    message = body.get("message") or body.get("detail") or ""
    if not isinstance(message, str):  # FastAPI's list of what is wrong with the fields
        message = json.dumps(message, ensure_ascii=False)
    details = body.get("details")
    reasons = [entry.get("reason") for entry in details if isinstance(entry, dict)] if isinstance(details, list) else []
    names = tuple(
        name for name in (body.get("code"), *reasons, body.get("type"), body.get("status")) if isinstance(name, str)
    )
    code = body.get("code")
    metadata = body.get("metadata")
    words = _read_message(message, names)
    return _Words(
        words.message,
        words.names,
        status=words.status or (code if isinstance(code, int) and 400 <= code < 600 else None),
        is_moderated=isinstance(metadata, dict) and "flagged_input" in metadata,
    )


def _read_message(message: str, names: tuple[str, ...]) -> _Words:
    """Look into a message that is itself the JSON of another server's error, as Ollama hands it on."""
    if message.startswith("{"):
        inner = _as_json(message)
        if isinstance(inner, dict) and "error" in inner:
            words = _read(inner)
            return _Words(words.message, (*words.names, *names), words.status, words.is_moderated)
    return _Words(message, names)


def _is_page(text: str, content_type: str) -> bool:
    start = text[:200].lstrip("\ufeff \r\n\t").lower()
    return content_type.startswith("text/html") or start.startswith(("<!doctype html", "<html"))


def _page(status: int, url: str, headers: Mapping[str, str], now: datetime | None) -> ProviderError:
    """Gateways in front of a model API show pages too, while it is down or busy."""
    if status == 429 or status >= 500:
        kind = _KIND_OF_STATUS.get(status, ErrorKind.SERVER)
        sentence = f"{_place(url)} answered with a web page and status {status}."
        return ProviderError(kind, sentence, retry_after_seconds=retry_after_seconds(headers, now))
    return not_an_api(url)


def _redirected(url: str, location: str, keys: Collection[str]) -> ProviderError:
    if not location:
        return ProviderError(ErrorKind.INVALID_REQUEST, f"{_place(url)} sends on to another address and names none.")
    target = urlsplit(urljoin(url, location))
    shown = redact(f"{target.scheme}://{target.netloc.rpartition('@')[2]}{target.path}", keys)[:200]
    return ProviderError(
        ErrorKind.INVALID_REQUEST,
        f"{_place(url)} sends on to {shown}. Muntin takes a key nowhere you have not entered: "
        "if that is the right place, enter its address in the settings.",
    )


def _place(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or url


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


def _offline_sentence(causes: tuple[BaseException, ...]) -> str:
    return next((str(cause) for cause in causes if isinstance(cause, OfflineError)), "")


def _certificate_sentence(causes: tuple[BaseException, ...], place: str) -> str:
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = _REASON_OF_CODE.get(cause.verify_code, cause.verify_message or "the system refuses it")
            return f"The certificate of {place} is not trusted: {reason}."
    for cause in causes:
        if isinstance(cause, ssl.SSLError) and cause.reason in _NO_TLS:
            return f"{place} does not seem to speak https. The address of a server of your own may begin with http://."
        if isinstance(cause, ssl.SSLError):
            return f"No encrypted connection to {place} came about ({cause.reason or 'no reason given'})."
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
