import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.rows import Row
from app.history.codec import decode_line, encode_row
from app.history.needles import PIECE_OVERLAP, Needle, in_pieces, number_field, string_field
from tests.unit.history.rows import text_row


@given(row_id=st.text(min_size=1, max_size=12), other=st.text(max_size=12))
def test_a_row_is_found_by_its_id_however_it_is_written(row_id: str, other: str) -> None:
    line = encode_row(text_row(row_id))
    found = decode_line(line)
    assert isinstance(found, Row)
    needle = string_field("id", found.id)
    plain = json.dumps(json.loads(line)).encode()
    spaced = json.dumps(json.loads(line), ensure_ascii=False, indent=1).replace("\n", "\t").encode()
    for written in (line, plain, spaced, line.replace(b'"id"', b'"\\u0069d"'), line.replace(b"/", b"\\/")):
        assert needle.may_match(written)
    assert other == found.id or found.id in other or not needle.may_match(b'{"id":"x%s"}' % b"y" * 3)


@pytest.mark.parametrize("written", ["7", '"7"', " 7 ", "7.0", "0.7e1", "70E-1", "\t7", "true"])
def test_a_number_a_lenient_reader_takes_is_not_missed(written: str) -> None:
    assert number_field("seq", 1 if written == "true" else 7).may_match(b'{"seq":%s}' % written.encode())


@pytest.mark.parametrize("written", [b"77", b"17", b"6", b"null", b"70"])
def test_other_numbers_are_passed_over(written: bytes) -> None:
    assert not number_field("seq", 7).may_match(b'{"seq":%s}' % written)


def test_bytes_that_are_no_text_are_never_passed_over() -> None:
    needle = Needle("absent", says_slash=False)
    assert needle.may_match(b'{"a":"\xff"}')
    assert needle.may_match(b'{"a":1}\n\xc3\n{"b":2}')
    assert not needle.may_match('{"a":"ÿ"}'.encode())


def test_what_is_asked_for_besides_is_not_missed() -> None:
    needle = Needle("absent", says_slash=False, also=r"blob\"\s*:")
    assert needle.may_match(b'{"text_blob" : {}}')
    assert not needle.may_match(b'{"text":"a \\"blob\\""}')


MANY = 2_000


@pytest.mark.parametrize("before", [b"", b'"\\\\u00e4" ' * MANY, b'"\\u001b" ' * MANY], ids=["few", "many", "written"])
@pytest.mark.parametrize("hiding", [b"\\u0061", b"\\\\\\u0061", b"\\u001B", b"\\uD83D\\uDE00", b"\\u0008"])
def test_an_escape_that_hides_a_character_is_not_missed(before: bytes, hiding: bytes) -> None:
    assert Needle("absent", says_slash=False).may_match(b'{"a":[' + before + b'"' + hiding + b'"]}')


@pytest.mark.parametrize("times", [1, MANY])
@pytest.mark.parametrize("plain", [b"\\\\u0061", b"\\u001b", b"\\u0000", b"\\\\\\\\u0061", b"\\n\\\\users", b"\\/"])
def test_what_hides_nothing_is_passed_over(plain: bytes, times: int) -> None:
    assert not Needle("absent", says_slash=False).may_match(b'{"a":["' + plain * times + b'"]}')


@pytest.mark.parametrize("times", [1, MANY])
def test_a_slash_that_is_escaped_is_not_missed_whatever_follows(times: int) -> None:
    needle = Needle("absent/0001", says_slash=True)
    assert needle.may_match(b'{"a":["' + b"\\\\/" * times + b'absent\\/0001"]}')
    assert not needle.may_match(b'{"a":["' + b"\\\\/" * times + b'"]}')


PIECE = 2 * PIECE_OVERLAP


def pieces_from(data: bytes) -> list[tuple[int, bytes]]:
    """The pieces of a text that nowhere repeats itself, and where they begin."""
    return [(data.index(piece), piece) for piece in in_pieces(data, piece_bytes=PIECE)]


@given(
    before=st.integers(PIECE - PIECE_OVERLAP - 80, PIECE + 80),
    filling=st.sampled_from(["x", "ж", "狐", "🦊", "\\\\", '\\"', "\\u00e4"]),
    wanted=st.sampled_from([b"\\u0061", b"\\\\\\u0061", b"absent", b"absent/"]),
)
def test_a_long_text_in_pieces_hides_nothing(before: int, filling: str, wanted: bytes) -> None:
    text = "".join(f"{number}{filling}" for number in range(before))
    at = len(text[:before].encode())
    data = text.encode()[:at] + b" " + wanted + b" " + text.encode()[at:]
    pieces = pieces_from(data)
    needle = Needle("absent", says_slash=False)
    assert [needle.may_match(data)] == [True] == [any(needle.may_match(piece) for _, piece in pieces)]
    end = PIECE_OVERLAP
    for begin, piece in pieces:
        assert begin <= end - PIECE_OVERLAP
        assert len(piece) <= PIECE
        end = begin + len(piece)
    assert end == len(data)


@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("backslashes", range(PIECE - 9, PIECE + 9))
def test_a_run_of_backslashes_is_never_cut(backslashes: int, hides: bool) -> None:
    data = b'"' + b"\\" * (2 * backslashes + hides) + b"u0061" + b" " * PIECE
    needle = Needle("absent", says_slash=False)
    assert any(map(needle.may_match, in_pieces(data, piece_bytes=PIECE))) is hides


@pytest.mark.parametrize("unit", [b"\x80", b"x\xff", b"\xe7\x8b\x90\xff"])
def test_pieces_of_what_is_no_text_may_hold_anything(unit: bytes) -> None:
    pieces = list(in_pieces(unit * (3 * PIECE), piece_bytes=PIECE))
    assert all(map(Needle("absent", says_slash=False).may_match, pieces))
