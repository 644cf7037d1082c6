"""Quitting while the settings wait for somebody."""

import asyncio
import time

from app.bootstrap import QUIT_SECONDS
from app.ui.settings.endpoint_form import EndpointForm
from app.ui.settings.new_endpoint import NewEndpointForm
from tests.fakes.farend import FarEndThread, Stall, json_answer, reply
from tests.ui.settings.conftest import SettingsDesk


def add_server(desk: SettingsDesk, url: str) -> EndpointForm:
    window = desk.open_settings()
    window.open_page(window.providers)
    desk.click(window.providers.add_chat)
    new = window.providers.form
    assert isinstance(new, NewEndpointForm)
    desk.qtbot.keyClicks(new.name, "My server")
    desk.qtbot.keyClicks(new.address.field, url)
    desk.click(new.add)
    desk.saved(lambda _: desk.endpoint("my-server")["models"])
    form = desk.form()
    desk.until(form.refresh.isEnabled)
    return form


def quit_soon(desk: SettingsDesk) -> None:
    begun = time.monotonic()
    desk.window.close()
    closing = asyncio.get_running_loop().create_task(desk.program.close())
    desk.until(lambda: closing.done() and not len(desk.program.tasks))
    assert closing.result()
    assert time.monotonic() - begun < QUIT_SECONDS + 0.6


def test_quitting_does_not_wait_for_the_prompt_of_a_key_store(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.store.answered.clear()
    desk.qtbot.keyClicks(form.key.field, "sk-test-0123456789")
    desk.click(form.key.save)
    desk.until(lambda: desk.store.waiting > 0)
    quit_soon(desk)
    desk.store.answered.set()


def test_quitting_does_not_wait_for_a_test_or_a_list(desk: SettingsDesk) -> None:
    with FarEndThread() as far:
        form = add_server(desk, far.url)
        far.play(reply("OK").but(Stall()))
        far.play(json_answer({}).but(Stall(before_headers=True)), path="/models")
        desk.click(form.refresh)
        desk.until(lambda: far.stalled == 1)
        desk.click(form.test.button)
        desk.until(lambda: far.stalled == 2)
        quit_soon(desk)
