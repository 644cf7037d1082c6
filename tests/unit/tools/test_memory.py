"""`memory` as a model uses it, on real files."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.budget.tokens import TokenCounter
from app.domain.approvals import Question
from app.domain.memories import MAX_FILE_BYTES, MemoryScope
from app.memory.memories import Memories, global_store, workspace_store
from app.memory.paths import parse_path
from app.tools.base import ToolContext, ToolOutcome
from app.tools.cap import Cap
from app.tools.memory import MemoryTool
from app.tools.memory_schema import SPEC
from tests.fakes.clock import FakeClock

PLAN = "/memories/workspace/plan.md"
SHARED = "/memories/global/people.md"
COUNTER = TokenCounter()


class Desk:
    """A model's memory, and the person who is asked."""

    def __init__(self, root: Path) -> None:
        (root / "chat").mkdir(parents=True)
        self.root = root
        self.clock = FakeClock()
        self.told: list[MemoryScope] = []
        self.questions: list[Question] = []
        self.window = "w:0"
        self.limit: int | None = 100_000
        self.here = workspace_store(root / "chat")
        self.everywhere = global_store(root)
        memories = Memories(self.everywhere, root / "chat")
        self.tool = MemoryTool(memories, counter=COUNTER, clock=self.clock, told=self.told.append)

    def context(self, approved: Question | None = None) -> ToolContext:
        return ToolContext("chat", self.limit, window=self.window, approved=approved)

    async def call(self, command: str, **arguments: Any) -> ToolOutcome:
        """Call as the program does: ask, take the answer yes, and run."""
        given: Mapping[str, object] = {"command": command, **arguments}
        question = await self.tool.question(given, self.context())
        if question is not None:
            self.questions.append(question)
        return await self.tool.run(given, self.context(question))

    async def refused(self, command: str, **arguments: Any) -> str:
        asked = len(self.questions)
        outcome = await self.call(command, **arguments)
        assert outcome.is_error, outcome
        assert outcome.diff == ""
        assert len(self.questions) == asked, "what can't succeed asks nothing"
        return str(outcome.output)

    async def done(self, command: str, **arguments: Any) -> str:
        outcome = await self.call(command, **arguments)
        assert not outcome.is_error, outcome
        return str(outcome.output)

    def write(self, path: str, text: str) -> None:
        """Write as somebody else would."""
        place = parse_path(path)
        store = self.everywhere if place.scope is MemoryScope.GLOBAL else self.here
        store.put(place, text, expected=None)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_what_is_written_is_viewed_with_line_numbers(desk: Desk) -> None:
    assert await desk.done("create", path=PLAN, file_text="one\ntwo\n") == f"Made {PLAN}: 2 lines."
    assert await desk.done("view", path=PLAN) == f"{PLAN}, lines 1 to 2 of 2:\n     1\tone\n     2\ttwo"
    assert await desk.done("view", path=PLAN, view_range=[2, -1]) == f"{PLAN}, lines 2 to 2 of 2:\n     2\ttwo"
    assert desk.questions == []
    assert desk.told == [MemoryScope.WORKSPACE]


async def test_folders_are_listed(desk: Desk) -> None:
    assert await desk.done("view", path="/memories/workspace") == "There is nothing in /memories/workspace yet."
    desk.write("/memories/workspace/a/one.md", "x" * 2_000)
    desk.write("/memories/workspace/ab.md", "x")
    desk.write(SHARED, "Ada")
    assert await desk.done("view", path="/memories/workspace/a") == (
        "Memories in /memories/workspace/a: 1.\n2.0 KiB\t/memories/workspace/a/one.md"
    )
    for top in ("/memories", "/memories/", "/"):
        assert (await desk.done("view", path=top)).count("\n") == 3
    assert "nothing at /memories/workspace/none" in await desk.refused("view", path="/memories/workspace/none")


async def test_a_text_is_replaced_where_it_stands_once(desk: Desk) -> None:
    desk.write(PLAN, "one\ntwo\ntwo\n")
    outcome = await desk.call("str_replace", path=PLAN, old_str="one", new_str="1")
    assert (outcome.output, outcome.is_error) == (f"Changed {PLAN}: 3 lines.", False)
    assert "-one\n+1" in outcome.diff
    assert "2 times, at lines 2, 3" in await desk.refused("str_replace", path=PLAN, old_str="two", new_str="2")
    assert "not in the file" in await desk.refused("str_replace", path=PLAN, old_str="one", new_str="2")
    assert "empty" in await desk.refused("str_replace", path=PLAN, old_str="", new_str="2")
    await desk.done("str_replace", path=PLAN, old_str="two\ntwo\n")
    assert desk.here.read(parse_path(PLAN)).text == "1\n"


@pytest.mark.parametrize(
    ("line", "text"), [(0, "new\none\ntwo\n"), (1, "one\nnew\ntwo\n"), (2, "one\ntwo\nnew\n"), ("1", "one\nnew\ntwo\n")]
)
async def test_lines_are_inserted_behind_a_line(desk: Desk, line: object, text: str) -> None:
    desk.write(PLAN, "one\ntwo")
    await desk.done("insert", path=PLAN, insert_line=line, insert_text="new\n")
    assert desk.here.read(parse_path(PLAN)).text == text


async def test_a_line_that_is_not_there_is_refused(desk: Desk) -> None:
    desk.write(PLAN, "one\ntwo\n")
    assert "from 0 to 2" in await desk.refused("insert", path=PLAN, insert_line=3, insert_text="x")


async def test_deleting_and_renaming(desk: Desk) -> None:
    desk.write(PLAN, "x")
    assert await desk.done("rename", old_path=PLAN, new_path="/memories/workspace/old/plan.md") == (
        f"Renamed {PLAN} to /memories/workspace/old/plan.md."
    )
    assert await desk.done("delete", path="/memories/workspace/old") == "Deleted /memories/workspace/old with 1 file."
    assert desk.here.listing().entries == ()
    assert "nothing at" in await desk.refused("delete", path=PLAN)
    assert "itself can't be deleted" in await desk.refused("delete", path="/memories/workspace")


async def test_nothing_moves_between_this_chat_and_all_chats(desk: Desk) -> None:
    desk.write(PLAN, "x")
    assert "can't move between" in await desk.refused("rename", old_path=PLAN, new_path=SHARED)


async def test_a_text_the_model_has_not_seen_is_not_written_over(desk: Desk) -> None:
    desk.write(PLAN, "theirs")
    assert "View it first" in await desk.refused("create", path=PLAN, file_text="mine")
    await desk.done("view", path=PLAN)
    await desk.done("create", path=PLAN, file_text="mine")
    await desk.done("create", path=PLAN, file_text="mine again")
    desk.write(PLAN, "theirs again")
    for command, arguments in (
        ("create", {"file_text": "mine"}),
        ("insert", {"insert_line": 0, "insert_text": "x"}),
        ("delete", {}),
    ):
        assert "changed since you saw it" in await desk.refused(command, path=PLAN, **arguments)
    # What stands there once, still does.
    await desk.done("str_replace", path=PLAN, old_str="again", new_str="once more")
    assert desk.here.read(parse_path(PLAN)).text == "theirs once more"


async def test_in_another_window_nothing_was_seen(desk: Desk) -> None:
    await desk.done("create", path=PLAN, file_text="mine")
    desk.window = "w:9"
    assert "View it first" in await desk.refused("create", path=PLAN, file_text="mine")


async def test_what_is_shared_by_all_chats_is_asked_first(desk: Desk) -> None:
    await desk.done("create", path=SHARED, file_text="Ada\n")
    await desk.done("str_replace", path=SHARED, old_str="Ada", new_str="Ada Lovelace")
    await desk.done("insert", path=SHARED, insert_line=1, insert_text="Grace")
    await desk.done("rename", old_path=SHARED, new_path="/memories/global/all/people.md")
    await desk.done("delete", path="/memories/global/all/people.md")
    assert [(question.summary, question.scope) for question in desk.questions] == [
        ("Add “people.md” with 1 line to what all chats remember", "memory"),
        ("Change “people.md” in what all chats remember", "memory"),
        ("Change “people.md” in what all chats remember", "memory"),
        ("Rename “people.md” to “all/people.md” in what all chats remember", "memory"),
        ("Delete “all/people.md” from what all chats remember", "memory"),
    ]
    assert "+Ada Lovelace" in desk.questions[1].diff
    assert "-Grace" in desk.questions[4].diff
    assert desk.told == [MemoryScope.GLOBAL] * 5
    assert await desk.tool.question({"command": "view", "path": SHARED}, desk.context()) is None


@pytest.mark.parametrize("root", ["/memories/Global", "/MEMORIES/GLOBAL", "/memorie\u017f/gLoBaL"])
async def test_no_spelling_of_a_path_gets_round_the_question(desk: Desk, root: str) -> None:
    await desk.done("create", path=f"{root}/People.md", file_text="Ada\n")
    await desk.done("insert", path=f"{root}/people.md", insert_line=0, insert_text="Grace")
    await desk.done("str_replace", path=f"{root}/PEOPLE.md", old_str="Ada", new_str="Emmy")
    await desk.done("rename", old_path=f"{root}/people.md", new_path=f"{root}/old/people.md")
    await desk.done("delete", path=f"{root}/OLD")
    assert len(desk.questions) == 5
    assert desk.told == [MemoryScope.GLOBAL] * 5
    assert desk.here.listing().entries == ()
    desk.write(PLAN, "x")
    assert "can't move between" in await desk.refused("rename", old_path=PLAN, new_path=f"{root}/plan.md")


async def test_what_the_person_was_not_asked_is_not_done(desk: Desk) -> None:
    given = {"command": "create", "path": SHARED, "file_text": "Ada"}
    outcome = await desk.tool.run(given, desk.context())
    assert outcome.is_error
    assert "has to allow" in str(outcome.output)
    other = await desk.tool.question({"command": "create", "path": SHARED + "x", "file_text": ""}, desk.context())
    assert (await desk.tool.run(given, desk.context(other))).is_error
    assert desk.everywhere.listing().entries == ()


@pytest.mark.parametrize("command", ["str_replace", "delete", "rename"])
async def test_a_memory_that_changed_while_the_person_was_asked_is_left_alone(desk: Desk, command: str) -> None:
    desk.write(SHARED, "Ada and Grace")
    given = {
        "command": command,
        "path": SHARED,
        "old_path": SHARED,
        "new_path": "/memories/global/b.md",
        "old_str": "Ada",
    }
    question = await desk.tool.question(given, desk.context())
    assert question is not None
    desk.write(SHARED, "Ada and Emmy")
    outcome = await desk.tool.run(given, desk.context(question))
    assert outcome.is_error
    assert "while the user was asked" in str(outcome.output)
    assert desk.everywhere.read(parse_path(SHARED)).text == "Ada and Emmy"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "command must be one of"),
        ({"command": "read"}, "command must be one of"),
        ({"command": 3}, "command must be one of"),
        ({"command": "view"}, 'path must be a path such as "/memories/workspace/plan.md"'),
        ({"command": "create", "path": PLAN}, "file_text must be"),
        ({"command": "insert", "path": PLAN, "insert_line": -1, "insert_text": "x"}, "insert_line must be"),
        ({"command": "insert", "path": PLAN, "insert_line": True, "insert_text": "x"}, "insert_line must be"),
        ({"command": "rename", "path": PLAN}, "old_path must be"),
        ({"command": "view", "path": PLAN, "view_range": "all"}, "view_range must be"),
        ({"command": "view", "path": "/etc/passwd"}, "begins with /memories/"),
        ({"command": "create", "path": "/memories/workspace/../x", "file_text": ""}, ". or .."),
        ({"command": "create", "path": "/memories/workspace", "file_text": ""}, "Name a file in it"),
        ({"command": "create", "path": PLAN, "file_text": "x" * (MAX_FILE_BYTES + 1)}, "at most 102,400"),
        ({"command": "create", "path": "/memories/global/a", "file_text": "x" * (MAX_FILE_BYTES + 1)}, "at most"),
    ],
)
async def test_what_is_wrong_is_said_in_words(desk: Desk, arguments: dict[str, object], reason: str) -> None:
    assert await desk.tool.question(arguments, desk.context()) is None
    outcome = await desk.tool.run(arguments, desk.context())
    assert outcome.is_error
    assert reason in str(outcome.output)
    assert desk.told == []


@pytest.mark.parametrize(
    ("command", "is_reading"),
    [("view", True), (" View ", True), ("create", False), ("delete", False), ("", False), (None, False)],
)
def test_only_a_view_reads_only(desk: Desk, command: object, is_reading: bool) -> None:
    assert desk.tool.reads_only({"command": command}) is is_reading


@pytest.mark.parametrize("limit", [None, 100_000, 2_000])
async def test_a_long_file_comes_in_pieces_that_are_capped(desk: Desk, limit: int | None) -> None:
    desk.limit = limit
    lines = [f"line {number} with some words in it" for number in range(1, 2_001)]
    desk.write(PLAN, "\n".join(lines))
    cap = Cap.of(desk.context(), COUNTER)
    read: list[str] = []
    first = 1
    while first <= len(lines):
        answer = await desk.done("view", path=PLAN, view_range=[first, -1])
        assert cap.holds(answer)
        piece = [line.split("\t")[1] for line in answer.splitlines() if "\t" in line]
        assert ("Go on with view_range" in answer) is (first + len(piece) <= len(lines))
        read += piece
        first += len(piece)
    assert read == lines


async def test_a_line_that_is_too_long_comes_in_pieces_that_make_the_whole(desk: Desk) -> None:
    long = "".join(f"{number} \U0001f98a " for number in range(4_000))
    desk.write(PLAN, f"first\n{long}\nlast\n")
    answer = await desk.done("view", path=PLAN, view_range=[2, -1])
    read, begin = "", 0
    while "start_char" in answer:
        assert Cap.of(desk.context(), COUNTER).holds(answer)
        read += answer.split("\t", 1)[1]
        begin = int(answer.split("start_char ")[1].split(".")[0])
        assert begin == len(read)
        answer = await desk.done("view", path=PLAN, view_range=[2, -1], start_char=begin)
    assert answer == f"{PLAN}, lines 2 to 3 of 3, from character {begin} on:\n     2\t{long[begin:]}\n     3\tlast"
    assert read + long[begin:] == long
    assert "behind its end" in await desk.refused("view", path=PLAN, start_char=6)
    assert await desk.done("view", path=PLAN, view_range=[1, 1], start_char=5)


async def test_a_long_list_comes_in_pieces_that_make_the_whole(desk: Desk) -> None:
    (desk.root / "chat" / "memory").mkdir()
    for number in range(600):
        (desk.root / "chat" / "memory" / f"{number:03}-{'n' * 40}.md").touch()
    for path in ("/memories/workspace", "/memories"):
        found: list[str] = []
        while len(found) < 600:
            answer = await desk.done("view", path=path, view_range=[len(found) + 1, -1])
            assert Cap.of(desk.context(), COUNTER).holds(answer)
            found += [line.split("\t")[1] for line in answer.splitlines() if "\t" in line]
            assert answer.splitlines()[0].endswith(f"to {len(found)} of them.")
            assert (f"Go on with view_range [{len(found) + 1}, 600]" in answer) is (len(found) < 600)
        assert found == [f"/memories/workspace/{number:03}-{'n' * 40}.md" for number in range(600)]
    assert "no memories 601 to 600" in await desk.refused("view", path="/memories", view_range=[601, -1])


async def test_a_folder_that_is_deleted_is_shown_with_all_that_goes(desk: Desk) -> None:
    for number in range(51):
        desk.write(f"/memories/global/old/{number:02}.md", "x")
    (desk.root / "memory" / "old" / "photo").symlink_to(desk.root)
    await desk.done("delete", path="/memories/global/old")
    asked = desk.questions[-1]
    assert asked.summary == (
        "Delete the folder “old” with 51 files and what else is in it from what all chats remember"
    )
    assert asked.diff.splitlines()[49:] == ["-/memories/global/old/49.md", "… 1 file more"]


async def test_uses_are_counted_by_the_model_only(desk: Desk) -> None:
    desk.write(PLAN, "x")
    assert desk.here.listing().entries[0].uses == 0
    await desk.done("view", path=PLAN)
    await desk.done("str_replace", path=PLAN, old_str="x", new_str="y")
    entry = desk.here.listing().entries[0]
    assert (entry.uses, entry.last_used) == (2, datetime(2026, 11, 30, 12, tzinfo=UTC))


async def test_calls_may_overlap(desk: Desk) -> None:
    desk.write(PLAN, "".join(f"[{number}]" for number in range(8)))
    await asyncio.gather(
        *(desk.done("str_replace", path=PLAN, old_str=f"[{number}]", new_str=f"({number})") for number in range(3)),
        *(desk.done("view", path=PLAN) for _ in range(3)),
    )
    assert desk.here.read(parse_path(PLAN)).text.startswith("(0)(1)(2)[3]")


def test_the_schema_names_every_field_and_a_use_of_each() -> None:
    fields = SPEC.input_schema["properties"]
    assert isinstance(fields, dict)
    assert SPEC.name == "memory"
    for name, field in fields.items():
        assert "Example" in field["description"] or name == "command"
