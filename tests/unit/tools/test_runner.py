"""What becomes of a call: done, failed in words, or denied; and what its output looks like from then on."""

import asyncio

import pytest

from app.domain.errors import StorageError
from app.domain.rows import Row, ToolPart
from app.history.codec import decode_line, encode_row
from app.tools.base import LateTool, ToolContext, ToolOutcome
from app.tools.runner import BROKEN_TOOL, NO_SUCH_TOOL, CallResult, ToolRunner
from tests.fakes.scripted import Hold, ScriptedTool

CONTEXT = ToolContext(session="s", limit=1_000)


async def run(tool: ScriptedTool, name: str = "look") -> CallResult:
    return await ToolRunner([tool]).run(name, {"a": 1}, CONTEXT)


@pytest.mark.parametrize(
    ("outcome", "result"),
    [
        (ToolOutcome("seen"), CallResult("done", "seen")),
        (ToolOutcome({"hits": [1, 2]}), CallResult("done", {"hits": [1, 2]})),
        (ToolOutcome("no such page", is_error=True), CallResult("failed", "no such page")),
        (StorageError("The disk can't be read."), CallResult("failed", "The disk can't be read.")),
    ],
)
async def test_what_a_tool_says_becomes_the_result(outcome: ToolOutcome | Exception, result: CallResult) -> None:
    tool = ScriptedTool(script=[outcome])
    assert await run(tool) == result
    assert (tool.asked, tool.contexts) == ([{"a": 1}], [CONTEXT])


@pytest.mark.parametrize("name", ["Look", "look ", "", "peek"])
async def test_only_a_tool_of_exactly_this_name_is_run(name: str) -> None:
    tool = ScriptedTool()
    assert await run(tool, name) == CallResult("denied", NO_SUCH_TOOL)
    assert tool.asked == []
    assert not ToolRunner([tool]).offers(name)


class Odd:
    """Nothing that JSON knows."""


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("script", [KeyError("secret"), ToolOutcome(Odd()), ToolOutcome(nested(5_000))])
async def test_a_broken_tool_fails_its_call_and_is_logged_once(
    script: ToolOutcome | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    assert await run(ScriptedTool(script=[script])) == CallResult("failed", BROKEN_TOOL)
    (record,) = caplog.records
    assert record.getMessage() == "the tool look broke"
    caplog.clear()


@pytest.mark.parametrize(
    "output", ["a\ud800b", {"a": (1, 2), "b": "\udfff"}, {"n": float("nan")}, nested(100), 2**70, None]
)
async def test_an_output_is_what_any_reader_of_the_history_finds(output: object) -> None:
    result = await run(ScriptedTool(script=[ToolOutcome(output)]))
    part = ToolPart(call_id="c", name="look", input={}, state="done", output=result.output)
    row = decode_line(encode_row(Row(id="r", session="s", role="assistant", parts=(part,))))
    assert isinstance(row, Row)
    (read,) = row.parts
    assert isinstance(read, ToolPart)
    assert read.output == result.output


async def test_a_cancellation_reaches_the_tool_and_is_not_swallowed() -> None:
    hold = Hold()
    tool = ScriptedTool(script=[hold])
    running = asyncio.get_running_loop().create_task(run(tool))
    await hold.reached()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert tool.cancelled == 1


async def test_a_late_tool_is_made_at_its_first_call_and_only_once() -> None:
    tool = ScriptedTool(script=[ToolOutcome("one"), ToolOutcome("two")])
    made: list[ScriptedTool] = []

    def make() -> ScriptedTool:
        made.append(tool)
        return tool

    late = LateTool(tool.spec, make)
    assert (late.spec, made) == (tool.spec, [])
    runner = ToolRunner([late])
    assert [await runner.run("look", {}, CONTEXT) for _ in range(2)] == [
        CallResult("done", "one"),
        CallResult("done", "two"),
    ]
    assert made == [tool]
