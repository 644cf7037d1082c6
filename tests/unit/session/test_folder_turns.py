"""A model works in the folder of a chat: whole turns, the real tools, a person who is asked."""

from pathlib import Path
from typing import Final

import pytest

from app.budget.tokens import TokenCounter
from app.domain.approvals import Verdict
from app.domain.events import ApprovalAsked, ToolEnded
from app.session.inputs import Accepted
from app.tools.folder_tools import make_folder_tools
from tests.fakes.scripted import calls, reply
from tests.unit.session.calling import parts_of
from tests.unit.session.conftest import Chat, Program
from tests.unit.session.test_approvals import answer, asked

EDIT: Final[dict[str, object]] = {"path": "notes.txt", "old_text": "two", "new_text": "2"}


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers").resolve()
    (folder / "notes.txt").write_bytes(b"one\r\ntwo\r\n")
    return folder


async def working(program: Program, folder: Path) -> Chat:
    """Open a chat with the real tools and the folder attached."""
    program.tools = list(make_folder_tools(TokenCounter(), program.clock, program.root).values())
    chat = await program.new_chat()
    await program.manager.set_folder(chat.session, str(folder))
    return chat


def outputs(chat: Chat) -> list[tuple[str, str]]:
    return [(part.state, str(part.output)) for row in chat.rows() for part in parts_of(row)]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def move_away(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


async def test_a_file_is_read_and_changed_in_one_reply_once_the_person_allows_it(
    program: Program, folder: Path
) -> None:
    chat = await working(program, folder)
    program.provider.play(calls(("read_file", {"path": "notes.txt"}), ("edit_file", EDIT)), reply("done"))

    await chat.send("change it")
    (question,) = await asked(chat, 1)
    assert question.question.summary == "Change 1 line of notes.txt"
    assert (folder / "notes.txt").read_bytes() == b"one\r\ntwo\r\n"
    await answer(chat, "c2", Verdict.ALLOW)
    await chat.idle()

    assert (folder / "notes.txt").read_bytes() == b"one\r\n2\r\n"
    assert [state for state, _ in outputs(chat)] == ["done", "done"]
    assert chat.events(ToolEnded)[-1].diff == question.question.diff
    assert parts_of(chat.rows()[1])[1].diff == question.question.diff


async def test_what_is_always_allowed_is_changed_without_asking(program: Program, folder: Path) -> None:
    chat = await working(program, folder)
    program.provider.play(
        calls(("write_file", {"path": "a.md", "content": "a"})),
        calls(("write_file", {"path": "b.md", "content": "b"})),
        reply("done"),
    )

    await chat.send("write")
    await asked(chat, 1)
    await answer(chat, "c1", Verdict.ALWAYS)
    await chat.idle()

    assert ((folder / "a.md").read_text(), (folder / "b.md").read_text()) == ("a", "b")
    assert len(chat.events(ApprovalAsked)) == 1


async def test_a_file_changed_while_the_person_thinks_is_left_alone(program: Program, folder: Path) -> None:
    chat = await working(program, folder)
    program.provider.play(calls(("read_file", {"path": "notes.txt"}), ("edit_file", EDIT)), reply("sorry"))

    await chat.send("change it")
    await asked(chat, 1)
    (folder / "notes.txt").write_text("theirs, two")
    await answer(chat, "c2", Verdict.ALLOW)
    await chat.idle()

    assert (folder / "notes.txt").read_text() == "theirs, two"
    state, said = outputs(chat)[-1]
    assert state == "failed"
    assert "was changed since you read it" in said


async def test_after_a_fresh_context_a_file_has_to_be_read_again(program: Program, folder: Path) -> None:
    chat = await working(program, folder)
    program.provider.play(calls(("read_file", {"path": "notes.txt"})), reply("read"))
    await chat.say("read it")
    await chat.reset()
    program.provider.play(calls(("edit_file", EDIT)), reply("sorry"))
    await chat.say("change it")

    assert "you have not read it in this context window" in outputs(chat)[-1][1]
    assert chat.events(ApprovalAsked) == []


async def test_a_stopped_question_changes_nothing(program: Program, folder: Path) -> None:
    chat = await working(program, folder)
    program.provider.play(calls(("write_file", {"path": "a.md", "content": "a"})))

    await chat.send("write")
    await asked(chat, 1)
    await chat.stop()

    assert names_in(folder) == ["notes.txt"]


async def test_a_folder_that_vanished_is_told(program: Program, folder: Path) -> None:
    chat = await working(program, folder)
    move_away(folder)
    program.provider.play(calls(("list_files", {})), reply("gone"))

    assert await chat.say("list") == Accepted()

    assert "is not there any more" in outputs(chat)[-1][1]
