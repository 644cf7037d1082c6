"""What the list of chats shows of each chat."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class TurnState(StrEnum):
    """What a chat is doing (context-windows.md, 12)."""

    IDLE = "idle"
    PREPARING = "preparing"
    STREAMING = "streaming"
    CALLING = "calling"
    """A reply has ended; the tools it called run."""
    ASKING = "asking"
    """A tool waits for the person's permission."""
    SETTLING = "settling"
    WAITING = "waiting"
    """Between two tries of a step that failed."""

    @property
    def is_active(self) -> bool:
        """Whether a turn is running, so that Send is Stop."""
        return self is not TurnState.IDLE


class Access(StrEnum):
    """Whether this process may write to a chat."""

    WRITABLE = "writable"
    HELD_ELSEWHERE = "held_elsewhere"
    FREE = "free"
    """Read-only here, but nobody holds it any more: it may be taken over."""
    UNWRITABLE = "unwritable"
    """The disk lets it be read only."""


@dataclass(frozen=True, slots=True)
class ChatSummary:
    """One chat as the list shows it. `title` is empty until the first message or a rename."""

    id: str
    title: str
    created: datetime
    updated: datetime
    model: str
    pinned: bool = False
    level: str = ""
    """A `ThinkingLevel`; empty leaves it to the provider."""
    profile: str = ""
    """Id of the profile; empty for the one of new chats."""
    folder: str = ""
    """The folder that tools may work in; empty for none."""
    grants: tuple[str, ...] = ()
    """What is “always allowed in this chat”."""
    queued: int = 0
    """How many messages wait on disk; counted for the list of all chats only."""


@dataclass(frozen=True, slots=True)
class DeletedChat:
    """A chat in the trash: when it went there, in UTC."""

    id: str
    title: str
    deleted: datetime
