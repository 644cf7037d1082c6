"""Context windows and items of a chat's history, as they are listed, searched and read.

The same values serve the history panel and the model's `session_history`. Positions are bytes of the
*stretch*: the archive followed by the active file, as if they were one. See context-windows.md, 6 and 7.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal

SESSION_HISTORY: Final = "session_history"
"""Name of the tool with which a model reads the history of its own chat."""

Role = Literal["user", "assistant"]
WindowKind = Literal["first", "rollover", "reset", "compaction", "unknown"]
ItemKind = Literal["message", "notice"]


class View(StrEnum):
    """Who reads."""

    AGENT = "agent"
    """Nothing above the privacy floor, no rejected rows, no rows of kinds this version doesn't know."""
    PERSON = "person"
    """Everything; what lies above the floor says so."""


@dataclass(frozen=True, slots=True)
class WindowInfo:
    """One context window. `start` is where its boundary begins (0 of the first), `end` where the next begins."""

    id: str
    """`w:<seq of the boundary>`, `w:0` for the first, `w:m:<row id>` for a boundary without a number."""
    number: int
    """From 1, in order."""
    kind: WindowKind
    """What began it; `unknown` counts as a manual reset."""
    start: int
    end: int
    rows: int
    """Lines of the window, its boundary left out; damaged ones count."""
    opened: datetime | None = None
    closed: datetime | None = None
    """None of the active window."""
    tokens: int | None = None
    """What its last request cost when it was closed, if that is known."""
    title: str = ""
    """The first words of its first user message, one line."""
    is_active: bool = False
    is_above_floor: bool = False


@dataclass(frozen=True, slots=True)
class WindowsPage:
    """The windows of a chat, newest first.

    Until `is_complete`, the history is still being read for them: `windows` is empty and the next call goes on.
    """

    windows: tuple[WindowInfo, ...]
    is_complete: bool
    bytes_read: int
    """How far the history was read for it, in all calls; 0 if the index was valid."""
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a listing or a search goes on, within one epoch of the history."""

    epoch: str
    offset: int
    """In the stretch: the begin (oldest first) or end (newest first) of a line, unless `inside`."""
    hits: int = 0
    """Hits of the row at `offset` that were given already."""
    inside_edge: int | None = None
    """Set if the page ended within a line over the cap: where that line began (newest first: ended)."""
    inside_is_boundary: bool = False
    anchor: str = ""
    """Fingerprint of the row last visited, in hexadecimal; empty at a start."""
    anchor_offset: int = 0


@dataclass(frozen=True, slots=True)
class Filters:
    """Which items are wanted; empty fields want all."""

    window_id: str = ""
    role: Role | None = None
    tool_name: str = ""
    """Only items with a call of this tool."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call of an item."""

    name: str
    state: str


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """One message, or one notice, of the history."""

    ref: str
    """Exact reference, at most 40 characters: position and fingerprint of the raw row. See `history.item_ref`."""
    row_id: str
    seq: int | None
    role: Role
    kind: ItemKind
    created: datetime | None
    model: str
    """`provider/model` of a reply, else empty."""
    tools: tuple[ToolUse, ...]
    preview: str
    """One line of at most 200 characters."""
    chars: int
    """Of its text as the row has it; of one with leaves in blobs, their whole length."""
    window_id: str
    offset: int
    """Where its line begins in the stretch."""
    is_rejected: bool = False
    is_cut_off: bool = False
    """A reply that failed or was interrupted."""
    is_above_floor: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """What a scan passed over without having read it; damaged rows only as far as it looked into them."""

    oversized: int = 0
    damaged: int = 0
    blobs: int = 0
    """Texts kept apart that were not searched."""

    def __add__(self, other: "Skipped") -> "Skipped":
        return Skipped(self.oversized + other.oversized, self.damaged + other.damaged, self.blobs + other.blobs)


@dataclass(frozen=True, slots=True)
class ItemsPage:
    """A bounded piece of a listing, in the order asked for. `next` is None if it is exhausted."""

    items: tuple[HistoryItem, ...]
    next: Mark | None
    bytes_read: int
    rows: int
    """Lines visited."""
    skipped: Skipped = Skipped()
    is_waiting: bool = False
    """The history is still being read for its windows and the floor: nothing was looked at yet, or since `next`."""

    @property
    def exhausted(self) -> bool:
        return self.next is None


@dataclass(frozen=True, slots=True)
class SearchHit:
    """Where a query stands."""

    item: HistoryItem
    snippet: str
    """At most 500 characters around the hit, line ends kept as spaces."""
    start: int
    """Of the hit, in the snippet, as `length`: in characters (code points)."""
    length: int
    offset_chars: int
    """Of the hit, in the item's text as `read_item` gives it, as `length_chars`: in UTF-16 units."""
    length_chars: int


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A bounded piece of a search, in the order asked for. `next` is None if it is exhausted."""

    hits: tuple[SearchHit, ...]
    next: Mark | None
    bytes_read: int
    total_bytes: int
    """Of the stretch that is searched as a whole."""
    rows: int
    skipped: Skipped = Skipped()
    is_waiting: bool = False
    """As for items; what a model may know of has no size yet."""

    @property
    def exhausted(self) -> bool:
        return self.next is None


@dataclass(frozen=True, slots=True)
class ItemText:
    """A piece of an item's text. Pieces of all offsets join to the whole text; all figures are UTF-16 units."""

    item: HistoryItem
    text: str
    offset_chars: int
    next_offset_chars: int | None
    total_chars: int
