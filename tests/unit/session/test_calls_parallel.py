"""Calls of one reply: which run side by side, what is on disk meanwhile, how long they took."""

import asyncio
from collections.abc import Mapping

import pytest

from app.domain.events import ToolEnded
from app.domain.rows import Flag
from app.domain.windows import View
from app.history.blobs import MAX_RESULT_BYTES
from app.history.view import HistoryView
from app.session.calls import MAX_AT_ONCE
from app.session.inputs import Accepted
from app.tools.base import ToolContext, ToolOutcome
from app.tools.runner import BROKEN_TOOL, MAX_DIFF_BYTES
from tests.fakes.disk import refusing
from tests.fakes.scripted import Hold, ScriptedTool, calls, reply
from tests.unit.session.calling import chat_with, kept, parts_of, told
from tests.unit.session.conftest import Program, until


class Gate(ScriptedTool):
    """A reading tool whose calls wait to be let go one by one, by their number `n`."""

    def __init__(self, name: str = "look") -> None:
        super().__init__(name, reads=True)
        self.running: set[object] = set()
        self.most = 0
        self._gates: dict[object, asyncio.Event] = {}

    def let_go(self, number: int) -> None:
        self._gates.setdefault(number, asyncio.Event()).set()

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        number = arguments["n"]
        self.asked.append(arguments)
        self.running.add(number)
        self.most = max(self.most, len(self.running))
        try:
            await self._gates.setdefault(number, asyncio.Event()).wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running.discard(number)
        return ToolOutcome(number)


def numbered(name: str, *numbers: int) -> list[tuple[str, dict[str, object]]]:
    return [(name, {"n": number}) for number in numbers]


async def test_calls_that_only_read_run_side_by_side_and_are_told_as_they_end(program: Program) -> None:
    tool = Gate()
    chat = await chat_with(program, tool)
    program.provider.play(calls(*numbered("look", 1, 2, 3)), reply("ok"))
    await chat.send("hi")
    await until(lambda: tool.running == {1, 2, 3})
    assert kept(chat) == [("c1", "pending", None), ("c2", "pending", None), ("c3", "pending", None)]

    tool.let_go(2)
    await until(lambda: len(chat.events(ToolEnded)) == 1)
    assert kept(chat) == [("c1", "pending", None), ("c2", "done", 2), ("c3", "pending", None)]
    tool.let_go(3)
    tool.let_go(1)
    await chat.idle()
    assert told(chat.rows()[1]) == [("c1", "done", 1), ("c2", "done", 2), ("c3", "done", 3)]
    assert {event.call_id for event in chat.events(ToolEnded)} == {"c1", "c2", "c3"}
    assert chat.rows()[-1].text == "ok"


async def test_at_most_eight_run_at_once_and_all_are_settled(program: Program) -> None:
    tool = Gate()
    chat = await chat_with(program, tool)
    count = 2 * MAX_AT_ONCE + 3
    program.provider.play(calls(*numbered("look", *range(count))), reply("ok"))
    await chat.send("hi")
    await until(lambda: len(tool.running) == MAX_AT_ONCE == 8)
    for number in range(count):
        await until(lambda number=number: number in tool.running)  # type: ignore[misc] # mypy knows no default here
        tool.let_go(number)
    await chat.idle()
    assert tool.most == MAX_AT_ONCE
    assert [output for _, _, output in told(chat.rows()[1])] == list(range(count))


async def test_a_call_that_changes_something_waits_for_those_before_it_and_runs_alone(program: Program) -> None:
    look, write = Gate(), ScriptedTool("write")
    hold = Hold()
    write.script = [hold, ToolOutcome("written")]
    chat = await chat_with(program, look, write)
    made = [*numbered("look", 1, 2), ("write", dict[str, object]()), *numbered("look", 3, 4)]
    program.provider.play(calls(*made), reply("ok"))
    await chat.send("hi")
    await until(lambda: look.running == {1, 2})
    assert write.asked == []
    look.let_go(1)
    await until(lambda: look.running == {2})
    assert write.asked == []
    look.let_go(2)
    await hold.reached()
    assert look.running == set()
    assert kept(chat)[:2] == [("c1", "done", 1), ("c2", "done", 2)], "on disk before anything is changed"
    hold.release()
    await until(lambda: look.running == {3, 4})
    look.let_go(3)
    look.let_go(4)
    await chat.idle()
    assert [output for _, _, output in told(chat.rows()[1])] == [1, 2, "written", 3, 4]


async def test_a_tool_that_fails_or_breaks_cancels_no_neighbour(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate()
    wrong = ScriptedTool("wrong", [ToolOutcome("No such place.", is_error=True)], reads=True)
    broken = ScriptedTool("broken", [KeyError("secret")], reads=True)
    chat = await chat_with(program, gate, wrong, broken)
    program.provider.play(calls(*numbered("look", 1), ("wrong", {}), ("broken", {}), *numbered("look", 2)), reply("ok"))
    await chat.send("hi")
    await until(lambda: len(chat.events(ToolEnded)) == 2)
    assert gate.running == {1, 2}
    gate.let_go(1)
    gate.let_go(2)
    await chat.idle()
    assert told(chat.rows()[1]) == [
        ("c1", "done", 1),
        ("c2", "failed", "No such place."),
        ("c3", "failed", BROKEN_TOOL),
        ("c4", "done", 2),
    ]
    assert len(caplog.records) == 1
    caplog.clear()


async def test_stop_cancels_all_that_run_and_keeps_what_is_finished(program: Program) -> None:
    tool = Gate()
    chat = await chat_with(program, tool)
    program.provider.play(calls(*numbered("look", *range(12))), reply("ok"))
    await chat.send("hi")
    await until(lambda: len(tool.running) == MAX_AT_ONCE)
    tool.let_go(3)
    await until(lambda: len(chat.events(ToolEnded)) == 1 and len(tool.running) == MAX_AT_ONCE)
    await chat.stop()
    _, step = chat.rows()
    assert step.flags == (Flag.INTERRUPTED,)
    assert [state for _, state, _ in told(step)] == ["done" if n == 3 else "interrupted" for n in range(12)]
    assert tool.cancelled == MAX_AT_ONCE
    assert tool.running == set()
    assert len(tool.asked) == MAX_AT_ONCE + 1
    assert await chat.resume() == Accepted()
    await chat.idle()
    assert len(tool.asked) == MAX_AT_ONCE + 1, "none runs again"
    assert chat.rows()[-1].text == "ok"


async def test_one_save_holds_the_results_that_came_while_another_was_written(program: Program) -> None:
    tool = ScriptedTool(reads=True)
    chat = await chat_with(program, tool)
    program.provider.play(calls(*[("look", {})] * 40), reply("ok"))
    await chat.say("hi")
    assert len(tool.asked) == len(chat.events(ToolEnded)) == 40
    assert {state for _, state, _ in told(chat.rows()[1])} == {"done"}


async def test_results_that_the_disk_refuses_hold_up_the_next_tool(program: Program) -> None:
    gate, write = Gate(), ScriptedTool("write")
    chat = await chat_with(program, gate, write)
    program.provider.play(calls(*numbered("look", 1, 2), ("write", {})), reply("ok"))
    await chat.send("hi")
    await until(lambda: gate.running == {1, 2})
    with refusing(chat.files.partial):
        gate.let_go(1)
        gate.let_go(2)
        await chat.idle()
    assert write.asked == []
    states = [(state, output) for _, state, output in told(chat.rows()[1])]
    assert states == [("done", 1), ("done", 2), ("interrupted", None)]


class Slow(ScriptedTool):
    """Takes three seconds of the test's clock."""

    program: Program | None = None

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        assert self.program is not None
        self.program.clock.advance(3.0)
        return await super().run(arguments, context)


async def test_how_long_a_call_took_and_what_it_changed_is_kept_and_told(program: Program) -> None:
    tool = Slow(script=[ToolOutcome("changed", diff="-a\n+b\n"), ToolOutcome("no", is_error=True)])
    tool.program = program
    chat = await chat_with(program, tool)
    program.provider.play(calls(("look", {}), ("peek", {}), ("look", {})), reply("ok"))
    await chat.say("hi")
    parts = parts_of(chat.rows()[1])
    assert [(part.state, part.seconds, part.diff) for part in parts] == [
        ("done", 3.0, "-a\n+b\n"),
        ("denied", None, None),
        ("failed", 3.0, None),
    ]
    ended = {event.call_id: (event.seconds, event.diff) for event in chat.events(ToolEnded)}
    assert ended == {"c1": (3.0, "-a\n+b\n"), "c2": (None, ""), "c3": (3.0, "")}


async def test_a_long_diff_is_cut_at_a_line_and_says_so(program: Program) -> None:
    diff = "".join(f"+line {number}\n" for number in range(10_000))
    chat = await chat_with(program, ScriptedTool(script=[ToolOutcome("changed", diff=diff)]))
    program.provider.play(calls(("look", {})), reply("ok"))
    await chat.say("hi")
    (part,) = parts_of(chat.rows()[1])
    assert part.diff is not None
    *lines, note = part.diff.splitlines()
    assert lines == diff.splitlines()[: len(lines)]
    assert note == f"… {10_000 - len(lines):,} more lines"
    assert MAX_DIFF_BYTES - 100 < len(part.diff.encode()) <= MAX_DIFF_BYTES


async def test_a_result_of_twenty_megabytes_is_kept_apart_at_once_and_found_again(program: Program) -> None:
    half = "long " * (2 * 1024 * 1024)
    text = f"{half}needle {half}"
    hold = Hold()
    tool = ScriptedTool(script=[ToolOutcome(text), hold, ToolOutcome("short")])
    chat = await chat_with(program, tool)
    program.provider.play(calls(("look", {}), ("look", {})), reply("ok"))
    await chat.send("hi")
    await hold.reached()
    assert chat.files.partial.stat().st_size < MAX_RESULT_BYTES, "it is not written again with every result"
    hold.release()
    await chat.idle()
    first, second = parts_of(chat.rows()[1])
    assert first.output_blob is not None
    assert (first.output_blob.bytes, len(first.output) < MAX_RESULT_BYTES) == (len(text), True)
    assert (second.output, second.output_blob) == ("short", None)
    sent = parts_of(program.provider.requests[1].rows[1])
    assert sent[0].output == text
    assert len(list(chat.files.blobs.iterdir())) == 1
    view = HistoryView(chat.files, session=chat.session, view=View.AGENT)
    (hit,) = view.search("needle").hits
    found = view.read(hit.item.ref, offset_chars=hit.offset_chars, limit_chars=6)
    assert found is not None
    assert found.text == "needle"


async def test_a_large_result_of_a_reply_that_a_crash_cut_off_is_whole(program: Program) -> None:
    text = "long " * MAX_RESULT_BYTES
    hold = Hold()
    chat = await chat_with(program, ScriptedTool(script=[ToolOutcome(text), hold]))
    program.provider.play(calls(("look", {}), ("look", {})), reply("ok"))
    await chat.send("hi")
    await hold.reached()
    left = chat.files.partial.read_bytes()
    await chat.stop()
    await program.manager.close()
    lines = chat.files.chat.read_bytes().splitlines(keepends=True)
    chat.files.chat.write_bytes(lines[0])
    chat.files.partial.write_bytes(left)

    await program.restart()
    await program.manager.open_chat(chat.session)
    assert await chat.resume() == Accepted()
    await chat.idle()
    sent = parts_of(program.provider.requests[-1].rows[1])
    assert [part.state for part in sent] == ["done", "interrupted"]
    assert sent[0].output == text
