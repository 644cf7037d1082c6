from PySide6.QtWidgets import QMessageBox

from app.domain.rows import Flag
from app.providers.base import TextPiece
from app.ui.chat.items import ItemAction
from tests.fakes.scripted import Hold, reply
from tests.ui.conftest import Desk


def _box(desk: Desk) -> QMessageBox:
    found = desk.window.findChild(QMessageBox)
    assert found is not None
    return found


def test_a_soft_clear_asks_and_then_draws_a_line(desk: Desk) -> None:
    desk.provider.play(reply("Noted."))
    desk.say("The code word is heron.")
    desk.window.actions_.clear_softly.trigger()
    box = _box(desk)
    assert box.defaultButton() is box.button(QMessageBox.StandardButton.Cancel)
    next(button for button in box.buttons() if button.text() == "Start afresh").click()
    desk.until(lambda: len(desk.rows()) == 3)
    desk.idle()
    assert "heron" in desk.shown(), "everything stays readable"
    assert "Started afresh" in desk.spoken()
    desk.until(lambda: not desk.window.page.composer.field.isReadOnly())
    desk.provider.play(reply("Which one?"))
    desk.say("What is the code word?")
    assert "heron" not in repr(desk.provider.requests[-1])


def test_cancel_clears_nothing(desk: Desk) -> None:
    desk.provider.play(reply("ok"))
    desk.say("hi")
    desk.window.actions_.clear_softly.trigger()
    box = _box(desk)
    box.button(QMessageBox.StandardButton.Cancel).click()
    desk.until(lambda: desk.window.findChild(QMessageBox) is None)
    assert len(desk.rows()) == 2


def test_the_menu_says_why_nothing_can_be_cleared(desk: Desk) -> None:
    action = desk.window.actions_.clear_softly
    assert not action.isEnabled()
    assert action.toolTip() == "There is nothing here that the model could forget."
    hold = Hold()
    desk.provider.play([TextPiece("half"), hold, *reply(" more")])
    desk.type("first")
    desk.window.page.composer.submit()
    desk.reached(hold)
    assert not action.isEnabled()
    assert action.toolTip().startswith("A reply is being written.")
    hold.release()
    desk.until(action.isEnabled)
    desk.idle()
    desk.window.controller.reset_context()
    desk.until(lambda: len(desk.rows()) == 3)
    desk.until(lambda: not action.isEnabled())
    desk.restart()
    assert not desk.window.actions_.clear_softly.isEnabled(), "nothing was said since"


def test_a_reply_above_the_line_is_not_gone_on_with(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([TextPiece("half"), hold])
    desk.type("first")
    desk.window.page.composer.submit()
    desk.reached(hold)
    desk.window.controller.stop()
    desk.until(lambda: len(desk.rows()) == 2)
    desk.until(lambda: desk.window.controller.may_resume)
    assert Flag.INTERRUPTED in desk.rows()[-1].flags
    desk.window.controller.reset_context()
    desk.until(lambda: len(desk.rows()) == 3)
    desk.until(lambda: not desk.window.controller.is_streaming)
    assert not desk.window.controller.may_resume
    actions = [action for node in desk.window.page.transcript.nodes for action in node.item.actions]
    assert ItemAction.CONTINUE not in actions
