"""The index of windows against a plain reading of every line."""

import json
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.rows import Batch, Boundary, Row, TextPart
from app.history.batches import torn_stretches
from app.history.codec import Damage, decode_line, encode_row, is_reset
from app.history.files import ChatFiles
from app.history.windows_index import Indexing, IndexKeeper, WindowsIndex
from tests.unit.history.rows import SESSION

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
    st.sampled_from(["hello", 'the "boundary"', "\u2028x", "\\u0062"]),
)
any_line = st.one_of(
    rows_of_all_kinds.map(_line),
    rows_of_all_kinds.map(_line),
    rows_of_all_kinds.map(_spaced),
    rows_of_all_kinds.map(_escaped),
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
