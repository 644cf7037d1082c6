import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.memory.paths import parse_path
from app.memory.store import MemoryStore
from app.memory.uses import USES_FILE, Use, read_uses, write_uses

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def test_uses_are_kept(root: Path) -> None:
    root.mkdir()
    uses = {"a.md": Use(3, NOW, is_pinned=True), "b.md": Use(1, NOW), "c.md": Use(is_pinned=True)}
    write_uses(root, uses | {"unused": Use()})
    assert read_uses(root) == uses


def test_each_use_counts_and_the_last_one_is_known(store: MemoryStore) -> None:
    path = parse_path("/memories/global/A.md")
    store.put(path, "x", expected="")
    store.note_use(path, datetime(2026, 11, 1, tzinfo=UTC))
    store.note_use(parse_path("/memories/global/a.MD"), NOW)
    entry = store.listing().entries[0]
    assert (entry.uses, entry.last_used) == (2, NOW)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"files": 3}',
        b'{"files": {"a.md": 3}}',
        b"\xff",
        b"[" * 5_000,
        b'{"files": {"a.md": {}}}',
    ],
)
def test_a_damaged_file_counts_as_none(root: Path, store: MemoryStore, content: bytes) -> None:
    path = parse_path("/memories/global/a.md")
    store.put(path, "x", expected="")
    (root / USES_FILE).write_bytes(content)
    assert store.listing().entries[0].uses == 0
    store.note_use(path, NOW)
    assert store.listing().entries[0].uses == 1


@pytest.mark.parametrize(
    ("raw", "use"),
    [
        ({"uses": -3, "pinned": True}, Use(0, None, is_pinned=True)),
        ({"uses": True, "pinned": 1, "last_used": NOW.isoformat()}, Use(0, NOW)),
        ({"uses": "3", "last_used": NOW.isoformat()}, Use(0, NOW)),
        ({"uses": 3, "last_used": "yesterday"}, Use(3)),
        ({"uses": 3, "last_used": "2026-11-30T12:00:00"}, Use(3)),
        ({"uses": 10**30}, Use(1_000_000)),
    ],
)
def test_what_makes_no_sense_in_it_is_passed_over(root: Path, raw: dict[str, object], use: Use) -> None:
    root.mkdir()
    (root / USES_FILE).write_text(json.dumps({"v": 1, "files": {"a.md": raw}}))
    assert read_uses(root) == {"a.md": use}
