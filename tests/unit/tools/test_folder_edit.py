"""`edit_file`: a passage exactly found, replaced, and nothing else touched."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.tools.folder_edit import MOST_PLACES
from app.tools.folder_text import Lines, Span
from tests.unit.tools.folder_desk import FolderDesk


async def known(desk: FolderDesk, content: str | bytes, path: str = "notes.txt") -> None:
    desk.put(path, content)
    await desk.text("read_file", path=path)


async def test_a_passage_is_replaced_after_asking(desk: FolderDesk) -> None:
    await known(desk, "one\ntwo\nthree\n")

    question = await desk.asked("edit_file", path="notes.txt", old_text="two", new_text="2")

    assert question is not None
    assert (question.summary, question.scope) == ("Change 1 line of notes.txt", "edit_file")
    assert question.diff == "--- notes.txt\n+++ notes.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    assert desk.data("notes.txt") == b"one\ntwo\nthree\n"
    outcome = await desk.call("edit_file", path="notes.txt", old_text="two", new_text="2")
    assert (outcome.output, outcome.diff) == ("Changed 1 place in “notes.txt”; it has 3 lines now.", question.diff)
    assert desk.data("notes.txt") == b"one\n2\nthree\n"
    # Its own change it knows.
    assert "Changed" in await desk.text("edit_file", path="notes.txt", old_text="2", new_text="zwei")
    assert desk.names() == ["notes.txt"]


@pytest.mark.parametrize(
    ("old", "new", "summary"),
    [
        ("two\nthree\n", "", "Remove 2 lines from notes.txt"),
        ("two\n", "two\n2.5\n2.6\n", "Add 2 lines to notes.txt"),
        ("one\ntwo\nthree", "1\n2", "Change 3 lines of notes.txt"),
        ("e", "E", "Change 4 places in notes.txt"),
    ],
)
async def test_a_summary_says_it_in_plain_words(desk: FolderDesk, old: str, new: str, summary: str) -> None:
    await known(desk, "one\ntwo\nthree\nfive\n")

    question = await desk.asked("edit_file", path="notes.txt", old_text=old, new_text=new, replace_all=True)

    assert question is not None
    assert question.summary == summary


async def test_only_what_was_read_in_this_window_is_changed(desk: FolderDesk) -> None:
    desk.put("notes.txt", "one\n")
    arguments = {"path": "notes.txt", "old_text": "one", "new_text": "1"}
    assert await desk.asked("edit_file", **arguments) is None
    assert "Read “notes.txt” with read_file first" in await desk.fault("edit_file", **arguments)
    await desk.text("read_file", path="notes.txt")
    desk.put("notes.txt", "one\ntheirs\n")
    assert "was changed since you read it" in await desk.fault("edit_file", **arguments)
    await desk.text("read_file", path="notes.txt")
    desk.window = "w2"
    assert "you have not read it in this context window" in await desk.fault("edit_file", **arguments)
    assert desk.data("notes.txt") == b"one\ntheirs\n"
    assert "There is no “gone.txt”" in await desk.fault("edit_file", **{**arguments, "path": "gone.txt"})


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("four", "old_text was not found in “notes.txt”. Read the file again with read_file"),
        ("one  two", "From line 1 on it stands with other spaces or line breaks"),
        ("B C\nd", "From line 3 on it stands with other upper and lower case"),
        ("x", "old_text was found 7 times in “notes.txt”: in lines 5, 5, 5, 6, 6 and more."),
        ("", "old_text must be the passage"),
        ("one", "are the same"),
    ],
)
async def test_what_is_not_found_once_is_told_so_that_it_helps(desk: FolderDesk, old: str, said: str) -> None:
    await known(desk, "one two\n\nb c\n  d\nxxx\nxxxx\n")

    assert said in await desk.fault("edit_file", path="notes.txt", old_text=old, new_text="one")


async def test_every_place_is_replaced_if_asked_for(desk: FolderDesk) -> None:
    await known(desk, "a-a\na\n")

    assert "Changed 3 places" in await desk.text(
        "edit_file", path="notes.txt", old_text="a", new_text="aa", replace_all=True
    )
    assert desk.data("notes.txt") == b"aa-aa\naa\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\nthree\r\n", b"one\r\n2\r\n2.5\r\nthree\r\n"),
        (b"\xef\xbb\xbfone\r\ntwo\r\nthree", b"\xef\xbb\xbfone\r\n2\r\n2.5\r\nthree"),
        (b"one\rtwo\rthree\r", b"one\r2\r2.5\rthree\r"),
        (b"one\ntwo\nthree\r\n", b"one\n2\n2.5\nthree\r\n"),
        ("one\r\ntwo\r\nthree".encode("utf-16"), "one\r\n2\r\n2.5\r\nthree".encode("utf-16")),
        (b"\xe4\r\ntwo\r\nthree", b"\xe4\r\n2\r\n2.5\r\nthree"),
    ],
)
async def test_line_ends_and_marks_stay_as_they_were(desk: FolderDesk, before: bytes, after: bytes) -> None:
    await known(desk, before)

    await desk.text("edit_file", path="notes.txt", old_text="two\nthree", new_text="2\n2.5\nthree")

    assert desk.data("notes.txt") == after


async def test_a_character_that_the_file_cannot_hold_is_refused(desk: FolderDesk) -> None:
    await known(desk, b"gr\xfcn\n")

    assert "is written in Windows-1252, which has no “狐”" in await desk.fault(
        "edit_file", path="notes.txt", old_text="grün", new_text="狐"
    )
    assert desk.data("notes.txt") == b"gr\xfcn\n"


async def test_limits_hold_on_both_sides(desk: FolderDesk) -> None:
    await known(desk, "a" + "x" * 4_999_998 + "b")
    await known(desk, "a" + "x" * 5_000_000, "larger.txt")

    assert "Changed 1 place" in await desk.text("edit_file", path="notes.txt", old_text="a", new_text="c")
    assert "would be larger than 5 MB" in await desk.fault(
        "edit_file", path="notes.txt", old_text="b", new_text="longer"
    )
    assert "too large: 5.0 MB, of at most 5 MB" in await desk.fault(
        "edit_file", path="larger.txt", old_text="a", new_text="c"
    )


async def test_a_change_that_would_be_far_too_large_is_never_put_together(desk: FolderDesk) -> None:
    # Fifty gigabytes: no computer that tests run on could hold it.
    await known(desk, "ab" * MOST_PLACES)
    huge = "x" * 1_000_000

    said = await desk.fault("edit_file", path="notes.txt", old_text="a", new_text=huge, replace_all=True)

    assert said == "“notes.txt” would be larger than 5 MB."


async def test_so_many_places_are_changed_at_once_and_no_more(desk: FolderDesk) -> None:
    await known(desk, "ab" * MOST_PLACES)
    await known(desk, "ab" * (MOST_PLACES + 1), "more.txt")

    assert await desk.text("edit_file", path="notes.txt", old_text="a", new_text="c", replace_all=True) == (
        "Changed 50,000 places in “notes.txt”; it has 1 line now."
    )
    said = await desk.fault("edit_file", path="more.txt", old_text="a", new_text="c", replace_all=True)
    assert "found 50,001 times" in said
    assert "at most 50,000 places" in said


async def test_a_text_that_begins_like_the_passage_everywhere_holds_nobody_up(desk: FolderDesk) -> None:
    # Compared word by word from each place on, this would take a minute in which nothing else runs.
    await known(desk, "a " * 2_400_000 + "A\tb\n")

    said = await desk.fault("edit_file", path="notes.txt", old_text=" ".join(["a"] * 999 + ["b"]), new_text="c")

    assert "From line 1 on it stands with other upper and lower case" in said


async def test_a_file_for_which_there_was_no_room_counts_as_unread(desk: FolderDesk) -> None:
    desk.put("notes.txt", "due Monday")
    desk.limit = 8
    assert "context window is too small" in await desk.fault("read_file", path="notes.txt")
    desk.limit = 100_000

    assert "you have not read it" in await desk.fault("edit_file", path="notes.txt", old_text="due", new_text="on")


TEXTS = st.text(st.sampled_from("ab\n\r"), max_size=24).map(lambda text: text.replace("\r", "\r\n"))


@given(raw=TEXTS, old=st.text(st.sampled_from("ab\n"), min_size=1, max_size=3), new=st.text("xy\n", max_size=4))
def test_an_edit_changes_what_was_meant_and_no_other_byte(raw: str, old: str, new: str) -> None:
    lines = Lines(raw)
    found = re.search(old.replace("\n", "\r?\n"), raw)
    at = lines.text.find(old)
    assert (found is None) == (at < 0)
    if found is None:
        return

    changed = lines.replaced([Span(at, at + len(old))], new)

    assert changed == raw[: found.start()] + new.replace("\n", lines.newline) + raw[found.end() :]
