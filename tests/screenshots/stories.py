"""Writes chats into a data folder before the program starts, as if they had been had with it."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from app.domain.ids import new_id
from app.domain.rows import Boundary, Part, RequestInfo, Role, Row, TextPart, ToolPart
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.library import Library
from app.history.sidecars import SessionMeta, write_sidecar

PROVIDER: Final = "anthropic"
MODEL: Final = "claude-sonnet-5-5"
VARIABLE: Final = "ANTHROPIC_API_KEY"
"""In which its key may stand."""
_MINUTES_A_MESSAGE: Final = 4
_HOURS_A_WINDOW: Final = 23


def write_story(root: Path, story: str) -> str:
    """Write one chat of `kyoto.py`; return its id."""
    head, *lines = story.splitlines()
    title, _, days = head.partition(" | ")
    library = Library(root)
    used = datetime.now(UTC) - timedelta(days=int(days), hours=1)
    session = library.create(model=f"{PROVIDER}/{MODEL}", now=used).id
    rows = _Rows(session, _begin(lines, used))
    for block in re.split(r"\n(?=[>?<-])", "\n".join(lines)):
        rows.add(block)
    files = library.files(session)
    _write(files, rows.made)
    floor = max((row.seq or 0 for row in rows.made if row.boundary and row.boundary.kind == "reset"), default=None)
    meta = SessionMeta(title=title, model=f"{PROVIDER}/{MODEL}", created=used, updated=used, floor_seq=floor)
    write_sidecar(files.meta, meta)
    return session


class _Rows:
    """Makes rows of blocks, numbered from 1, each some minutes after the one before."""

    def __init__(self, session: str, begun: datetime) -> None:
        self.made: list[Row] = []
        self._session = session
        self._now = begun
        self._query = ""

    def add(self, block: str) -> None:
        """Add what a block of lines says."""
        mark, _, text = block.partition(" ")
        match mark:
            case ">":
                self._row("user", (TextPart(text=text),))
            case "?":
                self._query = text
            case "<":
                self._row("assistant", (*self._calls(), TextPart(text=text)))
            case _:
                kind, _, tokens = text.partition(" ")
                self._now += timedelta(hours=_HOURS_A_WINDOW)
                self._row("user", (), Boundary(kind=kind, context_tokens=int(tokens)))

    def _calls(self) -> tuple[Part, ...]:
        query, self._query = self._query, ""
        if not query:
            return ()
        found = [row for row in self.made[:-1] if query in row.text.lower()]
        hits = [{"item_id": f"#{row.seq}", "role": row.role, "snippet": row.text} for row in found]
        call = {"action": "search", "query": query}
        output = {"action": "search", "hits": hits, "exhausted": True}
        return (ToolPart(call_id=new_id(), name="session_history", input=call, state="done", output=output),)

    def _row(self, role: Role, parts: tuple[Part, ...], boundary: Boundary | None = None) -> None:
        self._now += timedelta(minutes=_MINUTES_A_MESSAGE)
        row = Row(
            boundary=boundary,
            id=new_id(),
            session=self._session,
            seq=len(self.made) + 1,
            role=role,
            created=self._now,
            kind=boundary.kind if boundary is not None else "message",
            request=RequestInfo(provider=PROVIDER, model=MODEL) if role == "assistant" else None,
            parts=parts,
        )
        self.made.append(row)


def _begin(lines: list[str], used: datetime) -> datetime:
    """Return when a chat began that was used last at `used`."""
    messages = sum(line[:2] in ("> ", "< ") for line in lines)
    windows = sum(line.startswith("--- ") for line in lines)
    return used - timedelta(hours=_HOURS_A_WINDOW * windows, minutes=_MINUTES_A_MESSAGE * (messages + windows))


def _write(files: ChatFiles, rows: list[Row]) -> None:
    files.chat.write_bytes(b"".join(encode_row(row) + b"\n" for row in rows))
