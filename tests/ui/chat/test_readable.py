from hypothesis import given
from hypothesis import strategies as st

from app.ui.chat.readable import Excerpt, readable

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def _read(value: object, *, most_chars: int = 1_000, most_lines: int = 100) -> Excerpt:
    return readable(value, most_chars=most_chars, most_lines=most_lines)


def test_a_value_is_lines_of_key_and_value() -> None:
    value = {"action": "search", "filters": {"role": "user", "tools": []}, "limit": 10, "is_new": True, "cursor": None}
    assert _read(value).text == (
        "action: search\nfilters:\n  role: user\n  tools: –\nlimit: 10\nis_new: true\ncursor: –"
    )


def test_a_key_keeps_to_its_line() -> None:
    assert _read({"two\nlines": 1, "\n": None}).text == "two lines: 1\n: –"


def test_entries_of_a_list_have_a_dash_and_keep_their_line_ends() -> None:
    value = [{"item": "#5", "text": "two\nlines"}, 7, ["a"]]
    assert _read(value).text == "- item: #5\n  text:\n    two\n    lines\n- 7\n- - a"


def test_a_text_that_is_json_is_read_as_such_and_any_other_stays() -> None:
    assert _read('{"a": [1]}').text == "a:\n  - 1"
    assert _read("{not json").text == "{not json"
    assert _read("[" * 100_000, most_chars=10) == Excerpt("[" * 10, 99_990)
    assert _read("12").text == "12"


def test_a_text_is_cut_at_characters_or_lines_and_the_rest_is_counted() -> None:
    assert _read("x" * 1_000) == Excerpt("x" * 1_000, 0)
    assert _read("x" * 1_001) == Excerpt("x" * 1_000, 1)
    assert _read("a\nb\nc", most_lines=2) == Excerpt("a\nb", 1)
    assert _read("a\nb\n", most_lines=3) == Excerpt("a\nb\n", 0)


def test_a_long_value_is_cut_without_being_read_to_its_end() -> None:
    found = _read([{"key": "y" * 100}] * 1_000_000)
    assert len(found.text) <= 1_000
    assert found.more_chars is None
    assert _read({"key": "y" * 5_000_000}).text.startswith("key: yyy")


@given(JSON)
def test_any_value_is_readable_within_its_limits(value: object) -> None:
    found = _read(value, most_chars=50, most_lines=5)
    assert len(found.text) <= 50
    assert found.text.count("\n") < 5 or isinstance(value, str)
