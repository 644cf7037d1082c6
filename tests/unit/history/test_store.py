import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import BugError, ChatNotFound, Conflict, DuplicateRow, HistoryChanged, StorageError
from app.domain.rows import Batch, Row, TextPart
from app.history.blobs import whole_row
from app.history.codec import MAX_LINE_BYTES, encode_row
from app.history.files import ChatFiles
from app.history.reader import DamagedEntry, HistoryReader, RowEntry
from app.history.receipt import is_current, read_receipt
from app.history.store import Store
from tests.unit.history.rows import SESSION, all_labels, boundary_row, labels, open_store, text_row


def test_appended_rows_are_numbered_and_read_back(files: ChatFiles) -> None:
    store = open_store(files)
    first = store.append([text_row("a")], expected_last_seq=0)
    second = store.append([text_row("b"), text_row("c")], expected_last_seq=1)

    assert [row.seq for row in first] == [1]
    assert [row.seq for row in second] == [2, 3]
    assert first[0].batch is None
    assert [(row.batch.index, row.batch.count) for row in second if row.batch] == [(0, 2), (1, 2)]
    assert all_labels(files) == ["a", "b", "c"]


def test_a_crash_at_any_byte_of_a_batch_leaves_it_whole_or_not_at_all(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    before = files.chat.stat().st_size
    store.append([text_row("b", "é"), text_row("c", "😀"), text_row("d")], expected_last_seq=1)
    whole = files.chat.read_bytes()

    for cut in range(before, len(whole) + 1):
        files.chat.write_bytes(whole[:cut])
        is_whole = cut >= len(whole) - 1
        reopened = open_store(files)
        last = reopened.repair()
        assert (4 if is_whole else 1) == last, cut
        reopened.append([text_row("z")], expected_last_seq=last)
        expected = ["a", "b", "c", "d", "z"] if is_whole else ["a", "z"]
        assert expected == all_labels(files), cut
        kept = b"".join(path.read_bytes() for path in sorted(files.folder.glob("*.damaged")))
        assert kept == (b"" if is_whole else whole[before:cut]), cut
        for path in files.folder.glob("*.damaged"):
            path.unlink()


def test_readers_ignore_a_batch_torn_at_any_byte_before_anyone_repairs_it(files: ChatFiles) -> None:
    open_store(files).append([text_row("b"), text_row("c")], expected_last_seq=0)
    whole = files.chat.read_bytes()
    for cut in range(1, len(whole) - 1):
        files.chat.write_bytes(whole[:cut])
        assert {"damaged"} == set(all_labels(files)), cut


def test_a_torn_batch_in_the_middle_is_one_damaged_entry_and_the_rest_counts(files: ChatFiles) -> None:
    open_store(files).append([text_row("a"), text_row("b"), text_row("c")], expected_last_seq=0)
    lines = files.chat.read_bytes().splitlines(keepends=True)
    files.chat.write_bytes(b"".join([lines[0], lines[1], encode_row(text_row("x")) + b"\n"]))
    assert all_labels(files) == ["damaged", "x"]
    store = open_store(files)
    store.append([text_row("y")], expected_last_seq=store.repair())
    assert all_labels(files) == ["damaged", "x", "y"]


@pytest.mark.parametrize("page_rows", range(1, 8))
@pytest.mark.parametrize("backward", [False, True])
def test_a_batch_is_never_cut_by_the_end_of_a_page(files: ChatFiles, page_rows: int, *, backward: bool) -> None:
    from app.history.scanner import Caps

    store = open_store(files)
    last = 0
    for size in (1, 3, 2, 1, 3):
        last += len(store.append([text_row(f"r{last + i}") for i in range(size)], expected_last_seq=last))
    reader = HistoryReader(files)
    collected: list[str] = []
    position = None
    while True:
        caps = Caps(page_rows=page_rows)
        page = reader.page_backward(position, caps=caps) if backward else reader.page_forward(position, caps=caps)
        collected = [*labels(page.entries), *collected] if backward else [*collected, *labels(page.entries)]
        if page.exhausted:
            break
        position = page.next
    assert [f"r{i}" for i in range(10)] == collected


@pytest.mark.parametrize(
    ("torn", "adds_reset"),
    [
        (b'{"v":1,"boundary":{"kind":"re', True),
        (b'{"v":1,"bound', True),
        (b'{"v":1,"b', True),
        (b'{"v":1,"', False),
        (b'{"v":1,"boundary":{"kind":"reset"},"id', True),
        (b'{"v":1,"boundary":{"kind":"rollover"},"id', False),
        (b'{"v":1,"boundary":{"kind":"compaction","x', False),
        (b'{"v":1,"id":"half', False),
    ],
)
def test_a_torn_boundary_nobody_can_read_becomes_a_reset(files: ChatFiles, torn: bytes, *, adds_reset: bool) -> None:
    open_store(files).append([text_row("a")], expected_last_seq=0)
    with files.chat.open("ab") as file:
        file.write(torn)
    last = open_store(files).repair()
    entries = list(HistoryReader(files).entries_forward())
    kinds = [entry.row.boundary.kind for entry in entries if isinstance(entry, RowEntry) and entry.row.boundary]
    assert (["reset"] if adds_reset else []) == kinds
    assert last == (2 if adds_reset else 1)


def test_a_last_line_that_only_lacks_its_line_feed_gets_it(files: ChatFiles) -> None:
    open_store(files).append([text_row("a")], expected_last_seq=0)
    files.chat.write_bytes(files.chat.read_bytes().rstrip(b"\n"))
    open_store(files).append([text_row("b")], expected_last_seq=1)
    assert all_labels(files) == ["a", "b"]
    assert not list(files.folder.glob("*.damaged"))


def test_an_id_is_there_once(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    for other in (store, open_store(files)):
        with pytest.raises(DuplicateRow):
            other.append([text_row("a")], expected_last_seq=1)
    with pytest.raises(DuplicateRow):
        store.append([text_row("x"), text_row("x")], expected_last_seq=1)
    assert all_labels(files) == ["a"]


def test_an_id_of_a_foreign_or_boundary_row_is_known(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([boundary_row("b1")], expected_last_seq=0)
    with files.chat.open("ab") as file:
        file.write(b'{ "id": "foreign", "session": "s1", "role": "user" }\n')
    for row_id in ("b1", "foreign"):
        with pytest.raises(DuplicateRow):
            open_store(files).append([text_row(row_id)], expected_last_seq=1)


def test_a_writer_that_knows_another_end_gets_a_conflict(files: ChatFiles) -> None:
    ours, theirs = open_store(files), open_store(files)
    ours.append([text_row("a")], expected_last_seq=0)
    theirs.append([text_row("b")], expected_last_seq=1)
    with pytest.raises(Conflict):
        ours.append([text_row("c")], expected_last_seq=1)
    ours.append([text_row("c")], expected_last_seq=2)
    assert all_labels(files) == ["a", "b", "c"]


def test_two_threads_and_two_stores_lose_nothing(files: ChatFiles) -> None:
    def write(name: str) -> None:
        store = open_store(files)
        last = store.repair()
        for number in range(20):
            while True:
                try:
                    store.append([text_row(f"{name}{number}")], expected_last_seq=last)
                except Conflict:
                    last = store.repair()
                else:
                    last += 1
                    break

    threads = [threading.Thread(target=write, args=(name,)) for name in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = all_labels(files)
    assert sorted(f"{name}{n}" for name in "xy" for n in range(20)) == sorted(found)
    seqs = [entry.row.seq for entry in HistoryReader(files).entries_forward() if isinstance(entry, RowEntry)]
    assert list(range(1, 41)) == seqs


def test_a_row_of_another_chat_is_refused(files: ChatFiles) -> None:
    with pytest.raises(BugError):
        open_store(files).append([Row(id="a", session="other", role="user")], expected_last_seq=0)


def test_a_large_text_goes_to_a_blob_and_comes_back_whole(files: ChatFiles) -> None:
    text = "".join(f"{number} 😀\n" for number in range(400_000))
    store = open_store(files)
    (written,) = store.append([text_row("a", text)], expected_last_seq=0)

    assert len(encode_row(written)) <= MAX_LINE_BYTES
    part = written.parts[0]
    assert isinstance(part, TextPart)
    assert part.blob is not None
    assert text.startswith(part.text[:1000])
    assert text.endswith(part.text[-1000:])
    assert "kept apart" in part.text
    assert text == whole_row(written, store.blobs).text


def test_a_large_tool_result_goes_to_a_blob(files: ChatFiles) -> None:
    from app.domain.rows import ToolPart

    output = {"lines": ["x" * 1000] * 20_000, "n": None}
    tool = ToolPart(call_id="c", name="read", input={"path": "a"}, state="done", output=output)
    store = open_store(files)
    (written,) = store.append([text_row("a").model_copy(update={"parts": (tool,)})], expected_last_seq=0)
    assert len(encode_row(written)) <= MAX_LINE_BYTES
    assert (tool,) == whole_row(written, store.blobs).parts


def test_an_altered_blob_is_told_from_the_real_one(files: ChatFiles) -> None:
    store = open_store(files)
    (written,) = store.append([text_row("a", "y" * 3_000_000)], expected_last_seq=0)
    (blob,) = files.blobs.iterdir()
    blob.write_bytes(b"something else")
    with pytest.raises(StorageError, match="altered"):
        whole_row(written, store.blobs)


def test_a_full_disk_is_an_error_and_leaves_no_trace(files: ChatFiles) -> None:
    """A real one: the child may not write files over 3,000 bytes."""
    script = f"""
import resource, signal, sys
from pathlib import Path
from app.domain.errors import StorageError
from app.history.files import ChatFiles
from tests.unit.history.rows import open_store, text_row
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = open_store(ChatFiles(Path({str(files.folder)!r})))
store.append([text_row("a")], expected_last_seq=0)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
try:
    store.append([text_row("b", "x" * 5000)], expected_last_seq=1)
except StorageError as error:
    print("refused:", error)
store.append([text_row("c")], expected_last_seq=1)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.append([text_row("b", "x" * 5000)], expected_last_seq=2)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=30)
    assert "refused: This chat can't be saved" in done.stdout, done.stderr
    assert done.returncode == 0, done.stderr
    assert all_labels(files) == ["a", "c", "b"]


def test_a_file_where_the_folder_should_be_is_an_error(files: ChatFiles) -> None:
    files.folder.write_text("")
    with pytest.raises(StorageError):
        open_store(files)
    with pytest.raises(StorageError):
        Store(files, session=SESSION).append([text_row("a")], expected_last_seq=0)


def test_a_chat_that_was_deleted_is_not_made_again(files: ChatFiles) -> None:
    for use in (
        lambda: Store(files, session=SESSION).append([text_row("a")], expected_last_seq=0),
        lambda: Store(files, session=SESSION).repair(),
        files.lease.take,
        files.lease.probe,
    ):
        with pytest.raises(ChatNotFound):
            use()
    assert not files.folder.exists()


def test_files_are_readable_by_their_owner_only(files: ChatFiles) -> None:
    open_store(files).append([text_row("a", "x" * 2_000_000)], expected_last_seq=0)
    modes = {path.name: path.stat().st_mode & 0o777 for path in files.folder.rglob("*")}
    assert {0o600} == {mode for name, mode in modes.items() if name != "blobs"}, modes
    assert modes["blobs"] == 0o700
    assert files.folder.stat().st_mode & 0o777 == 0o700


# Epochs


def epoch_of(files: ChatFiles) -> str:
    receipt = read_receipt(files)
    assert receipt is not None
    assert is_current(receipt, files)
    return receipt.epoch


def test_tracked_appends_of_two_writers_keep_the_epoch(files: ChatFiles) -> None:
    ours, theirs = open_store(files), open_store(files)
    ours.append([text_row("a")], expected_last_seq=0)
    first = epoch_of(files)
    theirs.append([text_row("b")], expected_last_seq=1)
    ours.append([text_row("c")], expected_last_seq=2)
    assert first == epoch_of(files)


def foreign_line(files: ChatFiles) -> None:
    with files.chat.open("ab") as file:
        file.write(b'{"id":"f","session":"s1","role":"user"}\n')


def torn_line(files: ChatFiles) -> None:
    with files.chat.open("ab") as file:
        file.write(b'{"id":"f"')


def same_size_edit(files: ChatFiles) -> None:
    files.chat.write_bytes(files.chat.read_bytes().replace(b"text", b"TEXT"))


def no_receipt(files: ChatFiles) -> None:
    files.receipt.unlink()


def broken_receipt(files: ChatFiles) -> None:
    files.receipt.write_bytes(b"{")


def pending_receipt(files: ChatFiles) -> None:
    files.receipt.write_bytes(files.receipt.read_bytes().replace(b"stable", b"pending"))


@pytest.mark.parametrize(
    "change", [foreign_line, torn_line, same_size_edit, no_receipt, broken_receipt, pending_receipt]
)
@pytest.mark.parametrize("reopened", [False, True])
def test_an_untracked_change_makes_a_new_epoch_and_loses_nothing(
    files: ChatFiles, change: object, *, reopened: bool
) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    first = epoch_of(files)
    assert callable(change)
    change(files)
    store = open_store(files) if reopened else store
    store.append([text_row("b")], expected_last_seq=1)
    assert first != epoch_of(files)
    assert [label for label in all_labels(files) if label != "f"] == ["a", "b"]


def test_a_receipt_that_cannot_be_written_is_no_failed_append(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    files.receipt.unlink()
    files.receipt.mkdir()
    store.append([text_row("b")], expected_last_seq=1)
    store.append([text_row("c")], expected_last_seq=2)
    assert all_labels(files) == ["a", "b", "c"]


# Rewriting


def test_a_rewrite_keeps_what_it_cannot_read_where_it_was(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("sealed"), boundary_row("reset", "reset"), text_row("a")], expected_last_seq=0)
    with files.chat.open("ab") as file:
        file.write(b"not json\n\xff\xfe{\n" + b"y" * (MAX_LINE_BYTES + 10) + b"\n")
    store.append([text_row("b"), text_row("c")], expected_last_seq=3)
    before = files.chat.read_bytes()
    first = epoch_of(files)

    changed = store.rewrite(lambda row: None if row.id in ("sealed", "b", "reset") else row)

    assert all_labels(files) == ["sealed", "reset", "a", "damaged", "damaged", "damaged", "c"]
    assert changed == 2, "b, and the one that its batch set free; what is sealed stays"
    after = files.chat.read_bytes()
    start, stop = before.index(b"not json"), before.index(b'{"v":1,"id":"b"')
    assert before[start:stop] in after
    assert first != epoch_of(files)
    store.append([text_row("d")], expected_last_seq=5)


def test_a_rewrite_keeps_fields_nobody_knows(files: ChatFiles) -> None:
    files.folder.mkdir()
    files.chat.write_bytes(b'{"id":"f","session":"s1","role":"user","mood":"good","seq":1}\n')
    store = open_store(files)
    store.rewrite(lambda row: row.model_copy(update={"flags": ("rejected",)}))
    (entry,) = HistoryReader(files).entries_forward()
    assert isinstance(entry, RowEntry)
    assert entry.row.model_extra == {"mood": "good"}
    assert entry.row.flags == ("rejected",)


def test_a_rewrite_that_changes_nothing_touches_nothing(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    first = epoch_of(files)
    assert store.rewrite(lambda row: row) == 0
    assert first == epoch_of(files)


# Reading


def test_history_is_the_archive_and_then_the_active_file(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a"), text_row("b")], expected_last_seq=0)
    files.chat.rename(files.archive)
    store = open_store(files)
    store.append([boundary_row("c"), text_row("d")], expected_last_seq=2)
    reader = HistoryReader(files)

    assert all_labels(files) == ["a", "b", "c", "d"]
    newest = reader.page_backward()
    assert labels(newest.entries) == ["c", "d"]
    assert not newest.exhausted
    oldest = reader.page_backward(newest.next)
    assert labels(oldest.entries) == ["a", "b"]
    assert oldest.exhausted
    assert labels(reader.active_window()) == ["c", "d"]


def test_an_empty_or_missing_history_is_empty(files: ChatFiles) -> None:
    assert all_labels(files) == []
    files.folder.mkdir()
    files.chat.touch()
    assert all_labels(files) == []
    assert open_store(files).repair() == 0


def test_a_long_line_that_is_a_boundary_is_looked_into(files: ChatFiles) -> None:
    files.folder.mkdir()
    padding = b"x" * MAX_LINE_BYTES
    readable = (
        b'{"v":1,"boundary":{"kind":"rollover"},"id":"b","session":"s1","role":"user","pad":"' + padding + b'"}\n'
    )
    mention = b'{"v":1,"id":"m","session":"s1","role":"user","pad":"\\"boundary\\" ' + padding + b'"}\n'
    unreadable = b'{"v":1,"boundary":{"kind":"roll' + padding + b"\n"
    files.chat.write_bytes(mention + readable + unreadable)
    entries = list(HistoryReader(files).entries_forward())
    assert all(isinstance(entry, DamagedEntry) and entry.is_oversized for entry in entries)
    assert [(entry.is_boundary, entry.is_reset) for entry in entries if isinstance(entry, DamagedEntry)] == [
        (False, False),
        (True, False),
        (True, True),
    ]


def test_a_store_made_anew_finds_the_last_number_behind_damage(files: ChatFiles) -> None:
    open_store(files).append([text_row("a")], expected_last_seq=0)
    with files.chat.open("ab") as file:
        file.write(b"damage\n" * 1200)
    assert open_store(files).repair() == 1


def test_a_chat_in_use_names_its_holder(files: ChatFiles) -> None:
    from app.domain.errors import ChatInUse

    files.folder.mkdir()
    ours, theirs = ChatFiles(files.folder), ChatFiles(files.folder)
    ours.lease.take()
    with pytest.raises(ChatInUse, match=f"process {os.getpid()}"):
        theirs.lease.take()
    ours.lease.release()
    theirs.lease.take()
    theirs.lease.release()


def test_the_lease_of_a_killed_process_is_free(files: ChatFiles, tmp_path: Path) -> None:
    files.folder.mkdir()
    script = f"""
import os, signal
from pathlib import Path
from app.history.files import ChatFiles
ChatFiles(Path({str(files.folder)!r})).lease.take()
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script], check=False, timeout=30)
    files.lease.take()
    files.lease.release()


# What the first bug hunt found


@pytest.mark.parametrize("text", ["漢" * 25_000, "😀" * 20_000, 'q"' * 30_000, "\x01" * 20_000])
def test_many_middling_parts_fit_into_a_row(files: ChatFiles, text: str) -> None:
    parts = tuple(TextPart(text=f"{number}{text}") for number in range(30))
    store = open_store(files)
    row = text_row("a").model_copy(update={"parts": parts})
    (written,) = store.append([row], expected_last_seq=0)
    assert len(encode_row(written)) <= MAX_LINE_BYTES
    assert whole_row(written, store.blobs).parts == parts
    assert "-" not in "".join(part.text for part in written.parts if isinstance(part, TextPart))


def test_a_row_of_many_large_parts_fits(files: ChatFiles) -> None:
    parts = tuple(TextPart(text=f"{number}" + "x" * 9000) for number in range(300))
    store = open_store(files)
    (written,) = store.append([text_row("a").model_copy(update={"parts": parts})], expected_last_seq=0)
    assert whole_row(written, store.blobs).parts == parts


def test_a_retry_of_a_torn_batch_is_no_duplicate(files: ChatFiles) -> None:
    store = open_store(files)
    rows = [text_row(f"r{n}", "x" * 900_000) for n in range(4)]
    store.append(rows, expected_last_seq=0)
    whole = files.chat.read_bytes()
    files.chat.write_bytes(whole[:-500])
    store = open_store(files)
    store.append(rows, expected_last_seq=store.repair())
    assert all_labels(files) == ["r0", "r1", "r2", "r3"]


def test_a_batch_of_the_most_rows_is_read_whole_and_a_larger_one_refused(files: ChatFiles) -> None:
    from app.history.batches import MAX_BATCH_ROWS
    from app.history.scanner import Caps

    store = open_store(files)
    rows = [text_row(f"r{n}") for n in range(MAX_BATCH_ROWS + 1)]
    with pytest.raises(BugError):
        store.append(rows, expected_last_seq=0)
    store.append(rows[:-1], expected_last_seq=0)
    page = HistoryReader(files).page_backward(caps=Caps(page_rows=3))
    assert labels(page.entries) == [row.id for row in rows[:-1]]


def test_a_rewritten_row_stays_under_the_cap(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    store.rewrite(lambda row: row.model_copy(update={"parts": (TextPart(text="x" * 2_000_000),)}))
    assert all_labels(files) == ["a"]


def test_a_page_an_append_crosses_is_read_again(files: ChatFiles) -> None:
    """A writer in another process is in the middle of its write: the receipt says pending."""
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    reader = HistoryReader(ChatFiles(files.folder))
    before = files.receipt.read_bytes()
    files.receipt.write_bytes(before.replace(b"stable", b"pending"))
    lock = ChatFiles(files.folder)
    done: list[list[str]] = []
    with lock.appending():
        whole = encode_row(text_row("b").model_copy(update={"seq": 2})) + b"\n"
        with files.chat.open("ab") as file:
            file.write(whole[:30])
            file.flush()
            thread = threading.Thread(target=lambda: done.append(labels(reader.page_backward().entries)))
            thread.start()
            file.write(whole[30:])
        files.receipt.write_bytes(before)
    thread.join(10)
    assert done == [["a", "b"]]


def test_an_altered_blob_is_healed_when_its_text_is_at_hand(files: ChatFiles) -> None:
    blobs = open_store(files).blobs
    name = blobs.put(b"the text")
    (files.blobs / name).write_bytes(b"")
    assert blobs.put(b"the text") == name
    assert blobs.get(name) == b"the text"


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"epoch":"e","state":"stable","written_ns":1e999}', b"7"])
def test_a_receipt_of_any_content_is_no_obstacle(files: ChatFiles, content: bytes) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    files.receipt.write_bytes(content)
    assert all_labels(files) == ["a"]
    open_store(files).append([text_row("b")], expected_last_seq=1)


@pytest.mark.parametrize("content", [b"", b"{", b'{"pid":1e999}', b"[" * 100_000])
def test_a_holder_without_a_name_is_another_window(files: ChatFiles, content: bytes) -> None:
    files.folder.mkdir()
    files.lease.take()
    files.holder.write_bytes(content)
    assert ChatFiles(files.folder).lease.probe() == "another Muntin window"
    files.lease.release()


def test_reading_on_across_a_rewrite_says_so(files: ChatFiles) -> None:
    store = open_store(files)
    last = 0
    for start in range(0, 800, 200):
        last += len(store.append([text_row(f"r{n}") for n in range(start, start + 200)], expected_last_seq=last))
    entries = HistoryReader(files).entries_forward()
    next(entries)
    store.rewrite(lambda row: None if row.id == "r5" else row)
    with pytest.raises(HistoryChanged):
        list(entries)
    assert len(HistoryReader(files).active_window()) == 799


def test_a_torn_boundary_counts_until_its_reset_is_there(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    with files.chat.open("ab") as file:
        file.write(b'{"v":1,"boundary":{"ki')
    (newest,) = HistoryReader(files).active_window()
    assert isinstance(newest, DamagedEntry)
    assert newest.is_reset
    open_store(files).repair()
    (reset,) = HistoryReader(files).active_window()
    assert isinstance(reset, RowEntry)
    assert files.chat.read_bytes().count(b'"boundary"') == 1
    assert len(list(files.folder.glob("*.damaged"))) == 1


json_lines = st.lists(
    st.one_of(
        st.binary(max_size=60),
        st.sampled_from([b"{}", b'{"v":1,"boundary":{"kind":"x"}}', b"\0\0", b"[" * 2000]),
        st.integers(1, 3),
    ),
    max_size=12,
)


@given(content=json_lines, page_rows=st.integers(1, 6), ends=st.booleans())
def test_every_good_row_of_any_file_is_seen_once_in_both_directions(
    tmp_path_factory: pytest.TempPathFactory, content: list[bytes | int], page_rows: int, ends: bool
) -> None:
    """A number stands for a whole batch of so many rows; bytes are whatever they are."""
    from app.history.scanner import Caps

    files = ChatFiles(tmp_path_factory.mktemp("any"))
    lines: list[bytes] = []
    expected: list[str] = []
    for position, piece in enumerate(content):
        if isinstance(piece, bytes):
            lines.append(piece.replace(b"\n", b" "))
            continue
        for index in range(piece):
            batch = Batch(id=f"b{position}", index=index, count=piece) if piece > 1 else None
            row = text_row(f"{position}.{index}").model_copy(update={"batch": batch})
            lines.append(encode_row(row))
            expected.append(row.id)
    files.chat.write_bytes(b"\n".join(lines) + (b"\n" if ends else b""))
    reader = HistoryReader(files)
    caps = Caps(page_rows=page_rows)
    forward: list[str] = []
    backward: list[str] = []
    position_forward = position_backward = None
    while not (page := reader.page_forward(position_forward, caps=caps)).exhausted:
        forward += labels(page.entries)
        position_forward = page.next
    forward += labels(page.entries)
    while not (page := reader.page_backward(position_backward, caps=caps)).exhausted:
        backward[:0] = labels(page.entries)
        position_backward = page.next
    backward[:0] = labels(page.entries)
    assert [label for label in forward if label != "damaged"] == expected
    assert forward == backward


def test_a_reset_in_a_torn_batch_counts_all_the_same(files: ChatFiles) -> None:
    open_store(files).append([boundary_row("r", "reset"), text_row("a")], expected_last_seq=0)
    first, _second = files.chat.read_bytes().splitlines(keepends=True)
    files.chat.write_bytes(first + b"garbage\n" + encode_row(text_row("z")) + b"\n")
    torn, *_rest = HistoryReader(files).entries_forward()
    assert isinstance(torn, DamagedEntry)
    assert torn.is_reset


def test_all_torn_batches_at_the_end_are_set_aside_at_once(files: ChatFiles) -> None:
    # Else the end would be another at the next look, and what was read of the file until then is not there any more.
    open_store(files).append([text_row("a"), text_row("b")], expected_last_seq=0)
    first, _second = files.chat.read_bytes().splitlines(keepends=True)
    whole = encode_row(text_row("z")) + b"\n"
    files.chat.write_bytes(whole + first + first)
    open_store(files).repair()
    assert files.chat.read_bytes() == whole


def test_another_program_that_appends_all_the_while_costs_no_row(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("first")], expected_last_seq=0)
    done = threading.Event()

    def scribble() -> None:
        number = 0
        # Paced, or on a busy machine the file grows faster than anybody can read it.
        while not done.wait(0.0005):
            number += 1
            with files.chat.open("ab") as file:
                file.write(b'{"id":"f%d","session":"s1","role":"user"}\n' % number)

    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        last = 1
        for number in range(40):
            last += len(store.append([text_row(f"r{number}")], expected_last_seq=last))
    finally:
        done.set()
        thread.join()
    ours = [label for label in all_labels(files) if not label.startswith("f")]
    assert ours == [f"r{number}" for number in range(40)]
    assert epoch_of_settled(files) == epoch_of_settled(files)


def epoch_of_settled(files: ChatFiles) -> str:
    open_store(files).repair()
    return epoch_of(files)
