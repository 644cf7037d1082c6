"""What the pointer and the Tab key can reach in the transcript."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from PySide6.QtCore import QRectF

from app.domain.approvals import Verdict
from app.ui.chat.transcript_model import RowKey


class TargetKind(Enum):
    """What happens when a target is activated."""

    LINK = auto()
    COPY = auto()
    FOLD = auto()
    MORE = auto()
    ACTION = auto()
    ANSWER = auto()
    MESSAGE = auto()
    """One of the buttons below a message; the keyboard stops once at all of a line."""


class TargetId(NamedTuple):
    """Which target it is; stays the same while its row does."""

    item: int
    """The item's `order`."""
    key: RowKey
    number: int


class Answer(NamedTuple):
    """What a button says to the question of a call."""

    call_id: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Target:
    """Something that can be activated; `rect` is where it is, relative to its row or to the window."""

    kind: TargetKind
    rect: QRectF
    name: str
    """For the screen reader."""
    payload: object = None
    """The address of a link, the `ItemAction`, the `Answer`, or the `Offer`."""
    number: int = 0
    """Among the targets of its row."""
