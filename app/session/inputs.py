"""What may be asked of a chat, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # The interface imports this before its first paint.
    from app.domain.rows import MediaPart


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to attach, as it was read. Pictures come scaled, with their type and their size in pixels."""

    name: str
    data: bytes
    media_type: str = ""
    """Empty to have it found out."""
    width: int | None = None
    height: int | None = None


@dataclass(frozen=True, slots=True)
class DraftContent:
    """What stands in the composer of a chat."""

    text: str = ""
    attachments: tuple[MediaPart, ...] = ()


@dataclass(frozen=True, slots=True)
class UserInput:
    """A message to send. `id` is given once: the composer's entry and the row share it."""

    id: str
    text: str
    attachments: tuple[MediaPart, ...] = ()
    """Files whose content lies in the chat's blobs already."""


@dataclass(frozen=True, slots=True)
class ResumeTurn:
    """Go on with a turn that ended early: continue the reply, or try again if it said nothing."""


@dataclass(frozen=True, slots=True)
class ResetContext:
    """Begin a fresh context window by hand: nothing before it reaches a model or its tools from now on."""


TurnInput = UserInput | ResumeTurn
"""What begins a turn, or goes on with one."""
Input = TurnInput | ResetContext


@dataclass(frozen=True, slots=True)
class Accepted:
    """It is on disk; the turn goes on by itself."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was written. `reason` is a sentence for people; empty if the person stopped it."""

    reason: str


Outcome = Accepted | Refused
