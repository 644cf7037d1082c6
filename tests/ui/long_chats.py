"""Chats with long histories, written straight to disk, and the ways to be in them."""

from collections.abc import Callable
from datetime import UTC, datetime

from app.domain.errors import HistoryChanged
from app.domain.rows import Flag, RequestInfo, Row, TextPart, ToolPart
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.library import Library
from app.history.reader import HistoryReader, RowEntry
from app.ui.chat.transcript_view import TranscriptView
from tests.ui.conftest import Desk

START = datetime(2026, 1, 1, tzinfo=UTC)
Text = Callable[[int], str]


def words(number: int) -> str:
    """Return a message high enough to scroll."""
    return f"Message {number}\n\n" + "and some more words to read " * 12


class LongChat:
    """A chat on disk; rows are known by their numbers, from 0."""

    def __init__(self, desk: Desk, count: int, text: Text = words, *, hidden: frozenset[int] = frozenset()) -> None:
        self.desk = desk
        self.session = Library(desk.root).create(model="scripted/model", now=START).id
        self.files = ChatFiles(desk.root / "sessions" / self.session)
        self.offsets: list[int] = []
        self.write(count, text, hidden=hidden)

    def write(self, count: int, text: Text = words, *, hidden: frozenset[int] = frozenset()) -> None:
        """Let the history be this, and nothing else."""
        self.offsets.clear()
        lines = []
        at = 0
        for number in range(count):
            line = encode_row(self._row(number, text(number), is_hidden=number in hidden)) + b"\n"
            self.offsets.append(at)
            at += len(line)
            lines.append(line)
        self.files.chat.write_bytes(b"".join(lines))

    def _row(self, number: int, text: str, *, is_hidden: bool) -> Row:
        is_reply = number % 2 == 1
        return Row(
            id=row_id(number),
            session=self.session,
            seq=number + 1,
            role="assistant" if is_reply else "user",
            created=START,
            request=RequestInfo(provider="scripted", model="model") if is_reply else None,
            flags=frozenset({Flag.HIDDEN}) if is_hidden else frozenset(),
            parts=(TextPart(text=text),),
        )

    def add_call(self, output: object) -> None:
        """Add a reply with a call of a tool between two texts."""
        number = len(self.offsets)
        call = ToolPart(call_id="c1", name="look_up", input={"what": "birds"}, state="done", output=output)
        row = self._row(number, "", is_hidden=False).model_copy(
            update={
                "role": "assistant",
                "parts": (TextPart(text="Before the call."), call, TextPart(text="After the call.")),
            }
        )
        self.offsets.append(self.files.chat.stat().st_size)
        with self.files.chat.open("ab") as file:
            file.write(encode_row(row) + b"\n")

    def open(self) -> None:
        """Open it in the window and wait until it is there."""
        self.desk.window.chats.open(self.session)
        self.desk.until(lambda: self.desk.window.controller.session == self.session)

    def show(self, number: int) -> None:
        """Jump to a message and wait until it is at its place."""
        self.desk.window.show_message(self.session, row_id(number), self.offsets[number])
        self.desk.until(lambda: row_id(number) in on_screen(self.desk))

    def rows(self) -> list[Row]:
        while True:
            try:
                entries = HistoryReader(ChatFiles(self.files.folder)).entries_forward()
                return [entry.row for entry in entries if isinstance(entry, RowEntry)]
            except HistoryChanged:
                # It was just rewritten.
                continue


def row_id(number: int) -> str:
    return f"m{number:06d}"


def transcript(desk: Desk) -> TranscriptView:
    return desk.window.page.transcript


def tops(desk: Desk) -> dict[str, int]:
    """Return where the items on screen are, from top to bottom."""
    view = transcript(desk)
    height = view.viewport().height()
    found: dict[str, int] = {}
    for placed in view.flow.placed:
        rect = view.rect_of(placed.node)
        if rect.bottom() > 0 and rect.top() < height:
            found[placed.node.item.id] = rect.top()
    return found


def on_screen(desk: Desk) -> list[str]:
    """Return the ids of the items on screen, from top to bottom."""
    return list(tops(desk))


def at_top(desk: Desk) -> str:
    """Return the first item that begins on screen."""
    return next(item for item, top in tops(desk).items() if top >= 0)
