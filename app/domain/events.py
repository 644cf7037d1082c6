"""Facts a session tells the world, as frozen values in the past tense.

They come up through one callable `emit(event)`; the bridge carries them to the interface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from app.domain.approvals import Question
    from app.domain.chats import Access, ChatSummary, TurnState
    from app.domain.queue import QueueView
    from app.domain.rows import Row, ToolState
    from app.domain.versions import Versions


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """Something happened in the chat `session`."""

    session: str


@dataclass(frozen=True, slots=True)
class RowsAppended(SessionEvent):
    """These rows are on disk, in order. A reply's row has the id its `ReplyStarted` had."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class StateChanged(SessionEvent):
    state: TurnState


@dataclass(frozen=True, slots=True)
class ReplyStarted(SessionEvent):
    """A provider stream began; `row_id` is the id its row will have."""

    row_id: str
    model: str


@dataclass(frozen=True, slots=True)
class ReplyDelta(SessionEvent):
    """More of the running reply."""

    row_id: str
    kind: Literal["text", "reasoning"]
    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted(SessionEvent):
    """A tool runs for the running reply, whose text has ended. Calls that only read may run side by side."""

    row_id: str
    call_id: str
    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolEnded(SessionEvent):
    """A call is settled. One that never ran, such as of a tool nobody offered, has no `ToolStarted` before it."""

    row_id: str
    call_id: str
    name: str
    state: ToolState
    output: object
    """A text or a JSON value; None if it gave nothing."""
    seconds: float | None = None
    """How long it took, the wait for a permission left out."""
    diff: str = ""
    """What was shown of a change, as a unified diff."""


@dataclass(frozen=True, slots=True)
class ApprovalAsked(SessionEvent):
    """A call of the running reply waits for the person's permission; the other calls of the reply wait with it."""

    row_id: str
    call_id: str
    name: str
    arguments: Mapping[str, object]
    question: Question


@dataclass(frozen=True, slots=True)
class ApprovalEnded(SessionEvent):
    """The question is answered, or nobody waits for an answer any more."""

    row_id: str
    call_id: str


@dataclass(frozen=True, slots=True)
class QueueChanged(SessionEvent):
    """Other messages wait, or others than before; on disk already."""

    queue: QueueView


@dataclass(frozen=True, slots=True)
class RowsCut(SessionEvent):
    """Everything behind the row `after` (empty: everything there is) was cut off and is kept as a version.

    What follows now is told next, as `RowsAppended`.
    """

    after: str


@dataclass(frozen=True, slots=True)
class ChatRewritten(SessionEvent):
    """Another process has cut rows off the chat, or brought some back: what is shown of it must be read again."""


@dataclass(frozen=True, slots=True)
class VersionsChanged(SessionEvent):
    """All versions of the active window as they are now."""

    versions: tuple[Versions, ...]


@dataclass(frozen=True, slots=True)
class ReplyDropped(SessionEvent):
    """The running reply ended without anything worth a row (a retry follows, or Stop before a word)."""

    row_id: str


@dataclass(frozen=True, slots=True)
class RetryScheduled(SessionEvent):
    """A step failed before a word was shown and is tried again."""

    error_kind: str
    attempt: int
    """The try that failed, from 1."""
    max_attempts: int
    delay_seconds: float
    detail: str = ""
    """As `ProviderError.detail`."""
    is_quote: bool = False


@dataclass(frozen=True, slots=True)
class AnswerDelayed(SessionEvent):
    """The provider has not sent a byte for `seconds`; the request goes on."""

    seconds: int


@dataclass(frozen=True, slots=True)
class ChatChanged(SessionEvent):
    """Title, order or model of the chat changed."""

    summary: ChatSummary


@dataclass(frozen=True, slots=True)
class ChatCopying(SessionEvent):
    """A branch of the chat is being made and takes its time."""

    copied_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class ChatBranched(SessionEvent):
    """`session` is a new chat, made as a branch of another; what of that one could not be taken along."""

    summary: ChatSummary
    damaged: int = 0
    """Entries that can't be read."""
    oversized: int = 0
    missing_files: int = 0
    """Files and long texts that rows name and that were gone."""


@dataclass(frozen=True, slots=True)
class SessionBroke(SessionEvent):
    """A bug or a failing disk ended the turn; `reason` is a sentence for people."""

    reason: str


@dataclass(frozen=True, slots=True)
class ReplyUnsaved(SessionEvent):
    """A reply has ended and the disk refuses it; it is kept in memory and written as soon as that works."""

    row: Row
    reason: str


@dataclass(frozen=True, slots=True)
class AccessChanged(SessionEvent):
    """The right to write came, went, or is free to take; `holder` names who has it."""

    access: Access
    holder: str


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """Other settings hold from now on, or other models are on offer. The new settings: `Bridge.settings`."""


@dataclass(frozen=True, slots=True)
class MemoriesChanged:
    """Memories were written, renamed, pinned or deleted: those of the chat `session`, or, if empty, of all chats."""

    session: str


Event = SessionEvent | SettingsChanged | MemoriesChanged
Emit = Callable[[Event], None]
