"""`search_files`: hits with their lines, what was passed over, and going on."""

import os
import re

import pytest

from app.tools.folder_schema import MAX_READ_BYTES
from app.tools.folder_search import MOST_BYTES_A_SEARCH, MOST_HITS
from tests.fakes.pdf import make_pdf
from tests.unit.tools.folder_desk import FolderDesk
from tests.unit.tools.history_chat import HastyClock
from tests.unit.tools.test_folder_list import cursor, entries, pages


async def test_hits_come_with_file_line_and_text(desk: FolderDesk) -> None:
    desk.put("b.md", "nothing\nThe Fox, the fox\n\nfox\r\n")
    desk.put("a/c.txt", "a fox")

    assert await desk.text("search_files", query="fox") == (
        "a/c.txt:1: a fox\nb.md:2: The Fox, the fox\nb.md:4: fox\n\n3 hits in 2 files. All was searched."
    )
    assert entries(await desk.text("search_files", query="Fox", case_sensitive=True)) == ["b.md:2: The Fox, the fox"]
    assert entries(await desk.text("search_files", query="fox", glob="*.txt")) == ["a/c.txt:1: a fox"]
    assert entries(await desk.text("search_files", query="fox", path="a")) == ["a/c.txt:1: a fox"]
    assert entries(await desk.text("search_files", query="fox", path="b.md")) == [
        "b.md:2: The Fox, the fox",
        "b.md:4: fox",
    ]
    assert await desk.text("search_files", query="wolf") == "Nothing found. All was searched."


@pytest.mark.parametrize("query", ["a.*b", "(", "[x]", "\\", "GRÜN", " two  spaces"])
async def test_a_query_is_no_pattern(desk: FolderDesk, query: str) -> None:
    desk.put("a", f"before\n-{query.lower()}-\nafter axxb x")

    assert entries(await desk.text("search_files", query=query)) == [f"a:2: -{query.lower()}-"]


async def test_a_query_is_one_line_and_not_empty(desk: FolderDesk) -> None:
    for query in ("", "a\nb", "x" * 1_001):
        assert "query must be the text to find, one line" in await desk.fault("search_files", query=query)
    assert "query must be" in await desk.fault("search_files")


async def test_a_long_line_is_cut_around_the_hit(desk: FolderDesk) -> None:
    desk.put("wide.json", f"{'a' * 5_000}needle{'b' * 5_000}")

    (line,) = entries(await desk.text("search_files", query="needle"))

    assert line.startswith("wide.json:1: (at character 5000) …aaa")
    assert "aneedleb" in line
    assert len(line) < 300
    assert "aneedleb" in await desk.text("read_file", path="wide.json", start_line=1, start_char=4_999)


async def test_what_was_not_searched_is_said(desk: FolderDesk) -> None:
    desk.put("a.png", b"\x89PNG\0fox")
    desk.put("b.png", b"\x89PNG\0fox")
    desk.put("c.pdf", make_pdf("fox"))
    desk.put(".git/config", "fox")
    desk.put("con", "fox")
    (desk.root / "link").symlink_to("a.png")
    with (desk.root / "huge.txt").open("wb") as file:
        file.truncate(25_000_001)

    assert await desk.text("search_files", query="fox") == (
        "Nothing found. All was searched. Passed over: 2 files that are no text, 1 PDF file, 1 file over 25 MB, 1 link,"
        " what is inside .git, 1 name that can't be used."
    )


async def test_many_hits_come_in_pages_without_gap_or_double(desk: FolderDesk) -> None:
    for number in range(9):
        desk.put(f"{number}.txt", "".join(f"fox {line}\n\n" for line in range(1, 40)))

    answers = await pages(desk, "search_files", query="fox")

    found = [line for answer in answers for line in entries(answer)]
    assert found == [f"{number}.txt:{2 * line - 1}: fox {line}" for number in range(9) for line in range(1, 40)]
    assert all(len(entries(answer)) <= MOST_HITS for answer in answers)
    assert answers[-1].endswith("behind the cursor. All was searched.")


async def test_a_small_window_gets_fewer_hits_and_goes_on(desk: FolderDesk) -> None:
    desk.put("a.txt", "".join(f"fox {line} {'word ' * 20}\n" for line in range(60)))
    desk.limit = 4_000

    answers = await pages(desk, "search_files", query="fox")

    assert len(answers) > 3
    assert len({line for answer in answers for line in entries(answer)}) == 60


async def test_a_search_that_takes_too_long_goes_on(tmp_path_factory: pytest.TempPathFactory) -> None:
    desk = FolderDesk(tmp_path_factory.mktemp("slow"), clock=HastyClock())
    for number in range(9):
        desk.put(f"{number}/a.txt", "x")
    desk.put("z.txt", "fox")

    answers = await pages(desk, "search_files", query="fox")

    assert len(answers) > 2
    assert all("Nothing found so far. Not all was searched" in answer for answer in answers[:-1])
    assert entries(answers[-1]) == ["z.txt:1: fox"]


async def test_a_search_that_reads_too_much_goes_on(desk: FolderDesk) -> None:
    with (desk.root / "0.bin").open("wb") as file:
        file.truncate(MAX_READ_BYTES)
    for number in range(1, MOST_BYTES_A_SEARCH // MAX_READ_BYTES + 1):
        # Second names of one file that takes no room.
        os.link(desk.root / "0.bin", desk.root / f"{number}.bin")
    desk.put("z.txt", "fox")

    first, last = await pages(desk, "search_files", query="fox")

    assert first == (
        'Nothing found so far. Not all was searched: make the same call with cursor="3.bin". Passed over: 4 files that'
        " are no text."
    )
    assert entries(last) == ["z.txt:1: fox"]


@pytest.mark.parametrize("more", [0, 1])
async def test_exactly_as_many_hits_as_an_answer_takes_end_a_file(desk: FolderDesk, more: int) -> None:
    desk.put("a.txt", "fox\n" * (MOST_HITS + more))
    desk.put("b.txt", "fox\n" * MOST_HITS)

    answers = await pages(desk, "search_files", query="fox")

    found = [line for answer in answers for line in entries(answer)]
    assert found == [f"a.txt:{line}: fox" for line in range(1, MOST_HITS + more + 1)] + [
        f"b.txt:{line}: fox" for line in range(1, MOST_HITS + 1)
    ]


async def test_twenty_megabytes_are_searched(desk: FolderDesk) -> None:
    desk.put("large.txt", b"0123456789abcde\n" * 1_250_000 + b"the Fox\n")

    assert entries(await desk.text("search_files", query="fox")) == ["large.txt:1250001: the Fox"]


@pytest.mark.parametrize("case_sensitive", [False, True])
async def test_a_text_that_begins_like_the_query_everywhere_holds_nobody_up(
    desk: FolderDesk, *, case_sensitive: bool
) -> None:
    # Compared from each place on, this would take minutes in which nothing else runs.
    desk.put("a.txt", "a" * 24_000_000 + "b")

    answer = await desk.text("search_files", query="a" * 999 + "b", case_sensitive=case_sensitive)

    assert answer.startswith("a.txt:1: (at character 23999001) …aaa")


@pytest.mark.parametrize(
    ("query", "line"), [("masse", ""), ("MASS\u017f", "masss"), ("\u03c2", "\u03a3"), ("k", "\u212a"), ("i", "")]
)
async def test_case_is_folded_one_character_for_one(desk: FolderDesk, query: str, line: str) -> None:
    desk.put("a.txt", f"ma\u00dfe \u0130\n{line}\n")

    assert entries(await desk.text("search_files", query=query)) == ([f"a.txt:2: {line}"] if line else [])


async def test_a_cursor_of_another_search_is_refused(desk: FolderDesk) -> None:
    desk.put("a/x.txt", "fox")
    desk.put("b/x.txt", "fox")

    for path in ("a", "a/x.txt"):
        assert "cursor must be copied" in await desk.fault("search_files", query="fox", path=path, cursor="b/x.txt:1")
    assert "leads out" in await desk.fault("search_files", query="fox", cursor="../secret.txt:0")
    assert cursor(await desk.text("search_files", query="fox", cursor="a/x.txt:1")) == ""
    assert re.match("b/x.txt:1", await desk.text("search_files", query="fox", cursor="a/x.txt:1"))
