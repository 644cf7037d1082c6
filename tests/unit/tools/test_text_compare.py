"""Which lines differ: right for every pair of texts, and close for large ones."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from app.tools.text_compare import MOST_COMPARED_LINES, Opcode, grouped, opcodes

LARGE = [f"line {number}" for number in range(MOST_COMPARED_LINES)]
LINES = st.lists(st.sampled_from("abcde"), max_size=12)


def made_of(found: Sequence[Opcode], old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return what becomes of `old`, and see that nothing is left out on the way."""
    made: list[str] = []
    at, other = 0, 0
    for tag, old_start, old_end, new_start, new_end in found:
        assert (old_start, new_start) == (at, other)
        at, other = old_end, new_end
        assert (tag in ("equal", "delete", "replace")) == (old_end > old_start)
        assert (tag in ("equal", "insert", "replace")) == (new_end > new_start)
        made += old[old_start:old_end] if tag == "equal" else new[new_start:new_end]
    assert (at, other) == (len(old), len(new))
    return made


@given(old=LINES, new=LINES, parts=st.lists(st.tuples(st.integers(0, 999), LINES, LINES), max_size=4))
def test_one_text_becomes_the_other_whatever_their_size(
    old: list[str], new: list[str], parts: list[tuple[int, list[str], list[str]]]
) -> None:
    before, after = list(LARGE), list(LARGE)
    for at, less, more in sorted(parts, reverse=True):
        before[at:at] = less
        after[at : at + 2] = more
    for one, other in ((old, new), (before, after), (old + before, after + new), (before, new), (old, after)):
        assert made_of(opcodes(one, other), one, other) == other


def test_small_changes_far_apart_in_a_large_text_stay_small() -> None:
    new = [*LARGE[:10], "one", *LARGE[11:500], *LARGE[501:990], "two", "three", *LARGE[990:]]

    assert [found for found in opcodes(LARGE, new) if found[0] != "equal"] == [
        ("replace", 10, 11, 10, 11),
        ("delete", 500, 501, 500, 500),
        ("insert", 990, 990, 989, 991),
    ]


def test_what_moved_is_taken_out_and_put_in() -> None:
    new = [*LARGE[100:], *LARGE[:100]]

    assert [found for found in opcodes(LARGE, new) if found[0] != "equal"] == [
        ("delete", 0, 100, 0, 0),
        ("insert", 1_000, 1_000, 900, 1_000),
    ]


def test_a_large_stretch_in_which_no_line_stands_once_is_replaced_as_a_whole() -> None:
    assert opcodes(["a"] * 900, ["b"] * 900) == [("replace", 0, 900, 0, 900)]


@given(old=LINES, new=LINES, context=st.integers(1, 3))
def test_groups_hold_all_that_differs_and_only_lines_close_by(old: list[str], new: list[str], context: int) -> None:
    found = opcodes(old, new)

    groups = list(grouped(found, context))

    assert [each for group in groups for each in group if each[0] != "equal"] == [
        each for each in found if each[0] != "equal"
    ]
    for group in groups:
        assert any(each[0] != "equal" for each in group)
        for at, each in enumerate(group):
            is_between = 0 < at < len(group) - 1
            assert each[0] != "equal" or each[2] - each[1] <= (2 * context if is_between else context)
