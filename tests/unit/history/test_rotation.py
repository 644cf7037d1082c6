"""Sealed windows move to the archive, and nothing of them is ever lost, doubled or changed."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.disk import make_private_folder
from app.domain.errors import ChatNotFound, DuplicateRow, StorageError
from app.domain.rows import Row
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.receipt import read_receipt
from app.history.rotation import SPARE_BYTES, Rotation
from app.history.store import Store
from app.history.windows_index import IndexKeeper
from tests.unit.history.rows import SESSION, all_labels, boundary_row, open_store, text_row
from tests.unit.history.test_windows_index import any_file, built, described, pages_read, rebuilt

PIECE = 300
"""Bytes of a piece in these tests: two rows or so."""
DISK_CALLS = {os.write, os.fsync, os.ftruncate, os.rename, os.replace, os.open, os.unlink}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills itself with fork and signals")


def stretch(files: ChatFiles) -> bytes:
    """Both files as readers see them: what a rotation has copied so far does not count."""
    archive = files.archive.read_bytes() if files.archive.exists() else b""
    receipt = read_receipt(files)
    stat = files.chat.stat()
    if receipt is not None and receipt.move is not None and receipt.move.inode == stat.st_ino:
        archive = archive[: receipt.move.archive_size]
    return archive + files.chat.read_bytes()


def write_chat(files: ChatFiles) -> list[str]:
    """Three windows, all in the active file; return the ids of their rows."""
    store = open_store(files)
    rows = [text_row(f"a{number}") for number in range(4)]
    rows += [boundary_row("first"), *(text_row(f"b{number}") for number in range(3)), boundary_row("second", "reset")]
    rows += [text_row("c0"), text_row("c1")]
    for last_seq, row in enumerate(rows):
        store.append([row], expected_last_seq=last_seq)
    return [row.id for row in rows]


def rotate(files: ChatFiles, store: Store | None = None) -> None:
    """Rotate as the next holder of the lease does."""
    if store is None:
        store = Store(ChatFiles(files.folder), session=SESSION)
        store.repair()
    go_on(Rotation(files, store, piece_bytes=PIECE))


def go_on(rotation: Rotation) -> None:
    for _ in range(1_000):
        if not rotation.step():
            return
    raise AssertionError("never comes to an end")


def die_at(count: int, work: Callable[[], None]) -> bool:
    """Run `work` in a child that is killed before its call number `count` to the disk; return whether it was."""
    child = os.fork()
    if child == 0:
        seen = 0

        def watch(frame: FrameType, event: str, called: object) -> None:
            nonlocal seen
            if event == "c_call" and called in DISK_CALLS:
                seen += 1
                if seen == count:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(watch)
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def check_whole(files: ChatFiles, ids: list[str], data: bytes) -> None:
    """Every row is seen once, before and after the next holder has looked after the files."""
    assert all_labels(files) == ids
    assert stretch(files) == data
    assert [window.kind for window in built(IndexKeeper(ChatFiles(files.folder))).windows][1:] == ["rollover", "reset"]
    rotate(files)
    assert all_labels(files) == ids
    assert stretch(files) == data
    assert files.archive.read_bytes() + files.chat.read_bytes() == data
    assert files.chat.read_bytes().startswith(b'{"v":1,"boundary":{"kind":"reset"')
    receipt = read_receipt(files)
    assert receipt is not None
    assert (receipt.state, receipt.move) == ("stable", None)


def test_sealed_windows_move_and_everything_goes_on(files: ChatFiles) -> None:
    ids = write_chat(files)
    data = stretch(files)
    before = rebuilt(files)
    epoch = before.epoch
    store = Store(files, session=SESSION)
    assert store.repair() == len(ids)
    rotate(files, store)
    assert files.archive.read_bytes() + files.chat.read_bytes() == data
    assert files.chat.read_bytes().startswith(b'{"v":1,"boundary":{"kind":"reset"')
    assert all_labels(files) == ids
    keeper = IndexKeeper(ChatFiles(files.folder))
    assert pages_read(keeper) == 0
    index = built(keeper)
    assert index.epoch != epoch
    assert index.windows == before.windows
    assert index.floor == before.floor
    added = store.append([text_row("d")], expected_last_seq=len(ids))
    assert [row.seq for row in added] == [len(ids) + 1]
    for other in (store, open_store(files)):
        with pytest.raises(DuplicateRow):
            other.append([text_row("c0")], expected_last_seq=len(ids) + 1)
    assert files.archive.stat().st_mode & 0o777 == 0o600


def test_a_chat_without_a_sealed_window_stays_as_it_is(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    rotate(files)
    assert not files.archive.exists()
    store.append([boundary_row("b"), text_row("c")], expected_last_seq=1)
    rotate(files)
    archived = files.archive.read_bytes()
    rotate(files)
    assert files.archive.read_bytes() == archived
    assert all_labels(files) == ["a", "b", "c"]


def test_no_batch_is_cut_in_two(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    store.append([text_row("b"), text_row("c"), boundary_row("d"), text_row("e")], expected_last_seq=1)
    rotate(files)
    assert all_labels(files) == ["a", "b", "c", "d", "e"]
    assert [window.kind for window in rebuilt(files).windows] == ["first", "rollover"]
    assert files.archive.read_bytes().count(b"\n") == 1


def test_the_last_number_is_known_if_only_a_boundary_is_left(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    store.append([boundary_row("b", "reset")], expected_last_seq=1)
    rotate(files)
    assert open_store(files).repair() == 2
    rows = open_store(files).append([text_row("c")], expected_last_seq=2)
    assert rows[0].seq == 3


def test_a_kill_before_any_call_to_the_disk_loses_and_doubles_nothing(files: ChatFiles) -> None:
    count = 0
    while True:
        count += 1
        shutil.rmtree(files.folder, ignore_errors=True)
        ids = write_chat(files)
        data = stretch(files)
        was_killed = die_at(count, lambda: rotate(files))
        check_whole(files, ids, data)
        if not was_killed:
            break
    assert count > 40


def test_a_kill_and_a_lost_receipt_lose_and_double_nothing(files: ChatFiles) -> None:
    count = 0
    while True:
        count += 3
        shutil.rmtree(files.folder, ignore_errors=True)
        ids = write_chat(files)
        data = stretch(files)
        was_killed = die_at(count, lambda: rotate(files))
        files.receipt.unlink(missing_ok=True)
        open_store(files).repair()
        check_whole(files, ids, data)
        if not was_killed:
            break


def half_rotated(files: ChatFiles, *, pieces: int = 3) -> tuple[list[str], bytes]:
    """A chat whose holder was killed after some pieces had been copied."""
    ids = write_chat(files)
    data = stretch(files)
    store = Store(ChatFiles(files.folder), session=SESSION)
    store.repair()
    rotation = Rotation(files, store, piece_bytes=PIECE)
    while not files.archive.exists():
        rotation.step()
    for _ in range(pieces - 1):
        rotation.step()
    return ids, data


@pytest.mark.parametrize("has_receipt", [True, False])
def test_an_archive_torn_at_any_byte_is_mended(files: ChatFiles, *, has_receipt: bool) -> None:
    ids, data = half_rotated(files)
    copied = files.archive.read_bytes()
    receipt = files.receipt.read_bytes()
    for cut in range(0, len(copied), 7):
        files.archive.write_bytes(copied[:cut])
        if has_receipt:
            files.receipt.write_bytes(receipt)
            assert all_labels(files) == ids
        else:
            files.receipt.unlink(missing_ok=True)
        open_store(files).repair()
        assert files.archive.read_bytes() == b"", cut
        assert files.chat.read_bytes() == data
        assert all_labels(files) == ids
        assert not list(files.folder.glob("*.damaged"))
    check_whole(files, ids, data)


def test_appends_go_on_between_pieces_and_after_a_kill(files: ChatFiles) -> None:
    ids = write_chat(files)
    store = Store(files, session=SESSION)
    other = open_store(files)
    last_seq = store.repair()
    rotation = Rotation(files, store, piece_bytes=PIECE)
    reader = ChatFiles(files.folder)
    going, number = True, 0
    while going:
        going = rotation.step()
        writer = (store, other)[number % 2]
        writer.append([text_row(f"n{number}")], expected_last_seq=last_seq)
        ids.append(f"n{number}")
        last_seq += 1
        number += 1
        assert all_labels(reader) == ids
    assert number > 5
    assert files.archive.exists()
    assert built(IndexKeeper(reader)) == rebuilt(files)


def test_a_rewrite_in_the_middle_takes_the_copy_back_first(files: ChatFiles) -> None:
    ids, _ = half_rotated(files)
    store = open_store(files)

    def drop(row: Row) -> Row | None:
        return None if row.id in ("a1", "c0") else row

    # Rows of sealed windows stay, moved or not.
    assert store.rewrite(drop) == 1
    ids.remove("c0")
    assert all_labels(files) == ids
    check_whole(files, ids, stretch(files))


def test_a_copy_of_lines_edited_since_is_set_aside(files: ChatFiles) -> None:
    ids, data = half_rotated(files)
    with files.chat.open("r+b") as file:
        file.write(data[:40].replace(b'"a0"', b'"A0"'))
    ids[0] = "A0"
    assert all_labels(files) == ids
    open_store(files).repair()
    assert all_labels(files) == ids
    assert len(list(files.folder.glob("archive-*.damaged"))) == 1


def test_an_editor_that_saves_the_file_anew_in_the_middle_doubles_nothing(files: ChatFiles) -> None:
    ids, data = half_rotated(files)
    beside = files.chat.with_name("saved")
    beside.write_bytes(data.replace(b"text of a2", b"TEXT OF a2"))
    beside.replace(files.chat)
    open_store(files).repair()
    assert all_labels(files) == ids
    assert b"TEXT OF a2" in files.chat.read_bytes()


def test_a_change_by_another_program_between_two_pieces_begins_anew(files: ChatFiles) -> None:
    ids = write_chat(files)
    store = Store(files, session=SESSION)
    store.repair()
    rotation = Rotation(files, store, piece_bytes=PIECE)
    for _ in range(6):
        rotation.step()
    with files.chat.open("ab") as file:
        file.write(encode_row(text_row("foreign")) + b"\n")
    ids.append("foreign")
    for _ in range(100):
        assert all_labels(files) == ids
        if not rotation.step():
            break
    check_whole(files, ids, stretch(files))


def test_a_full_disk_leaves_the_chat_whole_and_it_is_tried_again(files: ChatFiles) -> None:
    ids = write_chat(files)
    data = stretch(files)
    store = Store(files, session=SESSION)
    store.repair()
    rotation = Rotation(files, store, piece_bytes=PIECE)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (700, hard))
        with pytest.raises(StorageError, match="the file would be larger"):
            go_on(rotation)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert files.chat.read_bytes() == data
    assert all_labels(files) == ids
    check_whole(files, ids, data)


@pytest.mark.parametrize("missing_bytes", [0, 1])
def test_nothing_moves_where_the_copy_would_fill_the_disk(files: ChatFiles, missing_bytes: int) -> None:
    write_chat(files)
    data = files.chat.read_bytes()
    sealed = data.index(b'{"v":1,"boundary":{"kind":"reset"')
    store = open_store(files)
    store.repair()
    rotation = Rotation(files, store, free_bytes=lambda _folder: sealed + SPARE_BYTES - missing_bytes)
    while rotation.step():
        pass
    assert files.archive.exists() is not bool(missing_bytes)
    assert stretch(files) == data


def test_a_deleted_chat_is_not_made_again(files: ChatFiles) -> None:
    write_chat(files)
    store = Store(files, session=SESSION)
    store.repair()
    rotation = Rotation(files, store, piece_bytes=PIECE)
    for _ in range(4):
        rotation.step()
    shutil.rmtree(files.folder)
    with pytest.raises(ChatNotFound):
        go_on(rotation)
    assert not files.folder.exists()


READER = """
import os
import sys
from pathlib import Path
from app.domain.errors import HistoryChanged
from app.history.files import ChatFiles
from app.history.windows_index import IndexKeeper, Indexing
from tests.unit.history.rows import all_labels
files = ChatFiles(Path(sys.argv[1]))
keeper = IndexKeeper(files)
parent = os.getppid()
looks = changes = 0
print("reading", flush=True)
before = []
# Ends with the test, also with one that is killed.
while os.getppid() == parent:
    is_last = (files.folder / "last").exists()
    try:
        found = all_labels(files)
    except HistoryChanged:
        changes += 1
        continue
    index = keeper.advance()
    assert isinstance(index, Indexing) or index.windows[-1].id.startswith("w:"), index
    assert found[: len(before)] == before, (found, before)
    assert len(set(found)) == len(found), found
    before = found
    looks += 1
    if is_last:
        break
print(looks, changes, len(before), flush=True)
"""


def test_a_reader_in_another_process_sees_every_row_once_all_the_while(files: ChatFiles) -> None:
    ids = write_chat(files)
    store = Store(files, session=SESSION)
    last_seq = store.repair()
    rotation = Rotation(files, store, piece_bytes=PIECE)
    command = [sys.executable, "-c", READER, str(files.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "reading\n"
        for number in range(60):
            kind = "reset" if number % 9 == 8 else "rollover" if number % 9 == 4 else ""
            row = boundary_row(f"n{number}", kind) if kind else text_row(f"n{number}")
            store.append([row], expected_last_seq=last_seq)
            last_seq += 1
            for _ in range(3):
                rotation.step()
        go_on(rotation)
        (files.folder / "last").touch()
        looks, _, rows = map(int, reader.stdout.readline().split())
    assert reader.returncode == 0
    assert looks > 1
    assert rows == len(ids) + 60
    assert files.archive.stat().st_size > files.chat.stat().st_size


@given(archive=any_file, chat=any_file, piece=st.sampled_from([40, 90, 300]))
@settings(max_examples=60)
def test_any_files_are_the_same_stretch_after_every_step(archive: bytes, chat: bytes, piece: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = ChatFiles(Path(folder))
        make_private_folder(files.folder)
        if archive:
            # No batch of foreign rows that would become whole by lying in one file.
            archive += b"7\n" if archive.endswith(b"\n") else b"\n7"
        files.archive.write_bytes(archive)
        files.chat.write_bytes(chat)
        store = Store(files, session=SESSION)
        store.repair()
        before = rebuilt(files)
        data = stretch(files)
        rotation = Rotation(files, store, piece_bytes=piece)
        going = True
        while going:
            going = rotation.step()
            if archive.endswith(b"\n") or not archive:
                assert stretch(files) == data
                assert described(built(IndexKeeper(files))) == described(before)
        assert built(IndexKeeper(files)) == rebuilt(files)
        after = files.archive.read_bytes() + files.chat.read_bytes()
        assert after.replace(b"\n", b"") == data.replace(b"\n", b"")
        assert len(rebuilt(files).windows) == len(before.windows)


@given(
    move=st.one_of(
        st.none(),
        st.integers(),
        st.text(max_size=3),
        st.dictionaries(
            st.sampled_from(["archive_size", "length", "sha256", "device", "inode", "more"]),
            st.one_of(st.none(), st.integers(), st.text(max_size=3), st.booleans(), st.floats()),
        ),
    )
)
def test_a_receipt_with_any_move_is_no_obstacle(tmp_path_factory: pytest.TempPathFactory, move: object) -> None:
    files = ChatFiles(tmp_path_factory.mktemp("moved") / "chat")
    open_store(files).append([text_row("a")], expected_last_seq=0)
    files.archive.write_bytes(encode_row(text_row("older")) + b"\n")
    whole = json.loads(files.receipt.read_bytes())
    files.receipt.write_text(json.dumps({**whole, "move": move}))
    store = open_store(files)
    store.append([text_row("b")], expected_last_seq=store.repair())
    assert all_labels(files) == ["older", "a", "b"]
