"""What was heard of replies that run, in chats that may not even be open."""

from app.domain.approvals import Question
from app.domain.chats import TurnState
from app.domain.events import (
    ApprovalAsked,
    ApprovalEnded,
    ReplyStarted,
    SessionEvent,
    StateChanged,
    ToolEnded,
    ToolStarted,
)
from app.ui.chat.items import ToolCall
from app.ui.chat.live import LiveReplies

QUESTION = Question("Change 3 lines of plan.md", "+new", "edit_file")


def asked(call_id: str = "c1") -> ApprovalAsked:
    return ApprovalAsked("s", "r", call_id, "edit_file", {"path": "plan.md"}, QUESTION)


def started(call_id: str = "c1", name: str = "edit_file") -> ToolStarted:
    return ToolStarted("s", "r", call_id, name, {"path": "plan.md"})


def ended(call_id: str = "c1", *, seconds: float | None = None, diff: str = "") -> ToolEnded:
    return ToolEnded("s", "r", call_id, "edit_file", "done", "ok", seconds, diff)


def heard(*events: SessionEvent) -> LiveReplies:
    live = LiveReplies()
    for event in (StateChanged("s", TurnState.STREAMING), ReplyStarted("s", "r", "p/m"), *events):
        live.hear(event)
    return live


def calls(live: LiveReplies) -> list[ToolCall]:
    reply = live.reply("s")
    assert reply is not None
    return [section.tool for section in reply.sections() if section.tool is not None]


def test_a_question_is_kept_until_it_is_answered() -> None:
    live = heard(asked())
    assert live.questions("s") == (asked(),)
    assert live.questions("other") == ()
    [call] = calls(live)
    assert (call.state, call.question, call.diff) == ("asking", QUESTION, "+new")
    live.hear(ApprovalEnded("s", "r", "c1"))
    assert live.questions("s") == ()
    [call] = calls(live)
    assert (call.state, call.question, call.diff) == ("waiting", None, "+new")
    live.hear(started())
    assert [call.state for call in calls(live)] == ["running"]
    live.hear(ended(seconds=1.5, diff="+newer"))
    [call] = calls(live)
    assert (call.state, call.seconds, call.diff) == ("done", 1.5, "+newer")


def test_questions_keep_the_order_they_were_asked_in() -> None:
    live = heard(asked("c2"), asked("c1"), asked("c3"), ApprovalEnded("s", "r", "c1"))
    assert [each.call_id for each in live.questions("s")] == ["c2", "c3"]


def test_a_turn_that_ends_takes_its_questions_with_it() -> None:
    live = heard(asked())
    live.hear(StateChanged("s", TurnState.ASKING))
    assert live.questions("s")
    live.hear(StateChanged("s", TurnState.IDLE))
    assert live.questions("s") == ()


def test_calls_side_by_side_each_have_their_own_state() -> None:
    live = heard(started("c1"), started("c2"), started("c3"), ended("c2"))
    assert [call.state for call in calls(live)] == ["running", "done", "running"]
    live.hear(ended("c1"))
    assert [call.state for call in calls(live)] == ["done", "done", "running"]


def test_a_question_of_a_call_that_runs_leaves_it_running() -> None:
    live = heard(started(), asked(), ApprovalEnded("s", "r", "c1"))
    assert [call.state for call in calls(live)] == ["running"]
    live.hear(ApprovalEnded("s", "r", "unheard"))
    assert len(calls(live)) == 1


def test_a_call_that_was_not_seen_running_has_no_time_of_its_own() -> None:
    assert [call.seconds for call in calls(heard(ended()))] == [None]
    [call] = calls(heard(started(), ended()))
    assert call.seconds is not None
