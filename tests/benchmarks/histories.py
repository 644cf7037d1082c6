"""Histories to open: realistic messages, written straight to disk."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

from app.domain.rows import Boundary, RequestInfo, Role, Row, TextPart, ToolPart
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.library import Library
from app.history.sidecars import SessionMeta, write_sidecar
from app.history.store import Store
from app.providers.practice.rules import load_rules

MODEL = "practice/practice"
ASKED = ("What is Muntin?", "table", "write 500 words", "code", "How do I stop a reply?", "help", "write 200 words")
_START = datetime(2026, 1, 1, tzinfo=UTC)
_CHUNK_BYTES = 1_000_000
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


def make_history(root: Path, title: str, size: int, *, windows: int = 1, planted: str = "") -> str:
    """Make a chat of `size` bytes in `windows` context windows, of many kinds of text; return its id.

    All windows but the last lie in the archive. `planted` is said once, in the very first message.
    """
    library = Library(root)
    session = library.create(model=MODEL, now=datetime.now(UTC)).id
    files = library.files(session)
    first = _row(session, "planted", 1, "user", f"{planted} And now to something else.")
    files.archive.write_bytes(encode_row(first) + b"\n")
    seq = 1
    for number in range(windows):
        path = files.chat if number + 1 == windows else files.archive
        if number:
            seq += 1
            with path.open("ab") as file:
                file.write(encode_row(_boundary(session, seq)) + b"\n")
        seq = _fill(path, session, size // windows, seq, mixed=True)
    # With a receipt, as a chat has that was opened here.
    Store(files, session=session).repair()
    write_sidecar(files.meta, SessionMeta(title=title, model=MODEL))
    return session


def _boundary(session: str, seq: int) -> Row:
    boundary = Boundary(kind="rollover", context_tokens=96_000)
    created = _START + timedelta(seconds=seq % 20_000_000)
    return Row(
        boundary=boundary, id=f"{seq:024x}", session=session, seq=seq, role="user", kind="rollover", created=created
    )


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


def _mixed_rows(session: str) -> Iterator[Row]:
    """Yield rows of what chats hold beside English prose: results of tools, code with escapes, other scripts."""
    for number, (asked, answer) in enumerate(sample_texts()):
        yield _row(session, _ID, _SEQ, "user", asked)
        yield _row(session, _ID, _SEQ, "assistant", answer)
        listing = "\n".join(f'{line}\t"{word}"' for line, word in enumerate(answer.split()))
        call = ToolPart(
            call_id="call", name="read_file", input={"path": f"notes/{number}.txt"}, state="done", output=listing * 3
        )
        said = _row(session, _ID, _SEQ, "assistant", r"I read C:\users\notes; it says \upsilon.")
        yield said.model_copy(update={"parts": (*said.parts, call)})
        yield _row(session, _ID, _SEQ, "user", _OTHER_SCRIPTS[number % len(_OTHER_SCRIPTS)] * 6)


_OTHER_SCRIPTS = (
    "Die Straße führt über die Brücke; größere Boote müssen draußen ankern. ",
    "Москва слезам не верит, а поезд на север уходит в полночь. ",
    "京都の寺は朝が一番静かで、庭の苔がよく見える。",
    "Merci beaucoup 👍🏽 für die Karte 🗺️ und bis bald! ",
)


def _plain_rows(session: str) -> Iterator[Row]:
    for asked, answer in sample_texts():
        yield _row(session, _ID, _SEQ, "user", asked)
        yield _row(session, _ID, _SEQ, "assistant", answer)


def _fill(path: Path, session: str, size: int, seq: int, *, mixed: bool = False) -> int:
    """Add about `size` bytes of messages, each with an id and a number of its own; return the last number."""
    frames = []
    for row in _mixed_rows(session) if mixed else _plain_rows(session):
        line = encode_row(row) + b"\n"
        frames.append(line.replace(b"%", b"%%").replace(_ID.encode(), b"%024x").replace(b":900000000", b":%d"))
    with path.open("ab") as file:
        end = file.tell() + size
        while file.tell() < end:
            chunk: list[bytes] = []
            while sum(map(len, chunk)) < _CHUNK_BYTES:
                for frame in frames:
                    seq += 1
                    chunk.append(frame % (seq, seq, seq))
            file.writelines(chunk)
        os.fsync(file.fileno())
    return seq
