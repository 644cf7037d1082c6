"""The Practice model with tools, through a whole turn."""

import math

import pytest

from app.budget.tokens import TokenCounter
from app.domain.rows import ToolPart
from app.domain.windows import SESSION_HISTORY
from app.providers.practice.provider import PracticeProvider
from app.session.inputs import Accepted
from app.tools.base import ToolOutcome
from tests.fakes.connections import make_manager
from tests.fakes.scripted import ScriptedTool
from tests.unit.session.conftest import Chat, Program


async def practising(program: Program, *tools: ScriptedTool) -> Chat:
    await program.manager.close()
    program.tools.extend(tools)
    practice = PracticeProvider(TokenCounter(), words_per_second=math.inf)
    program.manager = make_manager(program.env(), program.library, [practice])
    summary = await program.manager.create_chat("practice/practice")
    await program.manager.open_chat(summary.id)
    return Chat(program, summary.id)


async def test_a_call_typed_out_is_made_and_its_result_told(program: Program) -> None:
    tool = ScriptedTool(SESSION_HISTORY, [ToolOutcome({"windows": [{"window_id": "w:0"}]})])
    chat = await practising(program, tool)

    assert await chat.say('call session_history {"action": "list_windows"}') == Accepted()

    assert [dict(asked) for asked in tool.asked] == [{"action": "list_windows"}]
    _, step, answer = chat.rows()
    (call,) = step.parts
    assert isinstance(call, ToolPart)
    assert (call.state, call.output) == ("done", {"windows": [{"window_id": "w:0"}]})
    assert answer.text.startswith("I called `session_history`")
    assert '"window_id": "w:0"' in answer.text
    inputs = [row.usage.input for row in (step, answer) if row.usage is not None and row.usage.input is not None]
    assert inputs[1] > inputs[0], "the result counts"


async def test_the_same_call_may_be_made_in_every_turn(program: Program) -> None:
    tool = ScriptedTool("look", [ToolOutcome("one"), ToolOutcome("two")])
    chat = await practising(program, tool)
    await chat.say("call look")
    await chat.say("call look {}")
    assert len(tool.asked) == 2
    assert ["one" in chat.rows()[2].text, "two" in chat.rows()[5].text] == [True, True]


async def test_two_files_are_read_in_one_step(program: Program, tmp_path_factory: pytest.TempPathFactory) -> None:
    tool = ScriptedTool("read_file", [ToolOutcome("one"), ToolOutcome("two")], reads=True)
    chat = await practising(program, tool)
    await program.manager.set_folder(chat.session, str(tmp_path_factory.mktemp("papers")))
    await chat.say("read a.txt and b.txt")
    assert sorted(str(asked["path"]) for asked in tool.asked) == ["a.txt", "b.txt"]
    _, step, answer = chat.rows()
    assert [part.call_id for part in step.parts if isinstance(part, ToolPart)] == ["call_1", "call_2"]
    assert ["one" in answer.text, "two" in answer.text] == [True, True]


async def test_a_change_takes_several_steps(program: Program, tmp_path_factory: pytest.TempPathFactory) -> None:
    read, edit = ScriptedTool("read_file", reads=True), ScriptedTool("edit_file")
    chat = await practising(program, read, edit, ScriptedTool("memory"))
    await chat.say("change cold to hot in notes.txt")
    assert chat.rows()[-1].text.startswith("Attach a folder first")
    await program.manager.set_folder(chat.session, str(tmp_path_factory.mktemp("papers")))
    await chat.say("change cold to hot in notes.txt")
    assert [dict(asked) for asked in read.asked] == [{"path": "notes.txt"}]
    assert [dict(asked) for asked in edit.asked] == [{"path": "notes.txt", "old_text": "cold", "new_text": "hot"}]
    assert len(chat.rows()) == 2 + 4
    assert chat.rows()[-1].text.startswith("The file is changed.")


async def test_a_call_that_cannot_be_made_is_explained(program: Program) -> None:
    tool = ScriptedTool("look")
    chat = await practising(program, tool)
    await chat.say("call search {}")
    await chat.say("call look {broken")
    assert tool.asked == []
    assert "What there is: `look`." in chat.rows()[1].text
    assert "isn't a JSON object" in chat.rows()[3].text


async def test_after_a_reset_the_practice_model_knows_nothing_of_before(program: Program) -> None:
    chat = await practising(program)
    await chat.say("write 500 words")
    before = chat.rows()[-1].usage
    assert await chat.reset() == Accepted()
    await chat.say("help")
    after = chat.rows()[-1].usage
    assert before is not None
    assert after is not None
    assert (before.input, after.input) == (12, 9)
