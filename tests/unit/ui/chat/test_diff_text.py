import pytest
from PySide6.QtCore import QLocale

from app.tools.text_diff import Change, unified
from app.ui.chat.diff_text import shown_diff


def shown(diff: str, *, most_chars: int = 10_000, most_lines: int = 100) -> str:
    return shown_diff(diff, most_chars=most_chars, most_lines=most_lines).text


def test_a_change_is_lines_with_their_signs_and_nothing_else() -> None:
    diff = unified(Change.of("title\nold\n\nend\n", "title\nnew\n\nend\n"), "notes.txt")
    assert shown(diff) == "  title\n- old\n+ new\n  \n  end"


def test_what_is_left_out_between_two_places_is_told_by_the_number_of_the_line() -> None:
    before = [f"line {number}" for number in range(1, 31)]
    after = ["first", *before[1:28], "last but one", before[29]]
    lines = shown(unified(Change.of("\n".join(before), "\n".join(after)), "a")).split("\n")
    assert lines[:3] == ["- line 1", "+ first", "  line 2"]
    assert f"⋯ line {QLocale().toString(26)}" in lines
    assert lines[-3:] == ["- line 29", "+ last but one", "  line 30"]


@pytest.mark.parametrize(
    ("diff", "text"),
    [
        ("", ""),
        ("--- a\n+++ a", ""),
        ("--- a\n+++ a\n-old\n+new", "- old\n+ new"),
        ("@@ -0,0 +1 @@\n+new\n\\ No newline at end of file", "+ new"),
        ("@@ -1 +1 @@\n--- a dash\n+++ a plus", "- -- a dash\n+ ++ a plus"),
        ("+new\n… 120 more lines", "+ new\n… 120 more lines"),
        ("@@ -4,2 +7,2 @@\n-old", "⋯ line 7\n- old"),
        ("+a\x00b\r\n", "+ a\ufffdb"),
    ],
)
def test_every_diff_is_shown_somehow(diff: str, text: str) -> None:
    assert shown(diff) == text


def test_a_long_change_shows_its_begin_and_says_that_more_follows() -> None:
    diff = "\n".join(f"+line {number}" for number in range(1_000))
    cut = shown_diff(diff, most_chars=10_000, most_lines=5)
    assert (cut.text.count("\n"), cut.more_chars) == (4, None)
    assert shown_diff("+" + "x" * 5_000, most_chars=100, most_lines=5) == ("+ " + "x" * 98, None)
    assert shown_diff("+a\n+b", most_chars=100, most_lines=2).more_chars == 0
