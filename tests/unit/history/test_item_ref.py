import string

from hypothesis import given
from hypothesis import strategies as st

from app.history.item_ref import ExactRef, RowIdRef, SeqRef, format_ref, parse_ref

URL_SAFE = set(string.ascii_letters + string.digits + "-._~")


@given(offset=st.integers(0, 2**59), line=st.binary(), session=st.text())
def test_an_exact_reference_is_short_and_says_what_it_was_made_of(offset: int, line: bytes, session: str) -> None:
    ref = format_ref(offset, line, session=session)
    assert len(ref) <= 40
    assert set(ref) <= URL_SAFE
    assert parse_ref(ref) == ExactRef(offset, ref[-12:])
    assert ref != format_ref(offset, line + b" ", session=session)
    assert ref != format_ref(offset, line, session=session + "x")


def test_numbers_and_row_ids_are_references_too() -> None:
    assert parse_ref("#0") == SeqRef(0)
    assert parse_ref("#12") == SeqRef(12)
    assert parse_ref("m:a b\n") == RowIdRef("a b\n")


@given(st.text(max_size=45))
def test_any_text_is_a_reference_or_none(text: str) -> None:
    parse_ref(text)
    parse_ref(f"#{text}")
    parse_ref(f"i{text}")
