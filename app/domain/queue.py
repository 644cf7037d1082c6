"""Messages that wait until the running turn has room for them. See context-windows.md, 12."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # The interface imports this before its first paint.
    from app.domain.rows import MediaPart


class When(StrEnum):
    """What a queued message waits for."""

    AFTER_STEP = "after_step"
    """The end of the step that runs: its reply, and the calls of that."""
    AFTER_TURN = "after_turn"
    """The end of the turn."""


class Pause(StrEnum):
    """Why a queue waits for the person instead of going on by itself."""

    RESTART = "restart"
    """The chat was closed since, or the program."""
    STOPPED = "stopped"
    """The person stopped the turn before it."""
    ERROR = "error"
    """The turn before it failed or was refused."""


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message as it was queued. Its row will have the same id."""

    id: str
    text: str
    attachments: tuple[MediaPart, ...] = ()
    when: When = When.AFTER_TURN
    model: str = ""
    """`provider/model`, level and profile of the chat when it was queued."""
    level: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True)
class QueueView:
    """The queue of a chat in the order in which it is sent: those due after a step come first."""

    messages: tuple[QueuedMessage, ...] = ()
    pause: Pause | None = None
    reason: str = ""
    """Why the first of them could not be sent, as a sentence; empty if it was not tried or a reply tells it."""
