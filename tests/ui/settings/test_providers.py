import stat

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QWidget

from app.domain.connections import KeyPlace
from app.providers.discovery import Ports
from app.ui.settings.edits import change_part
from app.ui.settings.endpoint_form import EndpointForm
from app.ui.settings.new_endpoint import NewEndpointForm
from tests.fakes.farend import FarEndThread, Stall, error, reply
from tests.fakes.scripted import reply as scripted_reply
from tests.ui.settings.conftest import FailingStore, SettingsDesk

KEY = "sk-test-0123456789-abcd"

# Keys


def test_a_key_goes_into_the_key_store_and_nowhere_else(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    assert form.key.sentence.text() == "No key yet"
    assert form.key.place.currentText() == "Keep it in Test store"
    desk.qtbot.keyClicks(form.key.field, KEY)
    assert form.key.field.displayText() != KEY
    assert KEY not in "".join(_said(desk.settings))
    desk.click(form.key.save)
    desk.until(lambda: form.key.sentence.text() == "Saved in Test store (…abcd)")
    assert list(desk.store.kept.values()) == [KEY]
    assert form.key.field.text() == ""
    assert KEY not in "".join(path.read_text("utf-8", "replace") for path in desk.root.rglob("*") if path.is_file())
    desk.click(form.back)
    desk.until(lambda: "Saved in Test store" in desk.settings.providers.cards["openai"].state_text())


def test_the_letters_of_a_key_are_shown_on_demand_only(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.qtbot.keyClicks(form.key.field, KEY)
    assert form.key.field.echoMode() is QLineEdit.EchoMode.Password
    desk.click(form.key.show_key)
    assert form.key.field.echoMode() is QLineEdit.EchoMode.Normal
    desk.choose(form.key.place, KeyPlace.SESSION)
    desk.click(form.key.save)
    desk.until(lambda: "Only for this session" in form.key.sentence.text())
    assert form.key.field.echoMode() is QLineEdit.EchoMode.Password
    assert desk.store.kept == {}


def test_a_key_goes_into_a_file_only_after_a_worded_question(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.qtbot.keyClicks(form.key.field, KEY)
    desk.choose(form.key.place, KeyPlace.FILE)
    desk.click(form.key.save)
    assert "not encrypted" in desk.answer("Cancel")
    assert not (desk.root / "keys.json").exists()
    assert form.key.field.text() == KEY
    desk.click(form.key.save)
    desk.answer("Keep it in a file")
    desk.until(lambda: "in a file" in form.key.sentence.text())
    assert stat.S_IMODE((desk.root / "keys.json").stat().st_mode) == 0o600


def test_a_key_can_be_removed(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    assert not form.key.remove.isVisible()
    desk.qtbot.keyClicks(form.key.field, KEY)
    desk.click(form.key.save)
    desk.until(form.key.remove.isVisible)
    desk.click(form.key.remove)
    desk.until(lambda: form.key.sentence.text() == "No key yet")
    assert desk.store.kept == {}


def test_a_key_does_not_go_along_to_another_address(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.qtbot.keyClicks(form.key.field, KEY)
    desk.click(form.key.save)
    desk.until(form.key.remove.isVisible)
    desk.write(form.address.field, "https://gateway.example.com/v1")
    desk.until(lambda: form.key.sentence.text() == "No key yet")
    assert "was entered for api.openai.com:443" in form.key.problem.text()
    desk.write(form.address.field, "https://api.openai.com/v1")
    desk.until(lambda: form.key.sentence.text() == "Saved in Test store (…abcd)")
    assert form.key.problem.text() == ""


def test_a_key_from_outside_is_named_and_can_not_be_changed(desk: SettingsDesk) -> None:
    desk.environ["ANTHROPIC_API_KEY"] = KEY
    desk.restart()
    form = desk.open_provider("anthropic")
    desk.until(lambda: "From ANTHROPIC_API_KEY" in form.key.sentence.text())
    assert "can't be changed here" in form.key.sentence.text()
    assert not form.key.field.isVisible()
    assert not form.key.save.isVisible()
    assert not form.key.remove.isVisible()


def test_a_key_store_that_fails_is_told_and_the_key_stays_in_the_field(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.store.is_failing = True
    desk.qtbot.keyClicks(form.key.field, KEY)
    desk.click(form.key.save)
    desk.until(lambda: desk.settings.notice.text().startswith(FailingStore.reason))
    assert form.key.field.text() == KEY
    assert desk.store.kept == {}
    desk.choose(form.key.place, KeyPlace.SESSION)
    desk.click(form.key.save)
    desk.until(lambda: "Only for this session" in form.key.sentence.text())


def test_a_key_store_that_does_not_answer_is_told_in_the_state(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.qtbot.keyClicks(form.key.field, KEY)
    desk.click(form.key.save)
    desk.until(form.key.remove.isVisible)
    desk.settings.close()
    desk.restart()
    desk.store.is_failing = True
    form = desk.open_provider("openai")
    desk.until(lambda: FailingStore.reason in form.key.problem.text())


def test_without_a_key_store_the_page_says_so_and_offers_the_other_places(
    desk: SettingsDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.store, "name", "")
    form = desk.open_provider("openai")
    places = [form.key.place.itemData(at) for at in range(form.key.place.count())]
    assert places == [KeyPlace.SESSION.value, KeyPlace.FILE.value]
    assert form.key.problem.text()


def test_the_page_of_keys_is_opened_by_the_window(desk: SettingsDesk) -> None:
    form = desk.open_provider("anthropic")
    opened: list[str] = []
    desk.settings.link_activated.disconnect()
    desk.settings.link_activated.connect(opened.append)
    link = next(button for button in form.findChildren(QPushButton) if "console.anthropic.com" in button.text())
    desk.click(link)
    assert opened == ["https://console.anthropic.com/settings/keys"]


# Addresses


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("api.example.com", "Asks https://api.example.com/v1/chat/completions"),
        ("api.example.com/v1", "Asks https://api.example.com/v1/chat/completions"),
        ("https://api.example.com/v1/chat/completions", "Asks https://api.example.com/v1/chat/completions"),
        ("ftp://x", "An address begins with https:// or http://"),
    ],
)
def test_the_address_that_will_be_asked_is_shown_while_one_types(desk: SettingsDesk, typed: str, said: str) -> None:
    window = desk.open_settings()
    window.open_page(window.providers)
    desk.click(window.providers.add_chat)
    form = window.providers.form
    assert isinstance(form, NewEndpointForm)
    assert not form.add.isEnabled()
    desk.qtbot.keyClicks(form.address.field, typed)
    assert form.address.final.text().startswith(said)
    assert form.add.isEnabled() == said.startswith("Asks")


def test_an_open_way_over_the_network_is_warned_of(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.write(form.address.field, "http://api.example.com")
    assert "not encrypted" in form.address.final.text()


def test_an_address_that_can_not_be_used_is_not_saved(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.write(form.address.field, "two words")
    assert form.address.base_url == ""
    desk.write(form.name, "Other")
    desk.saved(lambda _: desk.endpoint("openai")["name"] == "Other")
    assert desk.endpoint("openai")["base_url"] == "https://api.openai.com/v1"


def test_every_detail_of_a_provider_is_saved(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.write(form.address.field, "gateway.example.com/v1")
    desk.choose(form.dialect, "chat")
    desk.write(form.organization, "org-1")
    desk.write(form.project, "proj-1")
    _tick(desk, form.trusting)
    desk.saved(
        lambda _: (
            desk.endpoint("openai").items()
            >= {
                "base_url": "https://gateway.example.com/v1",
                "dialect": "chat",
                "organization": "org-1",
                "project": "proj-1",
                "verify": False,
            }.items()
        )
    )
    desk.until(lambda: "can read your messages and your key" in form.trusting_row.note.text())
    _tick(desk, form.needs_key)
    desk.saved(lambda _: desk.endpoint("openai")["needs_key"] is False)
    desk.until(lambda: not form.key.isVisible())


# Adding, testing, removing


def test_a_server_is_added_tested_and_its_models_listed(desk: SettingsDesk) -> None:
    with FarEndThread() as far:
        window = desk.open_settings()
        window.open_page(window.providers)
        desk.click(window.providers.add_chat)
        new = window.providers.form
        assert isinstance(new, NewEndpointForm)
        desk.qtbot.keyClicks(new.name, "My server")
        desk.qtbot.keyClicks(new.address.field, far.url)
        desk.click(new.add)
        desk.saved(lambda _: desk.endpoint("my-server")["base_url"] == f"{far.url}/v1")
        desk.until(lambda: bool(desk.endpoint("my-server")["models"]))
        form = desk.form()
        assert form.heading.text() == "My server"
        far.play(reply("OK"))
        desk.click(form.test.button)
        assert form.test.button.text() == "Stop the test"
        desk.until(lambda: "It works" in form.test.text())
        assert "✓  The server can be reached" in form.test.text()
        window.open_page(window.models)
        desk.until(lambda: any(ref.startswith("my-server/") for ref in window.models._cards))


def test_a_key_for_an_address_just_entered_is_tried_there_only(desk: SettingsDesk) -> None:
    with FarEndThread() as old, FarEndThread() as new:
        form = _added(desk, old.url)
        _tick(desk, form.needs_key)
        desk.until(form.key.isVisible)
        desk.until(form.refresh.isEnabled)
        before = len(old.requests)
        new.play(reply("OK"))
        desk.qtbot.keyClicks(form.key.field, KEY)
        form.address.field.setFocus()
        form.address.field.selectAll()
        desk.qtbot.keyClicks(form.address.field, new.url)
        desk.click(form.test.button)
        desk.until(lambda: "It works" in form.test.text())
        desk.write(form.address.field, new.url)
        desk.saved(lambda _: desk.endpoint("my-server")["base_url"] == f"{new.url}/v1")
        desk.until(lambda: form._endpoint.base_url == f"{new.url}/v1")
        assert "It works" in form.test.text()
        assert [request.header("authorization") for request in new.requests] == [f"Bearer {KEY}"] * 2
        assert not any(request.has_key for request in old.requests[before:])


def test_a_test_says_which_step_failed(desk: SettingsDesk) -> None:
    with FarEndThread() as far:
        form = _added(desk, far.url)
        far.play(*[error(401)] * 3)
        desk.click(form.test.button)
        desk.until(lambda: "It doesn't work yet" in form.test.text())
        assert "✗  It can be used without a key: no" in form.test.text()
        assert "switch on “Needs a key”" in form.test.text()


def test_a_test_can_be_stopped_and_ends_with_the_window(desk: SettingsDesk) -> None:
    with FarEndThread() as far:
        form = _added(desk, far.url)
        for _ in range(2):
            far.play(*[reply("OK").but(Stall())] * 2)
            desk.click(form.test.button)
            desk.until(lambda: far.stalled > 0)
            desk.click(form.test.button)
            assert form.test.button.text() == "Test"
            assert form.test.text().strip() == ""
            desk.until(lambda: far.stalled == 0)
            far.release()
        far.play(*[reply("OK").but(Stall())] * 2)
        desk.click(form.test.button)
        desk.until(lambda: far.stalled > 0)
        desk.settings.close()
        desk.until(lambda: far.stalled == 0)


def test_servers_on_this_computer_are_found_and_added(desk: SettingsDesk) -> None:
    with FarEndThread(look="ollama") as far:
        desk.ports = Ports(ollama=far.port, lmstudio=9)
        desk.restart()
        page = desk.open_settings().providers
        desk.settings.open_page(page)
        desk.until(lambda: _button_of(page, "Add Ollama") is not None)
        button = _button_of(page, "Add Ollama")
        assert button is not None
        desk.click(button)
        desk.saved(lambda _: desk.endpoint("ollama")["maker"] == "ollama")
        desk.until(lambda: bool(desk.endpoint("ollama")["models"]))
        desk.until(lambda: page.form is not None)
        page.show_list()
        assert _button_of(page, "Add Ollama") is None, "nobody adds the same server twice"
        page.look_around()
        desk.until(page.look_again.isEnabled)
        assert _button_of(page, "Add Ollama") is None
        page.open_endpoint("ollama")
        desk.click(desk.form().remove)
        assert "key" not in desk.answer("Remove")
        desk.until(lambda: _button_of(page, "Add Ollama") is not None)


def test_a_provider_is_removed_with_its_key_after_a_question(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.qtbot.keyClicks(form.key.field, KEY)
    desk.click(form.key.save)
    desk.until(form.key.remove.isVisible)
    desk.click(form.remove)
    assert "delete its key" in desk.answer("Cancel")
    desk.click(form.remove)
    desk.answer("Remove")
    desk.saved(lambda disk: [each["id"] for each in disk["endpoints"]] == ["anthropic"])
    assert desk.store.kept == {}
    page = desk.settings.providers
    desk.until(lambda: page.form is None and list(page.cards) == ["anthropic"])
    again = _button_of(page, "OpenAI")
    assert again is not None
    desk.click(again)
    desk.saved(lambda disk: [each["id"] for each in disk["endpoints"]] == ["anthropic", "openai"])


def test_a_provider_stays_if_its_key_can_not_be_deleted(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.qtbot.keyClicks(form.key.field, KEY)
    desk.click(form.key.save)
    desk.until(form.key.remove.isVisible)
    desk.store.is_failing = True
    desk.click(form.remove)
    desk.answer("Remove")
    desk.until(lambda: desk.settings.notice.text() == FailingStore.reason)
    assert desk.endpoint("openai")


def test_a_long_name_makes_the_list_no_wider(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.write(form.name, " ".join(["WWWWWWW"] * 7))
    page = desk.settings.providers
    desk.saved(lambda _: desk.endpoint("openai")["name"].endswith("W WWWWWWW"))
    page.show_list()
    line = page.fontMetrics().height()
    page.choices.change(change_part("appearance", zoom_percent=200))
    desk.until(lambda: page.fontMetrics().height() > 1.5 * line)
    assert page.minimumSizeHint().width() < 400


def test_a_chat_goes_on_while_the_settings_are_open(desk: SettingsDesk) -> None:
    desk.open_settings()
    desk.provider.play(scripted_reply("ok"))
    desk.say("hello")
    assert [row.text for row in desk.rows()] == ["hello", "ok"]


def _added(desk: SettingsDesk, url: str) -> EndpointForm:
    """Add a server and wait until its models are known."""
    window = desk.open_settings()
    window.open_page(window.providers)
    desk.click(window.providers.add_chat)
    new = window.providers.form
    assert isinstance(new, NewEndpointForm)
    desk.qtbot.keyClicks(new.name, "My server")
    desk.qtbot.keyClicks(new.address.field, url)
    desk.click(new.add)
    desk.until(lambda: isinstance(window.providers.form, EndpointForm))
    desk.saved(lambda _: desk.endpoint("my-server")["models"])
    return desk.form()


def _tick(desk: SettingsDesk, box: QWidget) -> None:
    desk.click(box, QPoint(10, box.height() // 2))


def _button_of(page: QWidget, name: str) -> QPushButton | None:
    buttons = [button for button in page.findChildren(QPushButton) if button.isVisible()]
    return next((button for button in buttons if name in (button.accessibleName(), button.text())), None)


def _said(window: QWidget) -> list[str]:
    """Everything that a tooltip or a screen reader could tell."""
    widgets = [window, *window.findChildren(QWidget), *QApplication.topLevelWidgets()]
    return [text for each in widgets for text in (each.toolTip(), each.accessibleName(), each.accessibleDescription())]
