import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from app.assets import resource
from app.providers.practice.prose import MAX_WORDS, ProseKit, count_words, write_prose


@pytest.fixture(scope="module")
def kit() -> ProseKit:
    return TypeAdapter(ProseKit).validate_json(resource("practice-prose.json").read_bytes())


@given(words=st.integers(1, MAX_WORDS))
def test_prose_has_exactly_the_words_asked_for(kit: ProseKit, words: int) -> None:
    assert count_words(write_prose(words, kit)) == words


@pytest.mark.parametrize("words", [1, 2, 99, 100, 101, MAX_WORDS])
def test_prose_ends_in_a_whole_sentence(kit: ProseKit, words: int) -> None:
    text = write_prose(words, kit)
    assert text.endswith(".")
    assert "{" not in text


def test_long_prose_has_headings_and_short_prose_has_none(kit: ProseKit) -> None:
    assert "#" not in write_prose(99, kit)
    assert write_prose(100, kit).startswith("# A house through the year\n\n## January\n\n")
    assert write_prose(MAX_WORDS, kit).count("\n## ") >= 8


def test_no_paragraph_of_the_longest_prose_comes_twice(kit: ProseKit) -> None:
    paragraphs = write_prose(MAX_WORDS, kit).split("\n\n")
    assert len(set(paragraphs)) == len(paragraphs)


def test_the_nth_closing_sentence_has_n_words(kit: ProseKit) -> None:
    assert [count_words(sentence) for sentence in kit.closings] == list(range(1, len(kit.closings) + 1))


@pytest.mark.parametrize(("text", "words"), [("", 0), ("one", 1), ("# a heading\n\none two\nthree", 3)])
def test_headings_are_not_counted(text: str, words: int) -> None:
    assert count_words(text) == words
