"""What may be asked of a chat, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # The interface imports this before its first paint.
    from app.domain.queue import When
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
class Choices:
    """Who answers and how: what the person chose for a turn."""

    model: str
    """`provider/model`."""
    level: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True)
class UserInput:
    """A message to send. `id` is given once: the composer's entry and the row share it."""

    id: str
    text: str
    attachments: tuple[MediaPart, ...] = ()
    """Files whose content lies in the chat's blobs already."""
    choices: Choices | None = None
    """With what it is answered; None for what the chat has when its turn begins."""


@dataclass(frozen=True, slots=True)
class EditMessage:
    """Put a message in place of one of the active window's; that and all behind it is kept as a version."""

    row_id: str
    """Of the message that is replaced."""
    message: UserInput


@dataclass(frozen=True, slots=True)
class Regenerate:
    """Answer a message of the active window again; what stands behind it now is kept as a version."""

    row_id: str
    """Of any reply to it."""


@dataclass(frozen=True, slots=True)
class SwitchVersion:
    """Put another version of what follows a row in place of the one that is the chat now."""

    after: str
    branch: str
    """See `Versions`."""


@dataclass(frozen=True, slots=True)
class ResumeTurn:
    """Go on with a turn that ended early: continue the reply, or try again if it said nothing."""


@dataclass(frozen=True, slots=True)
class ResetContext:
    """Begin a fresh context window by hand: nothing before it reaches a model or its tools from now on."""

    sets_notes_aside: bool = False
    """Whether the model's notes for its later self are renamed too, so that they are not put before it again."""


TurnStart = UserInput | ResumeTurn
"""What is planned: a new message, or what a message that is there already still lacks."""
TurnInput = TurnStart | EditMessage | Regenerate
"""What begins a turn, or goes on with one."""
Input = TurnInput | SwitchVersion | ResetContext
"""What may be asked of a chat that does nothing."""


@dataclass(frozen=True, slots=True)
class EditQueued:
    """Give a queued message another text, other files, or another moment; None leaves it as it is."""

    id: str
    text: str | None = None
    attachments: tuple[MediaPart, ...] | None = None
    when: When | None = None


@dataclass(frozen=True, slots=True)
class MoveQueued:
    """Put a queued message at a place in the queue, counted from 0; those due after a step stay first."""

    id: str
    place: int


@dataclass(frozen=True, slots=True)
class RemoveQueued:
    """Let a message wait no longer, unsent."""

    id: str


@dataclass(frozen=True, slots=True)
class SendQueuedNow:
    """Send a queued message at once, ending the turn that runs; what has come of that is kept."""

    id: str


@dataclass(frozen=True, slots=True)
class GoOnWithQueue:
    """Let a paused queue go on."""


QueueChange = EditQueued | MoveQueued | RemoveQueued | SendQueuedNow | GoOnWithQueue


@dataclass(frozen=True, slots=True)
class Accepted:
    """It is on disk; the turn goes on by itself."""

    is_queued: bool = False
    """It waits in the queue."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was written. `reason` is a sentence for people; empty if the person stopped it."""

    reason: str


Outcome = Accepted | Refused
