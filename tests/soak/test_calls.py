"""Kills a program that calls tools: context-windows.md, 17.3 and 17.7."""

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from app.domain.rows import Row, ToolPart
from app.history.files import ChatFiles
from app.history.reader import HistoryReader, RowEntry
from tests.soak.calling import RAN, Caller

KILLS = 6


@pytest.mark.soak
def test_kills_run_no_call_twice_and_none_without_a_trace(tmp_path: Path) -> None:
    random = Random(20261130)
    states: Counter[str] = Counter()
    for life in range(KILLS):
        _live_and_die(tmp_path, life, random.uniform(0.02, 0.4))
        session = asyncio.run(_reopen(tmp_path))
        rows = _rows(ChatFiles(tmp_path / "sessions" / session))
        calls = [part for row in rows for part in row.parts if isinstance(part, ToolPart)]
        ran = (tmp_path / RAN).read_text().split() if (tmp_path / RAN).exists() else []

        assert len(ran) == len(set(ran)), "no call runs twice"
        tokens = [part.input["token"] for part in calls]
        assert len(tokens) == len(set(tokens))
        assert set(ran) <= set(tokens), "what ran is in the history"
        assert {part.input["token"] for part in calls if part.state == "done"} <= set(ran)
        assert all(part.state in ("done", "interrupted") for part in calls)
        assert len({row.id for row in rows}) == len(rows)
        states = Counter(part.state for part in calls)
    assert states["done"] > KILLS
    assert states["interrupted"] > 0


def _live_and_die(root: Path, seed: int, seconds: float) -> None:
    command = [sys.executable, "-m", "tests.soak.calling", str(root), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"working\n"
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
        else:
            pytest.fail("the child ended by itself; its reason stands above")


async def _reopen(root: Path) -> str:
    """Open the chat as a new start does: what was cut becomes a row, and nothing is asked or run."""
    caller = Caller(root, Random(0))
    session = await caller.open()
    await caller.manager.close()
    assert caller.provider.requests == 0
    return session


def _rows(files: ChatFiles) -> list[Row]:
    entries = list(HistoryReader(files).entries_forward())
    assert all(isinstance(entry, RowEntry) for entry in entries)
    assert not files.partial.exists()
    return [entry.row for entry in entries if isinstance(entry, RowEntry)]
