from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from app.domain.memories import NOTES_PATH, MemoryScope
from app.memory.notes import has_notes, set_notes_aside
from app.memory.paths import parse_path
from app.memory.store import MemoryStore

TODAY = date(2026, 11, 30)
NOTES = parse_path(NOTES_PATH)


@pytest.fixture
def workspace(tmp_path: Path) -> MemoryStore:
    (tmp_path / "chat").mkdir()
    return MemoryStore(tmp_path / "chat" / "memory", MemoryScope.WORKSPACE)


def test_without_notes_nothing_happens(workspace: MemoryStore) -> None:
    assert not has_notes(workspace)
    assert set_notes_aside(workspace, TODAY) == ""
    assert workspace.listing().entries == ()


def test_they_are_renamed_each_time_to_a_name_of_its_own(workspace: MemoryStore) -> None:
    names = []
    for number in range(3):
        workspace.put(NOTES, f"notes {number}", expected="")
        workspace.note_use(NOTES, datetime(2026, 11, 30, tzinfo=UTC))
        workspace.pin(NOTES, on=True)
        assert has_notes(workspace)
        names.append(set_notes_aside(workspace, TODAY))
        assert not has_notes(workspace)
    assert names == [f"/memories/workspace/context-notes-2026-11-30{end}.md" for end in ("", "-2", "-3")]
    assert [workspace.read(parse_path(name)).text for name in names] == ["notes 0", "notes 1", "notes 2"]
    assert not any(entry.is_pinned for entry in workspace.listing().entries)
