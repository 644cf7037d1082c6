import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.disk import write_atomic
from app.domain.errors import StorageError
from app.domain.memories import MAX_FILE_BYTES, MAX_FILES, MemoryScope
from app.memory.faults import BadPath, MemoryChanged, MemoryFault, NoSuchMemory, NotText
from app.memory.paths import MemoryPath, parse_path
from app.memory.places import MOST_LOOKED_AT
from app.memory.store import MemoryStore

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def at(name: str) -> MemoryPath:
    return parse_path(f"/memories/global/{name}")


def names(store: MemoryStore) -> list[str]:
    return [entry.name for entry in store.listing().entries]


def test_nothing_is_there_and_nothing_is_made_by_looking(root: Path, store: MemoryStore) -> None:
    assert store.listing().entries == ()
    assert store.version(at("a.md")) == ""
    with pytest.raises(NoSuchMemory):
        store.read(at("a.md"))
    assert not root.exists()


def test_a_memory_is_read_as_it_was_written(root: Path, store: MemoryStore) -> None:
    written = store.put(at("deep/a.md"), "One\nTwo é\n", expected="")
    assert store.read(at("deep/a.md")) == written
    assert written.version == store.version(at("deep/a.md")) != ""
    entry = store.listing().entries[0]
    assert (entry.path, entry.scope, entry.name) == ("/memories/global/deep/a.md", MemoryScope.GLOBAL, "deep/a.md")
    assert (entry.size_bytes, entry.uses, entry.last_used, entry.is_pinned) == (11, 0, None, False)
    if os.name != "nt":
        assert root.stat().st_mode & 0o777 == 0o700
        assert (root / "deep" / "a.md").stat().st_mode & 0o777 == 0o600


def test_ends_of_lines_and_broken_characters_are_made_whole(store: MemoryStore) -> None:
    assert store.put(at("a"), "One\r\nTwo\ud800", expected="").text == "One\nTwo\ufffd"


def test_a_write_for_another_version_changes_nothing_and_tells_what_is_there(store: MemoryStore) -> None:
    first = store.put(at("a.md"), "first", expected="")
    second = store.put(at("a.md"), "second", expected=first.version)
    for expected in ("", first.version):
        with pytest.raises(MemoryChanged) as fault:
            store.put(at("A.MD"), "third", expected=expected)
        assert fault.value.theirs == second
    with pytest.raises(MemoryChanged):
        store.delete(at("a.md"), expected=first.version)
    with pytest.raises(MemoryChanged):
        store.rename(at("a.md"), at("b.md"), expected=first.version)
    assert store.read(at("a.md")) == second


def test_a_memory_that_is_gone_is_no_version(store: MemoryStore) -> None:
    first = store.put(at("a.md"), "first", expected="")
    store.delete(at("a.md"))
    with pytest.raises(MemoryChanged) as fault:
        store.put(at("a.md"), "second", expected=first.version)
    assert fault.value.theirs is None


@pytest.mark.parametrize(("size", "fits"), [(MAX_FILE_BYTES, True), (MAX_FILE_BYTES + 1, False)])
def test_a_memory_has_at_most_100_kib(store: MemoryStore, size: int, fits: bool) -> None:
    if fits:
        assert len(store.put(at("a"), "x" * size, expected="").text) == size
    else:
        with pytest.raises(MemoryFault, match="at most 102,400"):
            store.put(at("a"), "x" * size, expected="")
        assert names(store) == []


def test_a_scope_has_at_most_1000_files(root: Path, store: MemoryStore) -> None:
    (root / "many").mkdir(parents=True)
    for number in range(MAX_FILES - 1):
        (root / "many" / f"{number}.md").touch()
    store.put(at("last.md"), "x", expected="")
    with pytest.raises(MemoryFault, match="1,000"):
        store.put(at("more.md"), "x", expected="")
    store.put(at("last.md"), "y", expected=None)
    store.rename(at("last.md"), at("renamed.md"))
    removed = store.take(at("renamed.md"))
    store.put(at("other.md"), "x", expected="")
    with pytest.raises(MemoryFault, match="1,000"):
        store.put_back(removed)


def test_however_much_a_person_put_there_only_so_much_is_looked_at(root: Path, store: MemoryStore) -> None:
    root.mkdir()
    for number in range(MOST_LOOKED_AT + 1):
        (root / f"{number}.md").touch()
    listing = store.listing()
    assert len(listing.entries) == MOST_LOOKED_AT
    assert not listing.is_complete


def test_what_no_memory_may_be_is_counted_and_left_alone(root: Path, store: MemoryStore) -> None:
    root.mkdir()
    for name in ("good.md", "con", "a~1", ".DS_Store", ".left.md.0a1b2c3d.tmp"):
        (root / name).touch()
    listing = store.listing()
    assert ([entry.name for entry in listing.entries], listing.others) == (["good.md"], 2)


def test_a_folder_is_no_file_and_a_file_no_folder(store: MemoryStore) -> None:
    store.put(at("folder/a.md"), "x", expected="")
    with pytest.raises(BadPath, match="is a folder"):
        store.put(at("folder"), "x", expected=None)
    with pytest.raises(NoSuchMemory, match="is a folder"):
        store.read(at("folder"))
    with pytest.raises(BadPath, match="is a file"):
        store.put(at("folder/a.md/b.md"), "x", expected="")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b", b"x" * (MAX_FILE_BYTES + 1)])
def test_what_is_no_text_can_be_deleted_and_put_back_but_not_read(
    root: Path, store: MemoryStore, content: bytes
) -> None:
    root.mkdir()
    (root / "a.bin").write_bytes(content)
    with pytest.raises(NotText):
        store.read(at("a.bin"))
    with pytest.raises(MemoryChanged) as fault:
        store.put(at("a.bin"), "text", expected="")
    assert fault.value.theirs is None
    removed = store.take(at("a.bin"))
    assert names(store) == []
    store.put_back(removed)
    assert (root / "a.bin").read_bytes() == content


def test_a_nul_character_is_refused(store: MemoryStore) -> None:
    with pytest.raises(MemoryFault, match="NUL"):
        store.put(at("a"), "a\0b", expected="")


def test_deleting_a_folder_takes_all_in_it_and_the_folders_left_empty(root: Path, store: MemoryStore) -> None:
    for name in ("a/b/one.md", "a/b/two.md", "c.md"):
        store.put(at(name), "x", expected="")
    store.pin(at("a/b/one.md"), on=True)
    assert store.delete(at("a/b")) == ("/memories/global/a/b/one.md", "/memories/global/a/b/two.md")
    assert names(store) == ["c.md"]
    assert sorted(each.name for each in root.iterdir() if not each.name.startswith(".")) == ["c.md"]
    store.put(at("a/b/one.md"), "x", expected="")
    assert not store.listing().entries[0].is_pinned


def test_the_scope_itself_stays(store: MemoryStore) -> None:
    store.put(at("a"), "x", expected="")
    with pytest.raises(BadPath):
        store.delete(parse_path("/memories/global"))
    with pytest.raises(BadPath):
        store.rename(parse_path("/memories/global"), at("b"))
    with pytest.raises(BadPath):
        store.rename(at("a"), parse_path("/memories/global"))


def test_renaming_keeps_what_is_known_of_a_memory(store: MemoryStore) -> None:
    store.put(at("a/one.md"), "x", expected="")
    store.note_use(at("a/one.md"), NOW)
    store.pin(at("a/one.md"), on=True)
    assert store.rename(at("a"), at("b/c")) == "/memories/global/b/c"
    entry = store.listing().entries[0]
    assert (entry.name, entry.uses, entry.last_used, entry.is_pinned) == ("b/c/one.md", 1, NOW, True)
    assert store.rename(at("b/c/one.md"), at("b/c/One.md")).endswith("One.md")
    assert names(store) == ["b/c/One.md"]
    assert store.listing().entries[0].is_pinned


def test_nothing_is_renamed_over_something_or_into_itself(store: MemoryStore) -> None:
    store.put(at("a/one.md"), "one", expected="")
    store.put(at("two.md"), "two", expected="")
    for old, new in (("two.md", "A/ONE.md"), ("a/one.md", "two.md"), ("a", "two.md"), ("a", "a/b"), ("none", "b")):
        with pytest.raises(MemoryFault):
            store.rename(at(old), at(new))
    assert names(store) == ["a/one.md", "two.md"]


def test_a_folder_is_not_moved_so_deep_that_nobody_could_reach_into_it(store: MemoryStore) -> None:
    store.put(at("a/b/c/d/e/f/g/h"), "x", expected="")
    with pytest.raises(BadPath):
        store.rename(at("a"), at("z/a"))
    assert names(store) == ["a/b/c/d/e/f/g/h"]


def test_a_deleted_memory_comes_back_as_it_was(store: MemoryStore) -> None:
    store.put(at("a/one.md"), "x", expected="")
    store.note_use(at("a/one.md"), NOW)
    store.pin(at("a/one.md"), on=True)
    before = store.listing().entries[0]
    removed = store.take(at("a/one.md"))
    assert names(store) == []
    store.put_back(removed)
    after = store.listing().entries[0]
    assert (after.name, after.uses, after.is_pinned) == (before.name, 1, True)
    with pytest.raises(MemoryChanged):
        store.put_back(removed)


def test_the_folder_of_a_deleted_chat_does_not_come_back(tmp_path: Path) -> None:
    workspace = MemoryStore(tmp_path / "chat" / "memory", MemoryScope.WORKSPACE)
    with pytest.raises(MemoryFault, match="not there any more"):
        workspace.put(parse_path("/memories/workspace/a"), "x", expected="")
    assert not (tmp_path / "chat").exists()


def test_threads_that_write_the_same_memory_lose_nothing(root: Path) -> None:
    stores = [MemoryStore(root, MemoryScope.GLOBAL) for _ in range(2)]
    stores[0].put(at("a"), "", expected="")

    def add(store: MemoryStore, letter: str) -> None:
        for _ in range(20):
            while True:
                before = store.read(at("a"))
                try:
                    store.put(at("a"), before.text + letter, expected=before.version)
                except MemoryChanged:
                    continue
                break

    threads = [threading.Thread(target=add, args=(store, letter)) for store in stores for letter in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    text = stores[0].read(at("a")).text
    assert (text.count("a"), text.count("b")) == (40, 40)


def test_what_a_kill_left_is_swept_by_the_next_write(root: Path, store: MemoryStore) -> None:
    root.mkdir()
    (root / ".a.md.01234567.tmp").write_text("half")
    (root / ".01234567.tmp").mkdir()
    (root / ".01234567.tmp" / "deleted.md").write_text("x")
    store.put(at("a.md"), "whole", expected="")
    assert sorted(each.name for each in root.iterdir()) == [".lock", "a.md"]


def test_a_place_that_is_taken_by_a_file_is_told_in_words(root: Path, store: MemoryStore) -> None:
    root.write_text("no folder")
    with pytest.raises((StorageError, MemoryFault)):
        store.put(at("a.md"), "x", expected="")
    with pytest.raises((StorageError, MemoryFault)):
        store.read(at("a.md"))


def test_uses_that_cannot_be_kept_cost_comfort_only(root: Path, store: MemoryStore) -> None:
    store.put(at("a.md"), "x", expected="")
    (root / ".uses.json").mkdir()
    store.note_use(at("a.md"), NOW)
    store.rename(at("a.md"), at("b.md"))
    assert names(store) == ["b.md"]
    with pytest.raises(StorageError):
        store.pin(at("b.md"), on=True)
    write_atomic(root / "c.md", b"x", durable=False)
    assert names(store) == ["b.md", "c.md"]
