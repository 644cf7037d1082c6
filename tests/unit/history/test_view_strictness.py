"""What looks like what was asked for, and isn't: none of it is listed, found or read."""

import hashlib
import hmac
from base64 import urlsafe_b64decode
from pathlib import Path

import pytest

from app.disk import make_private_folder
from app.domain.errors import HistoryChanged, StaleItem
from app.domain.rows import Batch, Boundary, ReasoningPart, Row, TextPart, ToolPart
from app.domain.windows import Filters, Mark, View
from app.history.batches import MAX_BATCH_ROWS
from app.history.codec import MAX_LINE_BYTES, encode_row
from app.history.cursor import MAX_CURSOR_CHARS, Cursors, Scope
from app.history.cursor_key import CursorKey
from app.history.files import ChatFiles
from app.history.item_ref import format_ref
from app.history.reader import DamagedEntry, HistoryReader, RowEntry
from app.history.scanner import scan_backward, scan_forward
from tests.unit.history.looking import all_hits, all_items, search_pages, skipped, view_of, whole_text
from tests.unit.history.rows import SESSION, all_labels, open_store, text_row


def write(files: ChatFiles, data: bytes) -> None:
    make_private_folder(files.folder)
    files.chat.write_bytes(data)


def line(row: Row) -> bytes:
    return encode_row(row) + b"\n"


def batch(count: int, *, first: int = 0, claims: int | None = None) -> bytes:
    """Neighbouring rows that say they are a batch of `claims`, from index `first` on."""
    rows = (
        text_row(f"r{index}").model_copy(update={"batch": Batch(id="b", index=index, count=claims or count)})
        for index in range(first, first + count)
    )
    return b"".join(map(line, rows))


def listed(files: ChatFiles, view: View = View.PERSON, filters: Filters | None = None) -> list[str]:
    found = all_items(view_of(files, view), filters=filters or Filters(), recent_first=False)
    return [item.row_id for item in found]


def test_a_role_or_a_tool_that_is_only_mentioned_is_none(files: ChatFiles) -> None:
    given = {"role": "user", "name": "look"}
    part = ToolPart(call_id="c", name="ask", input=given, output=given, state="done")
    write(files, line(Row(id="a", session=SESSION, role="assistant", parts=(part,))) + line(text_row("b")))
    for view in View:
        assert listed(files, view, Filters(role="user")) == ["b"]
        assert listed(files, view, Filters(role="assistant")) == ["a"]
        assert listed(files, view, Filters(tool_name="look")) == []
        assert listed(files, view, Filters(tool_name="ask")) == ["a"]
        hits = all_hits(view_of(files, view), "user", filters=Filters(role="user"))
        assert hits == []


@pytest.mark.parametrize(
    "data",
    [
        batch(2, first=1),
        batch(2, claims=3),
        batch(MAX_BATCH_ROWS + 1),
        batch(MAX_BATCH_ROWS),
        batch(1) + line(text_row("x")) + batch(1, first=1, claims=2),
    ],
    ids=["no begin", "no end", "too many", "the most", "apart"],
)
def test_a_batch_counts_for_the_view_as_it_does_for_the_transcript(files: ChatFiles, data: bytes) -> None:
    write(files, line(text_row("before")) + data + line(text_row("behind")))
    shown = [entry.row.id for entry in HistoryReader(files).entries_forward() if isinstance(entry, RowEntry)]
    assert shown[0] == "before"
    assert shown[-1] == "behind"
    for view in View:
        assert listed(files, view) == shown


def test_a_foreign_batch_that_is_too_large_is_damage_that_stays_where_it_is(files: ChatFiles) -> None:
    data = line(text_row("before")) + batch(MAX_BATCH_ROWS + 1)
    write(files, data)
    assert open_store(files).append([text_row("behind")], expected_last_seq=0)
    assert files.chat.read_bytes().startswith(data)
    assert all_labels(files) == ["before", "damaged", "behind"]
    assert not list(files.folder.glob("*.damaged"))


def test_no_reference_leads_to_half_a_batch_or_into_a_line(files: ChatFiles) -> None:
    torn = batch(1, claims=2)
    hidden = line(text_row("inside")).rstrip(b"\n")
    glued = b"x" + hidden + b"\n"
    write(files, torn + glued + line(text_row("a")))
    for view in View:
        looker = view_of(files, view)
        for offset, raw in ((0, torn[:-1]), (len(torn) + 1, hidden)):
            with pytest.raises(StaleItem):
                looker.item(format_ref(offset, raw, session=SESSION))
        start = len(torn + glued)
        found = looker.item(format_ref(start, line(text_row("a"))[:-1], session=SESSION))
        assert found is not None
        assert found.row_id == "a"


@pytest.mark.parametrize("recent_first", [True, False])
def test_a_mark_ends_when_no_line_begins_where_its_row_lay(files: ChatFiles, *, recent_first: bool) -> None:
    rows = line(text_row("a")) + line(text_row("b")) + line(text_row("c")) + line(text_row("d"))
    write(files, rows)
    looker = view_of(files)
    mark = looker.items(limit=1, recent_first=recent_first).next
    assert mark is not None
    mark = looker.items(mark, limit=1, recent_first=recent_first).next
    assert mark is not None
    # One line of the same length.
    write(files, rows.replace(b"\n", b" "))
    with pytest.raises(HistoryChanged):
        view_of(files).items(mark, recent_first=recent_first)


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("length", [MAX_LINE_BYTES, MAX_LINE_BYTES + 1])
def test_a_last_line_over_the_cap_is_counted_whatever_is_looked_for(files: ChatFiles, length: int, end: bytes) -> None:
    write(files, b"x" * length + end)
    for query in ("never said", "x"):
        assert skipped(search_pages(view_of(files), query)).oversized == (length > MAX_LINE_BYTES)


def test_reasoning_is_neither_read_nor_found_nor_counted(files: ChatFiles) -> None:
    parts = (
        ReasoningPart(text="thought of before"),
        TextPart(text="said"),
        ReasoningPart(text="thought of behind", replay={"signature": "thought of apart"}),
    )
    write(files, line(Row(id="a", session=SESSION, role="assistant", parts=parts)))
    for view in View:
        looker = view_of(files, view)
        (item,) = all_items(looker)
        assert whole_text(looker, item.ref) == item.preview == "said"
        assert item.chars == 4
        assert all_hits(looker, "thought") == []


def test_json_that_looks_like_a_file_or_a_boundary_stays_text(files: ChatFiles) -> None:
    shaped = {"type": "media", "media_type": "image/png", "name": "a.png", "blob": {"sha256": "0" * 64, "bytes": 9}}
    gave = {"parts": [shaped], "boundary": {"kind": "reset"}, "url": "data:image/png;base64,AAAA"}
    part = ToolPart(call_id="c", name="fetch", input=shaped, output=gave, state="done")
    write(files, line(Row(id="a", session=SESSION, role="assistant", parts=(part,))) + line(text_row("b")))
    for view in View:
        looker = view_of(files, view)
        text = whole_text(looker, all_items(looker)[-1].ref)
        assert text.count("media_type: image/png") == 2
        assert "boundary.kind: reset" in text
        assert "data:image/png;base64,AAAA" in text
        assert "[file:" not in text
        assert [window.kind for window in looker.windows().windows] == ["first"]
        assert [hit.item.row_id for hit in all_hits(looker, "IMAGE/PNG;base64")] == ["a"]


# The numbers of the specification


@pytest.mark.parametrize(("beyond", "kind"), [(0, "rollover"), (1, "unknown")])
def test_a_boundary_in_a_foreign_line_is_looked_for_up_to_64_mebibytes(
    files: ChatFiles, beyond: int, kind: str
) -> None:
    row = encode_row(text_row("r").model_copy(update={"boundary": Boundary(kind="rollover"), "kind": "rollover"}))
    write(files, line(text_row("a")) + row.ljust(64 * 1024 * 1024 + beyond) + b"\n" + line(text_row("b")))
    looker = view_of(files)
    while not (page := looker.windows()).is_complete:
        pass
    assert [window.kind for window in page.windows] == [kind, "first"]
    boundary = next(entry for entry in HistoryReader(files).entries_forward() if isinstance(entry, DamagedEntry))
    assert boundary.is_boundary
    assert boundary.is_reset is (kind == "unknown")


def test_a_snippet_has_at_most_500_characters_around_the_hit(files: ChatFiles) -> None:
    write(files, line(text_row("a", "x" * 2_000 + "hit" + "y" * 2_000)))
    (hit,) = all_hits(view_of(files), "HIT")
    assert len(hit.snippet) == 500
    assert hit.snippet[hit.start : hit.start + hit.length] == "hit"
    assert hit.start > 100
    assert hit.offset_chars == 2_000


@pytest.mark.parametrize("backward", [True, False])
def test_a_page_is_two_mebibytes_or_500_lines(tmp_path: Path, *, backward: bool) -> None:
    for row, bytes_most, rows_most in ((b"y" * 99_999 + b"\n", 2 * 1024 * 1024, 500), (b"y\n", 2 * 1024 * 1024, 500)):
        path = tmp_path / "lines"
        data = row * max(50, 1_500 * (len(row) == 2))
        path.write_bytes(data)
        with path.open("rb") as file:
            descriptor = file.fileno()
            page = scan_backward(descriptor, len(data)) if backward else scan_forward(descriptor, 0, len(data))
        assert page.bytes_read <= bytes_most
        assert page.rows == min(rows_most, bytes_most // len(row))


def test_a_cursor_has_at_most_160_characters_and_ends_with_16_bytes_of_an_hmac(tmp_path: Path) -> None:
    key = CursorKey(tmp_path / "cursor.key")
    largest = Mark("f" * 12, 2**48, 2**31, 2**48, True, "f" * 16, 2**48)
    text = Cursors(key).encode(largest, Scope("s1", "search", "x" * 1_024))
    data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    assert data[-16:] == hmac.digest(key.get(), data[:-16], hashlib.sha256)[:16]
    assert len(text) <= MAX_CURSOR_CHARS == 160
