"""What the far end can be told to answer, as values: replies and their parts, faults, errors, raw bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from tests.fakes.farend.hold import Hold

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
