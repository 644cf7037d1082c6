"""The index of windows against a plain reading of every line."""

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.disk import Stamp, make_private_folder
from app.domain.rows import Batch, Boundary, Flag, Row, TextPart
from app.history.batches import torn_stretches
from app.history.codec import Damage, decode_line, encode_row, is_reset
from app.history.files import ChatFiles
from app.history.reader import MAX_FOREIGN_LINE_BYTES
from app.history.receipt import read_receipt, tail_hash, write_receipt
from app.history.windows_file import load_index, save_index
from app.history.windows_index import Indexing, IndexKeeper, WindowsIndex
from tests.unit.history.rows import SESSION, boundary_row, open_store, text_row

START = datetime(2026, 11, 30, 12, tzinfo=UTC)


def built(keeper: IndexKeeper) -> WindowsIndex:
    """Read on until the index is there."""
    for _ in range(10_000):
        found = keeper.advance()
        if isinstance(found, WindowsIndex):
            return found
    raise AssertionError("the index never came to an end")


def rebuilt(files: ChatFiles) -> WindowsIndex:
    """The index as somebody makes it who has neither memory nor `windows.json`."""
    files.windows.unlink(missing_ok=True)
    return built(IndexKeeper(files))


def pages_read(keeper: IndexKeeper) -> int:
    """Return in how many calls the index was not ready."""
    count = 0
    while isinstance(keeper.advance(), Indexing):
        count += 1
    return count


@dataclass(frozen=True)
class Expected:
    """What matters most of an index: where windows lie, of what kind, how many lines, and the floor."""

    windows: list[tuple[int, int, str, int]]
    floor: int


def expected(archive: bytes, chat: bytes) -> Expected:
    """Read every line of both files and say where windows begin."""
    starts = [(0, "first")]
    rows = [0]
    floor = 0
    base = 0
    for data in (archive, chat):
        lines = []
        at = base
        for line in data.split(b"\n"):
            if line:
                lines.append((at, line))
            at += len(line) + 1
        found = [decode_line(line) for _, line in lines]
        torn = {index for stretch in torn_stretches(found) for index in stretch}
        for index, (offset, line) in enumerate(lines):
            entry = found[index]
            if isinstance(entry, Damage):
                kind = "unknown" if entry.is_reset else None
            elif entry.boundary is None or (index in torn and not is_reset(entry)):
                kind = None
            else:
                kind = entry.boundary.kind if entry.boundary.kind in ("reset", "rollover", "compaction") else "unknown"
            if kind is None:
                rows[-1] += 1
                continue
            starts.append((offset, kind))
            rows.append(0)
            if kind in ("reset", "unknown"):
                floor = min(offset + len(line) + 1, base + len(data))
        base += len(data)
    ends = [start for start, _ in starts[1:]] + [base]
    return Expected([(start, end, kind, n) for (start, kind), end, n in zip(starts, ends, rows, strict=True)], floor)


def described(index: WindowsIndex) -> Expected:
    return Expected([(window.start, window.end, window.kind, window.rows) for window in index.windows], index.floor)


# Any bytes


def _line(row: Row) -> bytes:
    return encode_row(row)


def _spaced(row: Row) -> bytes:
    return json.dumps(json.loads(encode_row(row))).encode()


def _escaped(row: Row) -> bytes:
    return _spaced(row).replace(b'"boundary"', b'"\\u0062oundary"')


def _escaped_behind_its_id(row: Row) -> bytes:
    """Begins as Muntin's own rows do, which have no boundary there."""
    fields = json.loads(encode_row(row))
    boundary = fields.pop("boundary", None)
    line = orjson.dumps(fields)
    if boundary is None:
        return line
    return line[:-1] + b',"bound\\u0061r\\u0079":' + orjson.dumps(boundary) + b"}"


rows_of_all_kinds = st.builds(
    lambda name, kind, batch, seq, text: Row(
        id=name,
        session=SESSION,
        seq=seq,
        role="user",
        boundary=Boundary(kind=kind) if kind else None,
        batch=Batch(id="b", index=min(batch), count=max(batch) + 1) if batch else None,
        parts=(TextPart(text=text),),
    ),
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["", "", "", "rollover", "reset", "compaction", "novelty"]),
    st.one_of(st.none(), st.none(), st.tuples(st.integers(0, 2), st.integers(0, 2))),
    st.one_of(st.none(), st.integers(0, 9)),
    st.sampled_from(["hello", 'the "boundary"', "\u2028x", "\\u0062", "\\\\u0062", "\x1b\\u0079"]),
)
any_line = st.one_of(
    rows_of_all_kinds.map(_line),
    rows_of_all_kinds.map(_line),
    rows_of_all_kinds.map(_spaced),
    rows_of_all_kinds.map(_escaped),
    rows_of_all_kinds.map(_escaped_behind_its_id),
    st.sampled_from(
        [b"", b"", b"\r", b'"boundary"', b'{"boundary":1}', b'["boundary"]', b'\0"boundary"', b"{", b"\xff"]
    ),
    st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")),
)
any_file = st.tuples(st.lists(any_line, max_size=12), st.booleans()).map(
    lambda made: b"\n".join(made[0]) + (b"\n" if made[0] and made[1] else b"")
)


@given(archive=any_file, chat=any_file, page_bytes=st.sampled_from([2 * 1024 * 1024, 3_000, 700]))
@settings(max_examples=300)
def test_the_index_of_any_files_is_what_reading_every_line_finds(archive: bytes, chat: bytes, page_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = ChatFiles(Path(folder))
        files.archive.write_bytes(archive)
        files.chat.write_bytes(chat)
        index = built(IndexKeeper(files, page_bytes=page_bytes))
        assert described(index) == expected(archive, chat)
        assert len({window.id for window in index.windows}) == len(index.windows)
        assert not files.windows.exists()


def test_a_reset_is_seen_however_its_name_is_written(files: ChatFiles) -> None:
    make_private_folder(files.folder)
    letters = [b"\\u%04x" % letter for letter in b"boundary"] + [b"\\u%04X" % letter for letter in b"boundary"]
    row = b'{"v":1,"id":"r%d","session":"%s","seq":%d,"role":"user","parts":[],"%s":{"kind":"reset"}}\n'
    for number, escape in enumerate(letters):
        name = bytearray(b"boundary")
        at = number % len(name)
        name[at : at + 1] = escape
        files.chat.write_bytes(row % (number, SESSION.encode(), number + 1, bytes(name)))
        index = rebuilt(files)
        assert described(index) == expected(b"", files.chat.read_bytes())
        assert index.floor > 0


# `windows.json`


def write_history(files: ChatFiles) -> int:
    """Three windows, of which one begins with a manual reset; return the last number."""
    store = open_store(files)
    rows = [text_row("a0", "How tall is a muntin?"), text_row("a1", role="assistant")]
    rows += [boundary_row("r", "reset").model_copy(update={"created": START}), text_row("b0", "And   a\nmullion?")]
    rows += [boundary_row("s").model_copy(update={"boundary": Boundary(kind="rollover", context_tokens=96_000)})]
    rows += [text_row("c0")]
    for last_seq, row in enumerate(rows):
        store.append([row], expected_last_seq=last_seq)
    return len(rows)


def test_windows_are_named_timed_and_titled(files: ChatFiles) -> None:
    write_history(files)
    index = built(IndexKeeper(files))
    first, second, third = index.windows
    assert [window.id for window in index.windows] == ["w:0", "w:3", "w:5"]
    assert [window.kind for window in index.windows] == ["first", "reset", "rollover"]
    assert [window.title for window in index.windows] == ["How tall is a muntin?", "And a mullion?", "text of c0"]
    assert [window.tokens for window in index.windows] == [None, 96_000, None]
    assert [window.rows for window in index.windows] == [2, 1, 1]
    assert (first.closed, second.opened) == (START, START)
    assert [window.is_above_floor for window in index.windows] == [True, False, False]
    assert [window.is_active for window in index.windows] == [False, False, True]
    assert index.floor > second.start
    assert index.window_at(index.floor) is second
    assert index.window_at(third.start) is third
    assert index.window_at(0) is first
    assert index.find("w:5") is third
    assert index.find("w:9") is None


def test_an_empty_chat_has_one_window(files: ChatFiles) -> None:
    open_store(files)
    index = built(IndexKeeper(files))
    assert [(window.id, window.start, window.end, window.is_active) for window in index.windows] == [
        ("w:0", 0, 0, True)
    ]
    assert index.floor == 0
    assert index.window_at(0).id == "w:0"


def test_a_title_is_no_hidden_rejected_or_copied_message_nor_another_batch_half(files: ChatFiles) -> None:
    store = open_store(files)
    hidden = text_row("h").model_copy(update={"flags": (Flag.HIDDEN,)})
    rejected = text_row("j").model_copy(update={"flags": (Flag.REJECTED,)})
    copied = text_row("k").model_copy(update={"copy_of": "x"})
    asked = text_row("l").model_copy(update={"kind": "continue"})
    torn = text_row("t").model_copy(update={"batch": Batch(id="b", index=0, count=2)})
    store.append([boundary_row("r"), hidden, rejected, copied, asked], expected_last_seq=0)
    with files.chat.open("ab") as file:
        file.write(encode_row(torn) + b"\n" + encode_row(text_row("m", "word " * 40)) + b"\n")
    window = built(IndexKeeper(files)).windows[-1]
    assert window.title == ("word " * 16)[:79] + "…"
    assert window.rows == 6


def test_windows_whose_numbers_repeat_or_are_missing_have_names_of_their_own(files: ChatFiles) -> None:
    make_folder(files)
    lines = [boundary_row("a"), boundary_row("b"), boundary_row("b").model_copy(update={"seq": 0})]
    lines += [boundary_row("c").model_copy(update={"seq": 7})] * 2
    lines += [boundary_row("with space"), boundary_row("b")]
    files.chat.write_bytes(b"".join(encode_row(row) + b"\n" for row in lines) + b'{"boundary":\0}\n')
    names = [window.id for window in built(IndexKeeper(files)).windows]
    odd = [name for name in names if name.startswith("w:b:")]
    assert [name for name in names if name not in odd] == ["w:0", "w:m:a", "w:m:b", "w:0.2", "w:7", "w:7.2", "w:m:b.2"]
    assert len(odd) == 2
    files.chat.write_bytes(files.chat.read_bytes() + encode_row(text_row("z")) + b"\n")
    assert [window.id for window in built(IndexKeeper(files)).windows] == names


def test_a_valid_index_costs_no_pass_and_an_append_only_what_is_new(files: ChatFiles) -> None:
    last_seq = write_history(files)
    other = ChatFiles(files.folder)
    keeper = IndexKeeper(files)
    before = built(keeper)
    assert files.windows.exists()
    assert pages_read(IndexKeeper(other)) == 0
    store = open_store(files)
    store.append([text_row("d"), boundary_row("t", "novelty")], expected_last_seq=last_seq)
    for one in (keeper, IndexKeeper(other)):
        assert pages_read(one) == 0
        index = built(one)
        assert index.epoch == before.epoch
        assert [window.rows for window in index.windows] == [2, 1, 2, 0]
        assert index.windows[-1].kind == "unknown"
        assert index == rebuilt(files)


def test_a_small_chat_of_one_window_needs_no_file(files: ChatFiles) -> None:
    open_store(files).append([text_row("a")], expected_last_seq=0)
    built(IndexKeeper(files))
    assert not files.windows.exists()


def test_a_chat_that_was_deleted_is_not_made_again(files: ChatFiles) -> None:
    write_history(files)
    keeper = IndexKeeper(files)
    for path in files.folder.iterdir():
        path.unlink()
    files.folder.rmdir()
    index = built(keeper)
    assert (index.size, len(index.windows)) == (0, 1)
    assert not files.folder.exists()


def test_an_index_that_cannot_be_written_is_no_obstacle(files: ChatFiles) -> None:
    write_history(files)
    files.windows.mkdir()
    assert len(built(IndexKeeper(files)).windows) == 3


def append_foreign(files: ChatFiles) -> None:
    with files.chat.open("ab") as file:
        file.write(encode_row(boundary_row("f", "reset")) + b"\n")


def edit_a_boundary(files: ChatFiles) -> None:
    data = files.chat.read_bytes()
    files.chat.write_bytes(data.replace(b'{"kind":"rollover"', b'{"kind":"novelty" '))


def add_to_the_archive(files: ChatFiles) -> None:
    with files.archive.open("ab") as file:
        file.write(encode_row(boundary_row("f", "reset")) + b"\n")


def delete_the_receipt(files: ChatFiles) -> None:
    edit_a_boundary(files)
    files.receipt.unlink()


@pytest.mark.parametrize("change", [append_foreign, edit_a_boundary, add_to_the_archive, delete_the_receipt])
@pytest.mark.parametrize("settled", [False, True])
def test_after_an_untracked_change_no_older_index_counts(
    files: ChatFiles, change: Callable[[ChatFiles], None], *, settled: bool
) -> None:
    write_history(files)
    keeper = IndexKeeper(files)
    before = built(keeper)
    kept = files.windows.read_bytes()
    change(files)
    if settled:
        # A store writes a receipt of the changed files: it must not make the old index good.
        store = open_store(files)
        store.append([text_row("n")], expected_last_seq=store.repair())
    files.windows.write_bytes(kept)
    after = [described(built(one)) for one in (keeper, IndexKeeper(ChatFiles(files.folder)))]
    archive = files.archive.read_bytes() if files.archive.exists() else b""
    assert after == [expected(archive, files.chat.read_bytes())] * 2
    assert after[0] != described(before)


def test_an_edit_that_hides_its_time_is_seen_where_it_matters(files: ChatFiles) -> None:
    """Of the same size, with the old stamps: no receipt sees it, but the boundary row is compared at each use."""
    write_history(files)
    keeper = IndexKeeper(files)
    built(keeper)
    receipt = read_receipt(files)
    assert receipt is not None
    edit_a_boundary(files)
    stamp, size = Stamp.of(files.chat), files.chat.stat().st_size
    edited = replace(receipt, chat=stamp, tail_sha256=tail_hash(files))
    write_receipt(files, edited)
    assert size == (receipt.chat.size if receipt.chat else 0)
    for one in (keeper, IndexKeeper(ChatFiles(files.folder))):
        assert described(built(one)) == expected(b"", files.chat.read_bytes())


def test_an_index_of_another_epoch_or_of_more_than_is_there_does_not_count(files: ChatFiles) -> None:
    write_history(files)
    wanted = built(IndexKeeper(files))
    index = load_index(files)
    assert index is not None
    for wrong in (replace(index, epoch="other"), replace(index, size=index.size + 1)):
        save_index(files, wrong)
        keeper = IndexKeeper(files)
        assert built(keeper) == wanted


@given(
    junk=st.one_of(st.binary(max_size=200), st.sampled_from([b"[" * 100_000, b'{"v":1e999}', b"null", b'{"index":{}}']))
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_in_the_file_are_no_obstacle(written: tuple[ChatFiles, WindowsIndex], junk: bytes) -> None:
    files, wanted = written
    files.windows.write_bytes(junk)
    assert built(IndexKeeper(files)) == wanted


@given(data=st.data(), is_signed=st.booleans())
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_change_of_the_file_leaves_the_index_right(
    written: tuple[ChatFiles, WindowsIndex], data: st.DataObject, *, is_signed: bool
) -> None:
    files, wanted = written
    files.windows.unlink(missing_ok=True)
    built(IndexKeeper(files))
    whole = orjson.loads(files.windows.read_bytes())
    change_something(whole, data)
    if is_signed:
        # Not by accident: somebody has counted the hash anew. It must still not raise.
        whole["sha256"] = hashlib.sha256(orjson.dumps(whole.get("index"))).hexdigest()
    files.windows.write_bytes(orjson.dumps(whole))
    found = built(IndexKeeper(files))
    if not is_signed:
        assert found == wanted


def change_something(whole: dict[str, Any], data: st.DataObject) -> None:
    """Replace, remove or double one value somewhere in a JSON object."""
    places: list[tuple[Any, Any]] = []
    waiting: list[Any] = [whole]
    while waiting:
        item = waiting.pop()
        pairs = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        for key, value in pairs:
            places.append((item, key))
            waiting.append(value)
    holder, key = data.draw(st.sampled_from(places))
    match data.draw(st.sampled_from(["replace", "remove", "swap"])):
        case "remove":
            del holder[key]
        case "swap":
            other_holder, other_key = data.draw(st.sampled_from(places))
            if not _holds(holder[key], other_holder) and not _holds(other_holder[other_key], holder):
                holder[key], other_holder[other_key] = other_holder[other_key], holder[key]
        case _:
            odd: list[object] = [
                None,
                -1,
                0,
                1,
                2**63,
                1.5,
                "",
                "reset",
                "w:0",
                [],
                {},
                True,
                "2026-11-30T12:00:00+00:00",
            ]
            holder[key] = data.draw(st.sampled_from(odd))


def _holds(value: Any, item: Any) -> bool:
    if value is item:
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_holds(each, item) for each in inner)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[ChatFiles, WindowsIndex]:
    files = ChatFiles(tmp_path_factory.mktemp("written") / "chat")
    write_history(files)
    return files, rebuilt(files)


# Long lines


def make_folder(files: ChatFiles) -> None:
    make_private_folder(files.folder)


@pytest.mark.parametrize("place", ["begin", "middle", "end", "text"])
@pytest.mark.parametrize("size", [1_100_000, 2_500_000, 5_000_000])
def test_a_boundary_in_a_line_over_the_cap_is_looked_into(files: ChatFiles, place: str, size: int) -> None:
    make_folder(files)
    fill = "x" * (size // 2)
    fields: dict[str, Any] = {"id": "long", "session": SESSION, "role": "user", "one": fill, "two": fill}
    boundary = {"kind": "rollover"}
    match place:
        case "begin":
            fields = {"boundary": boundary, **fields}
        case "middle":
            fields = {"one": fill, "boundary": boundary, **fields}
        case "end":
            fields["boundary"] = boundary
        case _:
            fields["three"] = ["boundary"]
    before = encode_row(text_row("a")) + b"\n"
    data = before + json.dumps(fields).encode() + b"\n" + encode_row(text_row("b")) + b"\n"
    files.chat.write_bytes(data)
    index = built(IndexKeeper(files))
    if place == "text":
        assert [(window.kind, window.rows) for window in index.windows] == [("first", 3)]
    else:
        assert [(window.kind, window.rows, window.start) for window in index.windows] == [
            ("first", 1, 0),
            ("rollover", 1, len(before)),
        ]
    assert index.floor == 0


def test_a_line_too_long_to_be_looked_into_counts_as_a_reset(files: ChatFiles) -> None:
    make_folder(files)
    with files.chat.open("wb") as file:
        file.write(b'{"boundary":{"kind":"rollover"},"x":"')
        file.truncate(MAX_FOREIGN_LINE_BYTES + 1)
        file.seek(MAX_FOREIGN_LINE_BYTES + 1)
        file.write(b"\n" + encode_row(text_row("b")) + b"\n")
    index = built(IndexKeeper(files))
    assert [(window.id, window.kind, window.rows) for window in index.windows] == [
        ("w:0", "first", 0),
        ("w:b:0", "unknown", 1),
    ]
    assert index.floor == MAX_FOREIGN_LINE_BYTES + 2


# Two processes


WRITER = """
import sys
from pathlib import Path
from app.history.files import ChatFiles
from app.history.store import Store
from tests.unit.history.rows import SESSION, boundary_row, text_row
store = Store(ChatFiles(Path(sys.argv[1])), session=SESSION)
for line in sys.stdin:
    name, kind, last_seq = line.split()
    row = boundary_row(name, kind) if kind != "text" else text_row(name)
    store.append([row], expected_last_seq=int(last_seq))
    print(flush=True)
"""


def test_two_processes_that_append_in_turn_keep_each_others_index(files: ChatFiles) -> None:
    last_seq = write_history(files)
    keeper = IndexKeeper(files)
    epoch = built(keeper).epoch
    store = open_store(files)
    command = [sys.executable, "-c", WRITER, str(files.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        for number in range(12):
            kind = ("text", "rollover", "text", "reset")[number % 4]
            if number % 3 == 2:
                row = text_row(f"n{number}") if kind == "text" else boundary_row(f"n{number}", kind)
                store.append([row], expected_last_seq=last_seq)
            else:
                other.stdin.write(f"n{number} {kind} {last_seq}\n")
                other.stdin.flush()
                other.stdout.readline()
            last_seq += 1
            assert pages_read(keeper) == 0
            index = built(keeper)
            assert index.epoch == epoch
            assert index == rebuilt(files)
    assert other.returncode == 0
    assert len(index.windows) == 3 + 6
