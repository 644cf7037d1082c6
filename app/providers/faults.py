"""Turns what a server says of an error into a `ProviderError` of the right kind, in words for people.

The kind follows from the vendor's code or type, then from phrases known to be theirs (`phrases`), then from the
status; never from a loose word. Texts from outside are cut short and cleaned of keys.
"""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urljoin, urlsplit

from app.domain.errors import MAX_DETAIL_CHARS, ErrorKind, ProviderError
from app.providers.error_body import ErrorBody, parse_json, read_error
from app.providers.phrases import (
    excess_tokens,
    output_room,
    says_more_is_needed,
    says_no_model,
    says_too_long,
    says_unpaid,
)
from app.providers.redaction import quote

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
_MOST_WAIT_SECONDS: Final = 366 * 24 * 3600.0
_NO_API: Final = "{place} is not a model API: it answers with a web page. Check the address."


def no_key(endpoint_name: str) -> ProviderError:
    """Return the error of an endpoint that needs a key and has none."""
    return ProviderError(ErrorKind.AUTHENTICATION, f"There is no key for {endpoint_name} yet.")


def check_key(key: str | None, endpoint_name: str, *, is_needed: bool) -> None:
    """Raise ProviderError (authentication) if no request can be sent with `key`."""
    if not key and is_needed:
        raise no_key(endpoint_name)
    if key and not (key.isascii() and key.isprintable()):
        raise ProviderError(
            ErrorKind.AUTHENTICATION, f"The key for {endpoint_name} has characters no key has. Enter it again."
        )


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
    body = parse_json(text)
    if body is None and _is_page(text, headers.get("content-type", "")):
        return _page(status, url, headers, now)
    words = read_error(body) if body is not None else ErrorBody(message=text)
    quoted = message = quote(words.message, keys)
    room = output_room(words.message)
    kind = _kind(words, status)
    excess = excess_tokens(words.message)
    if kind is ErrorKind.INVALID_REQUEST and status == 413 and excess is None:
        message = f"{_TOO_MANY_BYTES} {message}".strip()
    if kind is ErrorKind.INVALID_REQUEST and status == 404 and not says_more_is_needed(words.message):
        message = f"{place_of(url)} has nothing at {urlsplit(url).path or '/'}. Check the address. {message}".strip()
    wait = retry_after_seconds(headers, now)
    return ProviderError(
        kind,
        message[:MAX_DETAIL_CHARS] or f"{place_of(url)} answered with status {status} and no words.",
        is_quote=bool(quoted) and message == quoted,
        retry_after_seconds=words.retry_after_seconds if wait is None else wait,
        allowed_output=room.allowed_output if room else None,
        excess_tokens=excess,
    )


def fault_of_event(body: object, *, keys: Collection[str]) -> ProviderError:
    """Return the error that an error event within a stream means; `body` is its data, parsed if it was JSON."""
    if isinstance(body, str):
        body = parse_json(body) or {"message": body}
    words = read_error(body)
    room = output_room(words.message)
    status = words.status or (400 if "invalid_request_error" in words.names else 500)
    detail = quote(words.message, keys) or "The server broke off with an error it gave no words for."
    return ProviderError(
        _kind(words, status),
        detail,
        allowed_output=room.allowed_output if room else None,
        excess_tokens=excess_tokens(words.message),
        is_quote=bool(words.message),
    )


def malformed(place: str) -> ProviderError:
    """Return the error of an answer that is not in the form the protocol asks for. `place` is an address."""
    return ProviderError(ErrorKind.SERVER, f"{place_of(place)} sent something that can't be read as an answer.")


def not_an_api(url: str) -> ProviderError:
    """Return the error of an address that answers with a page for people."""
    return ProviderError(ErrorKind.INVALID_REQUEST, _NO_API.format(place=place_of(url)))


def retry_after_seconds(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return for how long a server asks to be left alone: `retry-after-ms`, seconds or an HTTP date."""
    try:
        return _waited(_finite(headers.get("retry-after-ms", "")) / 1000)
    except ValueError:
        pass
    value = headers.get("retry-after", "").strip()
    try:
        return _waited(_finite(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return _waited((moment - (now or datetime.now(UTC))).total_seconds())


def place_of(url: str) -> str:
    """Return host and port of an address as it was entered, without a name or password."""
    return urlsplit(url).netloc.rpartition("@")[2] or url


def _finite(value: str) -> float:
    seconds = float(value)
    if not seconds < float("inf"):
        raise ValueError("not a span of time")
    return seconds


def _waited(seconds: float) -> float:
    """Return a span that can be waited; nobody waits longer, and no calendar would hold it."""
    return min(max(0.0, seconds), _MOST_WAIT_SECONDS)


def _kind(words: ErrorBody, status: int) -> ErrorKind:
    if words.is_moderated:
        return ErrorKind.REFUSAL
    if excess_tokens(words.message) is not None:
        return ErrorKind.INVALID_REQUEST
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


def _is_page(text: str, content_type: str) -> bool:
    start = text[:200].lstrip("\ufeff \r\n\t").lower()
    return content_type.startswith("text/html") or start.startswith(("<!doctype html", "<html"))


def _page(status: int, url: str, headers: Mapping[str, str], now: datetime | None) -> ProviderError:
    """Gateways in front of a model API show pages too, while it is down or busy."""
    if status == 429 or status >= 500:
        kind = _KIND_OF_STATUS.get(status, ErrorKind.SERVER)
        sentence = f"{place_of(url)} answered with a web page and status {status}."
        return ProviderError(kind, sentence, retry_after_seconds=retry_after_seconds(headers, now))
    return not_an_api(url)


def _redirected(url: str, location: str, keys: Collection[str]) -> ProviderError:
    try:
        target = urlsplit(urljoin(url, location))
    except ValueError:
        location = ""
    if not location:
        return ProviderError(ErrorKind.INVALID_REQUEST, f"{place_of(url)} sends on to another address and names none.")
    shown = quote(f"{target.scheme}://{target.netloc.rpartition('@')[2]}{target.path}", keys)[:200]
    return ProviderError(
        ErrorKind.INVALID_REQUEST,
        f"{place_of(url)} sends on to {shown}. Muntin takes a key nowhere you have not entered: "
        "if that is the right place, enter its address in the settings.",
    )
