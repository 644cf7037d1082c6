"""What is told to be saved survives a power failure, and nothing goes before what stands for it is on disk.

See context-windows.md, 3 and 4.
"""

from pathlib import Path

import pytest

from app.disk import make_private_folder
from app.domain.rows import Row
from app.history.codec import MAX_LINE_BYTES
from app.history.files import ChatFiles
from app.history.rotation import Rotation
from app.history.sidecars import SessionMeta, write_sidecar
from app.history.store import Store
from tests.fakes.disk_log import DiskLog
from tests.unit.history.rows import SESSION, boundary_row, open_store, text_row

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="asks Linux for the name of an open file")

NO_MATTER = {"receipt.json", "windows.json"}
"""Files that may be lost at any time."""


@pytest.fixture
def disk(files: ChatFiles) -> DiskLog:
    return DiskLog(files.folder)


def three_windows(files: ChatFiles) -> Store:
    store = open_store(files)
    rows = [text_row("a"), boundary_row("first"), text_row("b"), boundary_row("second", "reset"), text_row("c")]
    for last_seq, row in enumerate(rows):
        store.append([row], expected_last_seq=last_seq)
    return store


def rotate(files: ChatFiles, store: Store) -> None:
    rotation = Rotation(files, store, piece_bytes=300)
    while rotation.step():
        pass


def test_an_acknowledged_row_and_what_it_stands_on_are_on_disk(files: ChatFiles, disk: DiskLog) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    with disk.watching():
        store.append([text_row("b", "x" * (MAX_LINE_BYTES + 1))], expected_last_seq=1)
    (blob,) = (path.name for path in files.blobs.iterdir())
    assert {step for step, name in disk.steps if name == blob} & {"write", "replace"}
    assert disk.loose_before("write", "chat.jsonl") <= NO_MATTER
    assert disk.loose_names <= NO_MATTER


def test_a_torn_end_is_on_disk_elsewhere_before_it_is_cut(files: ChatFiles, disk: DiskLog) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    with files.chat.open("ab") as file:
        file.write(b'{"v":1,"id":"b","sess')
    with disk.watching():
        store.repair()
    assert [name for step, name in disk.steps if step == "write" and name.endswith(".damaged")]
    assert disk.loose_before("truncate", "chat.jsonl") <= NO_MATTER
    assert "chat.jsonl" not in disk.loose_names


def test_a_rewrite_is_on_disk_before_it_takes_the_place_of_the_old(files: ChatFiles, disk: DiskLog) -> None:
    store = open_store(files)
    store.append([text_row("a"), text_row("b")], expected_last_seq=0)

    def without_a(row: Row) -> Row | None:
        return None if row.id == "a" else row

    with disk.watching():
        assert store.rewrite(without_a)
    assert "the new content" not in disk.loose_before("replace", "chat.jsonl")
    after = disk.steps[disk.steps.index(("replace", "chat.jsonl")) :]
    assert ("sync", files.folder.name) in after


def test_a_move_is_told_durably_and_nothing_leaves_before_it_has_arrived(files: ChatFiles, disk: DiskLog) -> None:
    store = three_windows(files)
    with disk.watching():
        rotate(files, store)
    first = disk.steps.index(("write", "chat-archive.jsonl"))
    told = [loose for step, name, loose in disk.happened[:first] if (step, name) == ("replace", "receipt.json")]
    # Others tell that a piece is being copied; those may be lost.
    assert any("the new content" not in loose for loose in told)
    assert files.folder.name not in disk.loose_before("write", "chat-archive.jsonl")
    assert "chat-archive.jsonl" not in disk.loose_before("replace", "chat.jsonl")
    assert "the new content" not in disk.loose_before("replace", "chat.jsonl")
    assert ("sync", files.folder.name) in disk.steps[disk.steps.index(("replace", "chat.jsonl")) :]
    assert disk.loose_names <= NO_MATTER


def test_what_is_taken_back_stays_away(files: ChatFiles, disk: DiskLog) -> None:
    store = three_windows(files)
    rotation = Rotation(files, store, piece_bytes=300)
    while not files.archive.exists():
        rotation.step()
    with disk.watching(), store.settled():
        store.end_move()
    assert ("truncate", "chat-archive.jsonl") in disk.steps
    assert "chat-archive.jsonl" not in disk.loose_names


def test_a_copy_of_edited_lines_is_on_disk_elsewhere_before_it_is_cut(files: ChatFiles, disk: DiskLog) -> None:
    store = three_windows(files)
    rotation = Rotation(files, store, piece_bytes=300)
    while not files.archive.exists():
        rotation.step()
    with files.chat.open("r+b") as file:
        file.write(files.chat.read_bytes().replace(b"text of a", b"word of a"))
    with disk.watching():
        Store(ChatFiles(files.folder), session=SESSION).repair()
        rotate(files, Store(ChatFiles(files.folder), session=SESSION))
    (aside,) = files.folder.glob("archive-*.damaged")
    cut = disk.steps.index(("truncate", "chat-archive.jsonl"))
    assert ("write", aside.name) in disk.steps[:cut]
    assert not disk.loose_before("truncate", "chat-archive.jsonl") & {aside.name, files.folder.name}


def test_the_floor_is_on_disk_before_anything_follows(files: ChatFiles, disk: DiskLog) -> None:
    make_private_folder(files.folder)
    with disk.watching():
        write_sidecar(files.meta, SessionMeta(floor_seq=3))
    assert disk.steps
    assert not disk.loose
