"""The protocol every provider speaks and the pieces its stream yields."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Usage


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
class UsagePiece:
    """Token counts so far; a later one replaces an earlier one."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class StopPiece:
    """The last piece of a whole stream. A stream that ends without one was cut."""

    reason: StopReason
    resolved_model: str | None = None


Piece = TextPiece | ReasoningPiece | UsagePiece | StopPiece


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
