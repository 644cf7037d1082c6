from hypothesis import given
from hypothesis import strategies as st

from app.ui.chat.heights import Heights

HEIGHTS = st.lists(st.integers(1, 900), max_size=40)


@given(HEIGHTS, st.lists(st.tuples(st.sampled_from(["set", "append", "truncate"]), st.integers(0, 900)), max_size=20))
def test_sums_stay_those_of_a_plain_list(values: list[int], changes: list[tuple[str, int]]) -> None:
    heights, plain = Heights(values), list(values)
    for change, number in changes:
        if change == "append":
            heights.append(number)
            plain.append(number)
        elif change == "truncate":
            heights.truncate(number % (len(plain) + 1))
            del plain[number % (len(plain) + 1) :]
        elif plain:
            heights[number % len(plain)] = number
            plain[number % len(plain)] = number

    assert [heights[row] for row in range(len(heights))] == plain
    assert [heights.top(row) for row in range(len(plain) + 1)] == [sum(plain[:row]) for row in range(len(plain) + 1)]
    assert heights.total == sum(plain)


@given(HEIGHTS.filter(bool))
def test_each_point_belongs_to_the_row_it_is_in(values: list[int]) -> None:
    heights = Heights(values)
    for row, height in enumerate(values):
        assert heights.row_at(heights.top(row)) == row
        assert heights.row_at(heights.top(row) + height - 1) == row


def test_points_outside_belong_to_the_nearest_row() -> None:
    heights = Heights([10, 20])

    assert heights.row_at(-5) == 0
    assert heights.row_at(1_000) == 1
    assert Heights().row_at(3) == 0
