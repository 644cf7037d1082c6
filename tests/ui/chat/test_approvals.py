"""Questions of tools, asked and answered in a real window with the session at the other end."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from app.domain.approvals import Question, Verdict
from app.domain.chats import TurnState
from app.domain.events import ApprovalAsked, ApprovalEnded
from app.domain.rows import ToolPart
from app.tools.base import ToolOutcome
from app.tools.text_diff import Change, unified
from app.ui.chat.answer_keys import ANSWER_KEYS
from app.ui.chat.items import ToolCall
from app.ui.chat.targets import Answer, TargetKind
from app.ui.chat.waiting_answers import MOST_SHOWN, WaitingAnswers
from app.ui.chats_model import Mark
from tests.fakes.scripted import Hold, ScriptedTool, calls, reply
from tests.ui.conftest import Desk
from tests.ui.long_chats import LongChat, transcript

DIFF = unified(Change.of("at nine\n", "at eight\n"), "plan.md")
NATIVE = QKeySequence.SequenceFormat.NativeText
QUESTION = Question("Change 1 line of plan.md", DIFF, "change")


@pytest.fixture
def tool(desk: Desk) -> ScriptedTool:
    """A tool that asks before it changes anything."""
    made = ScriptedTool("change", [ToolOutcome("Changed.", diff=DIFF)], asks=QUESTION)
    desk.tools.append(made)
    return made


def ask(desk: Desk, *made: str) -> None:
    """Have the model call tools, and wait until the person is asked."""
    desk.provider.play(calls(*((name, {}) for name in made or ("change",)), text="I change it."), reply("Done."))
    desk.type("Move it to eight")
    desk.window.page.composer.submit()
    desk.until(lambda: desk.window._live.state(desk.session) is TurnState.ASKING)


def shown_calls(desk: Desk) -> list[ToolCall]:
    sections = [section for node in desk.window.page.transcript.nodes for section in node.sections]
    return [section.tool for section in sections if section.tool is not None]


def waiting(desk: Desk) -> WaitingAnswers:
    found = desk.window.page.findChild(WaitingAnswers)
    assert found is not None
    return found


def lines(desk: Desk) -> list[str]:
    return [line.text._whole for line in waiting(desk)._shown]


def click(desk: Desk, verdict: Verdict, number: int = 0) -> None:
    view = desk.window.page.transcript
    targets = [target for _, target in view.on_screen.targets() if target.kind is TargetKind.ANSWER]
    found = [target for target in targets if isinstance(target.payload, Answer) and target.payload.verdict is verdict]
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=found[number].rect.center().toPoint())


def press_keys(desk: Desk, verdict: Verdict) -> None:
    QTest.keySequence(desk.window.page.composer.field, QKeySequence(ANSWER_KEYS[verdict]))


def answers(desk: Desk) -> list[QAction]:
    actions = desk.window.actions_
    return [actions.allow, actions.allow_always, actions.deny]


def parts(desk: Desk) -> list[ToolPart]:
    return [part for row in desk.rows() for part in row.parts if isinstance(part, ToolPart)]


def end(desk: Desk) -> None:
    desk.until(lambda: len(desk.rows()) == 3)
    desk.idle()


def test_a_change_is_made_once_it_is_allowed_in_its_card(desk: Desk, tool: ScriptedTool) -> None:
    ask(desk)
    assert [(call.state, call.diff) for call in shown_calls(desk)] == [("asking", DIFF)]
    assert lines(desk) == ["Muntin asks: Change 1 line of plan.md"]
    assert tool.asked == []
    click(desk, Verdict.ALLOW)
    end(desk)
    assert [context.approved for context in tool.contexts] == [QUESTION]
    assert [(call.state, call.question, call.diff) for call in shown_calls(desk)] == [("done", None, DIFF)]
    assert "- at nine\n+ at eight" in desk.shown(), "the card stays open"
    assert not waiting(desk).isVisible()
    assert [part.diff for part in parts(desk)] == [DIFF]


def test_what_is_not_allowed_is_not_done(desk: Desk, tool: ScriptedTool) -> None:
    ask(desk)
    click(desk, Verdict.DENY)
    end(desk)
    assert tool.asked == []
    assert [call.state for call in shown_calls(desk)] == ["denied"]


def test_always_is_not_asked_again_in_the_chat(desk: Desk, tool: ScriptedTool) -> None:
    ask(desk)
    click(desk, Verdict.ALWAYS)
    end(desk)
    desk.provider.play(calls(("change", {})), reply("Again."))
    desk.say("Once more")
    desk.until(lambda: len(desk.rows()) == 6)
    desk.idle()
    assert len(tool.asked) == 2
    assert [call.state for call in shown_calls(desk)] == ["done", "done"]


@pytest.mark.parametrize(("verdict", "state"), [(Verdict.ALLOW, "done"), (Verdict.DENY, "denied")])
def test_the_keys_answer_while_a_message_is_being_typed(
    desk: Desk, tool: ScriptedTool, verdict: Verdict, state: str
) -> None:
    ask(desk)
    field = desk.window.page.composer.field
    assert QApplication.focusWidget() is field, "the question takes the keyboard from nobody"
    desk.type("and then")
    press_keys(desk, verdict)
    end(desk)
    assert [call.state for call in shown_calls(desk)] == [state]
    assert desk.window.page.composer.text() == "and then"


def test_enter_in_the_composer_allows_nothing(desk: Desk, tool: ScriptedTool) -> None:
    ask(desk)
    for modifiers in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier):
        desk.press(Qt.Key.Key_Return, modifiers)
    desk.press(Qt.Key.Key_Space)
    desk.press(Qt.Key.Key_A)
    assert [call.state for call in shown_calls(desk)] == ["asking"]
    assert desk.window._live.questions(desk.session)
    assert tool.asked == []
    press_keys(desk, Verdict.DENY)
    end(desk)


def test_the_menu_answers_only_while_something_waits(desk: Desk, tool: ScriptedTool) -> None:
    assert [action.isEnabled() or action.isVisible() for action in answers(desk)] == [False] * 3
    ask(desk)
    assert [action.isEnabled() and action.isVisible() for action in answers(desk)] == [True] * 3
    assert not any(action.autoRepeat() for action in answers(desk))
    assert QUESTION.summary in answers(desk)[0].toolTip()
    answers(desk)[2].trigger()
    end(desk)
    assert not any(action.isEnabled() for action in answers(desk))


def test_always_is_not_offered_where_nothing_says_what_it_would_allow(desk: Desk, tool: ScriptedTool) -> None:
    tool.asks = Question("Change it")
    ask(desk)
    assert [action.isEnabled() for action in answers(desk)] == [True, False, True]
    desk.window.controller.approvals.answer_first(Verdict.ALWAYS)
    assert [call.state for call in shown_calls(desk)] == ["asking"]
    answers(desk)[2].trigger()
    end(desk)


def test_a_question_that_is_not_on_screen_is_shown_before_it_can_be_allowed(desk: Desk, tool: ScriptedTool) -> None:
    desk.provider.play(reply("words\n\n" * 200))
    desk.say("Tell me much")
    ask(desk)
    view = desk.window.page.transcript
    view.scroll_to_item(view.nodes[0].item.id)
    desk.until(lambda: not view.shows_question("c1"))
    press_keys(desk, Verdict.ALLOW)
    assert view.shows_question("c1")
    assert view.hasFocus()
    assert [call.state for call in shown_calls(desk)] == ["asking"], "nothing is allowed unseen"
    QTest.keyClick(view, Qt.Key.Key_Return)
    desk.until(lambda: len(desk.rows()) == 5)
    desk.idle()
    assert len(tool.asked) == 1


def test_several_questions_are_listed_and_each_leads_to_its_card(desk: Desk, tool: ScriptedTool) -> None:
    other = ScriptedTool("write", asks=Question("Write 12 lines to notes.txt", "", "write"))
    desk.tools.append(other)
    ask(desk, "change", "write")
    assert [call.state for call in shown_calls(desk)] == ["asking", "asking"]
    panel = waiting(desk)
    assert panel._heading.text() == "2 things wait for your answer"
    assert lines(desk) == ["Change 1 line of plan.md", "Write 12 lines to notes.txt"]
    second = panel._shown[1].button
    assert second.accessibleName() == "Show the question: Write 12 lines to notes.txt"
    second.setFocus()
    QTest.keyClick(second, Qt.Key.Key_Space)
    view = desk.window.page.transcript
    focused = view._focus.current()
    assert view.hasFocus()
    assert focused is not None
    assert focused[1].name == "Allow: Write 12 lines to notes.txt"
    QTest.keyClick(view, Qt.Key.Key_Return)
    desk.until(lambda: lines(desk) == ["Muntin asks: Change 1 line of plan.md"])
    press_keys(desk, Verdict.DENY)
    end(desk)
    assert [call.state for call in shown_calls(desk)] == ["denied", "done"]
    assert not panel.isVisible()


def test_a_chat_that_asks_says_so_in_the_list_and_shows_it_when_it_is_opened(desk: Desk, tool: ScriptedTool) -> None:
    ask(desk)
    window, session = desk.window, desk.session
    assert window.chats_model.mark(session) is Mark.ASKING
    row = window.chats_model.row_of(session)
    assert row is not None
    spoken = window.chats_model.index(row).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.endswith(", asks you")
    window.panel.list.grab()
    window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session != session)
    assert not waiting(desk).isVisible()
    assert not any(action.isEnabled() for action in answers(desk))
    window.chats.open(session)
    desk.until(lambda: desk.session == session)
    assert [call.state for call in shown_calls(desk)] == ["asking"]
    assert lines(desk) == ["Muntin asks: Change 1 line of plan.md"]
    click(desk, Verdict.ALLOW)
    end(desk)
    assert window.chats_model.mark(session) is Mark.NONE


def test_stop_takes_the_question_away(desk: Desk, tool: ScriptedTool) -> None:
    ask(desk)
    desk.window.actions_.stop.trigger()
    desk.until(lambda: desk.window._live.state(desk.session) is TurnState.IDLE)
    desk.idle()
    assert not waiting(desk).isVisible()
    assert desk.window.chats_model.mark(desk.session) is Mark.NONE
    assert [call.state for call in shown_calls(desk)] == ["interrupted"]
    assert tool.asked == []


def test_a_question_is_said_aloud_once_with_its_keys(desk: Desk, tool: ScriptedTool) -> None:
    said: list[str] = []
    desk.window.controller.approvals.told.connect(said.append)
    ask(desk)
    desk.window.controller.approvals.look()
    keys = {verdict: QKeySequence(keys).toString(NATIVE) for verdict, keys in ANSWER_KEYS.items()}
    allow, deny = keys[Verdict.ALLOW], keys[Verdict.DENY]
    assert said == [f"Muntin asks: Change 1 line of plan.md. {allow} allows it, {deny} doesn’t."]
    press_keys(desk, Verdict.DENY)
    end(desk)


def test_an_answer_is_given_once(desk: Desk, tool: ScriptedTool) -> None:
    ask(desk)
    for _ in range(3):
        desk.window.controller.approvals.answer("c1", Verdict.ALLOW)
    desk.window.controller.approvals.answer("unheard", Verdict.ALLOW)
    end(desk)
    assert len(tool.asked) == 1


def test_more_questions_than_there_is_room_for_are_counted(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([hold, *reply("Done.")])
    desk.type("go")
    desk.window.page.composer.submit()
    desk.reached(hold)
    window, session = desk.window, desk.session
    desk.until(lambda: window._live.reply(session) is not None)
    running = window._live.reply(session)
    assert running is not None
    ids = [f"c{number}" for number in range(MOST_SHOWN + 2)]
    window._hear(tuple(ApprovalAsked(session, running.row_id, each, "change", {}, QUESTION) for each in ids))
    panel = waiting(desk)
    assert panel._heading.text() == f"{MOST_SHOWN + 2} things wait for your answer"
    assert len(lines(desk)) == MOST_SHOWN
    panel._shown[0].button.setFocus()
    window._hear((ApprovalEnded(session, running.row_id, "c0"),))
    assert len(lines(desk)) == MOST_SHOWN
    focused = QApplication.focusWidget()
    assert isinstance(focused, QPushButton)
    assert focused is panel._shown[0].button, "the keyboard stays among the questions"
    hold.release()
    desk.until(lambda: len(desk.rows()) == 2)
    desk.idle()
    assert not panel.isVisible()


def test_a_question_below_what_is_loaded_is_gone_to_once_the_end_is_read(desk: Desk, tool: ScriptedTool) -> None:
    chat = LongChat(desk, 2_000)
    chat.open()
    chat.show(0)
    hold = Hold()
    desk.provider.play([hold, *calls(("change", {}))], reply("Done."))
    desk.type("Move it to eight")
    desk.window.page.composer.submit()
    desk.reached(hold)
    chat.show(0)
    hold.release()
    desk.until(lambda: desk.window._live.state(desk.session) is TurnState.ASKING)
    assert shown_calls(desk) == []
    assert lines(desk) == ["Muntin asks: Change 1 line of plan.md"]
    waiting(desk)._shown[0].button.click()
    view = transcript(desk)
    desk.until(lambda: view.shows_question("c1"))
    assert view.hasFocus()
    press_keys(desk, Verdict.DENY)
    desk.until(lambda: not desk.window.controller.is_streaming)
    assert [call.state for call in shown_calls(desk)] == ["denied"]
