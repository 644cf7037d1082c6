"""What lies in a chat's folder, read with nothing of Muntin's own: the witness of the soak test."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Fields = dict[str, Any]
"""One line of history as plain JSON."""


@dataclass
class Added:
    """What was found behind a position of the stretch: the archive, then `chat.jsonl`.

    `batches` holds whole batches in file order, a single row being a batch of one.
    """

    batches: list[list[Fields]] = field(default_factory=list)
    torn_bytes: int = 0
    """Bytes of a line or a batch that was not written to its end."""
    problems: list[str] = field(default_factory=list)
    end: int = 0
    """Size of the stretch."""

    @property
    def rows(self) -> list[Fields]:
        return [row for batch in self.batches for row in batch]

    @property
    def ids(self) -> set[str]:
        return {row["id"] for row in self.rows}


def read_stretch(folder: Path, position: int) -> bytes:
    """Return what lies behind `position`. What a move to the archive has copied so far does not count."""
    archive, chat = folder / "chat-archive.jsonl", folder / "chat.jsonl"
    archived = archive.stat().st_size if archive.exists() else 0
    receipt = folder / "receipt.json"
    move = json.loads(receipt.read_bytes()).get("move") if receipt.exists() else None
    if move is not None and chat.exists() and chat.stat().st_ino == move["inode"]:
        archived = min(archived, move["archive_size"])
    return _read(archive, position, archived) + _read(chat, max(0, position - archived))


def _read(path: Path, start: int, end: int | None = None) -> bytes:
    if not path.exists() or (end is not None and start >= end):
        return b""
    with path.open("rb") as file:
        file.seek(start)
        return file.read(-1 if end is None else end - start)


def is_reset(row: Fields) -> bool:
    """Whether a row is a manual reset."""
    return bool(row.get("boundary", {}).get("kind") == "reset")


def look_behind(folder: Path, position: int) -> Added:
    """Return what was added behind `position` of the stretch; only the very end may be torn."""
    data = read_stretch(folder, position)
    added = Added(end=position + len(data))
    lines = data.split(b"\n")
    tail = lines.pop()
    try:
        rows: list[Fields] = [json.loads(line) for line in lines]
        if tail:
            # A whole row that lacks its line feed counts; a piece of one does not.
            rows += _whole(tail)
            added.torn_bytes += 0 if _whole(tail) else len(tail)
    except ValueError as error:
        added.problems.append(f"a line before the last is damaged: {error}")
        return added
    while rows:
        count = rows[0].get("batch", {}).get("count", 1)
        batch, rows = rows[:count], rows[count:]
        if len(batch) == count:
            added.batches.append(batch)
            added.problems += _batch_problems(batch)
        elif tail or not rows:
            added.torn_bytes += sum(len(json.dumps(row)) for row in batch)
    return added


def _whole(tail: bytes) -> list[Fields]:
    try:
        return [json.loads(tail)]
    except ValueError:
        return []


def _batch_problems(batch: list[Fields]) -> list[str]:
    if len(batch) == 1:
        return []
    names = [(row.get("batch", {}).get("id"), row.get("batch", {}).get("index")) for row in batch]
    expected = [(names[0][0], index) for index in range(len(batch))]
    return [] if names == expected else [f"a batch is mixed up: {names}"]


def read_partial(path: Path) -> Fields | None:
    """Return the reply that was being written, None if there is none. Raises ValueError if it is damaged."""
    if not path.exists():
        return None
    found = json.loads(path.read_bytes())
    if not isinstance(found, dict):
        raise TypeError("partial.json holds no object")
    return found


def text_of(row: Fields) -> str:
    """Return the text of all parts of a row, reasoning included."""
    return "".join(part.get("text", "") for part in row.get("parts", []))


def blob_problems(row: Fields, blobs: Path) -> list[str]:
    """Return what is wrong with the blobs a row names."""
    problems = []
    for part in row.get("parts", []):
        blob = part.get("blob")
        if blob is None:
            continue
        path = blobs / blob["sha256"]
        if not path.exists():
            problems.append(f"row {row['id']} names a blob that is not there")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != blob["sha256"]:
            problems.append(f"the blob of row {row['id']} is altered")
    return problems
