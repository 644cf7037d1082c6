"""What the transcript shows: one item a row of history, decided here, painted elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

SectionKind = Literal["text", "reasoning"]


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
class Section:
    """A stretch of an item's text; reasoning is folded away until asked for."""

    kind: SectionKind
    text: str


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
    created: datetime | None = None
    sections: Sequence[Section] = ()
    files: Sequence[AttachedFile] = ()
    """Shown above the text."""
    streaming: bool = False
    note: str = ""
    is_error: bool = False
    """Whether `note` tells of a failure rather than of something the person did."""
    actions: Sequence[ItemAction] = ()
