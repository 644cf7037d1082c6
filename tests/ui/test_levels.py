"""How long the chat's model thinks: chosen below the models or in the menu, seen on the button."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QPushButton

from app.domain.models import Abilities, ModelCard, ThinkingLevel
from app.history.files import ChatFiles
from app.ui.picker.panel import ModelPicker
from tests.fakes.scripted import ScriptedProvider, reply
from tests.ui.conftest import Desk

OFF, LOW, HIGH = ThinkingLevel.OFF, ThinkingLevel.LOW, ThinkingLevel.HIGH


def card(name: str, *levels: ThinkingLevel) -> ModelCard:
    return ModelCard(
        id=name,
        provider="scripted",
        name=name.title(),
        limit=200_000,
        max_output=1_000,
        factor=1.0,
        abilities=Abilities(reasons=True),
        levels=levels,
    )


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider(more=(card("thinker", OFF, LOW, HIGH), card("other", LOW)))


def open_picker(desk: Desk) -> ModelPicker:
    desk.press(Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    picker = desk.window._picker
    assert picker is not None
    assert picker.isVisible()
    return picker


def choose_model(desk: Desk, name: str) -> None:
    picker = open_picker(desk)
    desk.qtbot.keyClicks(picker.search, name)
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Return)
    desk.until(lambda: desk.window.chats.open_model() == f"scripted/{name}")


def level_on_disk(desk: Desk) -> str:
    return str(json.loads(ChatFiles(desk.root / "sessions" / desk.session).meta.read_text())["level"])


def offered(picker: ModelPicker) -> list[str]:
    if not picker.levels.isVisible():
        return []
    return [button.text() for button in picker.levels.findChildren(QPushButton) if button.isVisible()]


def chosen(picker: ModelPicker) -> list[str]:
    return [button.text() for button in picker.levels.findChildren(QPushButton) if button.isChecked()]


def focused() -> QPushButton:
    widget = QApplication.focusWidget()
    assert isinstance(widget, QPushButton)
    return widget


def test_a_level_is_chosen_below_the_models_by_keyboard(desk: Desk) -> None:
    choose_model(desk, "thinker")
    picker = open_picker(desk)
    assert offered(picker) == ["Standard", "Off", "Low", "High"]
    assert chosen(picker) == ["Standard"]

    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Tab)
    assert focused().text() == "Standard"
    desk.qtbot.keyClick(focused(), Qt.Key.Key_Right)
    desk.qtbot.keyClick(focused(), Qt.Key.Key_Right)
    desk.until(lambda: level_on_disk(desk) == "low")
    desk.until(lambda: desk.window.page.model_button.text().startswith("Thinker · low"))
    assert focused().text() == "Low"
    desk.qtbot.keyClick(focused(), Qt.Key.Key_End)
    desk.qtbot.keyClick(focused(), Qt.Key.Key_Tab)
    assert focused().text() == "Manage models…"
    desk.qtbot.keyClick(focused(), Qt.Key.Key_Escape)

    assert not picker.isVisible()
    button = QAccessible.queryAccessibleInterface(desk.window.page.model_button)
    assert button.text(QAccessible.Text.Name) == "Model: Thinker, thinking: low"


def test_a_model_without_levels_offers_none(desk: Desk) -> None:
    picker = open_picker(desk)

    assert offered(picker) == []
    assert not desk.window.actions_.thinking.isVisible()
    desk.qtbot.keyClick(picker.search, Qt.Key.Key_Tab)
    assert focused().text() == "Manage models…"


def test_the_menu_offers_the_same(desk: Desk) -> None:
    choose_model(desk, "thinker")
    assert desk.window.actions_.thinking.isVisible()

    menu = desk.window.levels.menu
    menu.aboutToShow.emit()
    assert [(action.text(), action.isChecked()) for action in menu.actions()] == [
        ("Standard", True),
        ("Off", False),
        ("Low", False),
        ("High", False),
    ]
    menu.actions()[1].trigger()
    desk.until(lambda: level_on_disk(desk) == "off")
    desk.until(lambda: desk.window.page.model_button.text().startswith("Thinker · no thinking"))
    menu.aboutToShow.emit()
    menu.actions()[0].trigger()

    desk.until(lambda: level_on_disk(desk) == "")
    desk.until(lambda: not desk.window.levels.current)


def test_the_level_goes_with_the_request_and_a_model_that_lacks_it_takes_its_own(desk: Desk) -> None:
    desk.provider.play(reply("one"), reply("two"), reply("three"))
    choose_model(desk, "thinker")
    desk.window.levels.choose("high")
    desk.until(lambda: desk.window.levels.current == "high")
    desk.say("first")

    choose_model(desk, "other")
    assert desk.window.levels.current == ""
    assert "·" not in desk.window.page.model_button.text()
    desk.say("second")
    choose_model(desk, "thinker")
    assert desk.window.levels.current == "high"
    desk.say("third")

    assert [request.level for request in desk.provider.requests] == [HIGH, None, HIGH]
