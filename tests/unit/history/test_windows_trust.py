"""An index of windows is believed of the very files it was made of, and of no others, whatever they look like."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from app.disk import Stamp
from app.domain.windows import View
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.receipt import read_receipt, tail_hash, write_receipt
from app.history.windows_file import load_index
from app.history.windows_index import IndexKeeper, WindowsIndex
from tests.unit.history.looking import all_items, view_of
from tests.unit.history.rows import boundary_row, open_store, text_row


def built(files: ChatFiles) -> WindowsIndex:
    keeper = IndexKeeper(ChatFiles(files.folder))
    for _ in range(100):
        index = keeper.advance()
        if isinstance(index, WindowsIndex):
            return index
    raise AssertionError("never comes to an end")


def write_history(files: ChatFiles) -> int:
    """Two windows and their index; one message is as long as a boundary."""
    store = open_store(files)
    rows = [text_row("a"), text_row("b", "x" * 200), boundary_row("r"), text_row("c")]
    for last_seq, row in enumerate(rows):
        store.append([row], expected_last_seq=last_seq)
    assert [window.kind for window in built(files).windows] == ["first", "rollover"]
    assert files.windows.exists()
    return len(rows)


def turn_a_message_into_a_reset(files: ChatFiles) -> None:
    """By hand, in place: no boundary that the index names is another one than before."""
    lines = files.chat.read_bytes().split(b"\n")
    lines[1] = encode_row(boundary_row("q", "reset")).ljust(len(lines[1]))
    files.chat.write_bytes(b"\n".join(lines))


def keep_quiet(_files: ChatFiles, _last_seq: int) -> None:
    """Nothing else happens."""


def append_a_row(files: ChatFiles, last_seq: int) -> None:
    """A store writes a receipt of the changed files."""
    store = open_store(files)
    store.append([text_row("d")], expected_last_seq=store.repair())
    assert last_seq


def lose_the_receipt(files: ChatFiles, _last_seq: int) -> None:
    files.receipt.unlink()


@pytest.mark.parametrize("then", [keep_quiet, append_a_row, lose_the_receipt])
def test_a_boundary_that_an_edit_puts_between_those_it_names_is_found(
    files: ChatFiles, then: Callable[[ChatFiles, int], None]
) -> None:
    last_seq = write_history(files)
    kept = files.windows.read_bytes()
    turn_a_message_into_a_reset(files)
    then(files, last_seq)
    files.windows.write_bytes(kept)
    assert [window.kind for window in built(files).windows] == ["first", "reset", "rollover"]
    seen = [item.row_id for item in all_items(view_of(files, View.AGENT), recent_first=False)]
    assert seen[:1] == ["c"]


def test_an_index_tells_the_epoch_it_holds_in(files: ChatFiles) -> None:
    write_history(files)
    saved, receipt = load_index(files), read_receipt(files)
    assert saved is not None
    assert receipt is not None
    assert saved.epoch == receipt.epoch
    store = open_store(files)
    store.rewrite(lambda row: None if row.id == "c" else row)
    assert [window.rows for window in built(files).windows] == [2, 0]
    again, fresh = load_index(files), read_receipt(files)
    assert again is not None
    assert fresh is not None
    assert again.epoch == fresh.epoch != saved.epoch


def edit_out_of_sight(files: ChatFiles, old: bytes, new: bytes) -> None:
    """Change bytes so that no stamp tells of it: the receipt says that the files are as Muntin left them."""
    receipt = read_receipt(files)
    assert receipt is not None
    data = files.chat.read_bytes()
    assert data.count(old) == 1
    assert len(old) == len(new)
    files.chat.write_bytes(data.replace(old, new))
    stamp = Stamp.of(files.chat)
    assert write_receipt(files, replace(receipt, chat=stamp, tail_sha256=tail_hash(files)))


def test_every_boundary_is_compared_when_the_index_is_loaded(files: ChatFiles) -> None:
    store = open_store(files)
    rows = [text_row("a"), boundary_row("r"), text_row("b"), boundary_row("s", "compaction"), text_row("c")]
    for last_seq, row in enumerate(rows):
        store.append([row], expected_last_seq=last_seq)
    built(files)
    edit_out_of_sight(files, b'{"kind":"rollover"}', b'{"kind":"handover"}')
    assert [window.kind for window in built(files).windows] == ["first", "unknown", "compaction"]


def test_the_boundary_that_sets_the_floor_is_compared_at_each_use(files: ChatFiles) -> None:
    store = open_store(files)
    rows = [text_row("a"), boundary_row("r", "reset"), text_row("b"), boundary_row("s"), text_row("c")]
    for last_seq, row in enumerate(rows):
        store.append([row], expected_last_seq=last_seq)
    keeper = IndexKeeper(ChatFiles(files.folder))
    assert isinstance(keeper.advance(), WindowsIndex)
    edit_out_of_sight(files, b'{"kind":"reset"}', b'{"kind":"reseT"}')
    again = keeper.advance()
    assert isinstance(again, WindowsIndex)
    assert [window.kind for window in again.windows] == ["first", "unknown", "rollover"]


@pytest.mark.parametrize(("replies", "title"), [(49, "text of asked"), (50, "")])
def test_a_title_is_looked_for_in_50_rows_of_a_window(files: ChatFiles, replies: int, title: str) -> None:
    store = open_store(files)
    rows = [*(text_row(f"a{number}", role="assistant") for number in range(replies)), text_row("asked")]
    for last_seq, row in enumerate(rows):
        store.append([row], expected_last_seq=last_seq)
    (window,) = built(files).windows
    assert (window.title, window.rows) == (title, replies + 1)
