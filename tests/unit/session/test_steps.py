"""A turn with tools: what runs, what is on disk at every moment, and what is sent next."""

import asyncio
import itertools
import json

import pytest

from app.domain.chats import TurnState
from app.domain.errors import ErrorKind, ProviderError, StorageError
from app.domain.events import (
    Event,
    ReplyStarted,
    ReplyUnsaved,
    RetryScheduled,
    SessionBroke,
    StateChanged,
    ToolEnded,
    ToolStarted,
)
from app.domain.models import Abilities
from app.domain.queue import When
from app.domain.rows import STEP_LIMIT, Flag, Kind, Row, TextPart, ToolPart
from app.domain.windows import SESSION_HISTORY
from app.history.partial import PartialFile
from app.providers.base import StopPiece, StopReason, TextPiece, ToolEndPiece, ToolInputPiece, ToolStartPiece
from app.session.assemble import NO_RESULT
from app.session.calls import NO_OBJECT
from app.session.inputs import Accepted, Refused
from app.session.steps import MAX_STEPS
from app.session.stream import MAX_PARTS
from app.settings.schema import Experiments, Settings
from app.tools.base import ToolOutcome
from app.tools.runner import BROKEN_TOOL, NO_SUCH_TOOL
from tests.fakes.disk import refusing
from tests.fakes.scripted import Hold, ScriptedTool, Step, calls, reply
from tests.unit.session.calling import chat_with, kept, parts_of, told
from tests.unit.session.conftest import Program, until

# A turn as it should go


async def test_a_call_is_run_and_its_result_is_sent_with_the_next_step(program: Program) -> None:
    tool = ScriptedTool(script=[ToolOutcome("on the hill")])
    chat = await chat_with(program, tool)
    program.provider.play(calls(("look", {"for": "house"}), text="Let me see."), reply("It is on the hill."))

    assert await chat.say("where is it?") == Accepted()

    user, step, answer = chat.rows()
    assert {row.turn for row in chat.rows()} == {user.id}
    assert (step.text, told(step), step.flags) == ("Let me see.", [("c1", "done", "on the hill")], ())
    assert (answer.text, answer.parts) == ("It is on the hill.", (TextPart(text="It is on the hill."),))
    assert [dict(asked) for asked in tool.asked] == [{"for": "house"}]
    first, second = program.provider.requests
    assert [spec.name for spec in first.tools] == ["look"]
    assert second.tools == first.tools
    assert [row.parts for row in second.rows[:1]] == [row.parts for row in first.rows], (
        "the beginning stays the same for the cache"
    )
    assert second.rows[-1].parts == step.parts
    assert chat.rows() == chat.told_rows()
    assert not chat.files.partial.exists()


async def test_what_happens_is_told_in_order(program: Program) -> None:
    chat = await chat_with(program, ScriptedTool())
    program.provider.play(calls(("look", {"a": 1})), reply("ok"))
    await chat.say("hi")

    step, answer = chat.events(ReplyStarted)
    (started,) = chat.events(ToolStarted)
    (ended,) = chat.events(ToolEnded)
    assert (started.row_id, started.call_id, started.name, dict(started.arguments)) == (
        step.row_id,
        "c1",
        "look",
        {"a": 1},
    )
    assert (ended.row_id, ended.call_id, ended.name, ended.state, ended.output) == (
        step.row_id,
        "c1",
        "look",
        "done",
        "seen",
    )
    assert [row.id for row in chat.rows()[1:]] == [step.row_id, answer.row_id]
    states = [event.state for event in chat.events(StateChanged)]
    steps = [TurnState.STREAMING, TurnState.CALLING, TurnState.SETTLING, TurnState.STREAMING, TurnState.SETTLING]
    assert states == [TurnState.PREPARING, *steps, TurnState.IDLE]


async def test_each_step_has_its_own_usage(program: Program) -> None:
    chat = await chat_with(program, ScriptedTool())
    program.provider.play(calls(("look", {}), input_tokens=10), reply("ok", input_tokens=30))
    await chat.say("hi")
    assert [row.usage.input for row in chat.rows() if row.usage is not None] == [10, 30]


async def test_calls_of_one_reply_run_one_after_another(program: Program) -> None:
    hold = Hold()
    slow, quick = ScriptedTool("slow", [hold, ToolOutcome("late")]), ScriptedTool("quick", [ToolOutcome({"n": 1})])
    chat = await chat_with(program, slow, quick)
    program.provider.play(calls(("slow", {}), ("quick", {"a": 1})), reply("ok"))
    await chat.send("hi")
    await hold.reached()
    assert quick.asked == []
    hold.release()
    await chat.idle()
    assert told(chat.rows()[1]) == [("c1", "done", "late"), ("c2", "done", {"n": 1})]
    assert [event.name for event in chat.events(ToolStarted)] == ["slow", "quick"]


async def test_several_steps_follow_each_other(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    program.provider.play(*[calls(("look", {"n": n})) for n in range(3)], reply("done"))
    await chat.say("hi")
    assert len(chat.rows()) == 5
    assert [asked["n"] for asked in tool.asked] == [0, 1, 2]
    assert [len(request.rows) for request in program.provider.requests] == [1, 2, 3, 4]


async def test_a_tool_learns_of_the_model_it_answers(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    program.provider.play(calls(("look", {})), reply("ok"))
    await chat.say("hi")
    (context,) = tool.contexts
    (card,) = program.provider.models()
    assert (context.session, context.limit) == (chat.session, card.limit)
    assert (context.encoding, context.factor) == (card.encoding, card.factor)


# Calls that do not go well


async def test_a_tool_that_says_what_is_wrong_fails_its_call_and_the_turn_goes_on(program: Program) -> None:
    chat = await chat_with(program, ScriptedTool(script=[ToolOutcome("No such place.", is_error=True)]))
    program.provider.play(calls(("look", {})), reply("I can't find it."))
    await chat.say("hi")
    assert told(chat.rows()[1]) == [("c1", "failed", "No such place.")]
    assert chat.rows()[-1].text == "I can't find it."


async def test_a_tool_that_breaks_fails_its_call_and_the_turn_goes_on(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    chat = await chat_with(program, ScriptedTool(script=[KeyError("secret")]), ScriptedTool("other"))
    program.provider.play(calls(("look", {"q": "private"}), ("other", {})), reply("ok"))
    await chat.say("hi")
    assert told(chat.rows()[1]) == [("c1", "failed", BROKEN_TOOL), ("c2", "done", "seen")]
    assert chat.events(SessionBroke) == []
    (record,) = caplog.records
    assert record.getMessage() == "the tool look broke"
    caplog.clear()


async def test_a_tool_that_the_disk_refuses_says_so(program: Program) -> None:
    chat = await chat_with(program, ScriptedTool(script=[StorageError("The disk can't be read.")]))
    program.provider.play(calls(("look", {})), reply("ok"))
    await chat.say("hi")
    assert told(chat.rows()[1]) == [("c1", "failed", "The disk can't be read.")]


async def test_a_call_of_another_tool_is_denied_and_the_model_may_correct_itself(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    program.provider.play(calls(("Look", {}), ("look", {})), calls(("peek", {})), reply("ok"))
    await chat.say("hi")
    _, first, second, answer = chat.rows()
    assert told(first) == [("c1", "denied", NO_SUCH_TOOL), ("c2", "done", "seen")]
    assert told(second) == [("c1", "denied", NO_SUCH_TOOL)]
    assert answer.text == "ok"
    assert len(tool.asked) == 1
    assert len(chat.events(ToolStarted)) == 1


async def test_a_call_whose_arguments_are_no_object_never_runs_and_the_model_may_mend_it(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    torn: list[Step] = [
        ToolStartPiece("c9", "look"),
        ToolInputPiece("c9", '{"a": \n"b'),
        StopPiece(StopReason.TOOL_USE),
    ]
    program.provider.play(torn, [*torn[:2], *calls(("look", {"n": 2}))], reply("ok"))
    await chat.say("hi")
    _, first, second, answer = chat.rows()
    failed = ("c9", "failed", f'{NO_OBJECT} What came: {{"a":  "b')
    assert (told(first), told(second)) == ([failed], [failed, ("c1", "done", "seen")])
    assert (first.flags, parts_of(first)[0].input) == ((), '{"a": \n"b')
    assert answer.text == "ok"
    assert [dict(asked) for asked in tool.asked] == [{"n": 2}]
    sent = parts_of(program.provider.requests[2].rows[1])
    assert [(part.call_id, part.input, part.output) for part in sent] == [("c9", {}, failed[2])]
    assert [event.state for event in chat.events(ToolEnded)] == ["failed", "failed", "done"]
    assert len(chat.events(ToolStarted)) == 1


async def test_a_torn_call_of_a_reply_that_was_cut_stays_torn(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    torn: list[Step] = [ToolStartPiece("c9", "look"), ToolInputPiece("c9", '{"a": ')]
    program.provider.play([*calls(("look", {"n": 2}))[:-1], *torn, ProviderError(ErrorKind.NETWORK)], reply("ok"))
    await chat.say("hi")
    assert told(chat.rows()[1]) == [("c1", "interrupted", None), ("c9", "interrupted", None)]
    await chat.resume()
    await chat.idle()
    assert tool.asked == []
    assert [part.call_id for part in parts_of(program.provider.requests[1].rows[1])] == ["c1"]


@pytest.mark.parametrize("given", ["c1", ""])
async def test_calls_with_one_id_or_none_are_told_apart(program: Program, given: str) -> None:
    look, touch = ScriptedTool(), ScriptedTool("touch")
    chat = await chat_with(program, look, touch)
    pieces: list[Step] = []
    for name, value in (("look", {"n": 1}), ("touch", {"n": 2}), ("look", {"n": 3})):
        pieces += [
            ToolStartPiece(given, name),
            ToolInputPiece(given, json.dumps(value)),
            ToolEndPiece(given, dict(value)),
        ]
    program.provider.play([*pieces, StopPiece(StopReason.TOOL_USE)], reply("ok"))
    await chat.say("hi")
    assert [dict(asked) for asked in look.asked] == [{"n": 1}, {"n": 3}]
    assert [dict(asked) for asked in touch.asked] == [{"n": 2}]
    parts = parts_of(chat.rows()[1])
    assert [(part.name, part.input) for part in parts] == [("look", {"n": 1}), ("touch", {"n": 2}), ("look", {"n": 3})]
    assert len({part.call_id for part in parts}) == 3
    assert [event.call_id for event in chat.events(ToolStarted)] == [part.call_id for part in parts]


async def test_a_call_with_a_number_that_is_none_stays_json(program: Program) -> None:
    tool = ScriptedTool(script=[ToolOutcome({"a": float("-inf"), 1: float("nan")})])
    chat = await chat_with(program, tool)
    program.provider.play(calls(("look", {"n": float("inf"), "text": "\ud800"})), reply("ok"))
    await chat.say("hi")
    (part,) = parts_of(chat.rows()[1])
    assert dict(tool.asked[0]) == part.input == {"n": None, "text": "\ufffd"}
    assert part.output == {"a": None, "1": None}
    assert b"Infinity" not in chat.files.chat.read_bytes()


async def test_a_reply_that_never_ends_its_calls_is_stopped_and_kept(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    made: list[tuple[str, dict[str, object]]] = [("look", {"n": number}) for number in range(2 * MAX_PARTS)]
    program.provider.play(calls(*made), reply("ok"))
    await chat.say("hi")
    assert tool.asked == []
    _, step = chat.rows()
    assert len(step.parts) == MAX_PARTS + 1
    assert step.error is not None
    assert "1,000 parts" in step.error.detail
    assert await chat.send("again") == Accepted()
    await chat.idle()
    assert chat.rows()[-1].text == "ok"


async def test_a_call_nested_too_deeply_to_be_kept_is_not_run(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    deep: dict[str, object] = {}
    for _ in range(600):
        deep = {"a": deep}
    program.provider.play(calls(("look", deep)), reply("ok"))
    await chat.say("hi")
    assert [part.state for part in parts_of(chat.rows()[1])] == ["failed"]
    assert tool.asked == []
    assert chat.rows()[-1].text == "ok"


@pytest.mark.parametrize("ending", [StopPiece(StopReason.MAX_TOKENS), StopPiece(StopReason.REFUSAL), None])
async def test_a_reply_that_was_cut_off_runs_no_calls(program: Program, ending: StopPiece | None) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    cut = [*calls(("look", {}))[:-1], *([ending] if ending is not None else [])]
    program.provider.play(cut, reply("ok"))
    await chat.say("hi")
    assert tool.asked == []
    _, step = chat.rows()
    assert (told(step), step.flags) == ([("c1", "interrupted", None)], (Flag.FAILED,))

    assert await chat.resume() == Accepted()
    await chat.idle()
    assert tool.asked == [], "what was cut off never runs"
    (part,) = parts_of(program.provider.requests[1].rows[1])
    assert part.output == NO_RESULT
    assert [row.kind for row in chat.rows()] == [Kind.MESSAGE] * 3, "no request to go on: the result asks for it"


async def test_a_large_result_reaches_the_model_whole_and_is_kept_apart(program: Program) -> None:
    text = "long " * 400_000
    chat = await chat_with(program, ScriptedTool(script=[ToolOutcome(text)]))
    program.provider.play(calls(("look", {})), reply("ok"), reply("again"))
    await chat.say("hi")
    await program.restart()
    await chat.say("and now?")
    for request in program.provider.requests[1:]:
        (part,) = parts_of(request.rows[1])
        assert part.output == text
    (part,) = parts_of(chat.rows()[1])
    assert part.output_blob is not None


async def test_a_result_is_sent_as_it_will_be_read_again(program: Program) -> None:
    chat = await chat_with(program, ScriptedTool(script=[ToolOutcome({"a": (1, "\ud800")}), ToolOutcome("b\ud800")]))
    program.provider.play(calls(("look", {})), calls(("look", {})), reply("ok"), reply("again"))
    await chat.say("hi")
    before = program.provider.requests[-1].rows
    await program.restart()
    await chat.say("and now?")
    assert program.provider.requests[-1].rows[: len(before)] == before


# What is on disk


async def test_every_call_is_pending_on_disk_before_its_tool_starts(program: Program) -> None:
    holds = [Hold(), Hold()]
    chat = await chat_with(program, ScriptedTool(script=[holds[0], ToolOutcome("one"), holds[1], ToolOutcome("two")]))
    program.provider.play(calls(("look", {}), ("look", {})), reply("ok"))
    await chat.send("hi")
    await holds[0].reached()
    assert kept(chat) == [("c1", "pending", None), ("c2", "pending", None)]
    holds[0].release()
    await holds[1].reached()
    assert kept(chat) == [("c1", "done", "one"), ("c2", "pending", None)]
    holds[1].release()
    await chat.idle()


async def test_every_result_is_on_disk_before_it_is_told(program: Program) -> None:
    class Listening(list[Event]):
        on_disk: list[object]

        def append(self, event: Event) -> None:
            super().append(event)
            if isinstance(event, ToolEnded):
                found = {call: (state, output) for call, state, output in kept(chat)}
                self.on_disk.append(found[event.call_id] == (event.state, event.output))

    program.events = heard = Listening()
    heard.on_disk = []
    await program.restart()
    chat = await chat_with(program, ScriptedTool())
    program.provider.play(calls(("look", {}), ("peek", {})), calls(("peek", {})), reply("ok"))
    await chat.say("hi")

    assert heard.on_disk == [True, True, True]


@pytest.mark.parametrize("settled", [0, 1, 2])
async def test_after_a_crash_no_call_runs_again(program: Program, settled: int) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    program.provider.play(reply("hello"))
    await chat.say("hi")
    await program.manager.close()
    parts = tuple(
        ToolPart(call_id=f"c{n}", name="look", input={}, state="done", output="seen")
        if n < settled
        else ToolPart(call_id=f"c{n}", name="look", input={}, state="pending")
        for n in range(2)
    )
    user = chat.rows()[0]
    left = Row(id="cut", session=chat.session, role="assistant", turn=user.id, parts=parts)
    PartialFile(chat.files).save(left)

    await program.restart()
    await program.manager.open_chat(chat.session)

    states = ["done" if n < settled else "interrupted" for n in range(2)]
    assert [part.state for part in parts_of(chat.rows()[-1])] == states
    assert tool.asked == []
    program.provider.play(reply("So it was."))
    assert await chat.resume() == Accepted()
    await chat.idle()
    assert tool.asked == []
    sent = program.provider.requests[-1].rows[-1]
    assert [part.output for part in parts_of(sent)] == ["seen" if n < settled else NO_RESULT for n in range(2)]
    assert chat.rows()[-1].text == "So it was."
    assert await chat.resume() == Refused("This reply is complete; there is nothing to continue.")


async def test_a_tool_does_not_start_if_its_call_cannot_be_noted(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    hold = Hold()
    program.provider.play([hold, *calls(("look", {}))], reply("ok"))
    await chat.send("hi")
    await hold.reached()
    chat.files.partial.unlink(missing_ok=True)
    chat.files.partial.mkdir()
    hold.release()
    await chat.idle()
    chat.files.partial.rmdir()
    assert tool.asked == []
    assert len(chat.events(SessionBroke)) == 1
    _, step = chat.rows()
    assert (told(step), step.flags) == ([("c1", "interrupted", None)], (Flag.INTERRUPTED,))
    assert await chat.resume() == Accepted()
    await chat.idle()
    assert chat.rows()[-1].text == "ok"


async def test_a_step_the_disk_refuses_is_owed_with_its_results(program: Program) -> None:
    tool = ScriptedTool()
    hold = Hold()
    tool.script = [hold, ToolOutcome("precious")]
    chat = await chat_with(program, tool)
    program.provider.play(calls(("look", {})), reply("ok"))
    await chat.send("hi")
    await hold.reached()
    with refusing(chat.files.chat):
        hold.release()
        await chat.idle()
        assert len(chat.events(ReplyUnsaved)) == 1
        assert len(program.provider.requests) == 1
        assert kept(chat) == [("c1", "done", "precious")]
    await program.manager.save_owed(chat.session)
    assert told(chat.rows()[1]) == [("c1", "done", "precious")]
    assert chat.rows()[1].flags == ()

    assert await chat.resume() == Accepted()
    await chat.idle()
    assert len(tool.asked) == 1
    assert [row.text for row in chat.rows()] == ["hi", "", "ok"], "it goes on with the next request, without a word"


# Stop


async def test_stop_in_a_tool_cancels_it_and_keeps_what_is_finished(program: Program) -> None:
    hold = Hold()
    tool = ScriptedTool(script=[ToolOutcome("one"), hold])
    chat = await chat_with(program, tool)
    program.provider.play(calls(("look", {}), ("look", {}), ("look", {}), text="See:"), reply("ok"))
    await chat.send("hi")
    await hold.reached()
    assert chat.state == TurnState.CALLING

    await chat.stop()

    _, step = chat.rows()
    assert told(step) == [("c1", "done", "one"), ("c2", "interrupted", None), ("c3", "interrupted", None)]
    assert (step.flags, step.text) == ((Flag.INTERRUPTED,), "See:")
    assert tool.cancelled == 1
    assert len(tool.asked) == 2
    assert not chat.files.partial.exists()

    assert await chat.resume() == Accepted()
    await chat.idle()
    assert len(tool.asked) == 2
    assert [part.output for part in parts_of(program.provider.requests[1].rows[1])] == ["one", NO_RESULT, NO_RESULT]
    assert [row.kind for row in chat.rows()] == [Kind.MESSAGE] * 3


async def test_stop_in_a_later_step_keeps_the_earlier_ones(program: Program) -> None:
    hold = Hold()
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    program.provider.play(calls(("look", {})), [TextPiece("half "), hold], reply("whole"))
    await chat.send("hi")
    await hold.reached()
    await chat.stop()
    _, step, cut = chat.rows()
    assert (told(step), step.flags) == ([("c1", "done", "seen")], ())
    assert (cut.text, cut.flags) == ("half ", (Flag.INTERRUPTED,))
    await chat.resume()
    await chat.idle()
    assert [row.kind for row in chat.rows()] == [*[Kind.MESSAGE] * 3, Kind.CONTINUE, Kind.MESSAGE]
    assert len({row.turn for row in chat.rows()}) == 1


async def test_stop_before_the_first_word_of_a_later_step_asks_the_same_again(program: Program) -> None:
    hold = Hold()
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    program.provider.play(calls(("look", {})), [hold], reply("whole"))
    await chat.send("hi")
    await hold.reached()
    await chat.stop()
    await chat.resume()
    await chat.idle()
    _, second, third = program.provider.requests
    assert second.rows == third.rows
    assert len(tool.asked) == 1


@pytest.mark.parametrize("turns_of_the_loop", range(0, 60, 3))
async def test_stop_at_any_moment_leaves_a_turn_that_can_go_on(program: Program, turns_of_the_loop: int) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    program.provider.play(calls(("look", {"n": 1}), ("look", {"n": 2})), calls(("look", {"n": 3})), reply("done"))
    program.provider.scripts += [reply("done")] * 3
    sending = asyncio.ensure_future(chat.send("hi"))  # noqa: TID251 - Stop must come while it runs
    for _ in range(turns_of_the_loop):
        await asyncio.sleep(0)
    await chat.stop()
    outcome = await sending
    await chat.idle()
    if outcome == Accepted():
        # Each moment ends as a turn that is complete, or one that goes on.
        resumed = await chat.resume()
        await chat.idle()
        assert resumed == Accepted() or chat.rows()[-1].text == "done"
        assert chat.rows()[-1].text == "done"
    asked = [call["n"] for call in tool.asked]
    assert len(asked) == len(set(asked)), "no call runs twice"
    assert not chat.files.partial.exists()


async def test_quitting_in_a_tool_keeps_the_step(program: Program) -> None:
    hold = Hold()
    chat = await chat_with(program, ScriptedTool(script=[hold]))
    program.provider.play(calls(("look", {})))
    await chat.send("hi")
    await hold.reached()
    await program.restart()
    assert told(chat.rows()[1]) == [("c1", "interrupted", None)]


async def test_a_turn_cut_between_two_steps_goes_on_with_the_next_request(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    hold = Hold()
    program.provider.play(calls(("look", {})), [hold])
    await chat.send("hi")
    await hold.reached()
    # As a crash leaves it: the first step is on disk, and nothing of the second.
    lines = chat.files.chat.read_bytes()
    await chat.stop()
    await program.manager.close()
    chat.files.chat.write_bytes(lines)

    await program.restart()
    await program.manager.open_chat(chat.session)
    program.provider.play(reply("So it is."))
    assert await chat.resume() == Accepted()
    await chat.idle()
    assert [row.kind for row in chat.rows()] == [Kind.MESSAGE] * 3
    assert chat.rows()[-1].text == "So it is."
    assert program.provider.requests[-1].rows == program.provider.requests[-2].rows
    assert len(tool.asked) == 1


# Failures of a later step


async def test_a_later_step_is_tried_again_by_itself(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    program.provider.play(calls(("look", {})), [ProviderError(ErrorKind.OVERLOADED)], reply("ok"))
    await chat.say("hi")
    assert [event.attempt for event in chat.events(RetryScheduled)] == [1]
    assert [row.text for row in chat.rows()] == ["hi", "", "ok"]
    assert len(tool.asked) == 1


async def test_each_step_has_its_own_tries(program: Program) -> None:
    chat = await chat_with(program, ScriptedTool())
    busy = [ProviderError(ErrorKind.OVERLOADED)]
    program.provider.play(*[busy] * 4, calls(("look", {})), *[busy] * 4, reply("ok"))
    await chat.say("hi")
    assert [event.attempt for event in chat.events(RetryScheduled)] == [1, 2, 3, 4, 1, 2, 3, 4]
    assert chat.rows()[-1].text == "ok"


async def test_a_later_step_that_fails_keeps_the_earlier_and_can_be_tried_again(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    program.provider.play(calls(("look", {})), [ProviderError(ErrorKind.QUOTA, "no credit")], reply("ok"))
    await chat.say("hi")
    assert [row.flags for row in chat.rows()] == [(), (), (Flag.FAILED,)]
    await chat.resume()
    await chat.idle()
    assert chat.rows()[-1].text == "ok"
    assert len(tool.asked) == 1


async def test_a_later_step_may_be_asked_for_a_shorter_reply(program: Program) -> None:
    chat = await chat_with(program, ScriptedTool())
    too_long = ProviderError(ErrorKind.CONTEXT_EXCEEDED, "too long", allowed_output=123)
    program.provider.play(calls(("look", {})), [too_long], calls(("look", {})), reply("ok"))
    await chat.say("hi")
    assert [request.max_tokens for request in program.provider.requests] == [1_000, 1_000, 123, 1_000]


async def test_a_turn_ends_after_a_hundred_steps_and_may_go_on(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with(program, tool)
    program.provider.play(*itertools.repeat(calls(("look", {})), MAX_STEPS), reply("at last"))
    await chat.say("hi")
    assert len(program.provider.requests) == len(tool.asked) == MAX_STEPS == 100
    last = chat.rows()[-1]
    assert (told(last), last.flags) == ([("c1", "done", "seen")], (Flag.FAILED,))
    assert last.error is not None
    assert (last.error.kind, last.error.is_quote) == (STEP_LIMIT, None)
    assert "100 times" in last.error.detail

    assert await chat.resume() == Accepted()
    await chat.idle()
    assert chat.rows()[-1].text == "at last"
    assert len(tool.asked) == MAX_STEPS


async def test_a_message_that_waits_for_the_step_takes_the_place_of_the_limit(program: Program) -> None:
    hold = Hold()
    tool = ScriptedTool(script=[*itertools.repeat(ToolOutcome("seen"), MAX_STEPS - 1), hold])
    chat = await chat_with(program, tool)
    program.provider.play(*itertools.repeat(calls(("look", {})), MAX_STEPS), reply("ok"))
    await chat.send("hi")
    await hold.reached()
    await chat.queue("and now?", When.AFTER_STEP)
    hold.release()
    await until(lambda: chat.rows()[-1].text == "ok")
    await chat.idle()
    assert [(row.text, row.flags) for row in chat.rows()[-3:]] == [("", ()), ("and now?", ()), ("ok", ())]


# Which tools are offered


@pytest.mark.parametrize(("knows", "offered"), [(None, ["look"]), (True, ["look"]), (False, [])])
async def test_a_model_that_calls_no_tools_is_offered_none(
    program: Program, knows: bool | None, offered: list[str]
) -> None:
    program.provider.abilities = Abilities(calls_tools=knows)
    await program.restart()
    chat = await chat_with(program, ScriptedTool())
    program.provider.play(reply("ok"))
    await chat.say("hi")
    assert [spec.name for spec in program.provider.requests[0].tools] == offered


async def test_the_way_back_is_offered_only_while_windows_roll_over(program: Program) -> None:
    chat = await chat_with(program, ScriptedTool(SESSION_HISTORY))
    program.provider.play(reply("ok"), reply("ok"))
    await chat.say("hi")
    program.settings = Settings(experiments=Experiments(token_budget_windows=True))
    await chat.say("hi")
    assert [[spec.name for spec in request.tools] for request in program.provider.requests] == [[], [SESSION_HISTORY]]


async def test_a_setting_changed_in_mid_turn_takes_effect_at_the_next(program: Program) -> None:
    hold = Hold()
    tool = ScriptedTool(SESSION_HISTORY, [hold, ToolOutcome("seen")])
    chat = await chat_with(program, tool)
    program.settings = Settings(experiments=Experiments(token_budget_windows=True))
    program.provider.play(calls((SESSION_HISTORY, {})), reply("ok"), reply("ok"))
    await chat.send("hi")
    await hold.reached()
    program.settings = Settings()
    hold.release()
    await chat.idle()
    await chat.say("more")
    assert [len(request.tools) for request in program.provider.requests] == [1, 1, 0]


async def test_without_tools_a_call_ends_the_turn_and_may_be_continued(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(calls(("look", {})), reply("Without it, then."))
    await chat.say("hi")
    assert told(chat.rows()[1]) == [("c1", "denied", NO_SUCH_TOOL)]
    assert len(program.provider.requests) == 1
    assert await chat.resume() == Accepted()
    await chat.idle()
    assert chat.rows()[-1].text == "Without it, then."


async def test_many_chats_call_tools_at_once(program: Program) -> None:
    hold = Hold()
    tool = ScriptedTool(script=[hold, ToolOutcome("late"), ToolOutcome("seen")])
    first = await chat_with(program, tool)
    second = await program.new_chat()
    program.provider.play(calls(("look", {})), calls(("look", {})), reply("two"), reply("one"))
    await first.send("hi")
    await hold.reached()
    tool.script.pop(0)
    await second.say("hi")
    assert second.rows()[-1].text == "two"
    hold.release()
    await first.idle()
    await until(lambda: len(first.rows()) == 3)
    assert first.rows()[-1].text == "one"
