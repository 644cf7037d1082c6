"""Plain commands that take tools: which calls they make, step by step, and what is said of them."""

import json
from collections.abc import Sequence

import pytest

from app.domain.memories import NOTES_PATH
from app.domain.rows import ToolPart, ToolState
from app.domain.tool_names import TOOLS
from app.providers.practice.rules import Rules, Script, load_rules

ALL = [tool.name for tool in TOOLS]
Step = tuple[str, dict[str, object]]


@pytest.fixture(scope="module")
def rules() -> Rules:
    return load_rules()


def steps(script: Script) -> list[Step]:
    for call in script.calls:
        assert json.loads(call.text) == call.input, "what is streamed is what is asked"
    return [(call.name, call.input) for call in script.calls]


def made(script: Script, output: object = "seen", state: ToolState = "done") -> list[ToolPart]:
    return [
        ToolPart(call_id=f"c{number}", name=call.name, input=call.input, state=state, output=output)
        for number, call in enumerate(script.calls)
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("files", ("list_files", {})),
        ("List the files.", ("list_files", {})),
        ("files in ../letters.", ("list_files", {"path": "../letters"})),
        ("files in ..", ("list_files", {"path": ".."})),
        ("show all files in letters/2026", ("list_files", {"path": "letters/2026"})),
        ("read notes.txt", ("read_file", {"path": "notes.txt"})),
        ("Read the file README", ("read_file", {"path": "README"})),
        ('read "my notes.txt"', ("read_file", {"path": "my notes.txt"})),
        ("read my notes.txt.", ("read_file", {"path": "my notes.txt"})),
        ("`/read letters/a.md`", ("read_file", {"path": "letters/a.md"})),
        ("find temple in files", ("search_files", {"query": "temple"})),
        ("search for “the old house” in my files", ("search_files", {"query": "the old house"})),
        ("write notes.txt: Milk and bread!", ("write_file", {"path": "notes.txt", "content": "Milk and bread!"})),
        ("write letters/a.md:\n# Dear\nyou", ("write_file", {"path": "letters/a.md", "content": "# Dear\nyou"})),
        ("recall the old house?", ("session_history", {"action": "search", "query": "the old house"})),
        ("slow read notes.txt", ("read_file", {"path": "notes.txt"})),
    ],
)
def test_a_command_is_one_call(rules: Rules, message: str, expected: Step) -> None:
    script = rules.answer(message, tools=ALL)

    assert steps(script) == [expected]
    answer = rules.answer(message, tools=ALL, made=[made(script, "Once upon a time")])
    assert answer.calls == ()
    assert answer.text.endswith(".\n\n```\nOnce upon a time\n```")


def test_two_files_are_read_in_one_step(rules: Rules) -> None:
    script = rules.answer("read a.txt and my letters/b.txt", tools=ALL)

    assert steps(script) == [("read_file", {"path": "a.txt"}), ("read_file", {"path": "my letters/b.txt"})]
    one, other = made(script, "A"), made(script, "No such file.", "failed")
    answer = rules.answer("read a.txt and my letters/b.txt", tools=ALL, made=[[one[0], other[1]]])
    assert answer.text.startswith("This is what it says.")
    assert answer.text.endswith("That did not work.\n\n```\nNo such file.\n```")


@pytest.mark.parametrize(
    "message",
    ["change cold tea to hot tea in notes.txt", 'Change "cold tea" to "hot tea" in "notes.txt"'],
)
def test_a_change_reads_first(rules: Rules, message: str) -> None:
    read = rules.answer(message, tools=ALL)
    edit = rules.answer(message, tools=ALL, made=[made(read)])
    end = rules.answer(message, tools=ALL, made=[made(read), made(edit, "Changed.")])

    assert steps(read) == [("read_file", {"path": "notes.txt"})]
    assert steps(edit) == [("edit_file", {"path": "notes.txt", "old_text": "cold tea", "new_text": "hot tea"})]
    assert end.text.startswith("The file is changed.")


@pytest.mark.parametrize(
    ("state", "expected"),
    [("failed", "That did not work."), ("interrupted", "was interrupted"), ("denied", "That did not work.")],
)
def test_a_change_ends_with_a_file_that_cannot_be_read(rules: Rules, state: ToolState, expected: str) -> None:
    read = rules.answer("change a to b in c.txt", tools=ALL)

    end = rules.answer("change a to b in c.txt", tools=ALL, made=[made(read, "No such file.", state)])

    assert end.calls == ()
    assert expected in end.text


def test_a_long_result_is_told_to_be_long(rules: Rules) -> None:
    read = rules.answer("read a.txt", tools=ALL)

    end = rules.answer("read a.txt", tools=ALL, made=[made(read, "x" * 5_000)])

    assert "Here are the first 400 of 5,000 characters." in end.text


LOOK = ("memory", {"command": "view", "path": "/memories/workspace"})
VIEW = ("memory", {"command": "view", "path": NOTES_PATH})
CREATE = ("memory", {"command": "create", "path": NOTES_PATH, "file_text": "- Buy milk!\n"})
THERE = f"Memories in the memory of this chat: 1.\n12 bytes\t{NOTES_PATH}"


def insert(line: int) -> Step:
    return (
        "memory",
        {"command": "insert", "path": NOTES_PATH, "insert_line": line, "insert_text": "- Buy milk!"},
    )


@pytest.mark.parametrize(
    "output",
    [
        "There is nothing in the memory of this chat yet.",
        "Memories in the memory of this chat: 1.\n12 bytes\t/memories/workspace/plan.md",
        f"Memories in the memory of this chat: 1.\n12 bytes\t{NOTES_PATH}.old",
    ],
)
def test_the_first_note_is_made_without_a_look_that_fails(rules: Rules, output: str) -> None:
    look = rules.answer("note Buy milk!", tools=ALL)
    write = rules.answer("note Buy milk!", tools=ALL, made=[made(look, output)])
    end = rules.answer("note Buy milk!", tools=ALL, made=[made(look, output), made(write)])

    assert steps(look) == [LOOK]
    assert steps(write) == [CREATE]
    assert end.text.startswith("I have made a note of it.")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("/memories/workspace/context-notes.md is empty.", insert(0)),
        ("notes.md, lines 1 to 2 of 2:\n     1\t- Bread\n     2\t12\tpears", insert(2)),
    ],
)
def test_a_note_goes_behind_those_there_are(rules: Rules, output: str, expected: Step) -> None:
    look = rules.answer("note Buy milk!", tools=ALL)
    view = rules.answer("note Buy milk!", tools=ALL, made=[made(look, THERE)])
    calls = [made(look, THERE), made(view, output)]
    write = rules.answer("note Buy milk!", tools=ALL, made=calls)
    end = rules.answer("note Buy milk!", tools=ALL, made=[*calls, made(write)])

    assert steps(view) == [VIEW]
    assert steps(write) == [expected]
    assert end.text.startswith("I have made a note of it.")


def test_no_note_is_made_where_the_memory_cannot_be_read(rules: Rules) -> None:
    look = rules.answer("note Buy milk!", tools=ALL)

    end = rules.answer("note Buy milk!", tools=ALL, made=[made(look, "The disk failed.", "failed")])

    assert not end.calls
    assert "The disk failed." in end.text


@pytest.mark.parametrize(("message", "count"), [("loop 3", 3), ("loop", 150)])
def test_a_loop_calls_on_and_on(rules: Rules, message: str, count: int) -> None:
    so_far: list[Sequence[ToolPart]] = []
    for _ in range(count):
        script = rules.answer(message, tools=ALL, made=so_far)
        assert steps(script) == [("memory", {"command": "view", "path": "/memories/workspace"})]
        so_far.append(made(script))

    assert (rules.answer(message, tools=ALL, made=so_far).calls == ()) == (message == "loop 3")


@pytest.mark.parametrize(
    ("message", "tools", "expected"),
    [
        ("files", ["memory", "session_history"], "Attach a folder first"),
        ("read a.txt", [], "does not let me use `read_file`"),
        ("write a.txt: x", ["read_file", "list_files"], "does not let me use `write_file`"),
        ("change a to b in c.txt", ["read_file"], "does not let me use `edit_file`"),
        ("note x", ["read_file"], "does not let me use `memory`"),
    ],
)
def test_without_its_tool_a_command_says_what_to_do(
    rules: Rules, message: str, tools: list[str], expected: str
) -> None:
    script = rules.answer(message, tools=tools)

    assert script.calls == ()
    assert expected in script.text


@pytest.mark.parametrize(
    "message",
    [
        "write 200 words",
        "how do I change the theme to dark in settings?",
        "How do I find a word in this chat?",
        "where are my files",
        "reading",
        "notes",
        "change the theme to dark in settings",
        "notes.txt",
    ],
)
def test_what_only_looks_like_a_command_is_none(rules: Rules, message: str) -> None:
    assert rules.answer(message, tools=ALL).calls == ()


@pytest.mark.parametrize(
    ("message", "example"),
    [
        ("read", "`read notes.txt`"),
        ("Read the file.", "`read notes.txt`"),
        ("find", "`find drawer in files`"),
        ("search in files", "`find drawer in files`"),
        ("write notes.txt:", "`write notes.txt: The keys"),
        ("write notes.txt:  \n", "`write notes.txt: The keys"),
        ("change", "`change drawer to cupboard in notes.txt`"),
        ("change in notes.txt", "`change drawer to cupboard in notes.txt`"),
        ("note", "`note The keys"),
        ("Note:", "`note The keys"),
        ("recall?", "`recall drawer`"),
        ("loop 0", "`loop 5`"),
        ("loop 1000", "`loop 5`"),
        ("loop forever", "`loop 5`"),
        ("slow note", "`note The keys"),
    ],
)
def test_a_command_that_lacks_something_says_what(rules: Rules, message: str, example: str) -> None:
    script = rules.answer(message, tools=ALL)

    assert script.calls == ()
    assert example in script.text
