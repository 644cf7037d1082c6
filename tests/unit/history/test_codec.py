import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.rows import Boundary, Row, TextPart, ToolPart, Usage
from app.history.codec import Damage, decode_line, encode_json, encode_row, is_reset, parse_json
from tests.unit.history.rows import boundary_row, text_row

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(data=st.binary(max_size=300))
def test_any_bytes_are_a_row_or_damage(data: bytes) -> None:
    assert isinstance(decode_line(data), Row | Damage)


@given(value=json_values)
def test_any_json_is_a_row_or_damage(value: object) -> None:
    assert isinstance(decode_line(json.dumps(value).encode()), Row | Damage)


@given(text=st.text(), value=json_values)
def test_a_row_comes_back_as_it_was(text: str, value: object) -> None:
    row = Row(
        id="r1",
        session="s",
        seq=3,
        role="assistant",
        created=datetime(2026, 11, 30, 10, 0, 0, 123000, tzinfo=UTC),
        usage=Usage(input=5),
        parts=(TextPart(text=text), ToolPart(call_id="c", name="n", input={"v": value}, state="done")),
    )
    line = encode_row(row)
    assert b"\n" not in line
    assert row == decode_line(line)


def test_boundary_stands_right_behind_the_version_and_parts_stand_last() -> None:
    row = boundary_row("r1").model_copy(update={"parts": (TextPart(text="x"),), "seq": 4})
    line = encode_row(row)
    assert line.startswith(b'{"v":1,"boundary":{"kind":"rollover"},"id":"r1"')
    assert line.endswith(b'"parts":[{"type":"text","text":"x"}]}')


def test_only_quotes_backslashes_and_control_characters_are_escaped() -> None:
    line = encode_row(text_row("r1", 'a"b\\c\n\u2028\u0085é😀\x7f'))
    assert 'a\\"b\\\\c\\n\u2028\u0085é😀\x7f'.encode() in line


@pytest.mark.parametrize("text", ["\ud800", "a\udc00b"])
def test_a_lone_surrogate_becomes_the_replacement_character(text: str) -> None:
    row = decode_line(encode_row(text_row("r1", text)))
    assert isinstance(row, Row)
    assert row.text == "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


@pytest.mark.parametrize("beside", ["x", "\ud800", 2**80])
def test_what_is_no_number_of_json_becomes_null(beside: object) -> None:
    value = {"a": [float("nan"), float("inf")], "b": beside}
    line = encode_json(value)
    assert json.loads(line, parse_constant=pytest.fail)["a"] == [None, None]
    found = parse_json(b'{"a":[NaN,-Infinity,1e999]}')
    assert found == {"a": [None, None, None]}


def test_a_split_pair_of_surrogates_is_one_character() -> None:
    row = decode_line(encode_row(text_row("r1", "\ud83d\ude00\ud800")))
    assert isinstance(row, Row)
    assert row.text == "😀\ufffd"


def test_fields_nobody_knows_are_carried_along() -> None:
    line = (
        b'{"v":1,"id":"a","session":"s","role":"user","mood":"good","nil":null,"parts":[{"type":"smell","of":"rain"}]}'
    )
    row = decode_line(line)
    assert isinstance(row, Row)
    again = decode_line(encode_row(row.model_copy(update={"seq": 2})))
    assert isinstance(again, Row)
    assert again.model_extra == {"mood": "good", "nil": None}
    assert again.parts[0].model_extra == {"of": "rain"}


GOOD = b'"id":"a","session":"s","role":"user","parts":[{"type":"text","text":"%s"}]}'


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'{"v":1,' + GOOD % b"\xff\xfe", "\ufffd\ufffd"),
        (b'{"v":1,' + GOOD % rb"\ud800x", "\ufffdx"),
        (b'{ "v" : 1, ' + GOOD % b"spaced", "spaced"),
        (b'{"v":1,' + GOOD % b"cr\\r" + b"\r", "cr\r"),
        (b'{"v":1,' + GOOD % "\u2028".encode(), "\u2028"),
    ],
)
def test_what_a_fast_parser_refuses_is_read(line: bytes, text: str) -> None:
    row = decode_line(line)
    assert isinstance(row, Row)
    assert text == row.text


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b"null", b"7", b'{"id":1}', b"\0" * 50, b'{"v":1,' + GOOD % b"\0", b"[" * 100_000],
)
def test_what_is_no_row_is_damage(line: bytes) -> None:
    assert isinstance(decode_line(line), Damage)


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        (encode_row(boundary_row("r", "reset")), True),
        (encode_row(boundary_row("r", "from_the_future")), True),
        (encode_row(boundary_row("r", "rollover")), False),
        (encode_row(boundary_row("r", "compaction")), False),
        (b'{"v":1,"boundary":{"kind":"rollo', True),
        (b'{"v":1,"boundary":7,"id":"a","session":"s","role":"user"}', True),
        (b'{"v":1,"boundary":{"kind":"rollover"},"id":7}', True),
        (encode_row(text_row("r", 'the word "boundary" in a text')), False),
        (b'{"v":1,"id":"a","text":{"boundary":1},"parts":7}', False),
    ],
)
def test_a_boundary_nobody_can_read_counts_as_a_reset(line: bytes, *, counts: bool) -> None:
    assert counts == is_reset(decode_line(line))


def test_a_boundary_of_its_own_kind_keeps_its_fields() -> None:
    row = Row.model_validate(
        {"id": "a", "session": "s", "role": "user", "boundary": {"kind": "rollover", "rollover_id": "x"}}
    )
    again = decode_line(encode_row(row))
    assert isinstance(again, Row)
    assert isinstance(again.boundary, Boundary)
    assert again.boundary.model_extra == {"rollover_id": "x"}
