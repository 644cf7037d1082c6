import hashlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.disk import make_private_folder
from app.domain.errors import HistoryChanged, StaleItem
from app.domain.rows import Blob, Flag, MediaPart, Row, TextPart, ToolPart
from app.domain.windows import Filters, Mark, Skipped, View
from app.history.blobs import MAX_READ_BYTES, Blobs, fit_row
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.scanner import MAX_PAGE_BYTES
from app.history.sidecars import SessionMeta, write_sidecar
from tests.unit.history.looking import (
    all_hits,
    all_items,
    item_pages,
    search_pages,
    skipped,
    view_of,
    whole_text,
)
from tests.unit.history.rows import SESSION, boundary_row, open_store, text_row

NEEDLE = "crème brûlée"
NO_BLOB = Blob(sha256="0", bytes=9)
NO_REFS = ["", "#", "#-1", "#01", "m:", "i", "izz.AAAAAAAAAAAA", "a", "#1 ", "m:nobody", "\ud83d"]


def write(files: ChatFiles, *lines: bytes, end: bytes = b"\n") -> None:
    make_private_folder(files.folder)
    files.chat.write_bytes(b"\n".join(lines) + end)


def line(row_id: str, text: str = NEEDLE, *, seq: int | None = None, **fields: object) -> bytes:
    return encode_row(text_row(row_id, text).model_copy(update={"seq": seq, **fields}))


def tool_row(row_id: str, name: str, tool_input: object, output: object, **fields: object) -> Row:
    part = ToolPart(call_id="c", name=name, input=tool_input, output=output, state="done")
    return Row(id=row_id, session=SESSION, role="assistant", parts=(part,)).model_copy(update=fields)


def ids(files: ChatFiles, view: View = View.PERSON) -> list[str]:
    return [item.row_id for item in all_items(view_of(files, view), recent_first=False)]


def found(files: ChatFiles, query: str = NEEDLE, view: View = View.PERSON) -> list[str]:
    return [hit.item.row_id for hit in all_hits(view_of(files, view), query, recent_first=False)]


def test_what_was_said_is_listed_found_and_read(files: ChatFiles) -> None:
    rows = [text_row("a", "The first words."), text_row("b", "An answer about bridges.", role="assistant")]
    open_store(files).append(rows, expected_last_seq=0)
    view = view_of(files, View.AGENT)

    page = view.items()
    hits = view.search("BRIDGES").hits

    assert [item.preview for item in page.items] == ["An answer about bridges.", "The first words."]
    assert page.exhausted
    assert [hit.item for hit in hits] == [page.items[0]]
    text = view.read(hits[0].item.ref)
    assert text is not None
    assert text.text[hits[0].offset_chars :] == "bridges."
    assert view.item("#1") == view.item("m:a") == page.items[1]


def test_an_empty_chat_has_nothing_to_show(files: ChatFiles) -> None:
    make_private_folder(files.folder)
    for view in View:
        assert view_of(files, view).items().exhausted
        assert view_of(files, view).search("a").exhausted
        assert view_of(files, view).item("#1") is None


# Rows nobody would write on purpose


@pytest.mark.parametrize(
    ("nasty", "damaged"),
    [
        (b'{"id":"x","session":"s1","role":"user","parts":[{"type":"text","text":"\\ud83d"}]}', 0),
        (b'{"id":"x","session":"s1","role":"user","parts":[{"type":"text","text":"\xff\xfe"}]}', 0),
        (line("x", "a\u2028b\u2029c\x85d"), 0),
        (line("x", "a") + b"\r", 0),
        (b'  { "id" : "x", "session" : "s1", "role" : "user", "seq" : 1.0 }', 0),
        (b'{"id":"x","session":"s1","role":"user","parts":' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}", 1),
        (b"\0" * 4096, 1),
        (b"[" * 100_000, 1),
        (b'{"id":"x"}', 1),
        (b'"a text"', 1),
        (b'{"id":"x","session":"s1","role":"user","parts":[{"type":"text","text":"torn', 1),
    ],
)
def test_a_nasty_row_hides_none_of_its_neighbours(files: ChatFiles, nasty: bytes, damaged: int) -> None:
    write(files, line("a"), nasty, line("b"))
    expected = ["a", "b"] if damaged else ["a", "x", "b"]
    for view in View:
        assert ids(files, view) == expected
        assert skipped(item_pages(view_of(files, view))) == Skipped(damaged=damaged)
        assert found(files, view=view) == ["a", "b"]


def test_a_torn_end_is_no_row(files: ChatFiles) -> None:
    whole = line("b")
    for cut in (1, len(whole) // 2, len(whole) - 1):
        write(files, line("a"), whole[:cut], end=b"")
        assert ids(files) == ["a"]
        assert found(files) == ["a"]
    write(files, line("a"), whole, end=b"")
    assert ids(files) == ["a", "b"]


@pytest.mark.parametrize("length", [1024 * 1024 + 1, MAX_PAGE_BYTES, 3 * MAX_PAGE_BYTES + 7])
@pytest.mark.parametrize("recent_first", [True, False])
def test_a_line_over_a_mebibyte_is_skipped_and_counted(files: ChatFiles, length: int, recent_first: bool) -> None:
    long = b'{"id":"x","session":"s1","role":"user","parts":[{"type":"text","text":"%s"}]}'
    long = long % NEEDLE.encode().ljust(length - len(long) + 2, b".")
    assert len(long) == length
    write(files, line("a"), long, line("b"))
    view = view_of(files)
    while not view.windows().is_complete:
        pass

    items = item_pages(view, recent_first=recent_first)
    hits = search_pages(view, NEEDLE, recent_first=recent_first)
    misses = search_pages(view, "not said", recent_first=recent_first)

    assert sorted(item.row_id for page in items for item in page.items) == ["a", "b"]
    assert sorted(hit.item.row_id for page in hits for hit in page.hits) == ["a", "b"]
    size = files.chat.stat().st_size
    assert skipped(items) == skipped(hits) == skipped(misses) == Skipped(oversized=1)
    for read in ([page.bytes_read for page in items], [page.bytes_read for page in hits + misses]):
        assert sum(read) in (size, 2 * size)
        assert max(read) <= MAX_PAGE_BYTES


def test_a_line_over_64_mebibytes_is_passed_over(files: ChatFiles) -> None:
    write(files, line("a"))
    with files.chat.open("r+b") as file:
        file.seek(65 * 1024 * 1024, os.SEEK_END)
        file.write(b"\n" + line("b") + b"\n")
    assert ids(files) == ["a", "b"]
    assert skipped(search_pages(view_of(files), NEEDLE)) == Skipped(oversized=1)


def test_a_row_of_exactly_a_mebibyte_counts(files: ChatFiles) -> None:
    empty = len(line("x", ""))
    write(files, line("a"), line("x", "y" * (1024 * 1024 - empty)), line("b"))
    assert ids(files) == ["a", "x", "b"]
    assert found(files, "y" * 900_000) == ["x"]


def test_a_hundred_thousand_tiny_rows_are_seen_once_each(files: ChatFiles) -> None:
    tiny = b'{"id":"%d","session":"s1","role":"user"}'
    write(files, *(tiny % number for number in range(100_000)))
    pages = search_pages(view_of(files), "nothing")
    assert sum(page.rows for page in pages) == 100_000
    assert all(page.rows <= 500 for page in pages)
    assert view_of(files).item("m:0") is not None


def test_a_text_that_mentions_a_boundary_is_none(files: ChatFiles) -> None:
    write(
        files,
        line("a", '"boundary":{"kind":"reset"}'),
        encode_row(tool_row("b", "read_file", {"boundary": {"kind": "reset"}}, {"boundary": 1})),
        line("c"),
    )
    assert ids(files, View.AGENT) == ["a", "b", "c"]


def test_of_rows_with_the_same_number_or_id_the_newest_is_meant(files: ChatFiles) -> None:
    write(files, line("a", "old", seq=5), line("a", "new", seq=5), line("b", "other", seq=55))
    view = view_of(files)
    assert whole_text(view, "#5") == whole_text(view, "m:a") == "new"
    assert len({item.ref for item in all_items(view)}) == 3


@pytest.mark.parametrize("seq", [b"5", b'"5"', b"5.0", b"0.5e1", b"50E-1"])
def test_a_number_is_found_however_it_is_written(files: ChatFiles, seq: bytes) -> None:
    write(files, b'{"seq":%s,"id":"x","session":"s1","role":"user"}' % seq, line("y", seq=55))
    item = view_of(files).item("#5")
    assert item is not None
    assert item.row_id == "x"


def test_foreign_json_is_filtered_and_searched(files: ChatFiles) -> None:
    row = json.loads(encode_row(tool_row("a", "read_file", {"path": "straße/a"}, "Ω")))
    plain = json.dumps(row, indent=None, separators=(" , ", " : ")).encode()
    hidden = plain.replace(b'"role"', b'"\\u0072ole"').replace(b"read_file", b"r\\u0065ad_file").replace(b"/", b"\\/")
    for foreign in (plain, hidden):
        write(files, foreign, line("z"))
        view = view_of(files)
        filters = Filters(role="assistant", tool_name="read_file")
        assert [item.row_id for item in all_items(view, filters=filters)] == ["a"]
        for query in ("STRASSE", "Straße/A", "ω", "read_file"):
            expected = ["a"] if query in ("Straße/A", "ω") else []
            assert [hit.item.row_id for hit in all_hits(view, query, filters=filters)] == expected


def test_a_batch_counts_whole_or_not_at_all_across_pages(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row(f"a{number}", "filler") for number in range(30)], expected_last_seq=0)
    store.append([text_row(f"b{number}") for number in range(30)], expected_last_seq=30)
    for limit in (1, 7, 59):
        assert len(all_items(view_of(files), limit=limit)) == 60
    whole = files.chat.read_bytes().splitlines(keepends=True)
    files.chat.write_bytes(b"".join(whole[:59]))
    assert ids(files) == [f"a{number}" for number in range(30)]
    assert found(files, "text of b") == []


# Texts


def test_an_item_reads_as_its_leaves_with_labels_between(files: ChatFiles) -> None:
    row = Row(
        id="a",
        session=SESSION,
        role="assistant",
        parts=(
            TextPart(text="Look:"),
            ToolPart(
                call_id="c",
                name="read_file",
                input={"path": "a.txt", "lines": [1, None], "deep": {"er": ["x", "y"]}},
                output="the\ncontent",
                state="done",
            ),
            MediaPart(
                media_type="application/pdf", name="report.pdf", bytes=9, pages=3, blob=Blob(sha256="0", bytes=9)
            ),
            MediaPart(
                media_type="image/png", name="a\nb.png", bytes=9, width=2, height=3, blob=Blob(sha256="0", bytes=9)
            ),
            TextPart(text='{"type":"media","data":"AAAA"}'),
        ),
    )
    write(files, encode_row(row))
    assert whole_text(view_of(files, View.AGENT), "m:a") == (
        "Look:\n\n"
        "[tool: read_file, done]\npath: a.txt\nlines.0: 1\nlines.1: null\ndeep.er.0: x\ndeep.er.1: y\n"
        "[result]\nthe\ncontent\n\n"
        "[pdf: 3 pages]\n\n[image]\n\n"
        '{"type":"media","data":"AAAA"}'
    )


def test_what_history_gave_back_is_searched_only_if_it_is_named(files: ChatFiles) -> None:
    write(files, encode_row(tool_row("a", "session_history", {"query": NEEDLE}, [{"snippet": f"… {NEEDLE}"}])))
    named = Filters(tool_name="session_history")
    for view, hits in ((View.AGENT, 1), (View.PERSON, 2)):
        assert found(files, view=view) == []
        assert len(all_hits(view_of(files, view), NEEDLE, filters=named)) == hits
    assert whole_text(view_of(files, View.AGENT), "m:a").endswith("\n[history result omitted]")
    assert whole_text(view_of(files), "m:a").endswith(f"… {NEEDLE}")


def test_hits_of_one_row_come_in_pages_too(files: ChatFiles) -> None:
    write(files, line("a", "ab" * 500), line("b", "b"))
    for recent_first in (True, False):
        hits = all_hits(view_of(files), "B", recent_first=recent_first, limit=7)
        places = [hit.offset_chars for hit in hits if hit.item.row_id == "a"]
        assert places == list(range(1, 1000, 2))
        assert len(hits) == 501


def test_a_row_that_is_too_long_is_searched_and_read_whole(files: ChatFiles) -> None:
    text = "wörd " * 4_000_000 + NEEDLE + " end" * 20_000
    make_private_folder(files.folder)
    row = fit_row(tool_row("a", "read_file", {"path": "x"}, text), Blobs(files.blobs))
    write(files, encode_row(row), line("b", "short"))
    view = view_of(files, View.AGENT)

    pages = search_pages(view, NEEDLE)
    hits = [hit for page in pages for hit in page.hits]

    assert [hit.item.row_id for hit in hits] == ["a"]
    assert sum(page.bytes_read for page in pages) > len(text)
    piece = view.read(hits[0].item.ref, offset_chars=hits[0].offset_chars, limit_chars=len(NEEDLE))
    assert piece is not None
    assert piece.text == NEEDLE
    assert piece.total_chars == hits[0].item.chars
    assert whole_text(view, hits[0].item.ref, limit_chars=1_000_000).endswith(f"[result]\n{text}")


def test_the_text_of_a_pdf_is_searched(files: ChatFiles) -> None:
    make_private_folder(files.folder)
    data = f'"{NEEDLE}"'.encode()
    part = MediaPart(
        media_type="application/pdf",
        name="a.pdf",
        bytes=9,
        pages=1,
        blob=Blob(sha256="0" * 64, bytes=9),
        text_blob=Blob(sha256=Blobs(files.blobs).put(data), bytes=len(data), chars=len(data.decode())),
    )
    write(files, encode_row(text_row("a").model_copy(update={"parts": (part,)})))
    view = view_of(files)
    assert [hit.offset_chars for hit in all_hits(view, f'{NEEDLE}"')] == [len('[pdf: 1 page]\n"')]
    assert whole_text(view, "m:a") == f'[pdf: 1 page]\n"{NEEDLE}"'
    assert view.items().items[0].chars == len(whole_text(view, "m:a"))


def test_at_most_one_long_text_is_read_on_a_page(files: ChatFiles) -> None:
    make_private_folder(files.folder)
    blobs = Blobs(files.blobs)
    texts = [f"{number} {NEEDLE} " + "x" * MAX_PAGE_BYTES for number in range(3)]
    write(files, *(encode_row(fit_row(text_row(f"r{number}", text), blobs)) for number, text in enumerate(texts)))
    for recent_first in (True, False):
        pages = search_pages(view_of(files), NEEDLE, recent_first=recent_first)
        assert [len(page.hits) for page in pages] == [1, 1, 1]
        assert sum(page.bytes_read for page in pages) == files.chat.stat().st_size + sum(
            path.stat().st_size for path in files.blobs.iterdir()
        )


def test_a_large_text_is_counted_once_however_many_pages_its_hits_fill(files: ChatFiles) -> None:
    make_private_folder(files.folder)
    text = f"{NEEDLE} " * 200 + "x" * 2_000_000
    write(files, encode_row(fit_row(text_row("a", text), Blobs(files.blobs))), line("b", "nothing"))
    pages = search_pages(view_of(files), NEEDLE, limit=20)
    assert sum(len(page.hits) for page in pages) == 200
    assert len(pages) >= 10
    assert len(text.encode()) <= sum(page.bytes_read for page in pages) < 1.2 * len(text.encode())


@pytest.mark.parametrize("fate", ["gone", "altered", "huge"])
def test_a_text_that_can_not_be_read_is_counted(files: ChatFiles, fate: str) -> None:
    make_private_folder(files.folder)
    write(files, encode_row(fit_row(text_row("a", f"{NEEDLE} " + "x" * 2_000_000), Blobs(files.blobs))))
    (blob,) = files.blobs.iterdir()
    match fate:
        case "gone":
            blob.unlink()
        case "altered":
            blob.write_bytes(b"?")
        case _:
            os.truncate(blob, MAX_READ_BYTES + 1)
    pages = search_pages(view_of(files), NEEDLE)
    assert skipped(pages) == Skipped(blobs=1)
    # What the row keeps is searched all the same.
    assert [hit.item.row_id for page in pages for hit in page.hits] == ["a"]
    assert "are kept apart" in whole_text(view_of(files), "m:a", limit_chars=1_000_000)


# References and marks


def test_a_reference_survives_what_is_added(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a"), text_row("b")], expected_last_seq=0)
    view = view_of(files, View.AGENT)
    first = view.items(recent_first=False, limit=1)
    ref = first.items[0].ref
    store.append([text_row("c")], expected_last_seq=2)
    item = view.item(ref)
    assert item is not None
    assert item.row_id == "a"
    assert len(ref) <= 40
    rest = view.items(first.next, recent_first=False)
    assert [item.row_id for item in rest.items] == ["b", "c"]


def test_a_reference_never_names_another_row(files: ChatFiles) -> None:
    write(files, line("a", "one"), line("b", "two"))
    ref = all_items(view_of(files))[1].ref
    write(files, line("a", "ONE"), line("b", "two"))
    with pytest.raises(StaleItem):
        view_of(files).read(ref)
    with pytest.raises(StaleItem):
        view_of(files).item("i2.AAAAAAAAAAAA")


def test_a_reference_is_of_one_chat(files: ChatFiles, tmp_path: Path) -> None:
    write(files, line("a"))
    ref = all_items(view_of(files))[0].ref
    from app.history.view import HistoryView

    with pytest.raises(StaleItem):
        HistoryView(ChatFiles(files.folder), session="another", view=View.PERSON).item(ref)


@pytest.mark.parametrize(
    "ref", ["", "#", "#-1", "#01", "m:", "i", "izz.AAAAAAAAAAAA", "a", "#1 ", "m:nobody", "\ud83d"]
)
def test_what_is_no_reference_names_nothing(files: ChatFiles, ref: str) -> None:
    write(files, line("a"))
    assert view_of(files).item(ref) is None
    assert view_of(files).read(ref) is None


def test_a_mark_ends_with_the_rows_it_came_to(files: ChatFiles) -> None:
    write(files, line("a", "one"), line("b", "two"), line("c", "six"))
    for recent_first in (True, False):
        write(files, line("a", "one"), line("b", "two"), line("c", "six"))
        mark = view_of(files).items(recent_first=recent_first, limit=1).next
        assert mark is not None
        assert mark.anchor
        write(files, line("A", "one"), line("b", "two"), line("C", "six"))
        with pytest.raises(HistoryChanged):
            view_of(files).items(mark, recent_first=recent_first)
    with pytest.raises(HistoryChanged):
        view_of(files).search("a", Mark("another", 0))


# The floor


def with_reset(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a"), text_row("b")], expected_last_seq=0)
    store.append([boundary_row("r", "reset")], expected_last_seq=2)
    store.append([text_row("c")], expected_last_seq=3)


def test_above_the_floor_is_nothing_for_a_model(files: ChatFiles) -> None:
    with_reset(files)
    agent, person = view_of(files, View.AGENT), view_of(files)
    above = [item for item in all_items(person) if item.is_above_floor]
    assert [item.row_id for item in above] == ["b", "a"]
    assert ids(files, View.AGENT) == ["c"]
    assert found(files, "text of", View.AGENT) == ["c"]
    assert [window.id for window in agent.windows().windows] == ["w:3"]
    assert [window.id for window in person.windows().windows] == ["w:3", "w:0"]
    missing = agent.items(filters=Filters(window_id="w:77"))
    assert agent.items(filters=Filters(window_id="w:0")) == missing
    assert agent.search("text", filters=Filters(window_id="w:0")) == agent.search(
        "text", filters=Filters(window_id="w:77")
    )
    for ref in ("#1", "m:a", "#2", "#99", "m:z"):
        assert agent.item(ref) is None
        assert agent.read(ref) is None
    for ref in (above[0].ref, above[1].ref, "i0.AAAAAAAAAAAA"):
        with pytest.raises(StaleItem, match="not where it was"):
            agent.item(ref)


def test_a_mark_from_before_a_reset_shows_nothing_from_above_it(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a"), text_row("b"), text_row("c")], expected_last_seq=0)
    agent = view_of(files, View.AGENT)
    older = agent.items(limit=1).next
    newer = agent.items(limit=1, recent_first=False).next
    store.append([boundary_row("r", "reset")], expected_last_seq=3)
    store.append([text_row("d")], expected_last_seq=4)
    assert agent.items(older).items == ()
    assert [item.row_id for item in agent.items(newer, recent_first=False).items] == ["d"]


@pytest.mark.parametrize("floor_seq", [2, 3, 40])
def test_a_floor_that_has_no_row_yet_holds(files: ChatFiles, floor_seq: int) -> None:
    open_store(files).append([text_row("a"), text_row("b"), text_row("c")], expected_last_seq=0)
    write_sidecar(files.meta, SessionMeta(floor_seq=floor_seq))
    agent = view_of(files, View.AGENT)
    assert ids(files, View.AGENT) == (["c"] if floor_seq == 2 else [])
    assert found(files, "text of", View.AGENT) == ids(files, View.AGENT)
    assert [(window.id, window.title) for window in agent.windows().windows] == [("w:0", "")]
    assert agent.item("#2") is None
    assert ids(files) == ["a", "b", "c"]


def test_a_floor_far_back_is_looked_for_in_pieces(files: ChatFiles) -> None:
    write(files, line("a", seq=1), *(line(f"r{number}", "x", seq=number) for number in range(2, 1_700)))
    write_sidecar(files.meta, SessionMeta(floor_seq=1))
    pages = item_pages(view_of(files, View.AGENT), recent_first=False, limit=500)
    assert pages[0].items == ()
    listed = [item.row_id for page in pages for item in page.items]
    assert listed == [f"r{number}" for number in range(2, 1_700)]
    assert found(files, view=View.AGENT) == []


def test_a_foreign_row_without_a_number_is_above_a_floor_that_is_behind_it(files: ChatFiles) -> None:
    write(files, line("a", seq=1), line("x"), line("b", seq=2), line("c"))
    write_sidecar(files.meta, SessionMeta(floor_seq=2))
    assert ids(files, View.AGENT) == ["c"]


def test_a_window_that_only_shares_the_number_of_a_reset_is_not_taken_for_it(files: ChatFiles) -> None:
    write(
        files,
        line("r", seq=2, boundary={"kind": "rollover"}),
        b'{"v":1,"boundary":damaged',
        line("x"),
        line("b", seq=1),
        line("c", seq=3),
    )
    write_sidecar(files.meta, SessionMeta(floor_seq=2))
    assert ids(files, View.AGENT) == ["c"]


@pytest.mark.parametrize("floor_seq", [None, 0, -3])
def test_without_a_floor_no_number_is_above_it(files: ChatFiles, floor_seq: int | None) -> None:
    write(files, line("a", seq=0), line("b", seq=-2), line("c", seq=1))
    write_sidecar(files.meta, SessionMeta(floor_seq=floor_seq))
    assert ids(files, View.AGENT) == ["a", "b", "c"]
    assert not any(item.is_above_floor for item in all_items(view_of(files)))


def test_the_numbers_of_windows_tell_a_model_of_none_above_the_floor(files: ChatFiles) -> None:
    with_reset(files)
    open_store(files).append([boundary_row("r2")], expected_last_seq=4)
    assert [window.number for window in view_of(files, View.AGENT).windows().windows] == [2, 1]
    assert [window.number for window in view_of(files).windows().windows] == [3, 2, 1]


@pytest.mark.parametrize("content", [b"", b"{", b'{"floor_seq":"x"}', b'{"floor_seq":-4}', b"[]"])
def test_a_broken_session_file_opens_nothing(files: ChatFiles, content: bytes) -> None:
    with_reset(files)
    files.meta.write_bytes(content)
    assert ids(files, View.AGENT) == ["c"]
    assert files.meta.read_bytes() == content


def test_a_model_is_shown_no_rejected_row_and_nothing_it_would_not_understand(files: ChatFiles) -> None:
    write(
        files,
        line("a", flags=(Flag.REJECTED,)),
        line("b", kind="of tomorrow"),
        line("c", flags=(Flag.HIDDEN,)),
        line("d", copy_of="a"),
        line("e"),
    )
    assert ids(files, View.AGENT) == found(files, view=View.AGENT) == ["e"]
    items = all_items(view_of(files), recent_first=False)
    assert [(item.row_id, item.kind, item.is_rejected) for item in items] == [
        ("a", "message", True),
        ("b", "notice", False),
        ("e", "message", False),
    ]


# Windows


def test_items_and_hits_of_one_window(files: ChatFiles) -> None:
    store = open_store(files)
    store.append([text_row("a")], expected_last_seq=0)
    store.append([boundary_row("r")], expected_last_seq=1)
    store.append([text_row("b"), text_row("c")], expected_last_seq=2)
    for view in View:
        looker = view_of(files, view)
        for window, expected in (("w:0", ["a"]), ("w:2", ["c", "b"]), ("w:1", []), ("nonsense", [])):
            filters = Filters(window_id=window)
            pages = search_pages(looker, "text of", filters=filters)
            assert [hit.item.row_id for page in pages for hit in page.hits] == expected
            assert {item.window_id for item in all_items(looker, filters=filters)} <= {window}
            total = pages[0].total_bytes
            assert total == sum(page.bytes_read for page in pages)
            assert (total > 0) is bool(expected)


def test_while_windows_are_counted_a_listing_goes_on(files: ChatFiles) -> None:
    filler = line("f", "x" * 1_000_000)
    write(files, *[filler] * 8, line("a"))
    view = view_of(files)
    pages = item_pages(view, limit=1)
    assert pages[0].items == ()
    assert pages[0].bytes_read > 0
    assert [item.row_id for page in pages for item in page.items] == ["a", *"f" * 8]
    assert view.windows().is_complete


def test_what_is_listed_of_a_reply(files: ChatFiles) -> None:
    row = json.loads(encode_row(tool_row("a", "read_file", {}, "x")))
    row |= {"created": "2026-11-30T10:00:00Z", "request": {"provider": "p", "model": "m"}, "flags": ["interrupted"]}
    write(files, json.dumps(row).encode())
    (item,) = view_of(files).items().items
    assert item.preview == "read_file (done)"
    assert item.model == "p/m"
    assert item.created == datetime(2026, 11, 30, 10, tzinfo=UTC)
    assert [(tool.name, tool.state) for tool in item.tools] == [("read_file", "done")]
    assert item.is_cut_off


def test_a_preview_is_one_short_line(files: ChatFiles) -> None:
    write(files, line("a", "\n \n  First\u2028 line\nsecond " + "word " * 100), line("b", " \n "))
    blank, long = view_of(files).items().items
    assert long.preview.startswith("First line second word word")
    assert long.preview.endswith("…")
    assert len(long.preview) <= 200
    assert blank.preview == ""


def test_a_fingerprint_is_not_the_plain_hash_of_a_row(files: ChatFiles) -> None:
    import base64

    write(files, line("a"))
    ref = all_items(view_of(files))[0].ref
    plain = hashlib.blake2b(line("a"), digest_size=9).digest()
    assert base64.urlsafe_b64encode(plain).decode() not in ref


def test_a_reference_survives_the_move_to_the_archive(files: ChatFiles) -> None:
    write(files, line("a", "one"), line("b", "two"), line("c", "six"))
    refs = [item.ref for item in all_items(view_of(files))]
    first, second, third = files.chat.read_bytes().splitlines(keepends=True)
    files.archive.write_bytes(first + second)
    files.chat.write_bytes(third)
    assert [item.ref for item in all_items(view_of(files))] == refs
    assert [whole_text(view_of(files), ref) for ref in refs] == ["six", "two", "one"]


def test_the_next_piece_of_a_long_text_is_not_read_again(files: ChatFiles) -> None:
    make_private_folder(files.folder)
    write(files, encode_row(fit_row(text_row("a", "x" * 3_000_000), Blobs(files.blobs))))
    view = view_of(files)
    (ref,) = [item.ref for item in all_items(view)]
    assert view.read(ref) is not None
    (blob,) = files.blobs.iterdir()
    blob.unlink()
    piece = view.read(ref, offset_chars=2_999_990)
    assert piece is not None
    assert (piece.text, piece.next_offset_chars) == ("x" * 10, None)


def test_a_deep_and_wide_input_reads_as_lines(files: ChatFiles) -> None:
    value: object = "end"
    for number in range(150):
        value = {"a key with a long name": value, "number": number}
    write(files, encode_row(tool_row("a", "read_file", value, None)))
    lines = whole_text(view_of(files), "m:a").splitlines()
    assert len(lines) == 152
    assert all(len(text) < 140 for text in lines)
    assert any(text.endswith(": end") for text in lines)


def test_json_that_is_kept_apart_is_searched_leaf_by_leaf(files: ChatFiles) -> None:
    make_private_folder(files.folder)
    output = {"lines": [*["filler" * 100] * 3_000, f'say "{NEEDLE}"'], "count": 3}
    row = fit_row(tool_row("a", "read_file", {}, output), Blobs(files.blobs))
    write(files, encode_row(row))
    view = view_of(files)
    (hit,) = all_hits(view, f'"{NEEDLE}"')
    assert whole_text(view, hit.item.ref, limit_chars=500_000)[hit.offset_chars :] == f'"{NEEDLE}"\ncount: 3'
    assert all_hits(view, '"lines"') == []


def test_a_text_kept_apart_that_is_no_json_hides_nothing(files: ChatFiles) -> None:
    make_private_folder(files.folder)
    sha256 = Blobs(files.blobs).put(b"no JSON")
    part = ToolPart(call_id="c", name="n", output=NEEDLE, output_blob=Blob(sha256=sha256, bytes=7), state="done")
    write(files, encode_row(text_row("a").model_copy(update={"parts": (part,)})))
    assert found(files) == ["a"]
    assert whole_text(view_of(files), "m:a").endswith(NEEDLE)


@pytest.mark.parametrize("length", [199, 200, 201, 100_000])
def test_names_of_any_length_are_looked_for(files: ChatFiles, length: int) -> None:
    name = "n" * length
    write(files, encode_row(tool_row(name, name, {}, NEEDLE)), encode_row(tool_row("b", name + "n", {}, NEEDLE)))
    view = view_of(files)
    assert [item.row_id for item in all_items(view, filters=Filters(tool_name=name))] == [name]
    item = view.item(f"m:{name}")
    assert item is not None
    assert item.row_id == name


def test_a_page_gives_at_least_one(files: ChatFiles) -> None:
    write(files, line("a"), line("b"))
    assert len(all_items(view_of(files), limit=0)) == 2
    assert len(all_hits(view_of(files), NEEDLE, limit=0)) == 2
