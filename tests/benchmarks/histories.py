"""Histories to open: realistic messages, written straight to disk."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

from app.domain.rows import RequestInfo, Role, Row, TextPart
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.library import Library
from app.history.sidecars import SessionMeta, write_sidecar
from app.providers.practice.rules import load_rules

MODEL = "practice/practice"
ASKED = ("What is Muntin?", "table", "write 500 words", "code", "How do I stop a reply?", "help", "write 200 words")
_START = datetime(2026, 1, 1, tzinfo=UTC)
_ROUNDS = 500
_ID = "0123456789abcdef01234567"
_SEQ = 900_000_000


def make_chat(root: Path, title: str, rows: int, *, archive_bytes: int = 0, active_bytes: int = 0) -> str:
    """Make a chat that ends with `rows` messages; return its id.

    Before them lie `archive_bytes` of older messages in the archive and `active_bytes` in the active file.
    """
    library = Library(root)
    session = library.create(model=MODEL, now=datetime.now(UTC)).id
    files = library.files(session)
    seq = 0
    for path, wanted in ((files.archive, archive_bytes), (files.chat, active_bytes)):
        if wanted:
            seq = _fill(path, session, wanted, seq)
    _append(files, session, rows, seq)
    write_sidecar(files.meta, SessionMeta(title=title, model=MODEL))
    return session


def sample_texts() -> list[tuple[str, str]]:
    """Return what people ask and what the Practice model answers."""
    rules = load_rules()
    return [(asked, rules.answer(asked).text) for asked in ASKED]


def _append(files: ChatFiles, session: str, rows: int, seq: int) -> None:
    lines = [encode_row(row) + b"\n" for row, _ in zip(_rows(session, seq), range(rows), strict=False)]
    with files.chat.open("ab") as file:
        file.writelines(lines)


def _rows(session: str, seq: int) -> Iterator[Row]:
    for asked, answer in cycle(sample_texts()):
        for role, text in (("user", asked), ("assistant", answer)):
            seq += 1
            yield _row(session, f"{seq:024x}", seq, "user" if role == "user" else "assistant", text)


def _row(session: str, row_id: str, seq: int, role: Role, text: str) -> Row:
    request = RequestInfo(provider="practice", model="practice") if role == "assistant" else None
    created = _START + timedelta(seconds=seq % 20_000_000)
    parts = (TextPart(text=text),)
    return Row(
        id=row_id, session=session, seq=seq, role=role, turn=row_id, created=created, request=request, parts=parts
    )


def _fill(path: Path, session: str, size: int, seq: int) -> int:
    """Write about `size` bytes of messages, each with an id and a number of its own; return the last number."""
    frames = []
    for asked, answer in sample_texts():
        for role, text in (("user", asked), ("assistant", answer)):
            line = encode_row(_row(session, _ID, _SEQ, "user" if role == "user" else "assistant", text)) + b"\n"
            frames.append(line.replace(b"%", b"%%").replace(_ID.encode(), b"%024x").replace(b":900000000", b":%d"))
    with path.open("wb") as file:
        while file.tell() < size:
            chunk = []
            for _ in range(_ROUNDS):
                for frame in frames:
                    seq += 1
                    chunk.append(frame % (seq, seq, seq))
            file.writelines(chunk)
        os.fsync(file.fileno())
    return seq
