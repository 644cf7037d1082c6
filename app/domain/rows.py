"""A row of history and its parts: the shape of one line of `chat.jsonl`.

See ADR-0004 and docs/history-format.md. Fields nobody knows yet are kept: every
model here allows extra fields and carries them along.
"""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

FORMAT_VERSION: Final = 1

Role = Literal["user", "assistant"]
ToolState = Literal["pending", "done", "failed", "interrupted", "denied"]
_WILD_COUNT: Final = 2**53
"""No model counts so far; what is larger is no figure that can be divided or shown."""


def _count_or_absent(value: object) -> int | None:
    """A token count that is no non-negative integer counts as absent, as does a wild one (context-windows.md, 2)."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _WILD_COUNT else None


def _time_or_absent(value: datetime | None) -> datetime | None:
    """A time that no clock of a person can show counts as absent: other programs write year 1 for none."""
    return value if value is not None and 1970 <= value.year < 9000 else None


Moment = Annotated[datetime | None, AfterValidator(_time_or_absent)]
TokenCount = Annotated[int | None, BeforeValidator(_count_or_absent)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")


class Usage(_Model):
    """What the provider counted for one step, in tokens; None where it reported nothing."""

    input: TokenCount = None
    """Everything read, cache reads and writes included."""
    cache_read: TokenCount = None
    cache_write: TokenCount = None
    output: TokenCount = None
    """Everything written, reasoning included."""
    reasoning: TokenCount = None

    def plausible(self, limit: int | None) -> "Usage":
        """Return the figures that can be true of a model with this limit: those up to twice of it."""
        if limit is None:
            return self
        wrong = {name: None for name, value in self if isinstance(value, int) and value > 2 * limit}
        return self.model_copy(update=wrong) if wrong else self


class RequestInfo(_Model):
    """What a reply was asked with; the anchor of counting needs it."""

    provider: str
    model: str
    resolved_model: str | None = None
    thinking_level: str | None = None
    profile: str | None = None
    instead_of: str | None = None
    """`provider/model` that was asked first, if this one stepped in as the fallback; `instead_because` says why."""
    instead_because: str | None = None
    """`refusal` or `overloaded`."""
    system_tokens: TokenCount = None
    tools_tokens: TokenCount = None
    tools_hash: str | None = None


class Batch(_Model):
    """Membership in a batch of rows that counts whole or not at all."""

    id: str
    index: int = Field(ge=0)
    count: int = Field(ge=1)


STEP_LIMIT: Final = "step_limit"
"""Kind of an `ErrorInfo`: the turn had as many steps as one may have."""


class ErrorInfo(_Model):
    """Why a step ended early: an `ErrorKind` or `STEP_LIMIT`, and what was said of it."""

    kind: str
    detail: str = ""
    is_quote: bool | None = None
    """Set if `detail` is the provider's own words rather than a sentence of Muntin's."""
    retry_at: Moment = None
    """When the provider may be asked again, if it said so (UTC)."""


class Blob(_Model):
    """A leaf that lies in `blobs/`: its SHA-256, its size, and what the row keeps of it."""

    sha256: str
    bytes: int
    chars: int | None = None


class TextPart(_Model):
    type: Literal["text"] = "text"
    text: str
    blob: Blob | None = None
    """Set when `text` is only the first and last part; the whole lies in the blob."""


class ReasoningPart(_Model):
    type: Literal["reasoning"] = "reasoning"
    text: str
    seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """How long it was seen to go on; None if that was no second."""
    replay: dict[str, Any] | None = None
    """Opaque to us: signatures, encrypted content, item ids."""
    blob: Blob | None = None


class ToolPart(_Model):
    type: Literal["tool"] = "tool"
    call_id: str
    name: str
    input: Any = None
    state: ToolState = "pending"
    output: Any = None
    seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """How long it took, the wait for a permission left out; None if it never ran to its end."""
    diff: str | None = None
    """What the person was shown of a change, as a unified diff; no model is sent it."""
    replay: dict[str, Any] | None = None
    """Opaque to us, as that of reasoning: goes back with the call, to the model that made it."""
    input_blob: Blob | None = None
    output_blob: Blob | None = None


class MediaPart(_Model):
    type: Literal["media"] = "media"
    media_type: str
    name: str = ""
    bytes: int
    width: int | None = None
    height: int | None = None
    pages: int | None = None
    blob: Blob
    text_blob: Blob | None = None
    """The text of a PDF, for models that can't read the file itself."""


class UnknownPart(_Model):
    """A part of a type this version doesn't know; kept and shown as a notice."""

    type: str


_KNOWN_PARTS: Final = frozenset({"text", "reasoning", "tool", "media"})


def _part_tag(value: object) -> str | None:
    name = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    if not isinstance(name, str):
        return None
    return name if name in _KNOWN_PARTS else "unknown"


Part = Annotated[
    Annotated[TextPart, Tag("text")]
    | Annotated[ReasoningPart, Tag("reasoning")]
    | Annotated[ToolPart, Tag("tool")]
    | Annotated[MediaPart, Tag("media")]
    | Annotated[UnknownPart, Tag("unknown")],
    Discriminator(_part_tag),
]


class Boundary(_Model):
    """Ends one window and begins the next. An unknown kind counts as a manual reset."""

    kind: str
    context_tokens: TokenCount = None
    """What the last request of the window that ends here cost, as far as known."""
    limit: TokenCount = None
    """Of the model it went to."""


BOUNDARY_KINDS: Final = frozenset({"rollover", "reset", "compaction"})


class Flag:
    """Values of `Row.flags`."""

    HIDDEN: Final = "hidden"
    """Sent to the model, shown to the person only on demand."""
    INTERRUPTED: Final = "interrupted"
    """The reply was cut: by Stop, by a crash, or by the connection."""
    FAILED: Final = "failed"
    """The step ended with `error`; what came before it is kept."""
    SETTLED: Final = "settled"
    """In `partial.json` only: the reply has ended, it was its append that failed."""
    REJECTED: Final = "rejected"
    """Never sent to a model."""


class Kind:
    """Values of `Row.kind` this version writes; other kinds are kept and shown as a notice."""

    MESSAGE: Final = "message"
    CONTINUE: Final = "continue"
    """A synthetic user row that asks the model to go on."""
    RESET: Final = "reset"
    """The boundary row of a manual reset."""


class Row(_Model):
    """One line of history. `seq` is None only before the store has numbered it (or in foreign rows)."""

    v: int = FORMAT_VERSION
    boundary: Boundary | None = None
    id: str
    session: str
    seq: int | None = None
    role: Role
    turn: str | None = None
    created: Moment = None
    kind: str = Kind.MESSAGE
    model: str | None = None
    request: RequestInfo | None = None
    usage: Usage | None = None
    error: ErrorInfo | None = None
    flags: tuple[str, ...] = ()
    copy_of: str | None = None
    batch: Batch | None = None
    parts: tuple[Part, ...] = ()

    @property
    def text(self) -> str:
        """All text parts, joined by a blank line."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, TextPart))
