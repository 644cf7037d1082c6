"""Diffs for people: right, small, and made at once however large the change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.tools.text_diff import MAX_DIFF_BYTES, MOST_COMPARED_LINES, Change, unified


def diff(old: str, new: str) -> str:
    return unified(Change.of(old, new), "a.txt")


def test_lines_around_a_change_are_shown_with_their_numbers() -> None:
    old = "".join(f"{number}\n" for number in range(1, 21))

    assert diff(old, old.replace("10\n", "ten\n")) == (
        "--- a.txt\n+++ a.txt\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    )


def test_changes_far_apart_come_apart() -> None:
    old = "".join(f"{number}\n" for number in range(1, 101))

    shown = diff(old, old.replace("10\n", "ten\n", 1).replace("\n90\n", "\n"))

    assert [line for line in shown.split("\n") if line.startswith("@@")] == ["@@ -7,7 +7,7 @@", "@@ -87,7 +87,6 @@"]


def test_a_missing_end_of_the_last_line_is_told() -> None:
    assert diff("a", "a\n") == "--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"


def test_a_change_within_a_long_line_is_shown_where_it_is() -> None:
    old = "word " * 10_000
    new = old[:30_000] + "CHANGED" + old[30_000:]

    shown = diff(f"{old}\n", f"{new}\n")

    assert "CHANGED" in shown
    assert len(shown) < 2_000


@pytest.mark.parametrize("lines", [MOST_COMPARED_LINES // 2, MOST_COMPARED_LINES // 2 + 1, 200_000])
def test_a_large_change_shows_its_head_and_says_so(lines: int) -> None:
    old = "".join(f"old {number % 7}\n" for number in range(lines))
    new = "".join(f"new {number % 7}\n" for number in range(lines))

    shown = diff(old, new)

    assert shown.endswith("… the rest of the change is not shown\n") is (lines > MOST_COMPARED_LINES // 2)
    assert len(shown.encode()) <= MAX_DIFF_BYTES


@pytest.mark.parametrize("text", ["狐" * 100_000, "狐\n" * 100_000, "x" * 33_000, "\n" * 50_000])
def test_no_diff_is_larger_than_permitted(text: str) -> None:
    for shown in (diff("", text), diff(text, ""), diff(text, f"a\n{text[:-1]}z")):
        assert len(shown.encode()) <= MAX_DIFF_BYTES


@given(front=st.text("ab", max_size=9), was=st.text("xy", max_size=3), now=st.text("xz", max_size=3))
def test_whatever_changes_in_a_long_line_is_seen(front: str, was: str, now: str) -> None:
    line = "".join(map(str, range(2_000)))
    shown = diff(f"{line}{front}{was}{line}\n", f"{line}{front}{now}{line}\n").split("\n")

    if was != now:
        assert f"{front}{was}0123" in shown[3]
        assert f"{front}{now}0123" in shown[4]
        assert max(map(len, shown)) < 1_000


@given(old=st.text("ab\n", max_size=30), new=st.text("ab\n", max_size=30))
def test_what_is_removed_and_added_leads_from_one_text_to_the_other(old: str, new: str) -> None:
    change = Change.of(old, new)

    end = len(change.old) - change.start - change.removed
    tail = change.old[len(change.old) - end :]
    middle = change.new[change.start : change.start + change.added]
    assert "".join((*change.old[: change.start], *middle, *tail)) == new
    assert (change.removed, change.added) == (0, 0) or old != new


@given(old=st.text("ab\n", max_size=20), new=st.text("ab\n", max_size=20))
def test_a_diff_can_be_applied(old: str, new: str) -> None:
    source, made, at, is_new = old.splitlines(keepends=True), [""], 0, False
    for line in diff(old, new).splitlines()[2:]:
        if line.startswith("@@"):
            start, count = (int(number) for number in line.split(" ")[1][1:].split(","))
            start -= count > 0
            made += source[at:start]
            at = start
        elif line.startswith("\\"):
            made[-1] = made[-1].removesuffix("\n") if is_new else made[-1]
        else:
            is_new = line[0] in " +"
            made += [f"{line[1:]}\n"] if is_new else []
            at += line[0] in " -"

    assert "".join((*made, *source[at:])) == new
