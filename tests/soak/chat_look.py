"""Everything one chat holds after a kill, read with nothing of Muntin's own: rows, versions, queue, draft, marks."""

import json
from collections import Counter
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import Any

from tests.soak.calling import LOOK, RAN
from tests.soak.look import Fields, look_behind, text_of


@dataclass(frozen=True)
class Found:
    """One chat as it lies on disk."""

    chat: list[Fields]
    branches: list[list[Fields]]
    queue: list[Fields]
    draft: str
    marks: list[str]
    """Tokens of the calls that ran, in the order in which they began."""
    problems: list[str]

    @property
    def rows(self) -> list[Fields]:
        return list(chain(self.chat, *self.branches))

    @property
    def calls(self) -> list[Fields]:
        return [part for row in self.rows for part in row.get("parts", []) if part["type"] == "tool"]

    @property
    def queued_ids(self) -> list[str]:
        return [message["id"] for message in self.queue]

    def places(self) -> Counter[str]:
        """Return how often each id is there: as a row, in a version, in the queue."""
        return Counter([*(row["id"] for row in self.rows), *self.queued_ids])

    def texts(self) -> list[tuple[str, str]]:
        """Return ids and texts of all that was written by the person or waits."""
        said = [(row["id"], text_of(row)) for row in self.rows if row["role"] == "user"]
        return said + [(message["id"], message["text"]) for message in self.queue]

    def ran_in_order(self, row: Fields) -> bool:
        """Whether every call of a row began behind those before it, but for neighbours that only read."""
        at = {token: number for number, token in enumerate(self.marks)}
        calls = [part for part in row.get("parts", []) if part["type"] == "tool"]
        groups: list[list[int]] = []
        for only_reads, parts in groupby(calls, key=lambda part: part["name"] == LOOK):
            numbers = [[at[token]] if (token := part["input"]["token"]) in at else [] for part in parts]
            groups += [list(chain(*numbers))] if only_reads else numbers
        ran = [group for group in groups if group]
        return all(max(before) < min(after) for before, after in pairwise(ran))


def look_at(folder: Path) -> Found:
    """Return what lies in a chat's folder; the marks lie two levels above it."""
    added = look_behind(folder, 0)
    branches = [_lines(path)[1:] for path in sorted((folder / "branches").glob("*.jsonl"))]
    marks = folder.parents[1] / RAN
    return Found(
        chat=added.rows,
        branches=branches,
        queue=_read(folder / "queue.json").get("messages", []),
        draft=_read(folder / "draft.json").get("text", ""),
        marks=marks.read_text("utf-8").split() if marks.exists() else [],
        problems=added.problems,
    )


def leftovers(folder: Path) -> list[str]:
    """Return what must not lie there once a chat was opened."""
    names = [path.name for pattern in ("partial.json", ".*.tmp", "*.damaged") for path in folder.rglob(pattern)]
    torn = look_behind(folder, 0).torn_bytes
    return names + ([f"{torn} torn bytes"] if torn else [])


def _lines(path: Path) -> list[Fields]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _read(path: Path) -> Any:
    return json.loads(path.read_bytes()) if path.exists() else {}
