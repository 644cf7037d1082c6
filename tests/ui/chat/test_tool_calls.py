"""Calls of tools while they happen, in a real window."""

from app.domain.events import ToolEnded, ToolStarted
from app.providers.base import StopPiece, StopReason, TextPiece, ToolEndPiece, ToolStartPiece
from app.ui.chat.items import ToolCall
from tests.fakes.scripted import Hold, reply
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
