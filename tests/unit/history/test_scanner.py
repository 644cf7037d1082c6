import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.history.scanner import (
    Caps,
    InLongLine,
    Line,
    LinePage,
    LongLine,
    RawPage,
    read_backward,
    read_forward,
    scan_backward,
    scan_forward,
)

SMALL = Caps(page_bytes=40, page_rows=3, line_bytes=12)

lines_of_bytes = st.lists(
    st.one_of(st.binary(max_size=20), st.binary(min_size=30, max_size=120), st.just(b'{"boundary"')), max_size=12
)


def expected_lines(data: bytes, caps: Caps) -> list[tuple[int, int, bool]]:
    found = []
    at = 0
    for piece in data.split(b"\n"):
        if piece:
            found.append((at, len(piece), len(piece) > caps.line_bytes))
        at += len(piece) + 1
    return found


def described(lines: tuple[Line | LongLine, ...]) -> list[tuple[int, int, bool]]:
    return [
        (line.offset, line.length, True) if isinstance(line, LongLine) else (line.offset, len(line.data), False)
        for line in lines
    ]


def read_all(path: Path, *, backward: bool, caps: Caps) -> list[LinePage]:
    descriptor = os.open(path, os.O_RDONLY)
    size = os.fstat(descriptor).st_size
    pages = []
    at, inside = (size if backward else 0), None
    try:
        for _ in range(10_000):
            if backward:
                page = read_backward(descriptor, at, caps=caps, inside=inside)
            else:
                page = read_forward(descriptor, at, size, caps=caps, inside=inside)
            pages.append(page)
            if page.exhausted:
                return pages
            assert (page.next, page.inside) != (at, inside), "no progress"
            at, inside = page.next, page.inside
    finally:
        os.close(descriptor)
    raise AssertionError("never exhausted")


@pytest.mark.parametrize("backward", [False, True])
@given(pieces=lines_of_bytes, ends=st.booleans(), page_bytes=st.integers(14, 60), rows=st.integers(1, 5))
def test_every_line_of_any_file_is_seen_once(
    tmp_path_factory: pytest.TempPathFactory,
    backward: bool,
    pieces: list[bytes],
    ends: bool,
    page_bytes: int,
    rows: int,
) -> None:
    data = b"\n".join(pieces) + (b"\n" if ends else b"")
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(data)
    caps = Caps(page_bytes=page_bytes, page_rows=rows, line_bytes=12)

    pages = read_all(path, backward=backward, caps=caps)

    seen = [line for page in pages for line in described(page.lines)]
    assert expected_lines(data, caps) == (seen[::-1] if backward else seen)
    assert all(page.bytes_read <= page_bytes for page in pages)


@pytest.mark.parametrize("backward", [False, True])
@given(before=st.integers(0, 90), behind=st.integers(0, 90))
def test_the_bytes_of_a_boundary_are_seen_anywhere_in_a_long_line(
    tmp_path_factory: pytest.TempPathFactory, backward: bool, before: int, behind: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "long.jsonl"
    path.write_bytes(b"a\n" + b"x" * before + b'"boundary"' + b"x" * (behind + 3) + b"\nb\n")

    pages = read_all(path, backward=backward, caps=SMALL)

    long = [line for page in pages for line in page.lines if isinstance(line, LongLine)]
    assert [line.maybe_boundary for line in long] == [True]


def test_a_page_visits_no_more_rows_than_its_cap(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"1\n" * 10)
    pages = read_all(path, backward=False, caps=SMALL)
    assert [len(page.lines) for page in pages] == [3, 3, 3, 1]


def test_a_page_that_ends_within_a_long_line_remembers_where_it_began(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(b"ok\n" + b"x" * 100 + b"\n")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        page = read_forward(descriptor, 0, 104, caps=SMALL)
    finally:
        os.close(descriptor)
    assert InLongLine(edge=3, maybe_boundary=False) == page.inside
    assert page.next == 40


@pytest.mark.parametrize("backward", [False, True])
def test_reading_on_rereads_next_to_nothing(tmp_path: Path, backward: bool) -> None:
    """Short lines end a page by its rows long before its bytes."""
    path = tmp_path / "short.jsonl"
    path.write_bytes((b"x" * 199 + b"\n") * 20_000)
    pages = read_all(path, backward=backward, caps=Caps())
    assert sum(page.bytes_read for page in pages) == 4_000_000
    assert [len(page.lines) for page in pages[:-1]] == [500] * (len(pages) - 1)


@given(pieces=lines_of_bytes, first=st.integers(0, 12), last=st.integers(0, 12), rows=st.integers(1, 5))
def test_a_stretch_between_two_lines_is_read_whole_and_not_beyond(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], first: int, last: int, rows: int
) -> None:
    pieces = [piece.replace(b"\n", b"") for piece in pieces]
    path = tmp_path_factory.getbasetemp() / "between.jsonl"
    path.write_bytes(b"".join(piece + b"\n" for piece in pieces))
    starts = [sum(len(piece) + 1 for piece in pieces[:number]) for number in range(len(pieces) + 1)]
    begin, end = sorted((starts[min(first, len(pieces))], starts[min(last, len(pieces))]))
    caps = Caps(page_bytes=50, page_rows=rows, line_bytes=12)
    expected = [line for line in expected_lines(path.read_bytes(), caps) if begin <= line[0] < end]
    descriptor = os.open(path, os.O_RDONLY)
    try:
        for backward in (False, True):
            pages: list[RawPage] = []
            at, inside, exhausted = (end if backward else begin), None, False
            while not exhausted:
                if backward:
                    page = scan_backward(descriptor, at, begin=begin, caps=caps, inside=inside)
                else:
                    page = scan_forward(descriptor, at, end, caps=caps, inside=inside)
                pages.append(page)
                at, inside, exhausted = page.next, page.inside, page.exhausted
            seen = [line for page in pages for line in described(tuple(page.lines(backward=backward)))]
            assert (seen[::-1] if backward else seen) == expected
            assert sum(page.bytes_read for page in pages) == end - begin
            assert sum(page.rows for page in pages) == sum(begin <= start < end for start in starts[:-1])
            long = [line for page in pages for line in described(tuple(page.long_lines()))]
            assert sorted(long) == [line for line in expected if line[2]]
    finally:
        os.close(descriptor)
