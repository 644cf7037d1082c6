"""The protocol every provider speaks and the pieces its stream yields."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Usage
from app.settings.schema import ListedModel


class StopReason(StrEnum):
    """Why a model stopped writing."""

    END = "end"
    MAX_TOKENS = "max_tokens"
    TOOL_USE = "tool_use"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ReplayPiece:
    """What must go back with the reasoning before it: opaque to everybody but this adapter.

    It closes the stretch of reasoning; without any reasoning before it (redacted thinking) it is one of its own.
    """

    replay: dict[str, object]


@dataclass(frozen=True, slots=True)
class ToolStartPiece:
    """A tool call begins. Calls of one reply may overlap; `call_id` tells them apart."""

    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolInputPiece:
    """More of the JSON text of a call's input."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolEndPiece:
    """A call is whole. Its input is an object; a call whose input is none is never ended."""

    call_id: str
    input: dict[str, object]
    replay: dict[str, object] | None = None
    """What must go back with the call: opaque to everybody but this adapter."""


@dataclass(frozen=True, slots=True)
class QuietPiece:
    """Nothing has come on the wire, not one byte, for `seconds` (60, then every 30 more)."""

    seconds: int


@dataclass(frozen=True, slots=True)
class UsagePiece:
    """Token counts so far; a later one replaces an earlier one."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class StopPiece:
    """The last piece of a whole stream. A stream that ends without one was cut."""

    reason: StopReason
    resolved_model: str | None = None


Piece = (
    TextPiece
    | ReasoningPiece
    | ReplayPiece
    | ToolStartPiece
    | ToolInputPiece
    | ToolEndPiece
    | QuietPiece
    | UsagePiece
    | StopPiece
)


GetKey = Callable[[], Awaitable[str | None]]
"""Returns the key to send, None for none. Raises ProviderError(authentication)."""


class Provider(Protocol):
    """A source of models."""

    @property
    def name(self) -> str:
        """Stable key, used in rows and in the catalogue: `practice`, `anthropic`, ..."""
        ...

    def models(self) -> tuple[ModelCard, ...]:
        """Return the models on offer."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Send `request` and yield the reply as it comes.

        Raises `ProviderError`. Closing the generator ends the request on the wire at once.
        """
        ...


class RemoteProvider(Provider, Protocol):
    """A provider that is asked over the network."""

    async def list_models(self) -> tuple[ListedModel, ...]:
        """Return the models its own list names, in its order. Raises `ProviderError`."""
        ...

    async def close(self) -> None:
        """Close every connection. Streams that run end with an error."""
        ...
