"""`write_file`: asks with a diff, and does exactly that or nothing."""

import os
from dataclasses import replace

import pytest

from app.domain.approvals import Question
from tests.unit.tools.folder_desk import FolderDesk


async def test_a_new_file_is_asked_for_and_made_with_its_folders(desk: FolderDesk) -> None:
    content = "# Plan\n\n- one\n"

    question = await desk.asked("write_file", path="a/b/plan.md", content=content)

    assert question == Question(
        "Create a/b/plan.md (3 lines)",
        "--- /dev/null\n+++ a/b/plan.md\n@@ -0,0 +1,3 @@\n+# Plan\n+\n+- one\n",
        scope="write_file",
        version="absent",
    )
    assert desk.names() == []
    outcome = await desk.call("write_file", path="a/b/plan.md", content=content)
    assert (outcome.output, outcome.diff) == ("Created “a/b/plan.md” with 3 lines.", question.diff)
    assert desk.data("a/b/plan.md") == content.encode()
    assert desk.names() == ["a", "a/b", "a/b/plan.md"]


async def test_a_file_is_replaced_once_it_was_read(desk: FolderDesk) -> None:
    desk.put("plan.md", "one\ntwo\n")
    assert await desk.asked("write_file", path="plan.md", content="three\n") is None
    assert "Read “plan.md” with read_file first" in await desk.fault("write_file", path="plan.md", content="three\n")
    await desk.text("read_file", path="./plan.md")

    question = await desk.asked("write_file", path="plan.md", content="three\n")

    assert question is not None
    assert question.summary == "Replace all 2 lines of plan.md"
    assert "-one\n-two\n+three\n" in question.diff
    assert await desk.text("write_file", path="plan.md", content="three\n") == (
        "Replaced “plan.md”: it has 1 line now."
    )
    assert desk.data("plan.md") == b"three\n"
    # What it wrote itself it knows.
    assert "Replaced" in await desk.text("write_file", path="plan.md", content="four\n")


async def test_writing_what_is_there_asks_and_changes_nothing(desk: FolderDesk) -> None:
    desk.put("plan.md", "one\r\n")
    await desk.text("read_file", path="plan.md")

    assert await desk.asked("write_file", path="plan.md", content="one\n") is None
    assert "holds exactly this already" in await desk.text("write_file", path="plan.md", content="one\n")
    assert desk.data("plan.md") == b"one\r\n"


async def test_what_was_read_counts_only_in_the_same_window_and_until_a_restart(desk: FolderDesk) -> None:
    desk.put("plan.md", "one\n")
    await desk.text("read_file", path="plan.md")
    desk.window = "w2"
    assert "you have not read it in this context window" in await desk.fault("write_file", path="plan.md", content="x")
    desk.window = "w1"
    assert "you have not read it in this context window" in await desk.fault("write_file", path="plan.md", content="x")
    await desk.text("read_file", path="plan.md")
    desk.restart()
    assert "you have not read it in this context window" in await desk.fault("write_file", path="plan.md", content="x")
    assert desk.data("plan.md") == b"one\n"


async def test_a_file_changed_since_it_was_read_is_left_alone(desk: FolderDesk) -> None:
    desk.put("plan.md", "one\n")
    await desk.text("read_file", path="plan.md")
    desk.put("plan.md", "theirs\n")

    assert "was changed since you read it" in await desk.fault("write_file", path="plan.md", content="x")
    assert desk.data("plan.md") == b"theirs\n"


async def test_nothing_is_done_that_was_not_asked_or_is_about_another_version(desk: FolderDesk) -> None:
    arguments = {"path": "plan.md", "content": "new\n"}
    question = await desk.asked("write_file", **arguments)
    tool = desk.tools["write_file"]

    unasked = await tool.run(arguments, desk.context)
    assert "was not asked" in str(unasked.output)
    desk.put("plan.md", "theirs\n")
    await desk.text("read_file", path="plan.md")
    late = await tool.run(arguments, replace(desk.context, approved=question))

    assert unasked.is_error
    assert late.is_error
    assert "changed after the user was asked" in str(late.output)
    assert desk.data("plan.md") == b"theirs\n"


async def test_a_name_that_differs_only_in_how_it_is_written_is_refused(desk: FolderDesk) -> None:
    desk.put("Notes/Plan.md", "x")
    desk.put("caf\u00e9.txt", "x")

    for path, there in (
        ("Notes/plan.MD", "Notes/Plan.md"),
        ("notes/new.md", "Notes"),
        ("CAFE\u0301.txt", "caf\u00e9.txt"),
    ):
        assert f"“{there}” is there already" in await desk.fault("write_file", path=path, content="x")
    assert desk.names() == ["Notes", "Notes/Plan.md", "caf\u00e9.txt"]


async def test_accents_may_be_written_either_way(desk: FolderDesk) -> None:
    apart, joined = "re\u0301sume\u0301/cafe\u0301.txt", "r\u00e9sum\u00e9/caf\u00e9.txt"
    desk.put(apart, "one\n")

    assert "Read" in await desk.fault("write_file", path=joined, content="two\n")
    assert "one" in await desk.text("read_file", path=joined)
    assert "Changed" in await desk.text("edit_file", path=apart, old_text="one", new_text="two")
    assert "Replaced" in await desk.text("write_file", path=joined, content="three\n")
    assert f"{apart}:1: three" in await desk.text("search_files", query="three", path=joined)
    assert f"{apart} (6 bytes)" in await desk.text("list_files", path=joined.split("/", maxsplit=1)[0])
    assert "Created" in await desk.text("write_file", path="r\u00e9sum\u00e9/new.txt", content="x")
    assert len(desk.names()) == 3


async def test_two_files_whose_names_differ_only_in_case_are_both_changed(desk: FolderDesk) -> None:
    desk.put("Plan.md", "upper\n")
    desk.put("plan.md", "lower\n")
    for path in ("Plan.md", "plan.md"):
        await desk.text("read_file", path=path)
        assert "Replaced" in await desk.text("write_file", path=path, content=f"new {path}\n")
    assert (desk.data("Plan.md"), desk.data("plan.md")) == (b"new Plan.md\n", b"new plan.md\n")


async def test_limits_hold_on_both_sides(desk: FolderDesk) -> None:
    desk.put("large.txt", "x" * 5_000_000)
    desk.put("larger.txt", "x" * 5_000_001)
    for path in ("large.txt", "larger.txt"):
        await desk.text("read_file", path=path)

    assert "Created" in await desk.text("write_file", path="a", content="x" * 1_000_000)
    assert "at most 1 MB" in await desk.fault("write_file", path="b", content="x" * 1_000_001)
    assert "at most 1 MB" in await desk.fault("write_file", path="b", content="é" * 500_001)
    assert "Replaced" in await desk.text("write_file", path="large.txt", content="x")
    assert "too large: 5.0 MB, of at most 5 MB" in await desk.fault("write_file", path="larger.txt", content="x")


async def test_only_texts_are_written_and_replaced(desk: FolderDesk) -> None:
    desk.put("x.png", b"\x89PNG\0")
    desk.put("x.pdf", b"%PDF-1.4\n")

    assert "NUL character" in await desk.fault("write_file", path="a", content="a\0b")
    for path in ("x.png", "x.pdf"):
        assert "is no text file" in await desk.fault("write_file", path=path, content="x")
    assert "content must be" in await desk.fault("write_file", path="a")


async def test_how_a_file_was_written_is_kept(desk: FolderDesk) -> None:
    desk.put("marked.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    desk.put("wide.txt", "one\n".encode("utf-16"))
    desk.put("old.txt", b"gr\xfcn\n")
    for path in ("marked.txt", "wide.txt", "old.txt"):
        await desk.text("read_file", path=path)
        await desk.text("write_file", path=path, content="grün\nzwei\n")

    assert desk.data("marked.txt") == b"\xef\xbb\xbf" + "grün\r\nzwei\r\n".encode()
    assert desk.data("wide.txt") == "grün\nzwei\n".encode("utf-16")
    assert desk.data("old.txt") == "grün\nzwei\n".encode("cp1252")
    await desk.text("write_file", path="old.txt", content="狐\n")
    assert desk.data("old.txt") == "狐\n".encode()


async def test_the_mode_of_a_file_is_kept_and_a_protected_one_left_alone(desk: FolderDesk) -> None:
    script = desk.put("run.sh", "one\n")
    script.chmod(0o750)
    await desk.text("read_file", path="run.sh")
    await desk.text("write_file", path="run.sh", content="two\n")
    assert script.stat().st_mode & 0o777 == 0o750

    script.chmod(0o444)
    assert "protected against changes" in await desk.fault("write_file", path="run.sh", content="three\n")
    assert desk.data("run.sh") == b"two\n"


async def test_a_file_with_a_second_name_elsewhere_is_changed_only_here(desk: FolderDesk) -> None:
    os.link(desk.secret, desk.root / "twin.txt")
    await desk.text("read_file", path="twin.txt")
    await desk.text("write_file", path="twin.txt", content="new")

    assert desk.data("twin.txt") == b"new"
    assert desk.secret.read_text() == "zanzibarquokka"


async def test_what_is_inside_git_is_not_changed(desk: FolderDesk) -> None:
    desk.put(".git/config", "x")
    await desk.text("read_file", path=".git/config")

    for path in (".git/config", ".git/hooks/pre-commit", "sub/.GIT/x", ".g\u200cit/x", "Git~1/config", ".git"):
        assert "inside .git" in await desk.fault("write_file", path=path, content="x")
    assert "Created" in await desk.text("write_file", path=".gitignore", content="*.pyc\n")


@pytest.mark.parametrize("path", [".envrc", ".vscode/tasks.json", "docs/.hidden/x.md", "\u200c.vscode/x"])
async def test_always_does_not_hold_for_what_is_hidden(desk: FolderDesk, path: str) -> None:
    made = await desk.asked("write_file", path=path, content="one\n")
    await desk.text("write_file", path=path, content="one\n")
    changed = await desk.asked("edit_file", path=path, old_text="one", new_text="two")

    assert made is not None
    assert changed is not None
    assert made.summary == f"Create {path} (1 line). It is hidden, and programs may act on it."
    assert changed.summary.endswith("It is hidden, and programs may act on it.")
    assert made.scope == changed.scope == ""
    seen = await desk.asked("write_file", path="docs/x.md", content="one\n")
    assert seen is not None
    assert seen.scope == "write_file"


async def test_no_long_name_hides_where_a_change_is_made(desk: FolderDesk) -> None:
    path = f"notes/{'n' * 100}/autostart/{'m' * 60}.md"

    for content in ("one\n", "two\n"):
        question = await desk.asked("write_file", path=path, content=content)
        assert question is not None
        assert path in question.summary
        await desk.text("write_file", path=path, content=content)
    question = await desk.asked("edit_file", path=path, old_text="two", new_text="three")
    assert question is not None
    assert question.summary == f"Change 1 line of {path}"


async def test_a_new_file_that_looks_like_another_is_refused(desk: FolderDesk) -> None:
    desk.put("plan.md", "mine")

    for path in ("pl\u200ban.md", "plan\u00ad.md", "PLAN\u200d.md"):
        assert "differs only in how it is written" in await desk.fault("write_file", path=path, content="x")
    assert desk.names() == ["plan.md"]


async def test_tools_tell_what_they_change(desk: FolderDesk) -> None:
    assert {name for name, tool in desk.tools.items() if tool.reads_only({})} == {
        "list_files",
        "read_file",
        "search_files",
    }
