"""A chat on disk whose past a model asks about, in short words."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.aio import Clock
from app.budget.requests import TextCounter
from app.budget.tokens import TokenCounter
from app.disk import make_private_folder
from app.domain.rows import Boundary, Kind, Part, Role, Row, TextPart, ToolPart
from app.history.cursor import Cursors
from app.history.cursor_key import CursorKey
from app.history.files import ChatFiles
from app.history.store import Store
from app.tools.base import ToolContext
from app.tools.session_history import SessionHistoryTool
from tests.fakes.clock import FakeClock

COUNTER = TokenCounter()
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


class HastyClock(FakeClock):
    """A second goes by each time somebody looks."""

    def monotonic(self) -> float:
        self.advance(1.0)
        return super().monotonic()


class HistoryChat:
    """One chat in `root`, written with the real store and read with the real tool."""

    def __init__(self, root: Path, session: str = "s1") -> None:
        self.session = session
        self.files = ChatFiles(root / session)
        make_private_folder(self.files.folder)
        self.store = Store(self.files, session=session)
        self.cursors = Cursors(CursorKey(root / "cursor.key"))
        self.last_seq = self.store.repair()
        self._made = 0
        self._tool = self.new_tool()

    def new_tool(self, *, counter: TextCounter = COUNTER, clock: Clock | None = None) -> SessionHistoryTool:
        """Return the tool as a program that was just started would make it."""
        return SessionHistoryTool(
            ChatFiles(self.files.folder),
            session=self.session,
            cursors=self.cursors,
            counter=counter,
            clock=clock or FakeClock(),
        )

    def append(self, *rows: Row) -> tuple[Row, ...]:
        written = self.store.append(rows, expected_last_seq=self.last_seq)
        self.last_seq = written[-1].seq or 0
        return written

    def row(self, text: str = "", *, role: Role = "user", parts: tuple[Part, ...] = (), **fields: Any) -> Row:
        self._made += 1
        fields = {"id": f"{self.session}r{self._made}", "kind": Kind.MESSAGE, "created": NOW} | fields
        said = (TextPart(text=text),) if text else ()
        return Row(session=self.session, role=role, parts=said + parts, **fields)

    def say(self, text: str = "", *, role: Role = "user", parts: tuple[Part, ...] = (), **fields: Any) -> int:
        """Append one row and return its number."""
        return self.append(self.row(text, role=role, parts=parts, **fields))[0].seq or 0

    def roll(self, kind: str = "rollover") -> int:
        """Begin another window and return the number of its boundary."""
        return self.append(self.row(boundary=Boundary(kind=kind), kind=kind))[0].seq or 0

    def reset(self) -> int:
        """Reset by hand as the session does: the floor in `session.json`, then the row."""
        self.set_floor(self.last_seq + 1)
        return self.roll("reset")

    def set_floor(self, seq: int) -> None:
        self.files.meta.write_text(
            json.dumps({"created": NOW.isoformat(), "updated": NOW.isoformat(), "floor_seq": seq}), "utf-8"
        )

    def forget(self) -> None:
        """Read with a tool that knows nothing of before."""
        self._tool = self.new_tool()

    async def call(self, *, limit_tokens: int | None = None, **arguments: Any) -> Any:
        """Return what a call gives, an error included."""
        context = ToolContext(session=self.session, limit=limit_tokens)
        return (await self._tool.run(arguments, context)).output

    async def all(self, field: str, **arguments: Any) -> list[dict[str, Any]]:
        """Return the entries of all answers, following their cursors."""
        found: list[dict[str, Any]] = []
        more: dict[str, Any] = {}
        while True:
            answer = await self.call(**arguments, **more)
            found += answer[field]
            if "cursor" not in answer:
                return found
            more = {"cursor": answer["cursor"]}


def tool_part(name: str = "read_file", *, given: object = None, gave: object = None, state: str = "done") -> ToolPart:
    return ToolPart(call_id="c1", name=name, input=given, output=gave, state=state)
