"""Diffs for people: right, small, and made at once however large the change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.tools.text_diff import MAX_DIFF_BYTES, Change, unified


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


def test_places_far_apart_in_a_large_text_are_all_shown() -> None:
    old = "".join(f"{number}\n" for number in range(5_000))

    shown = diff(old, old.replace("\n7\n", "\nseven\n").replace("\n4990\n", "\nrm -r\n"))

    assert [line for line in shown.split("\n")[2:] if line[:1] in ("+", "-")] == ["-7", "+seven", "-4990", "+rm -r"]


@pytest.mark.parametrize(("lines", "is_told"), [(100, False), (101, True), (200_000, True)])
def test_what_comes_is_seen_however_much_it_replaces(lines: int, *, is_told: bool) -> None:
    shown = diff("".join(f"old {number % 7}\n" for number in range(lines)), "rm -r\n").split("\n")

    assert "+rm -r" in shown
    assert len([line for line in shown if line.startswith("-old")]) == 100
    more = "… 1 more line is replaced" if lines == 101 else f"… {lines - 100:,} more lines are replaced"
    assert (more in shown) is is_told


def test_a_long_line_that_goes_leaves_room_for_what_comes() -> None:
    shown = diff("x" * 40_000 + "\n" + "y\n", "1\n2\n3\n").split("\n")

    assert shown[3:] == ["… 2 more lines are replaced", "+1", "+2", "+3", ""]


def test_what_is_not_shown_is_counted() -> None:
    shown = diff("", "".join(f"{number:0999}\n" for number in range(40)))

    assert len([line for line in shown.split("\n") if line.startswith("+") and line.endswith("…")]) == 1
    assert shown.endswith("… the rest of the change is not shown: 8 lines\n")
    assert len(shown.encode()) <= MAX_DIFF_BYTES


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("safe\r-gone", "safe␍-gone"),
        ("safe\r\\ dropped", "safe␍\\ dropped"),
        ("a\u2028+b\u2029c\x85d", "a⟨U+2028⟩+b⟨U+2029⟩c⟨U+0085⟩d"),
        ("a\x0bb\x0cc\x1b[8md\x7f", "a␋b␌c␛[8md⟨U+007F⟩"),
        ("\u202egpj.exe\u202c \u2066x\u2069", "⟨U+202E⟩gpj.exe⟨U+202C⟩ ⟨U+2066⟩x⟨U+2069⟩"),
        ("a\u200bb\u00adc\ufeffd\U000e0041", "a⟨U+200B⟩b⟨U+00AD⟩c⟨U+FEFF⟩d⟨U+E0041⟩"),
        ("\ttab, می\u200cخواهم, 👩\u200d🚀, é", "\ttab, می\u200cخواهم, 👩\u200d🚀, é"),
    ],
)
def test_nothing_in_a_text_looks_like_something_else(text: str, shown: str) -> None:
    for change in (diff(f"{text}\n", ""), diff("", f"{text}\n"), diff(f"{text}\nx\n", f"{text}\n")):
        assert [line[1:] for line in change.split("\n") if line[1:] == shown]
        assert not set(change) & set("\r\x0b\x0c\x1b\x7f\x85\u2028\u2029\u202e")


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
