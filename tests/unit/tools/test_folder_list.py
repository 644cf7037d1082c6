"""`list_files`: what is there, in one order, page by page."""

import contextlib
import json
import os
import re

import pytest

from app.tools.folder_access import Folder
from app.tools.folder_glob import Glob
from app.tools.folder_list import MOST_ENTRIES
from app.tools.folder_names import FolderFault
from app.tools.folder_places import PathPlace
from app.tools.folder_stop import Stop
from tests.unit.tools.folder_desk import FolderDesk
from tests.unit.tools.history_chat import HastyClock


def entries(answer: str) -> list[str]:
    """Return what an answer lists, without its end."""
    return answer.split("\n\n", maxsplit=1)[0].split("\n") if "\n\n" in answer else []


def cursor(answer: str) -> str:
    found = re.search(r'cursor=("(?:[^"\\]|\\.)*")', answer)
    return str(json.loads(found[1])) if found else ""


async def pages(desk: FolderDesk, tool: str, **arguments: object) -> list[str]:
    """Return all answers from the first to the last."""
    answers = [await desk.text(tool, **arguments)]
    while behind := cursor(answers[-1]):
        answers.append(await desk.text(tool, **arguments, cursor=behind))
    return answers


async def test_a_folder_is_listed_by_name_with_sizes(desk: FolderDesk) -> None:
    desk.put("Zebra.txt", "x" * 1204)
    desk.put("apple.md")
    desk.put("docs/plan.md")
    desk.put(".hidden")

    assert await desk.text("list_files") == (
        ".hidden (0 bytes)\napple.md (0 bytes)\ndocs/\nZebra.txt (1,204 bytes)\n\nThat is all."
    )
    assert await desk.text("list_files", path="docs") == "docs/plan.md (0 bytes)\n\nThat is all."
    assert await desk.text("list_files", path=str(desk.root / "docs")) == "docs/plan.md (0 bytes)\n\nThat is all."


async def test_an_empty_folder_says_so(desk: FolderDesk) -> None:
    (desk.root / "empty").mkdir()

    assert await desk.text("list_files", path="empty") == "“empty”: It is empty."
    assert await desk.text("list_files", pattern="*.pdf") == "“.”: Nothing in it fits the pattern."


async def test_inner_folders_are_listed_if_asked_for_but_never_git(desk: FolderDesk) -> None:
    for path in ("a/b/deep.md", "a/x.md", "top.md", ".git/config", "sub/.GIT/hooks/pre-commit"):
        desk.put(path)

    answer = await desk.text("list_files", recursive=True)

    assert [line.split(" ")[0] for line in entries(answer)] == [
        ".git/", "a/", "a/b/", "a/b/deep.md", "a/x.md", "sub/", "sub/.GIT/", "top.md",
    ]  # fmt: skip
    assert answer.endswith("That is all. Left out: what is inside .git.")
    assert entries(await desk.text("list_files", path=".git")) == [".git/config (0 bytes)"]


async def test_names_that_cannot_be_used_are_counted_and_not_shown(desk: FolderDesk) -> None:
    for name in ("a:b", "con", "line\nbreak", "good.txt", "dot."):
        desk.put(name)

    assert await desk.text("list_files") == "good.txt (0 bytes)\n\nThat is all. Left out: 4 names that can't be used."


@pytest.mark.parametrize("pattern", ["*.md", "**/*.md", "{*.md,*.none}", "*.MD"])
async def test_a_pattern_finds_by_name(desk: FolderDesk, pattern: str) -> None:
    for path in ("a/one.md", "a/b/two.MD", "three.md", "a/no.txt"):
        desk.put(path)

    found = entries(await desk.text("list_files", pattern=pattern, recursive=True))

    assert [line.split(" ")[0] for line in found] == ["a/b/two.MD", "a/one.md", "three.md"]


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.md", "a/b/c.md", True),
        ("*.md", "a/b/c.mdx", False),
        ("a/*.md", "a/b.md", True),
        ("a/*.md", "a/b/c.md", False),
        ("a/**/*.md", "a/c.md", True),
        ("a/**/*.md", "a/b/b/c.md", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a", False),
        ("**", "a/b", True),
        ("**/b/**/d", "a/b/c/d", True),
        ("**/b/**/d", "a/c/d", False),
        ("./*.md", "x.md", True),
        ("?.md", "é.md", True),
        ("[ab].md", "a.md", True),
        ("[!ab].md", "a.md", False),
        ("{a,b}/{c,d}.md", "b/c.md", True),
        ("*a*a*a*a*a*a*a*a*b", "a" * 200, False),
        ("", "anything", True),
        ("[", "[", True),
    ],
)
def test_patterns(pattern: str, path: str, fits: bool) -> None:
    assert Glob(pattern).fits(tuple(path.split("/"))) is fits


def test_a_pattern_may_be_meant_from_the_folder_that_is_listed() -> None:
    assert Glob("b/*.md").fits(("a", "b", "c.md"), ("a",))
    assert not Glob("b/*.md").fits(("a", "b", "c.md"))


def test_a_pattern_that_stands_for_too_many_is_refused() -> None:
    Glob("{a,b}{a,b}{a,b}{a,b}{a,b}")
    with pytest.raises(FolderFault, match="more than 32"):
        Glob("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}")


async def test_a_small_window_gets_short_pages_and_a_tiny_one_is_told(desk: FolderDesk) -> None:
    for number in range(100):
        desk.put(f"{number:03}.txt")
    desk.limit = 1_200

    answers = await pages(desk, "list_files")

    assert len(answers) > 2
    assert sum(len(entries(answer)) for answer in answers) == 100
    desk.limit = 30
    assert "context window is too small" in await desk.fault("list_files")


@pytest.mark.parametrize("more", [0, 1])
async def test_so_many_entries_make_one_answer(desk: FolderDesk, more: int) -> None:
    for number in range(MOST_ENTRIES + more):
        desk.put(f"{number:04}")

    answers = await pages(desk, "list_files")

    assert [len(entries(answer)) for answer in answers] == [MOST_ENTRIES] + [1] * more


async def test_what_takes_too_long_goes_on_with_the_cursor(tmp_path_factory: pytest.TempPathFactory) -> None:
    desk = FolderDesk(tmp_path_factory.mktemp("slow"), clock=HastyClock())
    for number in range(15):
        desk.put(f"{number}.txt")
    desk.put("z.md")

    answers = await pages(desk, "list_files", pattern="*.md")

    assert len(answers) > 2
    assert [entries(answer) for answer in answers][-1] == ["z.md (0 bytes)"]


async def test_going_on_behind_what_is_gone_by_now(desk: FolderDesk) -> None:
    for name in ("a", "c", "e/x", "f"):
        desk.put(name)

    assert entries(await desk.text("list_files", recursive=True, cursor="b")) == [
        "c (0 bytes)", "e/", "e/x (0 bytes)", "f (0 bytes)",
    ]  # fmt: skip
    assert entries(await desk.text("list_files", recursive=True, cursor="e/y")) == ["f (0 bytes)"]
    assert "behind the cursor" in await desk.text("list_files", cursor="z")
    assert "cursor must be copied" in await desk.fault("list_files", path="e", cursor="c")
    assert "leads out" in await desk.fault("list_files", cursor="../x")


async def test_calls_are_read_with_patience(desk: FolderDesk) -> None:
    desk.put("a.txt")

    assert "a.txt" in await desk.text("list_files", path=None, pattern="", recursive="false", colour="red")
    assert await desk.fault("list_files", recursive="perhaps") == "recursive must be true or false."
    assert "path must be a path" in await desk.fault("read_file")
    assert await desk.fault("read_file", path="a.txt", start_line=0, max_lines=-1) == (
        "start_line must be a whole number of at least 1; max_lines must be a whole number of at least 1."
    )


async def test_what_is_too_deep_is_left_out_and_said(desk: FolderDesk) -> None:
    deep = desk.root.joinpath(*["d"] * 42)
    deep.mkdir(parents=True)

    answer = await desk.text("list_files", recursive=True)

    assert len(entries(answer)) == 40
    assert "Left out: 1 folder too deep inside others." in answer


async def test_what_has_too_long_a_path_is_left_out_and_the_cursor_goes_on(desk: FolderDesk) -> None:
    for names in (["d" * 249] * 3, ["d" * 249] * 2 + ["e" * 244]):
        # In steps: systems take no path so long at once.
        folder = os.open(desk.root, os.O_RDONLY)
        for name in (*names, "f" * 200):
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)
            inner = os.open(name, os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        os.close(folder)
    desk.put("z.txt")

    answers = await pages(desk, "list_files", recursive=True)

    found = [line for answer in answers for line in entries(answer)]
    assert found[-1] == "z.txt (0 bytes)"
    assert [len(line) - 1 for line in found[:-1]] == [249, 499, 749, 744, 945]
    assert "Left out: 2 folders too deep inside others." in answers[-1]


async def test_a_name_with_quotes_is_gone_on_behind(tmp_path_factory: pytest.TempPathFactory) -> None:
    desk = FolderDesk(tmp_path_factory.mktemp("quotes"), clock=HastyClock())
    names = [f'say "{number}".txt' for number in range(9)]
    for name in names:
        desk.put(name, "fox")

    for tool, arguments in (("list_files", {}), ("search_files", {"query": "fox"})):
        answers = await pages(desk, tool, **arguments)
        assert len(answers) > 2
        assert [name for name in names if any(name in line for answer in answers for line in entries(answer))] == names


async def test_a_name_that_begins_with_a_space_is_gone_on_behind(desk: FolderDesk) -> None:
    for name in (" b.txt", "#a.txt", "b.txt"):
        desk.put(name)

    assert entries(await desk.text("list_files", cursor=" b.txt")) == ["#a.txt (0 bytes)", "b.txt (0 bytes)"]


def test_a_near_name_is_told(desk: FolderDesk) -> None:
    desk.put("docs/chapter one.md")
    place = PathPlace(desk.root)

    with pytest.raises(FolderFault, match=r"There is no “docs/chapter_one\.md” .* Near it: docs/chapter one\.md\."):
        Folder(place, Stop()).kind(("docs", "chapter_one.md"))
