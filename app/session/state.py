"""One chat's mutable state, derived again from its history on open."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.domain.chats import TurnState
from app.domain.rows import Flag, Kind, Part, Row, TextPart, ToolPart
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
        if any(row.boundary is not None for row in rows):
            self.window = newest_window(self.window, self.meta.floor_seq)
        self.last_seq = last_seq

    @property
    def window_name(self) -> str:
        """Names the active window: another name after a reset or a rollover, empty for the first."""
        newest = next((row.id for row in reversed(self.window) if row.boundary is not None), "")
        # A manual reset's own row is not in the window.
        return newest or (f"above {self.meta.floor_seq}" if self.meta.floor_seq is not None else "")

    def ends_with_reply(self, turn: str) -> bool:
        """Whether the newest row is a reply of this turn, of whatever length."""
        last = self.window[-1] if self.window else None
        return last is not None and last.role == "assistant" and last.turn == turn

    def open_turn(self) -> "OpenTurn | None":
        """Return the newest turn if it may be resumed: it has no reply, or ended early. Never across a boundary.

        Requests to go on say nothing of that, nor do rows of kinds we don't know.
        """
        said = (row for row in reversed(self.window) if row.kind == Kind.MESSAGE or row.boundary is not None)
        last = next(said, None)
        if last is None or last.boundary is not None:
            return None
        if last.role == "user":
            return OpenTurn(turn=last.turn or last.id, has_words=False)
        if last.turn is not None and is_unfinished(last):
            return OpenTurn(turn=last.turn, has_words=is_sendable(last) and not awaits_reply(last))
        return None


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn that ended early.

    `has_words`: its last reply broke off in its words, so a model is asked to go on with them. Otherwise the next
    request says all: it has no reply yet, or ends with calls and their results.
    """

    turn: str
    has_words: bool


def newest_window(rows: Sequence[Row], floor_seq: int | None) -> list[Row]:
    """Return `rows` from the newest boundary on, that included, and nothing up to the floor, whatever the rows say.

    The boundary of a reset is at the floor and included as well: it says nothing.
    """
    for index in reversed(range(len(rows))):
        row = rows[index]
        is_above_floor = floor_seq is not None and row.seq is not None and row.seq <= floor_seq
        if row.boundary is not None and not (is_above_floor and row.boundary.kind == "compaction"):
            return list(rows[index:])
        if is_above_floor:
            return list(rows[index + 1 :])
    return list(rows)


def active_slice(window: Sequence[Row]) -> Sequence[Row]:
    """Return the rows of `window` behind its newest boundary; of a compaction that too, for its summary.

    A boundary of an unknown kind counts as a manual reset. See context-windows.md, 4.
    """
    for index in reversed(range(len(window))):
        boundary = window[index].boundary
        if boundary is not None:
            return window[index if boundary.kind == "compaction" else index + 1 :]
    return window


def is_unfinished(row: Row) -> bool:
    """Whether a reply ended before the model was done, or with calls whose results the model has not seen."""
    return is_cut_off(row) or awaits_reply(row)


def awaits_reply(row: Row) -> bool:
    """Whether a request that ends with this reply is answered as it is: results of calls are the last it says."""
    sent = [part for part in row.parts if _is_sent(part)]
    calls = [part for part in sent if isinstance(part, ToolPart)]
    return bool(calls) and (not is_cut_off(row) or calls[-1] is sent[-1])


def is_cut_off(row: Row) -> bool:
    """Whether a reply ended before the model was done."""
    return Flag.INTERRUPTED in row.flags or Flag.FAILED in row.flags


def is_sendable(row: Row) -> bool:
    """Whether a model is sent anything of a reply: words, or a whole call. Reasoning or white space alone never is."""
    return any(_is_sent(part) for part in row.parts)


def _is_sent(part: Part) -> bool:
    return (isinstance(part, TextPart) and not is_blank(part.text)) or (
        isinstance(part, ToolPart) and is_whole_call(part)
    )


def is_whole_call(part: ToolPart) -> bool:
    """Whether a call is no torn one: its input is an object, or it was answered that its input is none.

    A torn call is kept as the text that came, and has no result.
    """
    return isinstance(part.input, dict) or part.state not in ("pending", "interrupted")


def rows_of(entries: Sequence[Entry]) -> list[Row]:
    """Return the rows among `entries`; damage never reaches a model."""
    return [entry.row for entry in entries if isinstance(entry, RowEntry)]
