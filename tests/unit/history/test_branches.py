"""Rows that are cut off a chat are kept as versions, and come back as they were."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.errors import ChatNotFound, Conflict, DuplicateRow, StorageError
from app.history.blobs import whole_row
from app.history.branches import Branches, Cut
from app.history.codec import MAX_LINE_BYTES
from app.history.files import ChatFiles
from app.history.library import Library
from app.history.reader import HistoryReader
from app.history.rotation import Rotation
from app.history.scanner import Caps
from app.history.sidecars import SessionMeta, write_sidecar
from app.history.windows_file import load_index
from app.history.windows_index import IndexKeeper
from tests.unit.history.branching import kept, opened, places, rows_in, shown, write_rows
from tests.unit.history.rows import boundary_row, open_store, text_row
from tests.unit.history.test_windows_index import built, described, rebuilt

GARBAGE = b'{"half":\n'


def test_a_cut_keeps_the_rows_byte_for_byte_and_adds_others_in_the_same_step(files: ChatFiles) -> None:
    write_rows(files, 1, 1, 1)
    lines = files.chat.read_bytes().splitlines(keepends=True)
    branches, last_seq = opened(files)
    cut = branches.cut("a", "edit", then=[text_row("x")], expected_last_seq=last_seq)

    assert shown(files) == "a x"
    assert (cut.ids, [row.id for row in cut.rows], cut.last_seq) == (("b", "c"), ["x"], 4)
    header, *rest = (files.branches / f"{cut.branch}.jsonl").read_bytes().splitlines(keepends=True)
    assert rest == lines[1:]
    told = json.loads(header)
    assert datetime.fromisoformat(told.pop("created")).tzinfo == UTC
    assert told == {"v": 1, "branch": cut.branch, "after": "a", "reason": "edit"}
    open_store(files).append([text_row("y")], expected_last_seq=cut.last_seq)
    assert [row.seq for row in rows_in(files)] == [1, 4, 5]


def test_versions_are_shown_in_the_order_of_their_making_whichever_is_the_chat(files: ChatFiles) -> None:
    write_rows(files, 1, 1)
    branches, _ = opened(files)
    assert branches.versions() == ()
    first = branches.cut("a", "regenerate", expected_last_seq=2)
    assert shown(files) == "a"
    assert [(each.after, each.ids) for each in branches.versions()] == [("a", (first.branch, ""))]
    open_store(files).append([text_row("c")], expected_last_seq=first.last_seq)
    second = branches.cut("a", "regenerate", expected_last_seq=2)
    open_store(files).append([text_row("d")], expected_last_seq=second.last_seq)
    assert branches.versions()[0].ids == (first.branch, second.branch, "")

    back = branches.switch("a", first.branch, expected_last_seq=2)
    assert shown(files) == "a b"
    assert [row.id for row in back.rows] == ["b"]
    assert branches.versions()[0].ids == ("", second.branch, back.branch)
    assert branches.versions()[0].current == 0
    again = branches.switch("a", back.branch, expected_last_seq=back.last_seq)
    assert shown(files) == "a d"
    assert branches.versions(rows_in(files))[0].ids == (again.branch, second.branch, "")
    assert set(places(files).values()) == {1}


def test_a_version_comes_back_byte_for_byte(files: ChatFiles) -> None:
    write_rows(files, 1, 3, 1)
    before = files.chat.read_bytes()
    branches, last_seq = opened(files)
    cut = branches.cut("a", "edit", then=[text_row("x"), text_row("y")], expected_last_seq=last_seq)
    switched = branches.switch("a", cut.branch, expected_last_seq=cut.last_seq)
    assert files.chat.read_bytes() == before
    assert switched.last_seq == last_seq
    assert kept(files) == [("a", "x y")]


def test_the_first_message_of_a_chat_can_be_replaced(files: ChatFiles) -> None:
    write_rows(files, 1, 1)
    branches, last_seq = opened(files)
    cut = branches.cut("", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    assert shown(files) == "x"
    assert branches.versions()[0].after == ""
    branches.switch("", cut.branch, expected_last_seq=cut.last_seq)
    assert shown(files) == "a b"
    assert kept(files) == [("", "x")]


def test_nothing_to_cut_makes_no_version(files: ChatFiles) -> None:
    write_rows(files, 1)
    branches, last_seq = opened(files)
    assert branches.cut("a", "regenerate", expected_last_seq=last_seq) == Cut("", (), (), 1)
    cut = branches.cut("a", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    assert (cut.branch, cut.last_seq) == ("", 2)
    assert shown(files) == "a x"
    assert not files.branches.exists()


def test_a_version_without_a_row_is_none_any_more_once_another_is_chosen(files: ChatFiles) -> None:
    write_rows(files, 1, 1)
    branches, last_seq = opened(files)
    cut = branches.cut("a", "regenerate", expected_last_seq=last_seq)
    back = branches.switch("a", cut.branch, expected_last_seq=cut.last_seq)
    assert (back.branch, back.ids) == ("", ())
    assert branches.versions() == ()
    assert list(files.branches.iterdir()) == []


@pytest.mark.parametrize("after", ["a", "b", "c", "d"])
def test_a_batch_that_is_cut_in_its_middle_counts_row_by_row(files: ChatFiles, after: str) -> None:
    write_rows(files, 1, 3, 1)
    branches, last_seq = opened(files)
    cut = branches.cut(after, "edit", then=[text_row("x")], expected_last_seq=last_seq)
    assert shown(files) == "a b c d e".split(after, maxsplit=1)[0] + after + " x"
    branches.switch(after, cut.branch, expected_last_seq=cut.last_seq)
    assert shown(files) == "a b c d e"
    assert [row.seq for row in rows_in(files)] == [1, 2, 3, 4, 5]
    assert [row.batch is None for row in rows_in(files)][1:4] == [after in "bc"] * 3


def test_numbers_that_are_taken_by_then_are_given_anew(files: ChatFiles) -> None:
    write_rows(files, 1, 1, 1)
    branches, last_seq = opened(files)
    inner = branches.cut("b", "regenerate", expected_last_seq=last_seq)
    outer = branches.cut("a", "edit", then=[text_row("x"), text_row("y")], expected_last_seq=inner.last_seq)
    open_store(files).append([text_row("z")], expected_last_seq=outer.last_seq)
    # Row b again, but with a number above that of c, as if it had been written later.
    path = files.branches / f"{outer.branch}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"seq":2', b'"seq":7'))
    back = branches.switch("a", outer.branch, expected_last_seq=5)
    again = branches.switch("b", inner.branch, expected_last_seq=back.last_seq)
    assert shown(files) == "a b c"
    assert [row.seq for row in rows_in(files)] == [1, 7, 8]
    assert again.last_seq == 8
    assert [row.text for row in rows_in(files)] == ["text of a", "text of b", "text of c"]


def test_versions_behind_a_row_that_was_cut_off_itself_come_back_with_it(files: ChatFiles) -> None:
    write_rows(files, 1, 1, 1)
    branches, last_seq = opened(files)
    inner = branches.cut("b", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    outer = branches.cut("a", "edit", then=[text_row("y")], expected_last_seq=inner.last_seq)
    assert [each.after for each in branches.versions()] == ["a"]
    branches.switch("a", outer.branch, expected_last_seq=outer.last_seq)
    assert [(each.after, each.current) for each in branches.versions()] == [("a", 0), ("b", 1)]


# What stays


@pytest.mark.parametrize(
    "line", [GARBAGE, b"\0\0\n", b'{"v":1}\n', b'{"v":1,"id":"long","x":"' + b"x" * MAX_LINE_BYTES + b'"}\n']
)
def test_what_cannot_be_read_stays_in_place(files: ChatFiles, line: bytes) -> None:
    write_rows(files, 1, 1)
    with files.chat.open("ab") as file:
        file.write(line)
    open_store(files).append([text_row("c")], expected_last_seq=2)
    assert shown(files) == "a b damaged c"
    branches, last_seq = opened(files)
    cut = branches.cut("a", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    assert shown(files) == "a damaged x"
    assert line in files.chat.read_bytes()
    branches.switch("a", cut.branch, expected_last_seq=cut.last_seq)
    assert shown(files) == "a damaged b c"
    assert files.chat.read_bytes().count(line) == 1
    assert not list(files.folder.glob("*.damaged"))


@pytest.mark.parametrize("kind", ["rollover", "reset", "compaction", "unheard-of"])
def test_a_boundary_stays_and_nothing_before_it_can_be_cut(files: ChatFiles, kind: str) -> None:
    write_rows(files, 1, 1)
    store = open_store(files)
    store.append([boundary_row("r", kind), text_row("c"), text_row("d")], expected_last_seq=2)
    branches, last_seq = opened(files)
    before = files.chat.read_bytes()
    for after in ("", "a", "b", "nowhere"):
        with pytest.raises(StorageError, match="only a branch of the chat"):
            branches.cut(after, "edit", then=[text_row("x")], expected_last_seq=last_seq)
    assert files.chat.read_bytes() == before
    cut = branches.cut("r", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    assert shown(files) == "a b r x"
    assert rows_in(files)[2].batch is None
    assert [(each.after, each.current) for each in branches.versions()] == [("r", 1)]
    branches.switch("r", cut.branch, expected_last_seq=cut.last_seq)
    assert shown(files) == "a b r c d"


@pytest.mark.parametrize("line", [b'{"boundary":\n', b'{"v":1,"boundary":{"kind":"reset"}}\n'])
def test_a_boundary_nobody_can_read_stays_and_ends_what_can_be_cut(files: ChatFiles, line: bytes) -> None:
    write_rows(files, 1)
    with files.chat.open("ab") as file:
        file.write(line)
    open_store(files).append([text_row("b")], expected_last_seq=1)
    open_store(files).append([text_row("c")], expected_last_seq=2)
    branches, last_seq = opened(files)
    for after in ("", "a"):
        with pytest.raises(StorageError, match="only a branch of the chat"):
            branches.cut(after, "edit", expected_last_seq=last_seq)
    branches.cut("b", "edit", expected_last_seq=last_seq)
    assert shown(files) == "a damaged b"


def test_versions_of_a_sealed_window_are_kept_but_not_offered(files: ChatFiles) -> None:
    write_rows(files, 1, 1)
    branches, last_seq = opened(files)
    cut = branches.cut("a", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    other = branches.cut("", "edit", then=[text_row("y")], expected_last_seq=cut.last_seq)
    open_store(files).append([boundary_row("r")], expected_last_seq=other.last_seq)
    assert branches.versions() == ()
    with pytest.raises(StorageError, match="only a branch of the chat"):
        branches.switch("", other.branch, expected_last_seq=other.last_seq + 1)
    assert len(kept(files)) == 2


@pytest.mark.parametrize(("floor_seq", "is_refused"), [(2, False), (3, True), (4, True)])
def test_rows_above_the_floor_cannot_be_cut(files: ChatFiles, floor_seq: int, *, is_refused: bool) -> None:
    write_rows(files, 1, 1, 1, 1)
    branches, last_seq = opened(files)
    write_sidecar(files.meta, SessionMeta(floor_seq=floor_seq))
    if is_refused:
        with pytest.raises(StorageError, match="only a branch of the chat"):
            branches.cut("b", "edit", expected_last_seq=last_seq)
        assert not files.branches.exists()
    else:
        branches.cut("b", "edit", expected_last_seq=last_seq)
    assert shown(files) == ("a b c d" if is_refused else "a b")


def test_no_message_takes_the_place_of_rows_above_the_floor(files: ChatFiles) -> None:
    write_rows(files, 1, 1, 1, 1)
    branches, last_seq = opened(files)
    write_sidecar(files.meta, SessionMeta(floor_seq=3))
    with pytest.raises(StorageError, match="only a branch of the chat"):
        branches.cut("b", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    assert shown(files) == "a b c d"
    assert not files.branches.exists()


def test_a_version_stays_as_long_as_one_of_its_rows_is_nowhere_else(files: ChatFiles) -> None:
    write_rows(files, 1, 1, 1)
    whole = files.chat.read_bytes()
    branches, last_seq = opened(files)
    branches.cut("a", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    # The disk has brought the old file back, but for its end.
    files.chat.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    opened(files)
    assert shown(files) == "a b"
    assert kept(files) == [("a", "b c")]
    files.chat.write_bytes(whole)
    opened(files)
    assert (shown(files), kept(files)) == ("a b c", [])


def test_no_row_gets_a_number_that_is_not_for_a_model(files: ChatFiles) -> None:
    write_rows(files, 1, 1)
    branches, last_seq = opened(files)
    cut = branches.cut("a", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    write_sidecar(files.meta, SessionMeta(floor_seq=2))
    with pytest.raises(StorageError, match="only a branch of the chat"):
        branches.cut("a", "regenerate", expected_last_seq=cut.last_seq)
    assert shown(files) == "a x"
    back = branches.switch("a", cut.branch, expected_last_seq=cut.last_seq)
    assert [row.seq for row in back.rows] == [3]


# Errors


def test_a_writer_that_knows_another_end_gets_a_conflict(files: ChatFiles) -> None:
    write_rows(files, 1, 1)
    branches, _ = opened(files)
    with pytest.raises(Conflict):
        branches.cut("a", "edit", expected_last_seq=1)
    cut = branches.cut("a", "edit", expected_last_seq=2)
    with pytest.raises(Conflict):
        branches.switch("a", cut.branch, expected_last_seq=2)
    assert shown(files) == "a"


@pytest.mark.parametrize("row_id", ["a", "b"])
def test_a_message_is_never_there_twice(files: ChatFiles, row_id: str) -> None:
    write_rows(files, 1, 1)
    branches, last_seq = opened(files)
    with pytest.raises(DuplicateRow):
        branches.cut("a", "edit", then=[text_row(row_id)], expected_last_seq=last_seq)
    assert shown(files) == "a b"
    assert not files.branches.exists()


def test_a_version_with_a_message_that_stays_in_the_chat_is_refused(files: ChatFiles) -> None:
    write_rows(files, 1, 1, 1)
    branches, last_seq = opened(files)
    cut = branches.cut("b", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    path = files.branches / f"{cut.branch}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"id":"c"', b'"id":"a"'))
    with pytest.raises(DuplicateRow):
        branches.switch("b", cut.branch, expected_last_seq=cut.last_seq)
    assert shown(files) == "a b x"
    assert kept(files) == [("b", "a")]


def test_a_version_of_another_message_or_of_none_is_refused(files: ChatFiles) -> None:
    write_rows(files, 1, 1, 1)
    branches, last_seq = opened(files)
    cut = branches.cut("b", "edit", expected_last_seq=last_seq)
    for after, branch in (("a", cut.branch), ("b", "nothing"), ("b", "../chat"), ("b", "")):
        with pytest.raises(StorageError, match="version"):
            branches.switch(after, branch, expected_last_seq=cut.last_seq)
    assert shown(files) == "a b"
    assert kept(files) == [("b", "c")]


def spoil_nothing(path: Path) -> None:
    path.write_bytes(b"")


def spoil_header(path: Path) -> None:
    path.write_bytes(b"?" + path.read_bytes())


def spoil_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def spoil_rows(path: Path) -> None:
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])


def spoil_first(path: Path) -> None:
    header, first, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([header, b"\0" + first, *rest]))


@pytest.mark.parametrize("spoil", [spoil_nothing, spoil_header, spoil_end, spoil_rows, spoil_first])
def test_a_version_that_cannot_be_read_is_set_aside_at_open(files: ChatFiles, spoil: Callable[[Path], None]) -> None:
    write_rows(files, 1, 1, 1)
    branches, last_seq = opened(files)
    cut = branches.cut("a", "edit", expected_last_seq=last_seq)
    path = files.branches / f"{cut.branch}.jsonl"
    spoil(path)
    data = path.read_bytes()
    assert branches.versions() == ()
    branches, _ = opened(files)
    assert branches.versions() == ()
    (aside,) = files.branches.iterdir()
    assert aside.suffix == ".damaged"
    assert aside.read_bytes() == data
    assert shown(files) == "a"


@pytest.mark.parametrize(
    "line", [GARBAGE, b'{"v":1,"boundary":{"kind":"reset"},"id":"r","session":"s1","role":"user"}\n']
)
def test_a_version_damaged_further_down_is_set_aside_when_it_is_chosen(files: ChatFiles, line: bytes) -> None:
    write_rows(files, 1, 1, 1)
    branches, last_seq = opened(files)
    cut = branches.cut("a", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    path = files.branches / f"{cut.branch}.jsonl"
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(StorageError, match="set aside"):
        branches.switch("a", cut.branch, expected_last_seq=cut.last_seq)
    assert shown(files) == "a x"
    (aside,) = files.branches.iterdir()
    assert aside.read_bytes().endswith(line)


def test_a_file_where_the_folder_should_be_is_an_error_and_no_obstacle_to_opening(files: ChatFiles) -> None:
    write_rows(files, 1, 1)
    files.branches.write_text("not a folder")
    branches, last_seq = opened(files)
    assert branches.versions() == ()
    with pytest.raises(StorageError, match="can't be kept: there is a file where a folder should be"):
        branches.cut("a", "edit", expected_last_seq=last_seq)
    assert shown(files) == "a b"


def test_a_chat_that_was_deleted_is_not_made_again(files: ChatFiles, tmp_path: Path) -> None:
    write_rows(files, 1, 1)
    branches, last_seq = opened(files)
    files.folder.rename(tmp_path / "trash")
    with pytest.raises(ChatNotFound):
        branches.cut("a", "edit", expected_last_seq=last_seq)
    branches.tidy()
    assert not files.folder.exists()


# With the rest of the history


def test_long_texts_come_back_whole(files: ChatFiles) -> None:
    long = "words " * 300_000
    store = open_store(files)
    store.append([text_row("a"), text_row("b", long)], expected_last_seq=0)
    branches, last_seq = opened(files)
    cut = branches.cut("a", "edit", then=[text_row("x", long + "!")], expected_last_seq=last_seq)
    assert whole_row(rows_in(files)[-1], store.blobs).text == long + "!"
    branches.switch("a", cut.branch, expected_last_seq=cut.last_seq)
    assert whole_row(rows_in(files)[-1], store.blobs).text == long


def test_a_cut_in_the_middle_of_a_move_takes_the_copy_back_first(files: ChatFiles) -> None:
    write_rows(files, 1, 1)
    store = open_store(files)
    store.append([boundary_row("r"), text_row("c")], expected_last_seq=2)
    store.append([text_row("d")], expected_last_seq=4)
    rotation = Rotation(files, store, piece_bytes=150)
    while not files.archive.exists():
        rotation.step()
    branches = Branches(files, store)
    cut = branches.cut("c", "edit", then=[text_row("x")], expected_last_seq=5)
    assert files.archive.read_bytes() == b""
    assert shown(files) == "a b r c x"
    while rotation.step():
        assert shown(files) == "a b r c x"
    assert files.chat.read_bytes().startswith(b'{"v":1,"boundary"')
    branches.switch("c", cut.branch, expected_last_seq=cut.last_seq)
    assert shown(files) == "a b r c d"


@pytest.mark.parametrize("after", ["r", "c", "d"])
@pytest.mark.parametrize("is_rotated", [False, True])
def test_the_index_of_windows_goes_on_and_is_right(files: ChatFiles, after: str, *, is_rotated: bool) -> None:
    write_rows(files, 1, 1)
    store = open_store(files)
    store.append([boundary_row("q")], expected_last_seq=2)
    store.append([text_row("b2")], expected_last_seq=3)
    store.append([boundary_row("r"), text_row("c")], expected_last_seq=4)
    store.append([text_row("d")], expected_last_seq=6)
    store.append([text_row("e")], expected_last_seq=7)
    if is_rotated:
        rotation = Rotation(files, store)
        while rotation.step():
            pass
    keeper = IndexKeeper(files)
    built(keeper)
    Branches(files, store).cut(after, "edit", then=[text_row("x")], expected_last_seq=8)
    saved = load_index(files)
    assert saved is not None
    assert saved.epoch == store.epoch
    assert [window.id for window in saved.windows] == ["w:0", "w:3"] + ["w:5"] * (after != "r")
    for found in (built(keeper), built(IndexKeeper(files))):
        assert described(found) == described(rebuilt(files))


def test_another_process_learns_of_a_cut(files: ChatFiles) -> None:
    write_rows(files, 1, 1, 1)
    other, reader = open_store(files), HistoryReader(ChatFiles(files.folder))
    other.append([text_row("d")], expected_last_seq=3)
    caps = Caps(page_rows=1)
    first = reader.page_forward(caps=caps)
    branches, last_seq = opened(files)
    cut = branches.cut("b", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    assert reader.page_forward(first.next, caps=caps).epoch != first.epoch
    with pytest.raises(Conflict):
        other.append([text_row("y")], expected_last_seq=last_seq)
    other.append([text_row("c")], expected_last_seq=cut.last_seq)
    assert shown(files) == "a b x c"
    with pytest.raises(Conflict):
        branches.switch("b", cut.branch, expected_last_seq=cut.last_seq)


def test_versions_go_to_the_trash_and_back_with_their_chat(tmp_path: Path) -> None:
    library = Library(tmp_path)
    chat = library.create(model="practice/practice", now=datetime.now(UTC)).id
    files = library.files(chat)
    write_rows(files, 1, 1)
    opened(files)[0].cut("a", "edit", then=[text_row("x")], expected_last_seq=2)
    library.delete(chat, now=datetime.now(UTC))
    assert not files.folder.exists()
    library.restore(chat)
    assert kept(files) == [("a", "b")]
    library.delete(chat, now=datetime.now(UTC))
    library.purge(chat)
    assert not list(tmp_path.rglob("branches"))


def test_what_a_kill_left_half_written_is_swept(files: ChatFiles) -> None:
    write_rows(files, 1, 1)
    opened(files)[0].cut("a", "edit", expected_last_seq=2)
    (files.branches / ".x.jsonl.12.tmp").write_text("half")
    files.sweep()
    assert [path.suffix for path in files.branches.iterdir()] == [".jsonl"]


def test_many_rows_are_cut_and_brought_back_in_order(files: ChatFiles) -> None:
    store = open_store(files)
    for begin in range(0, 1_250, 250):
        store.append([text_row(f"r{begin + index}") for index in range(250)], expected_last_seq=begin)
    before = files.chat.read_bytes()
    branches, last_seq = opened(files)
    cut = branches.cut("r0", "edit", then=[text_row("x")], expected_last_seq=last_seq)
    assert shown(files) == "r0 x"
    branches.switch("r0", cut.branch, expected_last_seq=cut.last_seq)
    assert shown(files) == " ".join(f"r{number}" for number in range(1_250))
    assert files.chat.read_bytes().splitlines()[250:] == before.splitlines()[250:]


def test_rows_of_other_programs_without_numbers_or_times_are_cut_and_come_back(files: ChatFiles) -> None:
    write_rows(files, 1)
    foreign = b'{"id": "f", "session": "s1", "role": "user", "created": "2026-11-30T10:00:00", "new": {"x": 1}}\n'
    with files.chat.open("ab") as file:
        file.write(foreign)
    branches, last_seq = opened(files)
    cut = branches.cut(
        "a", "edit", then=[text_row("x").model_copy(update={"created": datetime.now(UTC)})], expected_last_seq=last_seq
    )
    assert branches.versions()[0].ids == (cut.branch, "")
    branches.switch("a", cut.branch, expected_last_seq=cut.last_seq)
    assert files.chat.read_bytes().endswith(foreign)
