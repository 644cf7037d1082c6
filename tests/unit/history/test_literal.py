import json
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.rows import MediaPart, ReasoningPart, Row, TextPart, ToolPart
from app.history.codec import decode_line, encode_row
from app.history.folding import fold, fold_char, variants
from app.history.literal import CHUNK_CHARS, LiteralQuery
from tests.unit.history.leaves import MAX_HITS_PER_ROW, find, leaves

EVERY_CHARACTER = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF)
CASED = sorted(
    {char for pair in zip(EVERY_CHARACTER, fold(EVERY_CHARACTER), strict=True) for char in pair if pair[0] != pair[1]}
)
HOSTILE = [
    *'aAkKiIsSnNuUbB0/"\\\n\t\r\b\f\x00\x0b\x1b\x1f\x7f<',
    *"日本狐🦊\u2028\ufffdİıßﬁ\u0345",
    "\ud83d",
    "\udca9",
    "\\u",
]

texts = st.lists(st.sampled_from(CASED) | st.sampled_from(HOSTILE) | st.characters(), max_size=24).map("".join)
cases = st.sampled_from([str.upper, str.lower, str.swapcase, str])


def row_of(text: str, tool_input: object = None, tool_output: object = None) -> Row:
    tool = ToolPart(call_id="c", name="n", input=tool_input, output=tool_output, state="done")
    return Row(id="r", session="s", seq=1, role="assistant", parts=(TextPart(text=text), tool))


def any_variant(data: st.DataObject, text: str) -> str:
    return "".join(data.draw(st.sampled_from(variants(char))) for char in text)


def cut_from(data: st.DataObject, text: str) -> str:
    first = data.draw(st.integers(0, len(text) - 1))
    return text[first : first + data.draw(st.integers(1, 8))]


def brute_force(text: str, query: str) -> list[int]:
    """Begins of hits that don't overlap, character by character."""
    found, at = [], 0
    while at + len(query) <= len(text):
        if all(fold_char(a) == fold_char(b) for a, b in zip(text[at:], query, strict=False)):
            found.append(at)
            at += len(query)
        else:
            at += 1
    return found


def decoded(line: bytes) -> Row:
    row = decode_line(line)
    assert isinstance(row, Row)
    return row


def foreign_plain(row: Row) -> bytes:
    return json.dumps(json.loads(encode_row(row))).encode()


def foreign_upper_hex(row: Row) -> bytes:
    """The text as nothing but escapes, in capitals: how no one would write, but may."""
    units = next(leaves(row)).text.encode("utf-16-be", "surrogatepass")
    escaped = "".join(f"\\u{units[at : at + 2].hex().upper()}" for at in range(0, len(units), 2))
    line = '{"id":"r","session":"s","role":"assistant","parts":[{"type":"text","text":"%s"}]}'
    return (line % escaped).encode()


def foreign_slashes(row: Row) -> bytes:
    return encode_row(row).replace(b"/", b"\\/")


WRITERS: list[Callable[[Row], bytes]] = [encode_row, foreign_plain, foreign_upper_hex, foreign_slashes]


@given(data=st.data(), text=texts.filter(bool), change=cases)
def test_hits_are_those_of_a_search_by_hand_and_no_line_is_missed(
    data: st.DataObject, text: str, change: Callable[[str], str]
) -> None:
    wanted = cut_from(data, text)
    wanted = data.draw(st.sampled_from([wanted, change(wanted), any_variant(data, wanted)]))
    query = LiteralQuery(wanted)
    for write in WRITERS:
        line = write(row_of(any_variant(data, text)))
        row = decoded(line)
        expected = brute_force(next(leaves(row)).text, query.text)
        hits = find(query, row)
        assert [hit.start for hit in hits if hit.leaf.place == "text"] == expected
        assert not hits or query.may_match(line)
        assert not hits or query.may_match(b'{"v":1}\n' + line + b'\n{"v":1}')


@given(text=texts, wanted=texts.filter(bool))
def test_any_query_finds_what_a_search_by_hand_finds(text: str, wanted: str) -> None:
    query = LiteralQuery(wanted)
    row = decoded(encode_row(row_of(text)))
    assert [hit.start for hit in find(query, row)] == brute_force(next(leaves(row)).text, query.text)


def test_every_cased_character_is_found_in_every_case() -> None:
    for char in CASED:
        query = LiteralQuery(f"x{char}y")
        for other in variants(char):
            row = row_of(f"-X{other}Y-")
            assert query.may_match(encode_row(row)), (char, other)
            assert query.may_match(foreign_plain(row)), (char, other)
            assert len(find(query, row)) == 1, (char, other)


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("wanted", ["a/b", "/", 'say "no"', "\\n", "tab\there", "\x1b[0m", "狐/🦊"])
def test_escapes_of_any_writer_hide_nothing(write: Callable[[Row], bytes], wanted: str) -> None:
    line = write(row_of(f"<{wanted}>"))
    query = LiteralQuery(wanted)
    assert query.may_match(line)
    assert [hit.start for hit in find(query, decoded(line)) if hit.leaf.place == "text"] == [1]


@pytest.mark.parametrize("first", range(0, len(CASED), 1000))
def test_a_long_query_in_many_alphabets_is_found_in_any_case(first: int) -> None:
    wanted = "".join(CASED[first : first + 1000])
    for text in (wanted, fold(wanted), "".join(variants(char)[-1] for char in wanted)):
        row = row_of(text)
        assert LiteralQuery(wanted).may_match(encode_row(row))
        assert len(find(LiteralQuery(wanted), row)) == 1


@given(data=st.data(), broken=st.binary(max_size=6), text=texts)
def test_bytes_that_are_no_text_hide_nothing(data: st.DataObject, broken: bytes, text: str) -> None:
    line = encode_row(row_of("@" + text)).replace(b"@", broken, 1)
    row = decode_line(line)
    if not isinstance(row, Row) or not (leaf := next(leaves(row)).text):
        return
    query = LiteralQuery(any_variant(data, cut_from(data, leaf)))
    assert find(query, row)
    assert query.may_match(line)


def test_most_lines_without_the_query_are_passed_over() -> None:
    line = encode_row(row_of("Ein \x1b[0m „Satz“ mit \\u und \\/ über Köln – Москва."))
    for absent in ("Straße", "kiosk", "Санкт", "a/b", "\\n", "狐", "ΟΔΟΣ"):
        assert not LiteralQuery(absent).may_match(line), absent


@pytest.mark.parametrize(("wanted", "text"), [("ss", "Straße"), ("i", "İ"), ("istanbul", "İSTANBUL"), ("fi", "ﬁ")])
def test_what_only_full_folding_makes_equal_is_no_hit(wanted: str, text: str) -> None:
    assert find(LiteralQuery(wanted), row_of(text)) == ()


def test_texts_and_strings_of_tools_are_searched_and_nothing_else() -> None:
    tool = ToolPart(
        call_id="needle",
        name="needle",
        input={"needle": 1, "a": ["Needle", {"b": "no", "c": "needle"}]},
        output="the NEEDLE",
        state="done",
    )
    media = MediaPart.model_validate(
        {"media_type": "image/png", "name": "needle", "bytes": 1, "blob": {"sha256": "0", "bytes": 1}}
    )
    row = row_of("🦊 needle").model_copy(
        update={"parts": (ReasoningPart(text="needle"), TextPart(text="🦊 needle"), media, tool)}
    )
    found = [
        (hit.leaf.part, hit.leaf.place, hit.leaf.number, hit.start, hit.end)
        for hit in find(LiteralQuery("needle"), row)
    ]
    assert found == [(1, "text", 0, 2, 8), (3, "input", 0, 0, 6), (3, "input", 2, 0, 6), (3, "output", 0, 4, 10)]


def test_rendered_json_is_not_searched() -> None:
    row = row_of("", {"a": "b"}, 'say "c"')
    assert find(LiteralQuery('"a":'), row) == ()
    assert find(LiteralQuery('\\"c'), row) == ()
    assert len(find(LiteralQuery('"c"'), row)) == 1


def test_deep_json_is_searched() -> None:
    value: object = "deep"
    for _ in range(5000):
        value = [value]
    assert len(find(LiteralQuery("DEEP"), row_of("", value))) == 1


def test_hits_are_capped() -> None:
    row = row_of("a" * 1000)
    assert len(find(LiteralQuery("A"), row)) == MAX_HITS_PER_ROW
    assert len(find(LiteralQuery("A"), row, limit=3)) == 3


def test_a_query_without_text_is_refused() -> None:
    with pytest.raises(ValueError, match="needs text"):
        LiteralQuery("")


@pytest.mark.parametrize("unit", ["ab", "abcde", "aab", "ßaẞb", "aaa"])
@pytest.mark.parametrize("wanted", ["ab", "AABAA", "ba", "aa", "ẞ"])
def test_a_long_text_is_looked_through_whole(unit: str, wanted: str) -> None:
    text = ("x" * 3 + unit * (2 * CHUNK_CHARS // len(unit)))[: 2 * CHUNK_CHARS + 5]
    folded, folded_wanted = fold(text), fold(wanted)
    expected, at = [], folded.find(folded_wanted)
    while at >= 0:
        expected.append((at, at + len(wanted)))
        at = folded.find(folded_wanted, at + len(wanted))
    assert list(LiteralQuery(wanted).spans(text)) == expected
