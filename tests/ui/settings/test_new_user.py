"""As somebody who starts Muntin for the first time, with a server on this computer and no key."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QPushButton

from app.domain.rows import Flag
from app.providers.discovery import Ports
from app.ui.chat.items import ItemAction
from tests.fakes.farend import Cut, FarEndThread, Stall, error, reply
from tests.fakes.scripted import reply as scripted_reply
from tests.ui.settings.conftest import SettingsDesk


def test_a_local_server_is_found_tested_talked_to_and_left(desk: SettingsDesk) -> None:
    with FarEndThread(look="ollama") as far:
        desk.ports = Ports(ollama=far.port, lmstudio=9)
        desk.restart()
        add_the_server_that_was_found(desk)
        try_what_was_added(desk)
        desk.settings.close()

        choose_model(desk, "far-large")
        far.play(reply("Kyoto has ", "many temples."))
        desk.say("What is in Kyoto?")
        assert [row.text for row in desk.rows()] == ["What is in Kyoto?", "Kyoto has many temples."]

        # The plug is pulled in mid-reply.
        far.play(reply("The oldest ", Cut("reset")))
        desk.say("Which is the oldest?")
        assert desk.rows()[-1].text == "The oldest "
        assert desk.rows()[-1].flags == (Flag.FAILED,)
        assert "broke off. What came before is kept." in desk.spoken()
        assert desk.window.actions_.resume.isEnabled()

    # The server is gone for good: another model goes on, with all that was said.
    choose_model(desk, "Scripted model")
    desk.provider.play(scripted_reply("is Shitennō-ji, in Osaka."))
    desk.window.page.transcript.action_triggered.emit("", ItemAction.CONTINUE)
    desk.until(lambda: len(desk.rows()) == 6)
    desk.idle()
    (request,) = desk.provider.requests
    assert [row.text for row in request.rows][:4] == [
        "What is in Kyoto?",
        "Kyoto has many temples.",
        "Which is the oldest?",
        "The oldest ",
    ]
    assert desk.rows()[-1].text == "is Shitennō-ji, in Osaka."


def test_stop_reaches_the_server_before_the_first_word(desk: SettingsDesk) -> None:
    with FarEndThread(look="ollama") as far:
        desk.ports = Ports(ollama=far.port, lmstudio=9)
        desk.restart()
        add_the_server_that_was_found(desk)
        desk.settings.close()
        choose_model(desk, "far-large")
        far.play(reply("never").but(Stall()))
        desk.type("hello")
        desk.press(Qt.Key.Key_Return)
        desk.until(lambda: far.stalled == 1)
        asked = far.requests[-1]
        desk.press(Qt.Key.Key_Escape)
        desk.qtbot.waitUntil(lambda: asked.is_disconnected, timeout=1_000)
        desk.idle()
        assert "Interrupted before the first word." in desk.spoken()


def add_the_server_that_was_found(desk: SettingsDesk) -> None:
    page = desk.open_settings().providers
    desk.settings.open_page(page)

    def button() -> QPushButton | None:
        buttons = (each for each in page.findChildren(QPushButton) if each.isVisible())
        return next((each for each in buttons if each.accessibleName() == "Add Ollama"), None)

    desk.until(lambda: button() is not None)
    found = button()
    assert found is not None
    desk.click(found)
    desk.until(lambda: page.form is not None)
    desk.until(lambda: bool(desk.endpoint("ollama")["models"]))


def try_what_was_added(desk: SettingsDesk) -> None:
    form = desk.form()
    desk.click(form.test.button)
    desk.until(lambda: "It works" in form.test.state.text())
    assert "✗" not in form.test.text()


def choose_model(desk: SettingsDesk, name: str) -> None:
    desk.window.activateWindow()
    desk.until(desk.window.isActiveWindow)
    desk.press(Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    picker = desk.window._picker
    assert picker is not None
    assert picker.isVisible()
    desk.until(lambda: any(name == entry.text for entry in picker.model.entries))
    desk.qtbot.keyClicks(picker.search, name)
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Return)
    desk.until(lambda: desk.window.page.model_button.text().startswith(name))
    assert QApplication.focusWidget() is desk.window.page.composer.field
    assert QAccessible.queryAccessibleInterface(desk.window.page.model_button) is not None


def test_an_error_about_the_key_leads_to_the_provider_it_came_from(desk: SettingsDesk) -> None:
    with FarEndThread(look="ollama") as far:
        desk.ports = Ports(ollama=far.port, lmstudio=9)
        desk.restart()
        add_the_server_that_was_found(desk)
        desk.settings.close()
        choose_model(desk, "far-large")
        far.play(error(401))
        desk.say("hello")
        assert "did not accept the key" in desk.spoken()
        desk.window.page.transcript.action_triggered.emit("", ItemAction.SETTINGS)
        desk.until(lambda: desk.settings.providers.form is not None)
        form = desk.form()
        assert form.endpoint_id == "ollama"
