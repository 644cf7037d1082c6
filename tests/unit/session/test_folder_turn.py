"""A turn with the real tools for files: read, asked about, changed, and what the person and the model are told."""

from pathlib import Path

import pytest

from app.budget.tokens import TokenCounter
from app.domain.approvals import Verdict
from app.domain.chats import TurnState
from app.domain.events import ApprovalAsked
from app.domain.tool_names import EDIT_FILE, READ_FILE, WRITE_FILE
from app.session.calls import NOT_ALLOWED
from app.tools.folder_tools import make_folder_tools
from tests.fakes.scripted import calls, reply
from tests.unit.session.calling import parts_of
from tests.unit.session.conftest import Chat, Program, until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "essays"
    made.mkdir()
    (made / "draft.txt").write_text("one\ntwo\nthree\n")
    return made


@pytest.fixture
async def chat(program: Program, folder: Path) -> Chat:
    program.tools.extend(make_folder_tools(TokenCounter(), program.clock, program.root).values())
    made = await program.new_chat()
    await program.manager.set_folder(made.session, str(folder))
    return made


def edit(old: str, new: str) -> tuple[str, dict[str, object]]:
    return EDIT_FILE, {"path": "draft.txt", "old_text": old, "new_text": new}


READ = (READ_FILE, dict[str, object]({"path": "draft.txt"}))


async def answer(chat: Chat, call_id: str, verdict: Verdict, *, asked: int) -> None:
    """Answer once so many questions were asked and the turn waits."""
    await until(lambda: len(chat.events(ApprovalAsked)) == asked and chat.state is TurnState.ASKING)
    newest = next(event for event in reversed(chat.events(ApprovalAsked)) if event.call_id == call_id)
    await chat.program.manager.answer(newest, verdict)


async def test_two_changes_of_one_file_are_asked_about_as_each_would_be_made(
    program: Program, chat: Chat, folder: Path
) -> None:
    draft = folder / "draft.txt"
    program.provider.play(calls(READ), calls(edit("one", "1"), edit("three", "3")), reply("Done."))
    await chat.send("Use figures.")
    await answer(chat, "c2", Verdict.ALLOW, asked=2)
    await answer(chat, "c1", Verdict.ALLOW, asked=2)
    await answer(chat, "c2", Verdict.ALLOW, asked=3)
    await chat.idle()
    assert draft.read_text() == "1\ntwo\n3\n"
    first, second, again = [event.question.diff for event in chat.events(ApprovalAsked)]
    assert "+1" in first
    assert "+3" in second
    assert " 1\n" in again, "what the person sees is what is there by then"
    parts = parts_of(chat.rows()[2])
    assert [(part.state, part.diff) for part in parts] == [("done", first), ("done", again)]
    assert chat.rows()[-1].text == "Done."


async def test_always_changes_the_file_twice_with_one_answer(program: Program, chat: Chat, folder: Path) -> None:
    program.provider.play(
        calls(READ), calls(edit("one", "1"), edit("1", "first")), calls(edit("two", "2")), reply("Done.")
    )
    await chat.send("Use figures.")
    await answer(chat, "c1", Verdict.ALWAYS, asked=1)
    await chat.idle()
    assert (folder / "draft.txt").read_text() == "first\n2\nthree\n"
    assert len(chat.events(ApprovalAsked)) == 1


async def test_a_no_leaves_the_file_as_it_was(program: Program, chat: Chat, folder: Path) -> None:
    program.provider.play(calls((WRITE_FILE, {"path": "new.txt", "content": "text\n"})), reply("Then not."))
    await chat.send("Write.")
    await answer(chat, "c1", Verdict.DENY, asked=1)
    await chat.idle()
    assert sorted(path.name for path in folder.iterdir()) == ["draft.txt"]  # noqa: ASYNC240 - a folder of one file
    (part,) = parts_of(chat.rows()[1])
    assert (part.state, part.output) == ("denied", NOT_ALLOWED)


async def test_a_file_that_somebody_else_changes_while_it_is_asked_is_left_alone(
    program: Program, chat: Chat, folder: Path
) -> None:
    draft = folder / "draft.txt"
    program.provider.play(calls(READ), calls(edit("one", "1")), reply("I see."))
    await chat.send("Use figures.")
    await until(lambda: chat.state is TurnState.ASKING)
    draft.write_text("one\nmine\n")
    await answer(chat, "c1", Verdict.ALLOW, asked=1)
    await chat.idle()
    assert draft.read_text() == "one\nmine\n"
    (part,) = parts_of(chat.rows()[2])
    assert part.state == "failed"


async def test_under_a_profile_that_plans_nothing_is_changed_nor_asked(
    program: Program, chat: Chat, folder: Path
) -> None:
    await program.manager.set_profile(chat.session, "planner")
    program.provider.play(calls(READ, edit("one", "1")), reply("A plan."))
    await chat.say("Use figures.")
    assert [part.state for part in parts_of(chat.rows()[1])] == ["done", "denied"]
    assert chat.events(ApprovalAsked) == []
    assert (folder / "draft.txt").read_text() == "one\ntwo\nthree\n"
