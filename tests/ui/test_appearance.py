"""Theme and zoom: applied at once, kept, and there before the first paint."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.settings.schema import Settings
from app.ui.appearance import STEPS, Look, next_step, points_of, read_look, system_font
from app.ui.chat.items import Item, Section, Speaker
from app.ui.chat.style import COLUMN_WIDTH
from app.ui.chat.transcript_view import TranscriptView
from app.ui.theme import load_theme, style_sheet
from tests.fakes.scripted import reply
from tests.ui.conftest import Desk

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(autouse=True)
def _own_font(qapp: QApplication) -> Iterator[None]:
    font = QApplication.font()
    yield
    QApplication.setFont(font)


def zoom_on_disk(desk: Desk) -> object:
    path = desk.root / "settings.json"
    return json.loads(path.read_text()).get("appearance", {}).get("zoom_percent") if path.exists() else None


def write_settings(desk: Desk, **appearance: object) -> None:
    desk.root.mkdir(exist_ok=True)
    (desk.root / "settings.json").write_text(json.dumps({"version": 1, "appearance": appearance}))


def shown_points() -> float:
    return points_of(QApplication.font()) / points_of(system_font())


@pytest.mark.parametrize(
    ("content", "look"),
    [
        (b'{"appearance": {"theme": "dark", "zoom_percent": 150}}', Look("dark", 150)),
        (b'{"appearance": {"zoom_percent": 115}}', Look("system", 115)),
        (b'{"appearance": {"theme": "pink", "zoom_percent": 301}}', Look()),
        (b'{"appearance": {"theme": ["dark"], "zoom_percent": true}}', Look()),
        (b'{"appearance": {"theme": "light", "zoom_percent": "200"}}', Look("light", 100)),
        (b'{"appearance": 7}', Look()),
        (b"[1, 2]", Look()),
        (b'{"appearance": {"theme": "da', Look()),
        (b"\xff\xfe\x00", Look()),
        (b"[" * 100_000, Look()),
        (b"", Look()),
    ],
)
def test_whatever_the_file_holds_there_is_a_look(tmp_path: Path, content: bytes, look: Look) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    assert read_look(path) == look


def test_without_a_file_there_is_a_look(tmp_path: Path) -> None:
    assert read_look(tmp_path / "settings.json") == Look()
    assert read_look(tmp_path) == Look()


@pytest.mark.parametrize(
    ("percent", "larger", "smaller"),
    [(50, 60, 50), (100, 110, 90), (115, 120, 110), (190, 200, 180), (200, 225, 190), (225, 250, 200), (300, 300, 275)],
)
def test_the_zoom_goes_in_steps(percent: int, larger: int, smaller: int) -> None:
    assert next_step(percent, larger=True) == larger
    assert next_step(percent, larger=False) == smaller


def test_every_step_can_be_saved() -> None:
    for percent in STEPS:
        Settings.model_validate({"appearance": {"zoom_percent": percent}})


@pytest.mark.parametrize("percent", STEPS)
def test_a_focused_button_is_as_large_as_another(percent: int, qtbot: QtBot) -> None:
    rules = style_sheet(load_theme(dark=False, zoom=percent / 100))
    assert "less(" not in rules
    assert "PX" not in rules
    usual = rules.split("QPushButton, QToolButton {")[1].split("padding: ")[1].split(";")[0]
    focused = rules.split("QPushButton:focus, QToolButton:focus {")[1].split("padding: ")[1].split(";")[0]
    for wide, less in zip(usual.split(), focused.split(), strict=True):
        assert int(wide.removesuffix("px")) + 1 == int(less.removesuffix("px")) + 2


def test_keys_zoom_everything_and_the_zoom_is_kept(desk: Desk) -> None:
    window = desk.window
    desk.press(Qt.Key.Key_Plus, CONTROL)
    desk.press(Qt.Key.Key_Equal, CONTROL)
    assert window.appearance.zoom_percent == 120
    assert shown_points() == pytest.approx(1.2)
    assert points_of(window.page.composer.field.font()) == pytest.approx(1.2 * points_of(system_font()))
    assert window.toast.isVisible()
    assert "120" in window.toast._text.text()
    desk.until(lambda: zoom_on_disk(desk) == 120)
    desk.restart()
    assert desk.window.appearance.zoom_percent == 120
    desk.press(Qt.Key.Key_Minus, CONTROL)
    assert shown_points() == pytest.approx(1.1)
    desk.press(Qt.Key.Key_0, CONTROL)
    assert shown_points() == pytest.approx(1.0)
    desk.until(lambda: zoom_on_disk(desk) == 100)


def test_the_list_of_chats_is_as_wide_again_after_zooming_there_and_back(desk: Desk) -> None:
    window = desk.window
    window.resize(790, 600)
    width = window.panel.width()
    for key in (Qt.Key.Key_Minus,) * 5 + (Qt.Key.Key_Plus,) * 15 + (Qt.Key.Key_0,):
        desk.press(key, CONTROL)
    desk.until(lambda: window.panel.width() == width)


def test_a_zoom_just_before_the_end_is_kept(desk: Desk) -> None:
    desk.press(Qt.Key.Key_Plus, CONTROL)
    assert zoom_on_disk(desk) is None
    desk.close()
    assert zoom_on_disk(desk) == 110


def test_theme_and_zoom_are_there_before_the_first_paint(desk: Desk) -> None:
    desk.close()
    write_settings(desk, theme="dark", zoom_percent=200)
    desk.program = desk.show()
    assert not desk.program.engine.is_running, "nobody could have asked for the settings yet"
    window = desk.window
    picture = window.grab().toImage()
    assert picture.pixelColor(5, picture.height() // 2) == load_theme(dark=True).surface
    assert points_of(window.font()) == pytest.approx(2 * points_of(system_font()))
    desk.until(lambda: bool(window.controller.session))


def test_a_chosen_theme_stays_whatever_the_system_does(desk: Desk) -> None:
    desk.close()
    write_settings(desk, theme="dark")
    desk.program = desk._start()
    hints = QGuiApplication.styleHints()
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)
    dark, light = load_theme(dark=True), load_theme(dark=False)
    assert desk.window.page.transcript.theme.surface == dark.surface
    change_settings(desk, theme="system")
    desk.until(lambda: desk.window.page.transcript.theme.surface == light.surface)
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert desk.window.page.transcript.theme.surface == dark.surface
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert desk.window.page.transcript.theme.surface == light.surface


def test_a_choice_in_the_settings_is_applied_at_once(desk: Desk) -> None:
    change_settings(desk, theme="dark", zoom_percent=150)
    desk.until(lambda: desk.window.appearance.zoom_percent == 150)
    assert shown_points() == pytest.approx(1.5)
    assert desk.window.page.transcript.theme.surface == load_theme(dark=True).surface


def test_a_zoom_that_is_not_saved_yet_outlives_other_changes(desk: Desk) -> None:
    desk.press(Qt.Key.Key_Plus, CONTROL)
    change_settings(desk, theme="dark")
    desk.until(lambda: desk.window.appearance.theme.surface == load_theme(dark=True).surface)
    assert desk.window.appearance.zoom_percent == 110
    desk.until(lambda: zoom_on_disk(desk) == 110)


def change_settings(desk: Desk, **appearance: object) -> None:
    """Change what the settings window would."""

    def edit(settings: Settings) -> Settings:
        return settings.model_copy(update={"appearance": settings.appearance.model_copy(update=appearance)})

    desk.program.tasks.spawn(desk.program.bridge.change_settings(edit), name="change settings")


def test_the_wheel_zooms_with_ctrl_and_scrolls_without(desk: Desk) -> None:
    desk.provider.play(reply("ok"))
    desk.say("hello")
    transcript = desk.window.page.transcript

    def turn(eighths: int, keys: Qt.KeyboardModifier) -> None:
        place = QPointF(50, 50)
        event = QWheelEvent(
            place,
            place,
            QPoint(),
            QPoint(0, eighths),
            Qt.MouseButton.NoButton,
            keys,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(transcript.viewport(), event)

    turn(120, CONTROL)
    assert desk.window.appearance.zoom_percent == 110
    for _ in range(3):
        turn(-40, CONTROL)
    assert desk.window.appearance.zoom_percent == 100
    turn(120, Qt.KeyboardModifier.NoModifier)
    assert desk.window.appearance.zoom_percent == 100


def test_a_zoom_keeps_the_reader_where_they_are(desk: Desk) -> None:
    texts = [f"Answer {n}. " + "Some words that fill a line or two of it. " * 6 for n in range(12)]
    desk.provider.play(*[reply(text) for text in texts])
    for n in range(12):
        desk.say(f"question {n}")
    transcript = desk.window.page.transcript
    assert transcript.is_at_end()
    for _ in range(5):
        desk.press(Qt.Key.Key_Plus, CONTROL)
        assert transcript.is_at_end(), "who reads the end goes on reading it"
    desk.press(Qt.Key.Key_0, CONTROL)
    node = transcript.nodes[8]
    transcript.scroll_to_item(node.item.id)
    before = transcript.flow.top_of(node)
    for _ in range(5):
        desk.press(Qt.Key.Key_Plus, CONTROL)
        assert abs(transcript.flow.top_of(node) - before) <= 40
    column = transcript.rows.column[1]
    assert column == min(1.5 * COLUMN_WIDTH, transcript.viewport().width() - 24)


def test_five_thousand_messages_are_zoomed_at_once(qtbot: QtBot) -> None:
    view = TranscriptView(load_theme(dark=False))
    qtbot.addWidget(view)
    view.resize(900, 700)
    view.show()
    items = [
        Item(str(n), Speaker.ASSISTANT, "Model", sections=(Section("text", f"Message {n}\n\nwith *some* words. " * 5),))
        for n in range(5_000)
    ]
    view.set_items(items, more_above=False)
    total = view.flow.total
    slowest = 0.0
    for percent in (110, 120, 130, 200):
        began = time.perf_counter()
        font = system_font()
        font.setPointSizeF(points_of(font) * percent / 100)
        QApplication.setFont(font)
        view.set_theme(load_theme(dark=False, zoom=percent / 100))
        view.grab()
        slowest = max(slowest, time.perf_counter() - began)
    assert slowest < 0.5, "some five times what it takes here"
    assert view.flow.total > 1.5 * total, "what nobody has looked at is estimated anew"


@pytest.mark.parametrize(("percent", "width", "height"), [(300, 1280, 800), (200, 360, 740), (300, 360, 740)])
def test_nothing_is_cut_off_in_a_large_zoom(desk: Desk, percent: int, width: int, height: int) -> None:
    window = desk.window
    window.resize(width, height)
    change_settings(desk, zoom_percent=percent)
    desk.until(lambda: window.appearance.zoom_percent == percent)
    desk.until(lambda: window.panel.isVisible() is False)
    assert (window.width(), window.height()) == (width, height)
    outside = [name_of(widget) for widget in shown_parts(window.page) if not lies_in(widget, window)]
    assert outside == []
    desk.press(Qt.Key.Key_L, CONTROL)
    assert window._picker is not None
    assert [name_of(each) for each in shown_parts(window._picker) if not lies_in(each, window)] == []
    desk.qtbot.keyClick(window._picker.search, Qt.Key.Key_Escape)
    window.actions_.show_chats.trigger()
    assert window.panel.isVisible()
    assert [name_of(each) for each in shown_parts(window.panel) if not lies_in(each, window)] == []


def shown_parts(widget: QWidget) -> list[QWidget]:
    """Everything to press or read that is not scrolled with an empty page."""
    page = getattr(widget, "empty", None)
    found = [each for each in widget.findChildren(QWidget) if isinstance(each, QAbstractButton | QLabel)]
    return [each for each in found if each.isVisible() and not (page is not None and page.isAncestorOf(each))]


def lies_in(widget: QWidget, window: QWidget) -> bool:
    corner = widget.mapTo(window, QPoint())
    return window.rect().contains(corner) and window.rect().contains(corner + widget.rect().bottomRight())


def name_of(widget: QWidget) -> str:
    return widget.objectName() or widget.accessibleName() or type(widget).__name__
