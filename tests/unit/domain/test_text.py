from hypothesis import given
from hypothesis import strategies as st

from app.domain.text import Utf16Text, utf16_units

WILD = st.text(alphabet=st.sampled_from("aß語🏯𐀀\u200d\n"), max_size=40)


@given(text=WILD, size=st.integers(1, 7))
def test_pieces_join_to_the_text_and_cut_no_character(text: str, size: int) -> None:
    whole = Utf16Text(text)
    pieces, at = [], 0
    while at < whole.units:
        piece, begin, end = whole.piece(at, size)
        assert begin == at
        assert 0 < utf16_units(piece) == end - begin <= max(2, size)
        pieces.append(piece)
        at = end
    assert "".join(pieces) == text


@given(text=WILD, start=st.integers(-2, 90), size=st.integers(0, 50))
def test_a_place_inside_a_character_is_before_it(text: str, start: int, size: int) -> None:
    data = text.encode("utf-16-le")
    whole = Utf16Text(text)

    piece, begin, end = whole.piece(start, size)

    assert piece.encode("utf-16-le") == data[2 * begin : 2 * end]
    assert begin in (start, start - 1) or not 0 <= start <= whole.units
    assert begin < end or begin == whole.units


def test_the_piece_before_another_ends_where_that_begins() -> None:
    # An offset in the middle of the castle moves back; the end that was asked for doesn't.
    assert Utf16Text("a🏯🏯b").piece(2, 1) == ("🏯", 1, 3)
    assert Utf16Text("a🏯🏯b").piece(4, 1) == ("🏯", 3, 5)
    assert Utf16Text("a🏯").piece(9, 5) == ("", 3, 3)
