"""What the transcript shows: one item a row of history, decided here, painted elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from app.domain.approvals import Question

SectionKind = Literal["text", "reasoning", "tool"]
CallState = Literal["asking", "waiting", "running", "done", "failed", "interrupted", "denied"]
"""`asking`: the person's answer is waited for; `waiting`: its turn is."""


class Speaker(StrEnum):
    """Whose item it is: decides its look and how its text is read."""

    USER = "user"
    """Shown as typed: line breaks kept, no Markdown but fenced code and bare links."""
    ASSISTANT = "assistant"
    """Markdown."""
    NOTICE = "notice"
    """The program's own remark; a small plain line."""


class ItemAction(StrEnum):
    """The one thing that helps, offered below an item as a button."""

    CONTINUE = "continue"
    RETRY = "retry"
    NEW_CHAT = "new_chat"
    SAVE = "save"
    SETTINGS = "settings"
    """Open the page of providers and keys."""
    MODEL = "model"
    """Choose another model."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool as far as it is known; what it was given and what it gave are JSON values."""

    call_id: str
    name: str
    state: CallState = "running"
    arguments: object = None
    output: object = None
    kept_apart: int = 0
    """Bytes of the whole result, if `output` is only its begin and its end."""
    seconds: float | None = None
    """How long it took, if that was seen."""
    diff: str = ""
    """What it has changed, or asks to change, as a unified diff."""
    question: Question | None = None
    """What it asks the person, while it is `asking`."""


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of an item's text, or one call; reasoning and calls are folded away until asked for."""

    kind: SectionKind
    text: str
    tool: ToolCall | None = None
    seconds: float | None = None
    """How long it took, of reasoning, if that was seen."""


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file of a message: its name, what it is, and of a picture its SHA-256."""

    name: str
    detail: str
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of the transcript. `id` is the row's id; `note` is a plain sentence below the text."""

    id: str
    speaker: Speaker
    name: str = ""
    aside: str = ""
    """What is told of the speaker beside its name."""
    created: datetime | None = None
    sections: Sequence[Section] = ()
    files: Sequence[AttachedFile] = ()
    """Shown above the text."""
    streaming: bool = False
    is_divider: bool = False
    """Drawn as a line across the transcript, with its text in the middle."""
    note: str = ""
    is_error: bool = False
    """Whether `note` tells of a failure rather than of something the person did."""
    actions: Sequence[ItemAction] = ()
    has_version: bool = False
    """Whether a notice stands where a version begins that has nothing to show."""
