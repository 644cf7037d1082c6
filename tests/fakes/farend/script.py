"""What the far end is told to answer: replies, errors and raw bytes, the same for every dialect."""

import json
import threading
import time
from asyncio import AbstractEventLoop, Event, get_running_loop, sleep
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

Json = Mapping[str, object]

Stop = Literal["end", "max_tokens", "tool", "stop_sequence", "refusal", "content_filter", "context_full", "pause"]
"""Why a reply ends; each dialect has its own word for it, and the nearest one where it has none."""

ErrorKind = Literal[
    "invalid_request",
    "authentication",
    "billing",
    "permission",
    "not_found",
    "too_large",
    "rate_limit",
    "api_error",
    "overloaded",
    "timeout",
    "context_too_long",
    "insufficient_quota",
]
"""What went wrong, whatever the vendor calls it."""

DialectName = Literal["anthropic", "responses", "chat"]

Flavour = Literal["vendor", "llamacpp", "lmstudio", "ollama", "vllm"]
"""Whose words an error has. `vendor` is Anthropic or OpenAI, as the path says."""


class Hold:
    """A place where an answer waits until the test, on whatever thread, lets it go."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[AbstractEventLoop, Event]] = []
        self._is_reached = threading.Event()
        self._is_released = threading.Event()

    @property
    def is_reached(self) -> bool:
        return self._is_reached.is_set()

    @property
    def is_released(self) -> bool:
        return self._is_released.is_set()

    async def wait(self) -> None:
        """Wait for `release`; for the server."""
        event = Event()
        with self._lock:
            self._is_reached.set()
            if self.is_released:
                return
            self._waiting.append((get_running_loop(), event))
        await event.wait()

    async def reached(self, *, timeout_seconds: float = 5) -> None:
        """Wait, on whatever loop, until an answer has come to this place. TimeoutError if none does."""
        deadline = time.monotonic() + timeout_seconds
        while not self.is_reached:
            if time.monotonic() > deadline:
                raise TimeoutError("no answer came to the hold")
            await sleep(0.002)

    def release(self) -> None:
        """Let go what waits here and what will come; callable on every thread."""
        with self._lock:
            self._is_released.set()
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)


# Parts of a reply, in the order they are sent.


@dataclass(frozen=True)
class Text:
    """One delta of text."""

    text: str


@dataclass(frozen=True)
class Reasoning:
    """One delta of thoughts. Deltas that follow each other are one block; `signature` closes it."""

    text: str
    signature: str = ""
    """Anthropic's signature, OpenAI's `encrypted_content`; Chat Completions has none."""
    is_redacted: bool = False
    """A `redacted_thinking` block of Anthropic, with `signature` as its data."""
    chat_field: str = "reasoning_content"
    """What Chat Completions calls it: `reasoning_content` (DeepSeek, llama.cpp, LM Studio) or `reasoning`."""


class ToolCall:
    """A call of a tool; the arguments come in the pieces given, and faults may stand between them."""

    def __init__(self, call_id: str, name: str, *arguments: "str | Fault") -> None:
        self.call_id = call_id
        self.name = name
        self.pieces = arguments

    @property
    def arguments(self) -> str:
        return "".join(piece for piece in self.pieces if isinstance(piece, str))

    def __repr__(self) -> str:
        return f"ToolCall({self.call_id!r}, {self.name!r}, *{self.pieces!r})"


@dataclass(frozen=True)
class Refusal:
    """One delta of refusal: a part of its own for OpenAI, plain text for Anthropic."""

    text: str


# Faults that stand between the parts of a reply; Stall and Cut can also be given to `but`.


@dataclass(frozen=True)
class Stall:
    """Send nothing, for ever or until released (by the hold or `FarEnd.release`).

    Between the parts of a reply it acts at that place. Given to `but` it needs one of the moments below; without one
    it stands before the headers. Bytes and events are those of the body, without HTTP's own framing.
    """

    hold: Hold | None = None
    before_headers: bool = False
    after_headers: bool = False
    after_bytes: int | None = None
    after_events: int | None = None


@dataclass(frozen=True)
class Cut:
    """End the connection: between the parts of a reply at that place, with `but` at a moment as in `Stall`.

    `fin` closes the socket, `reset` sends RST, `clean` ends the HTTP message properly although the reply is not
    complete: that is the end that no HTTP client complains about.
    """

    how: Literal["fin", "reset", "clean"] = "fin"
    before_headers: bool = False
    in_headers: int | None = None
    """So many bytes of the status line and headers are sent."""
    after_bytes: int | None = None
    after_events: int | None = None


@dataclass(frozen=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Comment:
    """A line that clients must skip, as OpenRouter and proxies send to keep a connection open."""

    text: str = "keep-alive"


@dataclass(frozen=True)
class Ping:
    """Anthropic's `ping` event, a keep-alive event or comment elsewhere."""


@dataclass(frozen=True)
class StreamError:
    """An error event within the stream; nothing follows it.

    `form` matters for Responses alone: `event` is the `error` event as it is on the wire (an object `error`), `flat` as
    it is documented (code and message at the top), `failed` is `response.failed`.
    """

    kind: ErrorKind = "overloaded"
    message: str | None = None
    form: Literal["event", "flat", "failed"] = "event"


@dataclass(frozen=True)
class Malformed:
    """An event whose data is no JSON."""

    data: str = '{"type": "content_block_delta", "delta": {"text": "br'


@dataclass(frozen=True)
class RawEvent:
    """Bytes verbatim, counted as one event."""

    data: bytes


# Faults of the wire, given to `but`.


@dataclass(frozen=True)
class Split:
    """Send the body in pieces that end at the offsets given, or every so many bytes."""

    at: Sequence[int] = ()
    every: int | None = None


@dataclass(frozen=True)
class Drip:
    """Send the body in small pieces with a pause after each."""

    chunk_bytes: int = 1
    seconds: float = 0.01


@dataclass(frozen=True)
class Swap:
    """Exchange two events of the body, counted from 0; negative numbers count from the end."""

    one: int
    other: int


@dataclass(frozen=True)
class Drop:
    """Leave one event out."""

    event: int


@dataclass(frozen=True)
class Repeat:
    """Send one event twice."""

    event: int


Fault = Stall | Cut | Pause | Comment | Ping | StreamError | Malformed | RawEvent
Part = Text | Reasoning | ToolCall | Refusal | Fault
WireFault = Stall | Cut | Split | Drip | Swap | Drop | Repeat


@dataclass(frozen=True)
class Usage:
    """Tokens as the far end counts them. `input` holds all input, cached or not."""

    input: int = 10
    output: int = 5
    cached: int = 0
    cache_written: int = 0
    reasoning: int = 0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one request gets."""

    faults: tuple[WireFault, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    """Sent besides the usual ones; a name given here replaces a usual one."""

    def but(self, *faults: WireFault) -> Self:
        """Return the same answer with faults added."""
        return replace(self, faults=(*self.faults, *faults))


@dataclass(frozen=True, kw_only=True)
class Reply(Answer):
    """A reply of the model, streamed or whole as the request asks; made by `reply`."""

    parts: tuple[Part, ...] = ()
    usage: Usage | None = field(default_factory=Usage)
    usage_times: int = 1
    stop: Stop | None = "end"
    always_whole: bool = False
    """A plain JSON body although a stream was asked for."""
    model: str | None = None
    """The model that answers; the one asked for if None."""


@dataclass(frozen=True, kw_only=True)
class ErrorAnswer(Answer):
    """An HTTP error with the vendor's own body; made by `error`, `context_too_long` and `model_not_found`."""

    status: int
    kind: ErrorKind
    message: str | None = None
    flavour: Flavour = "vendor"
    retry_after: str | None = None
    is_html: bool = False
    prompt_tokens: int | None = None
    limit_tokens: int | None = None
    max_tokens: int | None = None
    """With it, the sentence says that prompt and answer together are too long."""
    model: str | None = None


@dataclass(frozen=True, kw_only=True)
class RawAnswer(Answer):
    """Bytes verbatim, each an event of its own; made by `raw`, `redirect`, `html_page`, `json_answer`."""

    events: tuple[bytes, ...] = ()
    status: int = 200
    content_type: str = "text/event-stream; charset=utf-8"


def reply(
    *parts: str | Part,
    reasoning: str = "",
    tool: ToolCall | Sequence[ToolCall] = (),
    usage: Usage | None = Usage(),
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
