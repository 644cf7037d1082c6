"""What holds for any history, whatever its files hold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.disk import make_private_folder
from app.domain.errors import StaleItem
from app.domain.rows import Batch, Boundary, Flag, Row, TextPart, ToolPart
from app.domain.text import Utf16Text, utf16_units
from app.domain.windows import Filters, SearchHit, View
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.folding import fold_char
from app.history.reader import HistoryReader, Position, RowEntry
from app.history.sidecars import SessionMeta, write_sidecar
from app.history.view import HistoryView
from tests.unit.history.looking import all_hits, all_items, item_pages, search_pages, view_of, whole_text
from tests.unit.history.rows import SESSION

WORDS = [
    "alpha",
    "Straße",
    "ſtraße",
    "KELVIN \u212a",
    "ΟΔΟΣ",
    "οδος",
    "a/b",
    'say "no"',
    "\u2028",
    "狐🦊",
    "\\u0061",
    "\r\n",
]
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=6), max_size=6).map(" ".join)
values = st.recursive(
    texts | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
parts = st.one_of(
    st.builds(TextPart, text=texts),
    st.builds(
        ToolPart,
        call_id=st.just("c"),
        name=st.sampled_from(["read_file", "session_history"]),
        state=st.just("done"),
        input=values,
        output=values,
    ),
)


@st.composite
def rows(draw: st.DrawFn) -> Row:
    kind = draw(st.sampled_from([None] * 6 + ["rollover", "reset", "compaction", "strange"]))
    flags = draw(st.sampled_from([(), (), (), (Flag.HIDDEN,), (Flag.REJECTED,), (Flag.FAILED,)]))
    batch = draw(st.sampled_from([None] * 4 + [(0, 2), (1, 2), (0, 1)]))
    return Row(
        id=draw(st.text("abcdef0123456789", min_size=1, max_size=6)),
        session=SESSION,
        seq=draw(st.none() | st.integers(1, 30)),
        role=draw(st.sampled_from(["user", "assistant"])),
        boundary=Boundary(kind=kind) if kind else None,
        kind=draw(st.sampled_from(["message"] * 5 + ["of tomorrow"])),
        flags=flags,
        copy_of=draw(st.sampled_from([None, None, None, "x"])),
        batch=Batch(id="b", index=batch[0], count=batch[1]) if batch else None,
        parts=tuple(draw(st.lists(parts, max_size=3))),
    )


def foreign(row: Row) -> bytes:
    """The row as another program writes it: spaces, escapes, another order."""
    return json.dumps(dict(reversed(json.loads(encode_row(row)).items()))).encode()


lines = st.one_of(
    rows().map(encode_row),
    rows().map(encode_row),
    rows().map(foreign),
    st.binary(max_size=60).map(lambda data: data.replace(b"\n", b"")),
    st.sampled_from([b"", b"{}", b"[]", b'{"boundary":1}', b"\0\0\0", b'{"v":1,"boundary"', b"[" * 3000]),
)
files_of_lines = st.lists(lines, max_size=14).map(b"\n".join)


def history(factory: pytest.TempPathFactory, archive: bytes, chat: bytes, floor_seq: int | None = None) -> ChatFiles:
    files = ChatFiles(factory.mktemp("chats") / "chat")
    make_private_folder(files.folder)
    # The archive is only ever made of whole lines.
    files.archive.write_bytes(archive + b"\n" if archive and not archive.endswith(b"\n") else archive)
    files.chat.write_bytes(chat)
    if floor_seq is not None:
        write_sidecar(files.meta, SessionMeta(floor_seq=floor_seq))
    return files


def listed(files: ChatFiles, view: View) -> list[tuple[int, str]]:
    """What should be listed, oldest first, told by the reader of the transcript."""
    reader = HistoryReader(files)
    found: list[tuple[int, str]] = []
    floor = 0
    entries = list(reader.entries_forward())
    for entry in entries:
        offset = reader.offset_of(Position(entry.file, entry.offset))
        if isinstance(entry, RowEntry):
            row = entry.row
            if row.boundary is not None and row.boundary.kind not in ("rollover", "compaction"):
                floor = offset + 1
            if row.boundary is None and row.copy_of is None and Flag.HIDDEN not in row.flags:
                is_known = row.kind == "message" and Flag.REJECTED not in row.flags
                if view is View.PERSON or is_known:
                    found.append((offset, row.id))
        elif entry.is_reset:
            floor = offset + 1
    return [(offset, row_id) for offset, row_id in found if view is View.PERSON or offset >= floor]


@pytest.mark.parametrize("view", list(View))
@given(archive=files_of_lines, chat=files_of_lines, limit=st.integers(1, 5))
def test_every_good_row_is_listed_once_in_both_directions(
    tmp_path_factory: pytest.TempPathFactory, view: View, archive: bytes, chat: bytes, limit: int
) -> None:
    files = history(tmp_path_factory, archive, chat)
    looker = view_of(files, view)
    expected = listed(files, view)

    newest = all_items(looker, limit=limit)
    oldest = all_items(looker, recent_first=False, limit=limit)

    assert [(item.offset, item.row_id) for item in oldest] == expected
    assert newest == oldest[::-1]
    for item in oldest:
        assert len(item.ref) <= 40
        assert looker.item(item.ref) == item
        assert item.chars == utf16_units(whole_text(looker, item.ref, limit_chars=3))
        assert len(item.preview) <= 200
        assert len(item.preview.splitlines()) <= 1


@given(archive=files_of_lines, chat=files_of_lines)
def test_pages_read_every_byte_once(tmp_path_factory: pytest.TempPathFactory, archive: bytes, chat: bytes) -> None:
    files = history(tmp_path_factory, archive, chat)
    size = files.archive.stat().st_size + len(chat)
    for recent_first in (False, True):
        pages = item_pages(view_of(files), recent_first=recent_first, limit=2)
        assert sum(page.bytes_read for page in pages if page.rows) == size
        found = search_pages(view_of(files), "a", recent_first=recent_first, limit=10_000)
        assert sum(page.bytes_read for page in found if page.rows) == size


def said_at(view: HistoryView, hit: SearchHit) -> str:
    """Return what stands in the item's text where a hit says it does."""
    return Utf16Text(whole_text(view, hit.item.ref)).piece(hit.offset_chars, hit.length_chars)[0]


def brute_force(text: str, query: str) -> list[int]:
    found, at = [], 0
    while at + len(query) <= len(text):
        if all(fold_char(a) == fold_char(b) for a, b in zip(text[at:], query, strict=False)):
            found.append(at)
            at += len(query)
        else:
            at += 1
    return found


def strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in strings(item)] if isinstance(value, list | tuple) else []


def said(row: Row) -> list[str]:
    """Every text of a row that is searched without a filter, in order."""
    found: list[str] = []
    for part in row.parts:
        if isinstance(part, TextPart):
            found.append(part.text)
        elif isinstance(part, ToolPart) and part.name != "session_history":
            found += [*strings(part.input), *strings(part.output)]
    return found


@given(
    archive=files_of_lines,
    chat=files_of_lines,
    query=st.sampled_from([*WORDS, "a", "ss", "\u212aelvin", "σ", "/", '"', "A/B"]) | st.text(min_size=1, max_size=2),
    limit=st.integers(1, 4),
    recent_first=st.booleans(),
)
def test_a_search_finds_what_a_search_by_hand_finds(
    tmp_path_factory: pytest.TempPathFactory,
    archive: bytes,
    chat: bytes,
    query: str,
    limit: int,
    recent_first: bool,
) -> None:
    files = history(tmp_path_factory, archive, chat)
    view = view_of(files)
    reader = HistoryReader(files)
    offsets = dict(listed(files, View.PERSON))
    expected: list[tuple[int, str]] = []
    for entry in reader.entries_forward():
        offset = reader.offset_of(Position(entry.file, entry.offset))
        if isinstance(entry, RowEntry) and offset in offsets:
            for text in said(entry.row):
                expected += [(offset, text[at : at + len(query)]) for at in brute_force(text, query)]

    hits = all_hits(view, query, recent_first=recent_first, limit=limit)

    found = [(hit.item.offset, said_at(view, hit)) for hit in hits]
    assert sorted(found) == sorted(expected)
    order = [offset for offset, _ in found]
    assert order == sorted(order, reverse=recent_first)
    for hit in hits:
        assert len(hit.snippet) <= 500
        assert hit.snippet[hit.start : hit.start + hit.length] == "".join(
            " " if char in "\n\r\v\f\x85\u2028\u2029" else char for char in said_at(view, hit)
        )


@given(
    archive=files_of_lines,
    chat=files_of_lines,
    floor_seq=st.none() | st.integers(1, 40),
    window=st.sampled_from(["", "w:0", "w:1", "w:5", "w:9", "w:m:a"]),
    role=st.sampled_from([None, "user", "assistant"]),
)
def test_a_model_sees_nothing_above_the_floor(
    tmp_path_factory: pytest.TempPathFactory, archive: bytes, chat: bytes, floor_seq: int | None, window: str, role: str
) -> None:
    files = history(tmp_path_factory, archive, chat, floor_seq)
    allowed = dict(listed(files, View.AGENT))
    agent, person = view_of(files, View.AGENT), view_of(files)
    everything = all_items(person)
    hidden = [item for item in everything if item.is_above_floor]
    below = [item.offset for item in everything if item.seq is not None and item.seq <= (floor_seq or 0)]
    filters = Filters(window_id=window, role=role)  # type: ignore[arg-type]

    for items in (all_items(agent), all_items(agent, filters=filters), [hit.item for hit in all_hits(agent, "a")]):
        for item in items:
            assert item.offset in allowed
            assert item.offset > max(below, default=-1)
            assert not item.is_above_floor
    if floor_seq is None:
        assert {item.offset for item in everything} - {item.offset for item in hidden} >= set(allowed)
    for item in hidden:
        assert refusal(agent, item.ref) == refusal(agent, "i0.AAAAAAAAAAAA")
        for ref in (f"#{item.seq}", f"m:{item.row_id}"):
            found = agent.item(ref)
            assert found is None or found.offset in allowed
    for seen in agent.windows().windows:
        assert not seen.is_above_floor


def refusal(view: HistoryView, ref: str) -> str:
    try:
        return repr(view.item(ref))
    except StaleItem as error:
        return f"stale: {error}"
