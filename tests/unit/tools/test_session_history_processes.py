import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.tools.history_chat import HistoryChat

ROOT = Path(__file__).parents[3]


class OtherProcess:
    """Another Muntin with the same chat open."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.unit.tools.history_process", str(root)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def call(self, **order: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@pytest.fixture
def other(chat: HistoryChat, tmp_path: Path) -> Iterator[OtherProcess]:
    other = OtherProcess(tmp_path)
    yield other
    other.process.communicate(timeout=30)
    assert other.process.returncode == 0


async def test_two_processes_that_append_in_turn_keep_each_others_cursors_alive(
    chat: HistoryChat, other: OtherProcess
) -> None:
    for number in range(8):
        chat.say(f"needle {number}")
    here: dict[str, Any] = {"action": "search", "query": "needle", "limit": 1}
    there: dict[str, Any] = {"action": "list_items", "recent_first": False, "limit": 1}
    found_here: list[str] = []
    found_there: list[str] = []

    for turn in range(6):
        answer = await chat.call(**here)
        found_here += [hit["item"] for hit in answer["hits"]]
        here["cursor"] = answer["cursor"]
        other.call(say=f"from over there {turn}")
        answer = other.call(**there)
        found_there += [item["item"] for item in answer["items"]]
        there["cursor"] = answer["cursor"]
        chat.last_seq = chat.store.repair()
        chat.say(f"from here {turn}")

    assert found_here == [f"#{8 - at}" for at in range(6)]
    assert found_there == [f"#{1 + at}" for at in range(6)]
    # A cursor of one process is good in the other.
    answer = other.call(**here)
    assert [hit["item"] for hit in answer["hits"]] == ["#2"]
