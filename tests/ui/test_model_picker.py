"""The model picker: with the keyboard, on real chats."""

import json
import time

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication

from app.domain.chats import Access
from app.domain.models import Abilities, ModelCard, Prices
from app.history.files import ChatFiles
from app.ui.picker.entries import EntryKind, Offer, limit_text, list_entries, price_text
from app.ui.picker.matching import match_model
from app.ui.picker.panel import ModelPicker
from tests.fakes.scripted import Hold, ScriptedProvider, reply
from tests.ui.conftest import Desk


def card(name: str, **more: object) -> ModelCard:
    values: dict[str, object] = {
        "id": name.lower().replace(" ", "-"),
        "provider": "scripted",
        "name": name,
        "limit": 200_000,
        "max_output": 1_000,
        "factor": 1.0,
    }
    return ModelCard(**(values | more))  # type: ignore[arg-type]


SECOND = card(
    "Second model",
    prices=Prices(input=3, output=15),
    abilities=Abilities(sees_pictures=True, reads_pdf=True, reasons=True),
)
THIRD = card("Third model", limit=None)


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider(more=(SECOND, THIRD))


def open_picker(desk: Desk) -> ModelPicker:
    desk.press(Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    picker = desk.window._picker
    assert picker is not None
    assert picker.isVisible()
    assert QApplication.focusWidget() is picker.search
    return picker


def listed(picker: ModelPicker) -> list[str]:
    return [entry.text for entry in picker.model.entries]


def model_on_disk(desk: Desk) -> str:
    path = ChatFiles(desk.root / "sessions" / desk.session).meta
    return str(json.loads(path.read_text())["model"])


def settings_on_disk(desk: Desk) -> dict[str, dict[str, object]]:
    path = desk.root / "settings.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    assert isinstance(found, dict)
    return found


def choose(desk: Desk, typed: str) -> None:
    picker = open_picker(desk)
    desk.qtbot.keyClicks(picker.search, typed)
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Return)


def test_a_model_chosen_by_keyboard_answers_from_the_next_message_on(desk: Desk) -> None:
    desk.provider.play(reply("one"), reply("two"))
    desk.say("first")
    choose(desk, "secon")
    picker = desk.window._picker
    assert picker is not None
    assert not picker.isVisible()
    assert QApplication.focusWidget() is desk.window.page.composer.field
    desk.until(lambda: model_on_disk(desk) == "scripted/second-model")
    desk.until(lambda: "Second model" in desk.window.page.model_button.text())
    desk.say("second")
    assert [request.model for request in desk.provider.requests] == ["model", "second-model"]
    assert "Scripted model" in desk.spoken()
    assert "Second model" in desk.spoken()
    assert settings_on_disk(desk).get("general", {}).get("default_model", "") == ""


def test_a_model_chosen_in_an_empty_chat_is_that_of_new_chats_too(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    choose(desk, "third")
    desk.until(lambda: settings_on_disk(desk).get("general", {}).get("default_model") == "scripted/third-model")
    desk.say("first")
    desk.restart()
    first = desk.session
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session not in ("", first))
    assert model_on_disk(desk) == "scripted/third-model"


def test_arrows_pass_over_headings_and_enter_takes_the_row(desk: Desk) -> None:
    picker = open_picker(desk)
    assert picker.model.entries[0].kind is EntryKind.HEADING
    assert picker.list.currentIndex().row() == 1, "the chat's own model"
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Up)
    assert picker.list.currentIndex().row() == 1
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Down)
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Return)
    desk.until(lambda: model_on_disk(desk) == "scripted/second-model")


def test_escape_clears_the_search_first_and_then_closes(desk: Desk) -> None:
    picker = open_picker(desk)
    desk.qtbot.keyClicks(picker.search, "zzz")
    assert listed(picker) == ["No model fits “zzz”"]
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Return)
    assert picker.isVisible()
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Escape)
    assert picker.isVisible()
    assert "Third model" in listed(picker)
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Escape)
    assert not picker.isVisible()
    assert QApplication.focusWidget() is desk.window.page.composer.field
    assert model_on_disk(desk) == "scripted/model"


def test_escape_closes_the_picker_and_not_the_reply(desk: Desk) -> None:
    hold = Hold()
    desk.provider.play([hold, *reply("done")])
    desk.type("go on")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    picker = open_picker(desk)
    assert "reply that is being written" in picker._hint.text()
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Escape)
    assert desk.window.controller.is_streaming
    choose(desk, "third")
    desk.until(lambda: model_on_disk(desk) == "scripted/third-model")
    hold.release()
    desk.until(lambda: len(desk.rows()) == 2)
    desk.idle()
    answer = desk.rows()[-1]
    assert answer.request is not None
    assert answer.request.model == "model"


def test_ctrl_d_makes_a_favourite_that_comes_first_and_stays(desk: Desk) -> None:
    picker = open_picker(desk)
    desk.qtbot.keyClicks(picker.search, "third")
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    desk.until(lambda: picker.model.entries[0].card is not None and picker.model.entries[0].card.is_favourite)
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Escape)
    assert listed(picker)[:2] == ["Favourites", "Third model"]
    desk.restart()
    again = open_picker(desk)
    assert listed(again)[:2] == ["Favourites", "Third model"]


def test_a_click_on_a_star_makes_a_favourite_and_one_beside_the_panel_closes(desk: Desk) -> None:
    picker = open_picker(desk)
    row = picker.model.row_of(SECOND.ref)
    assert row is not None
    rect = picker.list.visualRect(picker.model.index(row))
    star = QPoint(rect.right() - 14, rect.center().y())
    desk.qtbot.mouseClick(picker.list.viewport(), Qt.MouseButton.LeftButton, pos=star)
    desk.until(lambda: listed(picker)[:2] == ["Favourites", "Second model"])
    assert picker.isVisible()
    desk.qtbot.mouseClick(picker, Qt.MouseButton.LeftButton, pos=QPoint(20, picker.height() - 20))
    assert not picker.isVisible()
    assert model_on_disk(desk) == "scripted/model"


def test_a_click_on_a_row_chooses_it(desk: Desk) -> None:
    desk.qtbot.mouseClick(desk.window.page.model_button, Qt.MouseButton.LeftButton)
    picker = desk.window._picker
    assert picker is not None
    row = picker.model.row_of(THIRD.ref)
    assert row is not None
    place = picker.list.visualRect(picker.model.index(row)).center()
    desk.qtbot.mouseClick(picker.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    desk.until(lambda: model_on_disk(desk) == "scripted/third-model")


def test_a_screen_reader_hears_what_is_painted(desk: Desk) -> None:
    picker = open_picker(desk)
    row = picker.model.row_of(SECOND.ref)
    assert row is not None
    said = picker.model.index(row).data(Qt.ItemDataRole.AccessibleTextRole)
    for words in ("Second model", "200k", "$3 / $15 per 1M", "sees pictures", "reads PDF files", "reasons"):
        assert words in said
    own = picker.model.index(1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "this chat's model" in own
    button = QAccessible.queryAccessibleInterface(desk.window.page.model_button)
    assert button.text(QAccessible.Text.Name) == "Model: Scripted model"


@pytest.mark.parametrize("words", ["anthropic", "lm stud"])
def test_a_provider_without_a_key_leads_to_the_settings(desk: Desk, words: str) -> None:
    picker = open_picker(desk)
    wanted: list[str] = []
    picker.settings_wanted.connect(wanted.append)
    picker.settings_wanted.disconnect(desk.window._show_models_page)
    assert listed(picker)[-2:] == ["OpenAI: add a key…", "Ollama, LM Studio or another server…"]
    desk.qtbot.keyClicks(picker.search, words)
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Return)
    assert wanted == ["providers"]
    assert not picker.isVisible()


def test_a_chat_held_elsewhere_keeps_its_model(desk: Desk) -> None:
    desk.provider.play(reply("ok"))
    desk.say("first")
    session = desk.session
    desk.close()
    lease = ChatFiles(desk.root / "sessions" / session).lease
    lease.take()
    try:
        desk.program = desk.show()
        desk.until(lambda: bool(desk.window.controller.session))
        button = desk.window.page.model_button
        desk.until(lambda: not button.isEnabled())
        assert "can only be read" in button.toolTip()
        assert "▾" not in button.text()
        desk.press(Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
        assert desk.window._picker is None
        assert desk.window.controller._access is Access.HELD_ELSEWHERE
    finally:
        desk.close()
        lease.release()


def test_a_model_that_is_gone_is_named_and_another_can_be_chosen(desk: Desk) -> None:
    desk.provider.play(reply("ok"))
    choose(desk, "second")
    desk.until(lambda: model_on_disk(desk) == SECOND.ref)
    desk.say("first")
    desk.provider.more = (THIRD,)
    desk.restart()
    button = desk.window.page.model_button
    assert "second-model" in button.text()
    assert not button.icon().isNull()
    assert "no longer on offer" in button.toolTip()
    choose(desk, "third")
    desk.until(lambda: model_on_disk(desk) == THIRD.ref)
    desk.until(lambda: button.icon().isNull())


def test_five_hundred_models_are_listed_at_once(desk: Desk) -> None:
    desk.close()
    desk.provider.more = tuple(card(f"Vendor {n % 25} model {n}") for n in range(500))
    desk.program = desk._start()
    began = time.perf_counter()
    picker = open_picker(desk)
    desk.qtbot.keyClicks(picker.search, "model 49")
    assert time.perf_counter() - began < 2, "ten times what it takes here"
    assert listed(picker)[0] == "Vendor 24 model 49"
    assert len(picker.findChildren(type(picker.search))) == 1, "no widget a row"


def test_a_narrow_window_shows_all_of_the_panel(desk: Desk) -> None:
    desk.window.resize(360, 420)
    picker = open_picker(desk)
    assert desk.window.rect().contains(picker._panel.geometry())
    assert picker.list.viewport().height() >= 100


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("son 4", "Claude Sonnet 4"),
        ("opus", "Claude Opus 4"),
        ("cson4", "Claude Sonnet 4"),
        ("vendor", "Claude Opus 4"),
        ("gpt", "GPT-9"),
    ],
)
def test_the_best_fit_comes_first(query: str, best: str) -> None:
    cards = (
        card("Claude Opus 4", provider_name="Vendor"),
        card("Claude Sonnet 4"),
        card("A model like GPT-9"),
        card("GPT-9"),
    )
    assert list_entries(Offer(usable=cards), query)[0].text == best


def test_the_letters_that_were_typed_are_known() -> None:
    found = match_model("net", card("Claude Sonnet 4"))
    assert found is not None
    assert found.places == (10, 11, 12)
    assert match_model("xyz", card("Claude Sonnet 4")) is None


def test_a_model_is_found_by_its_own_name_whatever_letters_it_has() -> None:
    for query in ("Weiß", "WEIß", "weiß 🧵"):
        found = match_model(query, card("Weiß 🧵", id="w"))
        assert found is not None
        assert found.places[:4] == (0, 1, 2, 3)


def test_limits_and_prices_are_short() -> None:
    assert [limit_text(limit) for limit in (None, 512, 8_192, 200_000, 1_000_000, 1_050_000)] == [
        "limit unknown",
        "512 tokens",
        "8k tokens",
        "200k tokens",
        "1M tokens",
        "1.1M tokens",
    ]
    assert price_text(Prices(input=0.1, output=0.5)) == "$0.10 / $0.50 per 1M"
    assert price_text(Prices(input=0, output=0)) == ""
    assert price_text(Prices(input=3)) == ""
