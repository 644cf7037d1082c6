"""What OpenAI's own codes mean beside the table all providers share, and which field of a request was refused."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

from app.domain.errors import ErrorKind, ProviderError
from app.providers.faults import fault_of_answer, fault_of_event
from app.providers.openai.parts import Json, text_in
from app.providers.openai.thoughts import DETAILS, TEXT_FIELDS, with_signature

_KIND_OF_CODE: Final[Mapping[str, ErrorKind]] = {
    "invalid_prompt": ErrorKind.INVALID_REQUEST,
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

_FLAGGED: Final = re.compile(r"\bflagged (?:as|for) potentially violating\b", re.IGNORECASE)
"""OpenAI's words for a refusal. OpenRouter has the code `invalid_prompt` for whatever is wrong with a request."""

_MAY_GO: Final = ("stream_options", "reasoning_effort", "reasoning", "include", "truncation", "store")
"""Fields a server may be asked without: it then only tells less. `store` and `truncation` say what is so by default
wherever they are not known."""
_UNKNOWN_FIELD: Final = re.compile(
    r"unsupported|not support|not permitted|not allowed|extra|unrecogni[sz]ed|not recogni[sz]ed|unknown|unexpected",
    re.IGNORECASE,
)
_THOUGHT_FIELDS: Final = frozenset({*TEXT_FIELDS, DETAILS})
_REPLAYED: Final = "input[].reasoning"
"""Stands for the reasoning that goes back, as a field."""
_THOUGHTS: Final = "messages[].reasoning"
"""Stands for the thoughts that go back with calls, under whatever name."""
_NO_THOUGHTS: Final = "messages[].reasoning_content"
"""Stands for replies without thoughts, where a server wants the field in all of them: it is sent empty then."""
_UNSIGNED: Final = "messages[].tool_calls[].extra_content"
"""Stands for calls of other models, where a server wants all of them signed: it is told that these are not."""
_SUMMARY: Final = "reasoning.summary"
"""What OpenAI refuses to organisations it has not verified; how long to think is asked for all the same."""
_SIGNATURE_WANTED: Final = re.compile(r"\bmissing an? `?thought_signature\b", re.IGNORECASE)
_THOUGHTS_WANTED: Final = re.compile(
    r"\breasoning_content\b.*\bmust be passed back\b|\bmissing `?reasoning_content\b", re.IGNORECASE
)
_CAN_NOT_THINK: Final = re.compile(r"\bdoes not support (?:thinking|reasoning)\b", re.IGNORECASE)
"""Ollama's words for an effort asked of a model that has none."""
_NOT_TAKEN_BACK: Final = re.compile(
    r"\bof type 'reasoning' was provided without its required following item\b"
    r"|^The encrypted content .* could not be verified\b"
)


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

    Told by `param`, or by words for a field that isn't known and its name; never by a loose word. A server that knows
    `store` is never asked without it: it would keep the chat.
    """
    if status not in (400, 422):
        return None
    error = _error_in(body)
    if _is_not_taken_back(error) and without(dict(sent), _REPLAYED) != sent:
        return _REPLAYED
    for field in _thoughts_refused(text):
        if without(dict(sent), field) != sent:
            return field
    if "reasoning_effort" in sent and _CAN_NOT_THINK.search(text):
        return "reasoning_effort"
    if text_in(error, "param") == _SUMMARY and without(dict(sent), _SUMMARY) != sent:
        return _SUMMARY
    param = text_in(error, "param").partition(".")[0]
    if param == "stream" and text_in(error, "code") == "unsupported_value" and "stream" in sent:
        # OpenAI streams some models only to organisations it has verified, and answers others in one piece.
        return "stream"
    is_unknown = _UNKNOWN_FIELD.search(text) is not None
    for field in _MAY_GO:
        if field in sent and ((field == param and field != "store") or (is_unknown and _names(text, field))):
            return field
    is_renamed = is_unknown and "max_completion_tokens" in text and _names(text, "max_tokens")
    return "max_tokens" if is_renamed and "max_tokens" in sent else None


def without(body: Json, field: str) -> Json:
    """Return a request without a field, or with the name that newer models have for it."""
    if field == _REPLAYED:
        items = body.get("input")
        kept = [item for item in items if text_in(item, "type") != "reasoning"] if isinstance(items, list) else items
        return {**body, "input": kept} if "input" in body else body
    if (change := _CHANGES.get(field)) is not None:
        messages = body.get("messages")
        return {**body, "messages": list(map(change, messages))} if isinstance(messages, list) else body
    if field == _SUMMARY:
        return _without_summary(body)
    gone = {field, "stream_options"} if field == "stream" else {field}
    rest = {name: value for name, value in body.items() if name not in gone}
    if field == "max_tokens" and field in body:
        rest["max_completion_tokens"] = body[field]
    return rest


def _without_summary(body: Json) -> Json:
    """Return a request that asks for no summary, and still for the effort if it did."""
    reasoning = body.get("reasoning")
    if not isinstance(reasoning, dict) or "summary" not in reasoning:
        return body
    kept = {name: value for name, value in reasoning.items() if name != "summary"}
    return {**body, "reasoning": kept} if kept else without(body, "reasoning")


def _thoughts_refused(text: str) -> Iterator[str]:
    if _SIGNATURE_WANTED.search(text):
        yield _UNSIGNED
    elif _THOUGHTS_WANTED.search(text):
        yield _NO_THOUGHTS
    elif _UNKNOWN_FIELD.search(text) and any(_names(text, name) for name in _THOUGHT_FIELDS):
        yield _THOUGHTS


def _without_thoughts(message: Json) -> Json:
    return {name: value for name, value in message.items() if name not in _THOUGHT_FIELDS}


def _with_empty_thoughts(message: Json) -> Json:
    if message.get("role") != "assistant" or not _THOUGHT_FIELDS.isdisjoint(message):
        return message
    return {**message, "reasoning_content": ""}


_CHANGES: Final[Mapping[str, Callable[[Json], Json]]] = {
    _THOUGHTS: _without_thoughts,
    _NO_THOUGHTS: _with_empty_thoughts,
    _UNSIGNED: with_signature,
}
"""What is done to every message, by what it is done for."""


def _is_not_taken_back(error: object) -> bool:
    """Say whether an error is about reasoning of an earlier reply, as after the key of another organisation."""
    code, message = text_in(error, "code"), text_in(error, "message")
    return code == "invalid_encrypted_content" or _NOT_TAKEN_BACK.search(message) is not None


def _names(text: str, field: str) -> bool:
    """Say whether a text names a field: in quotes, or by a name that is no word of any language."""
    if "_" in field:
        return re.search(rf"\b{field}\b", text) is not None
    return re.search(rf"[\"'`]{field}[\"'`.\[]", text) is not None


def _with_own_code(fault: ProviderError, body: object) -> ProviderError:
    code = text_in(_error_in(body), "code")
    kind = ErrorKind.REFUSAL if code == "invalid_prompt" and _FLAGGED.search(fault.detail) else _KIND_OF_CODE.get(code)
    if kind is None or fault.kind in (kind, ErrorKind.CONTEXT_EXCEEDED):
        return fault
    return ProviderError(
        kind,
        fault.detail,
        retry_after_seconds=fault.retry_after_seconds,
        allowed_output=fault.allowed_output,
        excess_tokens=fault.excess_tokens,
        is_quote=fault.is_quote,
    )


def _error_in(body: object) -> object:
    """Return the object with `code` and `param`, however deep it lies."""
    for name in ("response", "error"):
        inner = body.get(name) if isinstance(body, Mapping) else None
        body = inner if isinstance(inner, Mapping) else body
    return body
