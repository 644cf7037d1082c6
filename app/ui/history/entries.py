"""What stands in the history's lists, as plain values."""

from dataclasses import dataclass
from enum import StrEnum

from app.domain.windows import HistoryItem, SearchHit, WindowInfo


@dataclass(frozen=True, slots=True)
class Floor:
    """The line of a manual reset: an agent can't look beyond it, the person can."""

    window_id: str
    """The window that the reset began."""


class NoteKind(StrEnum):
    """What a line that is no entry says."""

    LOADING = "loading"
    """More of the list is on its way, or is fetched as soon as this line comes into view."""
    EARLIER = "earlier"
    """What stood above was put away; it is fetched again as soon as this line comes into view."""
    PLAIN = "plain"
    ERROR = "error"
    """Something could not be read; a click tries again."""


@dataclass(frozen=True, slots=True)
class Note:
    """A line about the list itself."""

    kind: NoteKind
    text: str


@dataclass(frozen=True, slots=True)
class HitGroup:
    """The hits of one window."""

    window: WindowInfo
    hits: int


Child = HistoryItem | SearchHit | Note
Value = WindowInfo | Floor | HitGroup | HistoryItem | SearchHit | Note


def item_of(value: Value | None) -> HistoryItem | None:
    """Return the item that an entry stands for, if it does."""
    match value:
        case HistoryItem():
            return value
        case SearchHit():
            return value.item
        case _:
            return None


def window_of(value: Value | None) -> WindowInfo | None:
    """Return the window that an entry stands for, if it does."""
    match value:
        case WindowInfo():
            return value
        case HitGroup():
            return value.window
        case _:
            return None
