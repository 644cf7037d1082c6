import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.history.folding import fold, fold_char, variants

EVERY_CHARACTER = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("K", "\u212a"),
        ("s", "\u017f"),
        ("σ", "ς"),
        ("Σ", "ς"),
        ("ß", "ẞ"),
        ("Å", "\u212b"),
        ("µ", "μ"),
        ("ǅ", "ǆ"),
        ("ᾈ", "ᾀ"),
        ("Ꭰ", "ꭰ"),
        ("𐐀", "𐐨"),
        ("\ufb05", "\ufb06"),
        ("\u1fd3", "\u0390"),
    ],
)
def test_cases_of_a_character_fold_to_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert {one, other} <= set(variants(one)) == set(variants(other))


@pytest.mark.parametrize(("one", "other"), [("ß", "ss"), ("İ", "i"), ("İ", "i\u0307"), ("ı", "i"), ("ﬁ", "fi")])
def test_what_is_not_one_character_in_another_case_stays_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_the_table_says_of_every_character_what_the_rule_says() -> None:
    assert fold(EVERY_CHARACTER) == "".join(map(fold_char, EVERY_CHARACTER))


def test_folding_keeps_every_length_and_folded_text_stays_as_it_is() -> None:
    folded = fold(EVERY_CHARACTER)
    assert fold(folded) == folded
    assert all((one > "\uffff") == (other > "\uffff") for one, other in zip(EVERY_CHARACTER, folded, strict=True))


def test_simple_lower_case_never_parts_from_its_upper_case() -> None:
    pairs = ((char, char.lower()) for char in EVERY_CHARACTER)
    assert all(fold(char) == fold(lower) for char, lower in pairs if len(lower) == 1)


@given(text=st.text(st.characters()))
def test_any_text_keeps_its_length(text: str) -> None:
    assert len(fold(text)) == len(text)
