"""Several programs at the same memories, one of them killed, and a disk that is full."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.memory.store import MemoryStore
from tests.unit.memory.writing_process import PATH

ROOT = Path(__file__).parents[3]


def start(root: Path, *order: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.unit.memory.writing_process", str(root), *order]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_programs_that_write_the_same_memory_lose_nothing(root: Path, store: MemoryStore) -> None:
    store.put(PATH, "", expected="")
    running = [start(root, "add", letter, "25") for letter in "ab"]
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    text = store.read(PATH).text
    assert (text.count("a"), text.count("b"), len(text)) == (25, 25, 50)


@pytest.mark.parametrize("round_", range(4))
def test_a_program_that_is_killed_while_it_writes_leaves_a_whole_memory(
    root: Path, store: MemoryStore, round_: int
) -> None:
    process = start(root, "forever")
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    for _ in range(round_):
        store.read(PATH)
    process.kill()
    process.communicate(timeout=30)

    text = store.read(PATH).text
    assert len(text) == 50_000
    assert len(set(text)) == 1
    # The lock of the dead is free, and what it left in the way is swept.
    store.put(PATH, "mine", expected=store.version(PATH))
    left = sorted(each.name for each in root.iterdir())
    assert [name for name in left if name.startswith(".shared")] == []
    assert [entry.name for entry in store.listing().entries] == ["shared.md"]


@pytest.mark.skipif(os.name == "nt", reason="no such limit there")
def test_a_full_disk_keeps_what_was_there_and_is_told_in_words(root: Path, store: MemoryStore) -> None:
    before = store.put(PATH, "old", expected="")
    process = start(root, "full")
    told, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert told.startswith("/memories/global/shared.md can't be saved: ")
    assert store.read(PATH) == before
    assert [each.name for each in root.iterdir() if each.name.endswith(".tmp")] == []
