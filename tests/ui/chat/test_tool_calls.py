"""Calls of tools while they happen, in a real window."""

from app.domain.chats import TurnState
from app.domain.events import ToolEnded, ToolStarted
from app.providers.base import StopPiece, StopReason, TextPiece, ToolEndPiece, ToolStartPiece
from app.session.steps import MAX_STEPS
from app.tools.base import ToolOutcome
from app.ui.chat.items import ItemAction, ToolCall
from tests.fakes.scripted import Hold, ScriptedTool, calls, reply
from tests.ui.conftest import Desk


def _calls(desk: Desk) -> list[ToolCall]:
    sections = [section for node in desk.window.page.transcript.nodes for section in node.sections]
    return [section.tool for section in sections if section.tool is not None]


def test_a_call_of_a_tool_that_is_not_there_says_so(desk: Desk) -> None:
    call = (ToolStartPiece("c1", "weather"), ToolEndPiece("c1", {"city": "Kyoto"}))
    desk.provider.play([TextPiece("I look."), *call, StopPiece(StopReason.TOOL_USE)])
    desk.type("How is the weather?")
    desk.window.page.composer.submit()
    desk.until(lambda: len(desk.rows()) == 2)
    desk.idle()
    assert "I look.\n\n[weather · “Kyoto” · not allowed]" in desk.shown()
    assert [(tool.name, tool.state) for tool in _calls(desk)] == [("weather", "denied")]


def test_a_call_is_shown_while_it_runs_also_after_another_chat(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([TextPiece("I look."), hold, *reply(" Done.")])
    desk.type("search it")
    desk.window.page.composer.submit()
    desk.reached(hold)
    window, session = desk.window, desk.session
    desk.until(lambda: window._live.reply(session) is not None)
    running = window._live.reply(session)
    assert running is not None
    window._hear((ToolStarted(session, running.row_id, "c1", "session_history", {"action": "search", "query": "a"}),))
    assert desk.spoken().endswith("I look.\n\n[Search the chat for “a” · running…]")
    window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session != session)
    window.chats.open(session)
    desk.until(lambda: desk.session == session)
    assert [tool.state for tool in _calls(desk)] == ["running"]
    window._hear((ToolEnded(session, running.row_id, "c1", "session_history", "done", {"hits": []}),))
    window._hear((ToolEnded(session, running.row_id, "c2", "unheard", "denied", "Not here."),))
    assert [(tool.name, tool.state, tool.output) for tool in _calls(desk)] == [
        ("session_history", "done", {"hits": []}),
        ("unheard", "denied", "Not here."),
    ]
    hold.release()
    desk.until(lambda: len(desk.rows()) == 2)
    desk.idle()


def test_calls_that_run_side_by_side_each_show_their_own_state(desk: Desk) -> None:
    holds = [Hold(), Hold()]
    for name, hold in zip(("look", "peek"), holds, strict=True):
        desk.tools.append(ScriptedTool(name, [hold, ToolOutcome(f"{name} is done")], reads=True))
    desk.provider.play(calls(("look", {}), ("peek", {}), ("gone", {})), reply("Done."))
    desk.type("look and peek")
    desk.window.page.composer.submit()
    for hold in holds:
        desk.reached(hold)
    states = {"look": "running", "peek": "running", "gone": "denied"}
    desk.until(lambda: {tool.name: tool.state for tool in _calls(desk)} == states)
    holds[1].release()
    desk.until(lambda: {tool.name: tool.state for tool in _calls(desk)} == states | {"peek": "done"})
    holds[0].release()
    desk.until(lambda: len(desk.rows()) == 3)
    desk.idle()
    assert {tool.name: tool.output for tool in _calls(desk) if tool.state == "done"} == {
        "look": "look is done",
        "peek": "peek is done",
    }
    assert all(tool.seconds is not None for tool in _calls(desk) if tool.state == "done")


def test_a_model_that_calls_without_an_end_is_stopped_visibly_and_may_go_on(desk: Desk) -> None:
    desk.tools.append(ScriptedTool("look"))
    desk.provider.play(*[calls(("look", {}))] * MAX_STEPS, reply("Enough."))
    desk.type("look for ever")
    desk.window.page.composer.submit()
    # A hundred steps, each on disk before the next: a busy machine takes its time over them.
    desk.qtbot.waitUntil(lambda: desk.window._live.state(desk.session) is TurnState.IDLE, timeout=40_000)
    desk.idle()
    node = desk.window.page.transcript.nodes[-1]
    assert f"called tools {MAX_STEPS} times in a row" in node.item.note
    assert not node.item.is_error
    assert node.item.actions == (ItemAction.CONTINUE,)
    desk.window.actions_.resume.trigger()
    desk.until(lambda: "Enough." in desk.shown())
    desk.idle()
    assert desk.window.page.transcript.nodes[-1].item.actions == ()
