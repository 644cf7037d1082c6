"""How a test writes an answer down."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from tests.fakes.farend.script import (
    ErrorAnswer,
    ErrorKind,
    Flavour,
    Part,
    RawAnswer,
    Reasoning,
    Refusal,
    Reply,
    Stop,
    Text,
    ToolCall,
    Usage,
)

DEFAULT_USAGE = Usage()


def reply(
    *parts: str | Part,
    reasoning: str = "",
    tool: ToolCall | Sequence[ToolCall] = (),
    usage: Usage | None = DEFAULT_USAGE,
    usage_times: int = 1,
    stop: Stop | Literal["as fits"] | None = "as fits",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """A reply of the model: thoughts, then the parts in order (a str is one delta of text), then the tool calls.

    `stop` is `tool` if there is a call, `refusal` if there is a refusal, otherwise `end`; None ends the stream after
    the last part, with neither reason nor closing events nor usage. `usage=None` sends none.
    """
    calls = (tool,) if isinstance(tool, ToolCall) else tuple(tool)
    thoughts: tuple[Part, ...] = (Reasoning(reasoning, signature="c2lnbmF0dXJl"),) if reasoning else ()
    said = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    together = (*thoughts, *said, *calls)
    if stop == "as fits":
        if any(isinstance(part, ToolCall) for part in together):
            stop = "tool"
        else:
            stop = "refusal" if any(isinstance(part, Refusal) for part in together) else "end"
    return Reply(
        parts=together,
        usage=usage,
        usage_times=usage_times,
        stop=stop,
        headers=tuple((headers or {}).items()),
    )


def whole(answer: Reply) -> Reply:
    """The same reply as one plain JSON body, although a stream was asked for."""
    return replace(answer, always_whole=True)


KIND_OF_STATUS: Mapping[int, ErrorKind] = {
    400: "invalid_request",
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "not_found",
    408: "timeout",
    413: "too_large",
    429: "rate_limit",
    500: "api_error",
    502: "api_error",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}


def error(
    status: int,
    *,
    kind: ErrorKind | None = None,
    message: str | None = None,
    retry_after: str | float | None = None,
    flavour: Flavour = "vendor",
    is_html: bool | None = None,
    headers: Mapping[str, str] | None = None,
) -> ErrorAnswer:
    """An HTTP error with the vendor's own body for the dialect of the request.

    `kind` follows from the status; `kind="insufficient_quota"` is OpenAI's other 429. `retry_after` is seconds or an
    HTTP date (see `http_date`). 502 is an HTML page unless `is_html` says otherwise.
    """
    return ErrorAnswer(
        status=status,
        kind=kind or KIND_OF_STATUS.get(status, "api_error" if status >= 500 else "invalid_request"),
        message=message,
        retry_after=None if retry_after is None else str(retry_after),
        flavour=flavour,
        is_html=status == 502 if is_html is None else is_html,
        headers=tuple((headers or {}).items()),
    )


def context_too_long(
    *,
    prompt_tokens: int = 210_000,
    limit_tokens: int = 200_000,
    max_tokens: int | None = None,
    flavour: Flavour = "vendor",
) -> ErrorAnswer:
    """The refusal of a request that doesn't fit the model, in the words of `flavour`."""
    return ErrorAnswer(
        status=400,
        kind="context_too_long",
        flavour=flavour,
        prompt_tokens=prompt_tokens,
        limit_tokens=limit_tokens,
        max_tokens=max_tokens,
    )


def model_not_found(model: str | None = None, *, flavour: Flavour = "vendor") -> ErrorAnswer:
    """404 for a model that isn't there; the one asked for if None."""
    return ErrorAnswer(status=404, kind="not_found", flavour=flavour, model=model)


def raw(
    *events: bytes | str,
    status: int = 200,
    content_type: str = "text/event-stream; charset=utf-8",
    headers: Mapping[str, str] | None = None,
) -> RawAnswer:
    """Bytes verbatim, to replay a recorded stream; each argument counts as one event."""
    return RawAnswer(
        events=tuple(event.encode() if isinstance(event, str) else event for event in events),
        status=status,
        content_type=content_type,
        headers=tuple((headers or {}).items()),
    )


def json_answer(body: object, *, status: int = 200) -> RawAnswer:
    """A JSON body verbatim."""
    return raw(json.dumps(body, ensure_ascii=False), status=status, content_type="application/json")


def redirect(to: str, *, status: Literal[301, 302, 303, 307, 308] = 307) -> RawAnswer:
    """Send the client elsewhere."""
    return raw(status=status, content_type="text/plain", headers={"location": to})


def html_page(text: str = "Sign in to continue", *, status: int = 200) -> RawAnswer:
    """A page for people where a stream was expected, as captive portals and wrong addresses give."""
    page = f"<!DOCTYPE html>\n<html><head><title>{text}</title></head><body><h1>{text}</h1></body></html>\n"
    return raw(page, status=status, content_type="text/html; charset=utf-8")
