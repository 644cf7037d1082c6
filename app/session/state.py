"""One chat's mutable state, derived again from its history on open."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.domain.chats import TurnState
from app.domain.rows import Flag, Kind, Row, TextPart, ToolPart
from app.domain.text import is_blank
from app.history.reader import Entry, RowEntry
from app.history.sidecars import SessionMeta


@dataclass(slots=True)
class SessionState:
    """What a worker knows of its chat. `window` holds the rows of the active window, whole, boundary included."""

    meta: SessionMeta
    last_seq: int = 0
    turn_state: TurnState = TurnState.IDLE
    window: list[Row] = field(default_factory=list)
    window_is_loaded: bool = False
    unsaved: Row | None = None
    """A reply whose append failed; written before anything else is."""
    is_stale: bool = True
    """What is on disk must be learned again before anything is written."""

    def take(self, rows: Sequence[Row], last_seq: int) -> None:
        """Add rows that were appended to the history, the last of them as number `last_seq`."""
        self.window.extend(rows)
        self.last_seq = last_seq

    def has(self, rows: Sequence[Row]) -> bool:
        """Whether all of `rows` are in the window."""
        ids = {row.id for row in self.window[-len(rows) :]} if rows else set()
        return all(row.id in ids for row in rows)

    def ends_with_reply(self, turn: str) -> bool:
        """Whether the newest row is a reply of this turn, of whatever length."""
        last = self.window[-1] if self.window else None
        return last is not None and last.role == "assistant" and last.turn == turn

    def open_turn(self) -> "OpenTurn | None":
        """Return the newest turn if it may be resumed: it has no reply, or one that was cut off."""
        last = next((row for row in reversed(self.window) if not is_continuation(row)), None)
        if last is None or last.boundary is not None:
            return None
        if last.role == "user":
            return OpenTurn(turn=last.turn or last.id, has_reply=False)
        if last.turn is not None and is_cut_off(last):
            return OpenTurn(turn=last.turn, has_reply=is_sendable(last))
        return None


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn that ended early. `has_reply`: a model is sent its last reply, so it is continued, not tried again."""

    turn: str
    has_reply: bool


def is_cut_off(row: Row) -> bool:
    """Whether a reply ended before the model was done."""
    return Flag.INTERRUPTED in row.flags or Flag.FAILED in row.flags


def is_continuation(row: Row) -> bool:
    """Whether a row is our own request to go on."""
    return row.kind == Kind.CONTINUE


def is_sendable(row: Row) -> bool:
    """Whether a model is sent anything of a reply: words, or a whole call. Reasoning or white space alone never is."""
    return any(
        (isinstance(part, TextPart) and not is_blank(part.text)) or (isinstance(part, ToolPart) and is_whole_call(part))
        for part in row.parts
    )


def is_whole_call(part: ToolPart) -> bool:
    """Whether a call came to its end: its input is an object. A torn one is kept as the text that came."""
    return isinstance(part.input, dict)


def rows_of(entries: Sequence[Entry]) -> list[Row]:
    """Return the rows among `entries`; damage never reaches a model."""
    return [entry.row for entry in entries if isinstance(entry, RowEntry)]
