"""What OpenAI's own codes mean beside the table all providers share, and which field of a request was refused."""

import re
from collections.abc import Collection, Mapping
from typing import Final

from app.domain.errors import ErrorKind, ProviderError
from app.providers.faults import fault_of_answer, fault_of_event
from app.providers.openai.parts import Json, text_in

_KIND_OF_CODE: Final[Mapping[str, ErrorKind]] = {
    "invalid_prompt": ErrorKind.REFUSAL,
    "bio_policy": ErrorKind.REFUSAL,
    "misalignment_policy_violation": ErrorKind.REFUSAL,
    "image_content_policy_violation": ErrorKind.REFUSAL,
    "data_residency_mismatch": ErrorKind.INVALID_REQUEST,
    "invalid_image": ErrorKind.INVALID_REQUEST,
    "invalid_image_format": ErrorKind.INVALID_REQUEST,
    "invalid_base64_image": ErrorKind.INVALID_REQUEST,
    "invalid_image_url": ErrorKind.INVALID_REQUEST,
    "invalid_image_mode": ErrorKind.INVALID_REQUEST,
    "image_too_large": ErrorKind.INVALID_REQUEST,
    "image_too_small": ErrorKind.INVALID_REQUEST,
    "image_parse_error": ErrorKind.INVALID_REQUEST,
    "image_file_too_large": ErrorKind.INVALID_REQUEST,
    "unsupported_image_media_type": ErrorKind.INVALID_REQUEST,
    "empty_image_file": ErrorKind.INVALID_REQUEST,
    "unsupported_country_region_territory": ErrorKind.INVALID_REQUEST,
}
"""A prompt that was flagged, files that can't be read, a place that isn't served: told without a status of their own
in a stream. No other key would help in the last case."""

_MAY_GO: Final = ("stream_options", "reasoning", "include", "truncation", "store")
"""Fields a server may be asked without: it then only tells less. `store` and `truncation` say what is so by default
wherever they are not known."""
_UNKNOWN_FIELD: Final = re.compile(r"unsupported|not supported|not permitted|extra|unrecognized|unknown", re.IGNORECASE)


def fault_in_stream(body: object, *, keys: Collection[str] = ()) -> ProviderError:
    """Return the error that an error event, a failed response or an error chunk means."""
    return _with_own_code(fault_of_event(body, keys=keys), body)


def fault_of_status(
    status: int, text: str, body: object, *, headers: Mapping[str, str], url: str, keys: Collection[str]
) -> ProviderError:
    """Return the error that an HTTP answer means; `body` is its `text`, parsed if it was JSON."""
    return _with_own_code(fault_of_answer(status, text, headers=headers, url=url, keys=keys), body)


def refused_field(status: int, text: str, body: object, sent: Mapping[str, object]) -> str | None:
    """Return the field of the request `sent` that a server does not take and that it can be asked without.

    Told by `param`, or by the field's name; never by a loose word.
    """
    if status not in (400, 422):
        return None
    param = text_in(_error_in(body), "param").partition(".")[0]
    named = next((field for field in _MAY_GO if field in sent and (field == param or _names(text, field))), None)
    if named is not None:
        return named
    is_renamed = "max_completion_tokens" in text and _UNKNOWN_FIELD.search(text) and _names(text, "max_tokens")
    return "max_tokens" if is_renamed and "max_tokens" in sent else None


def without(body: Json, field: str) -> Json:
    """Return a request without a field, or with the name that newer models have for it."""
    rest = {name: value for name, value in body.items() if name != field}
    if field == "max_tokens" and field in body:
        rest["max_completion_tokens"] = body[field]
    return rest


def _names(text: str, field: str) -> bool:
    """Say whether a text names a field: in quotes, or by a name that is no word of any language."""
    if "_" in field:
        return re.search(rf"\b{field}\b", text) is not None
    return re.search(rf"[\"'`]{field}[\"'`.\[]", text) is not None


def _with_own_code(fault: ProviderError, body: object) -> ProviderError:
    kind = _KIND_OF_CODE.get(text_in(_error_in(body), "code"))
    if kind is None or kind is fault.kind:
        return fault
    return ProviderError(kind, fault.detail, retry_after_seconds=fault.retry_after_seconds, is_quote=fault.is_quote)


def _error_in(body: object) -> object:
    """Return the object with `code` and `param`, however deep it lies."""
    for name in ("response", "error"):
        inner = body.get(name) if isinstance(body, Mapping) else None
        body = inner if isinstance(inner, Mapping) else body
    return body
