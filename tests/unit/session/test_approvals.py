"""Calls that ask first: what is asked and when, what the answers do, and that every question ends."""

from collections.abc import Callable, Mapping

import pytest

from app.domain.approvals import Question, Verdict
from app.domain.chats import TurnState
from app.domain.errors import StorageError
from app.domain.events import ApprovalAsked, ApprovalEnded, ChatChanged, StateChanged, ToolEnded, ToolStarted
from app.domain.rows import Flag
from app.history.sidecars import SessionMeta, read_sidecar
from app.session.assemble import NO_RESULT
from app.session.calls import NOT_ALLOWED
from app.session.inputs import Accepted
from app.tools.base import ToolContext, ToolOutcome
from app.tools.runner import BROKEN_TOOL
from tests.fakes.disk import refusing
from tests.fakes.scripted import Hold, ScriptedTool, calls, reply
from tests.unit.session.calling import chat_with, kept, parts_of, told
from tests.unit.session.conftest import Chat, Program, until

WRITE = Question("Write 2 lines to a.txt", diff="+a\n+b\n", scope="write", version="1")
EDIT = Question("Change b.txt", diff="-b\n+c\n", scope="edit", version="1")


class ChangingTool(ScriptedTool):
    """Asks about a file whose version goes up with every run."""

    def __init__(self, name: str = "write", question: Callable[[int], Question | None] | None = None) -> None:
        super().__init__(name)
        self.version = 1
        self.questions = 0
        self._question = question or (lambda version: Question("Change a.txt", scope=name, version=str(version)))

    async def question(self, arguments: Mapping[str, object], context: ToolContext) -> Question | None:
        self.questions += 1
        return self._question(self.version)

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        self.version += 1
        return await super().run(arguments, context)


async def answer(chat: Chat, call_id: str, verdict: Verdict) -> None:
    asked = [event for event in chat.events(ApprovalAsked) if event.call_id == call_id]
    newest = asked[-1] if asked else ApprovalAsked(chat.session, "no row", call_id, "", {}, Question(""))
    await chat.program.manager.answer(newest, verdict)


async def asked(chat: Chat, count: int) -> list[ApprovalAsked]:
    """Wait until so many questions were asked and the turn waits for the person."""
    await until(lambda: len(chat.events(ApprovalAsked)) == count and chat.state is TurnState.ASKING)
    return chat.events(ApprovalAsked)


def every_question_ended(chat: Chat) -> bool:
    """Whether each question that was told had its end told, and after it."""
    open_: list[tuple[str, str]] = []
    for event in chat.program.events:
        match event:
            case ApprovalAsked(row_id=row_id, call_id=call_id):
                open_.append((row_id, call_id))
            case ApprovalEnded(row_id=row_id, call_id=call_id):
                open_.remove((row_id, call_id))
            case _:
                pass
    return open_ == []


def grants(chat: Chat) -> tuple[str, ...]:
    meta = read_sidecar(chat.files.meta, SessionMeta)
    assert meta is not None
    return meta.grants


# One question


async def test_a_call_that_asks_runs_once_the_person_allows_it(program: Program) -> None:
    tool = ScriptedTool("write", [ToolOutcome("written", diff="+a\n+b\n")], asks=WRITE)
    chat = await chat_with(program, tool)
    program.provider.play(calls(("write", {"path": "a.txt"})), reply("ok"))
    await chat.send("hi")
    (question,) = await asked(chat, 1)
    assert (question.call_id, question.name, dict(question.arguments)) == ("c1", "write", {"path": "a.txt"})
    assert question.question == WRITE
    assert tool.asked == []
    assert chat.events(ToolStarted) == []
    assert kept(chat) == [("c1", "pending", None)]

    await answer(chat, "c1", Verdict.ALLOW)
    await chat.idle()
    (context,) = tool.contexts
    assert context.approved == WRITE
    assert told(chat.rows()[1]) == [("c1", "done", "written")]
    assert chat.rows()[-1].text == "ok"
    assert question.row_id == chat.rows()[1].id
    assert every_question_ended(chat)
    assert grants(chat) == ()
    states = [event.state for event in chat.events(StateChanged)]
    calling = states.index(TurnState.CALLING)
    assert states[calling : calling + 4] == [
        TurnState.CALLING,
        TurnState.ASKING,
        TurnState.CALLING,
        TurnState.SETTLING,
    ]


async def test_a_call_that_is_not_allowed_is_never_run_and_the_model_goes_on(program: Program) -> None:
    tool = ScriptedTool("write", asks=WRITE)
    chat = await chat_with(program, tool)
    program.provider.play(calls(("write", {})), reply("As you like."))
    await chat.send("hi")
    await asked(chat, 1)
    await answer(chat, "c1", Verdict.DENY)
    await chat.idle()
    assert tool.asked == []
    (part,) = parts_of(chat.rows()[1])
    assert (part.state, part.output, part.seconds, part.diff) == ("denied", NOT_ALLOWED, None, WRITE.diff)
    assert chat.rows()[1].flags == ()
    assert parts_of(program.provider.requests[1].rows[1])[0].output == NOT_ALLOWED
    assert chat.rows()[-1].text == "As you like."
    assert chat.events(ToolStarted) == []
    (ended,) = chat.events(ToolEnded)
    assert (ended.state, ended.diff) == ("denied", WRITE.diff)
    assert every_question_ended(chat)


async def test_how_long_the_person_thinks_is_no_time_of_the_call(program: Program) -> None:
    chat = await chat_with(program, ScriptedTool("write", asks=WRITE))
    program.provider.play(calls(("write", {})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 1)
    program.clock.advance(3600)
    await answer(chat, "c1", Verdict.ALLOW)
    await chat.idle()
    assert parts_of(chat.rows()[1])[0].seconds == 0


async def test_an_answer_to_no_question_changes_nothing(program: Program) -> None:
    tool = ScriptedTool("write", asks=WRITE)
    chat = await chat_with(program, tool)
    program.provider.play(calls(("write", {})), reply("ok"))
    await answer(chat, "c1", Verdict.ALWAYS)
    await chat.send("hi")
    await asked(chat, 1)
    await answer(chat, "c2", Verdict.ALWAYS)
    await answer(chat, "c1", Verdict.DENY)
    await answer(chat, "c1", Verdict.ALWAYS)
    await chat.idle()
    assert told(chat.rows()[1]) == [("c1", "denied", NOT_ALLOWED)]
    assert grants(chat) == ()


async def test_stop_while_it_is_asked_leaves_the_calls_interrupted(program: Program) -> None:
    tool, look = ScriptedTool("write", asks=WRITE), ScriptedTool("look")
    chat = await chat_with(program, look, tool)
    program.provider.play(calls(("look", {}), ("write", {}), ("write", {})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 2)
    await chat.stop()
    assert every_question_ended(chat)
    assert told(chat.rows()[1]) == [("c1", "done", "seen"), ("c2", "interrupted", None), ("c3", "interrupted", None)]
    assert chat.rows()[1].flags == (Flag.INTERRUPTED,)
    await answer(chat, "c2", Verdict.ALLOW)
    assert await chat.resume() == Accepted()
    await chat.idle()
    assert tool.asked == []
    assert [part.output for part in parts_of(program.provider.requests[1].rows[1])] == ["seen", NO_RESULT, NO_RESULT]


async def test_quitting_while_it_is_asked_runs_nothing_at_the_next_start(program: Program) -> None:
    tool = ScriptedTool("write", asks=WRITE)
    chat = await chat_with(program, tool)
    program.provider.play(calls(("write", {})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 1)
    await program.restart()
    await program.manager.open_chat(chat.session)
    assert told(chat.rows()[1]) == [("c1", "interrupted", None)]
    assert tool.asked == []
    assert every_question_ended(chat)


@pytest.mark.parametrize("error", [StorageError("The file can't be read."), KeyError("secret")])
async def test_a_question_that_can_not_be_asked_fails_its_call(
    program: Program, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def fail(_version: int) -> Question:
        raise error

    tool = ChangingTool(question=fail)
    chat = await chat_with(program, tool)
    program.provider.play(calls(("write", {})), reply("ok"))
    await chat.say("hi")
    output = BROKEN_TOOL if isinstance(error, KeyError) else "The file can't be read."
    assert told(chat.rows()[1]) == [("c1", "failed", output)]
    assert tool.asked == []
    assert len(caplog.records) == isinstance(error, KeyError)
    caplog.clear()


# Several questions


async def test_all_questions_of_a_reply_are_asked_at_once_and_calls_run_in_their_order(program: Program) -> None:
    write, edit = ScriptedTool("write", asks=WRITE), ScriptedTool("edit", asks=EDIT)
    chat = await chat_with(program, write, edit)
    program.provider.play(calls(("write", {"n": 1}), ("edit", {"n": 2}), ("write", {"n": 3})), reply("ok"))
    await chat.send("hi")
    assert [event.call_id for event in await asked(chat, 3)] == ["c1", "c2", "c3"]

    await answer(chat, "c3", Verdict.ALLOW)
    await answer(chat, "c2", Verdict.DENY)
    assert chat.state is TurnState.ASKING
    assert chat.events(ToolStarted) == [], "each waits for those before it"
    await answer(chat, "c1", Verdict.ALLOW)
    await chat.idle()
    assert [event.call_id for event in chat.events(ToolStarted)] == ["c1", "c3"]
    assert [state for _, state, _ in told(chat.rows()[1])] == ["done", "denied", "done"]
    assert len(chat.events(ApprovalAsked)) == 3, "nothing has changed meanwhile"
    assert every_question_ended(chat)


async def test_what_only_reads_runs_while_the_person_thinks_if_it_comes_before(program: Program) -> None:
    hold = Hold()
    look = ScriptedTool("look", [hold, ToolOutcome("seen")], reads=True)
    chat = await chat_with(program, look, ScriptedTool("write", asks=WRITE))
    program.provider.play(calls(("look", {}), ("write", {}), ("look", {})), reply("ok"))
    await chat.send("hi")
    await hold.reached()
    assert len(chat.events(ApprovalAsked)) == 1
    assert chat.state is TurnState.CALLING, "something runs"
    hold.release()
    await asked(chat, 1)
    assert len(look.asked) == 1
    await answer(chat, "c2", Verdict.ALLOW)
    await chat.idle()
    assert len(look.asked) == 2


async def test_calls_that_only_read_and_are_asked_about_all_wait_for_their_answers(program: Program) -> None:
    tool = ScriptedTool("peek", asks=WRITE, reads=True)
    chat = await chat_with(program, tool)
    program.provider.play(calls(("peek", {"n": 1}), ("peek", {"n": 2})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 2)
    assert tool.asked == []
    await answer(chat, "c2", Verdict.ALLOW)
    await answer(chat, "c1", Verdict.DENY)
    await chat.idle()
    assert [state for _, state, _ in told(chat.rows()[1])] == ["denied", "done"]
    assert [dict(arguments) for arguments in tool.asked] == [{"n": 2}]


async def test_after_a_change_the_next_call_about_the_same_is_asked_once_more(program: Program) -> None:
    tool = ChangingTool()
    chat = await chat_with(program, tool)
    program.provider.play(calls(("write", {"n": 1}), ("write", {"n": 2})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 2)
    await answer(chat, "c2", Verdict.ALLOW)
    await answer(chat, "c1", Verdict.ALLOW)
    events = await asked(chat, 3)
    assert [(event.call_id, event.question.version) for event in events] == [("c1", "1"), ("c2", "1"), ("c2", "2")]
    assert len(tool.asked) == 1
    tool.version = 7
    await answer(chat, "c2", Verdict.ALLOW)
    await chat.idle()
    assert len(chat.events(ApprovalAsked)) == 3, "no third time: the tool itself sees that it has changed again"
    assert [context.approved.version for context in tool.contexts if context.approved is not None] == ["1", "2"]
    assert every_question_ended(chat)


async def test_a_question_that_waits_gives_way_to_the_one_about_what_is_there_now(program: Program) -> None:
    tool = ChangingTool()
    chat = await chat_with(program, tool)
    program.provider.play(calls(("write", {}), ("write", {})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 2)
    await answer(chat, "c1", Verdict.ALLOW)
    await asked(chat, 3)
    assert len(chat.events(ApprovalEnded)) == 2
    # A click that was meant for the question before allows nothing.
    await program.manager.answer(chat.events(ApprovalAsked)[1], Verdict.ALLOW)
    assert chat.state is TurnState.ASKING
    await answer(chat, "c2", Verdict.DENY)
    await chat.idle()
    assert [state for _, state, _ in told(chat.rows()[1])] == ["done", "denied"]
    assert every_question_ended(chat)


async def test_a_call_denied_before_its_turn_is_asked_no_more(program: Program) -> None:
    tool = ChangingTool()
    chat = await chat_with(program, tool)
    program.provider.play(calls(("write", {}), ("write", {})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 2)
    await answer(chat, "c2", Verdict.DENY)
    await answer(chat, "c1", Verdict.ALLOW)
    await chat.idle()
    assert [state for _, state, _ in told(chat.rows()[1])] == ["done", "denied"]
    assert len(chat.events(ApprovalAsked)) == 2


async def test_a_call_that_can_succeed_only_after_the_one_before_is_asked_at_its_turn(program: Program) -> None:
    later = ChangingTool("edit", lambda version: EDIT if version > 1 else None)

    class First(ScriptedTool):
        async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
            later.version = 2
            return await super().run(arguments, context)

    chat = await chat_with(program, First("write", asks=WRITE), later)
    program.provider.play(calls(("write", {}), ("edit", {})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 1)
    await answer(chat, "c1", Verdict.ALLOW)
    assert [event.call_id for event in await asked(chat, 2)] == ["c1", "c2"]
    await answer(chat, "c2", Verdict.ALLOW)
    await chat.idle()
    assert [context.approved for context in later.contexts] == [EDIT]


async def test_a_call_that_can_succeed_no_more_says_so_instead_of_asking(program: Program) -> None:
    tool = ChangingTool(question=lambda version: WRITE if version == 1 else None)
    tool.script = [ToolOutcome("written"), ToolOutcome("It is there already.", is_error=True)]
    chat = await chat_with(program, tool)
    program.provider.play(calls(("write", {}), ("write", {})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 2)
    await answer(chat, "c1", Verdict.ALLOW)
    await chat.idle()
    assert told(chat.rows()[1]) == [("c1", "done", "written"), ("c2", "failed", "It is there already.")]
    assert tool.contexts[1].approved is None
    assert every_question_ended(chat)


# Always


async def test_always_answers_what_waits_and_what_comes(program: Program) -> None:
    write, edit = ScriptedTool("write", asks=WRITE), ScriptedTool("edit", asks=EDIT)
    chat = await chat_with(program, write, edit)
    program.provider.play(
        calls(("write", {}), ("edit", {}), ("write", {})), calls(("write", {})), reply("ok"), calls(("write", {}))
    )
    program.provider.play(reply("ok"))
    await chat.send("hi")
    await asked(chat, 3)
    await answer(chat, "c3", Verdict.ALWAYS)
    assert [event.call_id for event in chat.events(ApprovalEnded)] == ["c3", "c1"]
    await until(lambda: chat.state is TurnState.ASKING and len(write.asked) == 1)
    await answer(chat, "c2", Verdict.DENY)
    await chat.idle()
    assert [state for _, state, _ in told(chat.rows()[1])] == ["done", "denied", "done"]
    assert len(write.asked) == 3, "the next step did not ask"
    assert all(context.approved == WRITE for context in write.contexts)
    assert grants(chat) == ("write",)
    assert chat.events(ChatChanged)[-1].summary.grants == ("write",)

    await program.restart()
    await program.manager.open_chat(chat.session)
    await chat.say("once more")
    assert len(write.asked) == 4
    assert len(chat.events(ApprovalAsked)) == 3
    other = await program.new_chat()
    program.provider.play(calls(("write", {})), reply("ok"))
    await other.send("hi")
    await asked(other, 1)
    await other.stop()


async def test_what_is_always_allowed_in_one_folder_is_asked_again_in_another(
    program: Program, tmp_path_factory: pytest.TempPathFactory
) -> None:
    write = ScriptedTool("write", asks=WRITE)
    chat = await chat_with(program, write)
    await program.manager.set_folder(chat.session, str(tmp_path_factory.mktemp("letters")))
    program.provider.play(calls(("write", {})), reply("ok"), calls(("write", {})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 1)
    await answer(chat, "c1", Verdict.ALWAYS)
    await chat.idle()
    assert grants(chat) == ("write",)

    await program.manager.set_folder(chat.session, str(tmp_path_factory.mktemp("diaries")))
    assert grants(chat) == ()
    await chat.send("again")
    await asked(chat, 2)
    assert len(write.asked) == 1
    await chat.stop()


async def test_what_is_taken_back_is_asked_again(program: Program) -> None:
    chat = await chat_with(program, ScriptedTool("write", asks=WRITE))
    program.provider.play(calls(("write", {})), reply("ok"), calls(("write", {})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 1)
    await answer(chat, "c1", Verdict.ALWAYS)
    await chat.idle()
    await program.manager.revoke_grants(chat.session)
    await chat.send("again")
    await asked(chat, 2)
    await chat.stop()


async def test_a_question_without_a_scope_can_only_be_allowed_once(program: Program) -> None:
    once = Question("Do it", version="1")
    tool = ScriptedTool("write", asks=once)
    chat = await chat_with(program, tool)
    program.provider.play(calls(("write", {}), ("write", {})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 2)
    await answer(chat, "c1", Verdict.ALWAYS)
    await until(lambda: len(tool.asked) == 1 and chat.state is TurnState.ASKING)
    assert grants(chat) == ()
    await answer(chat, "c2", Verdict.ALLOW)
    await chat.idle()
    assert len(tool.asked) == 2


async def test_always_that_can_not_be_kept_is_said_and_the_call_runs(program: Program) -> None:
    tool = ScriptedTool("write", asks=WRITE)
    chat = await chat_with(program, tool)
    program.provider.play(calls(("write", {}), ("write", {})), reply("ok"))
    await chat.send("hi")
    await asked(chat, 2)
    with refusing(chat.files.meta), pytest.raises(StorageError):
        await answer(chat, "c1", Verdict.ALWAYS)
    await chat.idle()
    assert len(tool.asked) == 2
    assert len(chat.events(ApprovalAsked)) == 2
