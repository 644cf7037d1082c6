from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.ui.chat.items import ItemAction, Section
from app.ui.chat.targets import TargetKind
from app.ui.chat.transcript_view import TranscriptView
from app.ui.theme import load_theme
from tests.ui.chat.conftest import LEFT, Driver, asked, many, reply

LONG_LINE = "```py\n" + "x = " + "1 + " * 100 + "1\n```"


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


def wheel(view: TranscriptView, point: QPoint, *, down: int = 0, right: int = 0, shift: bool = False) -> None:
    modifiers = Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
    event = QWheelEvent(
        QPointF(point),
        view.viewport().mapToGlobal(QPointF(point)),
        QPoint(),
        QPoint(-right, -down),
        Qt.MouseButton.NoButton,
        modifiers,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)


def test_a_link_is_announced_and_not_opened(view: TranscriptView, driver: Driver, qtbot: QtBot) -> None:
    view.set_items([reply("a", "go [there](https://x.example/?a=1&b=2) now")], more_above=False)

    with qtbot.waitSignal(view.link_activated) as caught:
        driver.click(TargetKind.LINK)

    assert caught.args == ["https://x.example/?a=1&b=2"]


def test_a_bare_address_of_the_person_is_a_link(view: TranscriptView, driver: Driver, qtbot: QtBot) -> None:
    view.set_items([asked("q", "see https://x.example/y.")], more_above=False)

    with qtbot.waitSignal(view.link_activated) as caught:
        driver.click(TargetKind.LINK)

    assert caught.args == ["https://x.example/y"]


@pytest.mark.parametrize("action", list(ItemAction))
def test_a_button_below_an_item_says_which(
    view: TranscriptView, driver: Driver, qtbot: QtBot, action: ItemAction
) -> None:
    view.set_items([reply("a", "text", note="Stopped.", actions=(action,))], more_above=False)

    with qtbot.waitSignal(view.action_triggered) as caught:
        driver.click(TargetKind.ACTION)

    assert caught.args == ["a", action]


def test_reasoning_is_folded_until_clicked(view: TranscriptView, driver: Driver) -> None:
    view.set_items([reply("a", "answer", reasoning="one two\n\nthree")], more_above=False)
    assert driver.target(TargetKind.FOLD)[1].name.startswith("Reasoning · 3 words")

    driver.click(TargetKind.FOLD)
    assert len(view.nodes[0].rows) == 6

    driver.click(TargetKind.FOLD)
    assert len(view.nodes[0].rows) == 4


def test_reasoning_says_how_long_it_took_once_that_is_known(view: TranscriptView, driver: Driver) -> None:
    thoughts = Section("reasoning", "one two", seconds=12.3)
    item = reply("a", "answer")
    view.set_items([replace(item, sections=[thoughts, *item.sections])], more_above=False)

    assert driver.target(TargetKind.FOLD)[1].name.startswith("Reasoning · 2 words · 12 s")


def test_streaming_reasoning_says_so(view: TranscriptView, driver: Driver) -> None:
    view.set_items([reply("a", streaming=True)], more_above=False)
    driver.stream("a", "hmm well", kind="reasoning")
    assert driver.target(TargetKind.FOLD)[1].name.startswith("Thinking…")

    driver.stream("a", "so then")
    assert driver.target(TargetKind.FOLD)[1].name.startswith("Reasoning · 2 words")


def test_copy_in_a_code_block_copies_the_code(view: TranscriptView, driver: Driver) -> None:
    view.set_items([reply("a", "x\n\n```py\nif a:\n    b()\n```\n\ny")], more_above=False)

    driver.click(TargetKind.COPY)

    assert clipboard() == "if a:\n    b()"


def test_copy_of_a_code_block_in_several_rows_copies_all_of_it(view: TranscriptView, driver: Driver) -> None:
    code = "\n".join(f"line {number}" for number in range(3_000))
    view.set_items([reply("a", f"```\n{code}\n```\n\nend\n\n```\nother\n```")], more_above=False)
    driver.wait_for(lambda: not driver.is_behind())
    view.verticalScrollBar().setValue(0)

    driver.click(TargetKind.COPY)

    assert clipboard() == code


def test_dragging_selects_across_blocks_and_items(view: TranscriptView, driver: Driver) -> None:
    view.set_items([reply("a", "alpha beta\n\ngamma delta"), asked("q", "omega psi")], more_above=False)

    driver.select(driver.point_of("beta"), driver.point_of("omega"))

    text = view.selected_text()
    assert text.startswith(("beta\n\ngamma delta", "eta\n\ngamma delta", "ta\n\ngamma delta"))
    view.copy()
    assert clipboard() == text
    assert "gamma delta" in QGuiApplication.clipboard().mimeData().html()


def test_a_click_selects_nothing_and_clears(view: TranscriptView, driver: Driver) -> None:
    view.set_items([reply("a", "alpha beta")], more_above=False)
    view.select_all()

    QTest.mouseClick(view.viewport(), LEFT, pos=driver.point_of("beta"))

    assert not view.has_selection()
    assert view.selected_text() == ""


def test_a_double_click_selects_a_word_and_a_third_the_block(view: TranscriptView, driver: Driver) -> None:
    view.set_items([reply("a", "alpha **beta** gamma\n\nother")], more_above=False)
    viewport, point = view.viewport(), driver.point_of("beta")

    QTest.mouseClick(viewport, LEFT, pos=point)
    QTest.mouseDClick(viewport, LEFT, pos=point)
    assert view.selected_text() == "beta"

    QTest.mouseClick(viewport, LEFT, pos=point)
    assert view.selected_text() == "alpha **beta** gamma"


def test_a_third_click_in_code_selects_the_line(view: TranscriptView, driver: Driver) -> None:
    view.set_items([reply("a", "```py\nfirst = 1\nsecond = 2\nthird = 3\n```")], more_above=False)
    viewport, point = view.viewport(), driver.point_of("second")

    QTest.mouseClick(viewport, LEFT, pos=point)
    QTest.mouseDClick(viewport, LEFT, pos=point)
    QTest.mousePress(viewport, LEFT, pos=point)
    assert view.selected_text() == "second = 2"

    QTest.mouseMove(viewport, driver.point_of("third"))
    driver.wait_for(lambda: view.selected_text() == "second = 2\nthird = 3")
    QTest.mouseRelease(viewport, LEFT, pos=driver.point_of("third"))

    view.copy()
    assert clipboard() == "second = 2\nthird = 3"


def test_a_selection_says_when_it_begins_and_ends(view: TranscriptView, driver: Driver) -> None:
    said: list[bool] = []
    view.selection_changed.connect(lambda: said.append(view.has_selection()))
    view.set_items([asked("q", "alpha beta"), asked("r", "gamma")], more_above=False)

    driver.select(driver.point_of("alpha"), driver.point_of("beta"))
    assert said == [True]
    QTest.mouseClick(view.viewport(), LEFT, pos=driver.point_of("beta"))
    assert said == [True, False]
    view.select_all()
    view.select_all()
    view.set_items([asked("s", "delta zeta"), asked("t", "epsilon")], more_above=False)
    assert said == [True, False, True, False]
    driver.select(driver.point_of("delta"), driver.point_of("zeta"))
    view.remove_item("s")
    assert said == [True, False, True, False, True, False]


def test_what_is_typed_here_is_handed_on(view: TranscriptView) -> None:
    typed: list[str] = []
    view.typed.connect(typed.append)
    view.set_items([asked("q")], more_above=False)

    for key, modifier in (
        (Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_B, Qt.KeyboardModifier.ShiftModifier),
        (Qt.Key.Key_7, Qt.KeyboardModifier.KeypadModifier),
        (Qt.Key.Key_X, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_X, Qt.KeyboardModifier.AltModifier),
        (Qt.Key.Key_X, Qt.KeyboardModifier.MetaModifier),
        (Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Backspace, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier),
    ):
        QTest.keyClick(view, key, modifier)

    assert "".join(typed).lower() == "ab7"


def test_home_asks_for_older_items_even_if_the_last_time_brought_none(view: TranscriptView) -> None:
    asked_for: list[bool] = []
    view.older_wanted.connect(lambda: asked_for.append(True))
    view.set_items(many(40), more_above=True)

    QTest.keyClick(view, Qt.Key.Key_Home)
    assert asked_for == [True]
    QTest.keyClick(view, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    assert asked_for == [True, True]
    view.prepend_items(many(10, start=1_000), more_above=False)
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert asked_for == [True, True]


def test_other_items_below_a_held_button_are_neither_activated_nor_selected(
    view: TranscriptView, driver: Driver, qtbot: QtBot
) -> None:
    item = reply("a", "[x](http://x.example)")
    view.set_items([item], more_above=False)
    point = driver.target(TargetKind.LINK)[1].rect.center().toPoint()

    QTest.mousePress(view.viewport(), LEFT, pos=point)
    view.set_items([item], more_above=False)
    with qtbot.assertNotEmitted(view.link_activated):
        QTest.mouseRelease(view.viewport(), LEFT, pos=point)


def test_shift_and_a_click_extend_the_selection(view: TranscriptView, driver: Driver) -> None:
    view.set_items([reply("a", "alpha beta\n\ngamma delta")], more_above=False)
    QTest.mouseClick(view.viewport(), LEFT, pos=driver.point_of("alpha"))

    QTest.mouseClick(view.viewport(), LEFT, Qt.KeyboardModifier.ShiftModifier, driver.point_of("delta"))

    assert view.selected_text().strip().startswith(("alpha beta\n\ngamma", "lpha beta\n\ngamma"))


def test_a_selection_survives_streaming_and_the_end_of_the_turn(view: TranscriptView, driver: Driver) -> None:
    view.set_items([asked("q", "first question"), reply("a", streaming=True)], more_above=False)
    driver.stream("a", "alpha beta\n\ngamma")
    view.select_all()
    QTest.mouseClick(view.viewport(), LEFT, pos=driver.point_of("question"))
    QTest.mouseClick(view.viewport(), LEFT, Qt.KeyboardModifier.ShiftModifier, driver.point_of("beta"))
    selected = view.selected_text()
    assert "\n\nalpha" in selected

    driver.stream("a", " delta\n\nmore")
    assert view.selected_text() == selected
    view.update_item(reply("a", "alpha beta\n\ngamma delta\n\nmore"))
    view.append_item(asked("r", "next"))
    view.prepend_items([asked("o", "older")], more_above=False)

    assert view.selected_text() == selected


def test_select_all_and_copy_from_the_keyboard(view: TranscriptView) -> None:
    view.set_items([asked("q", "why?"), reply("a", "**because**")], more_above=False)

    QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)

    assert clipboard() == "why?\n\n**because**"
    assert "<strong>because</strong>" in QGuiApplication.clipboard().mimeData().html()


def test_copy_as_plain_text_has_no_markup(view: TranscriptView) -> None:
    view.set_items([asked("q", "why?"), reply("a", "**because** `x`\n\n- one\n- two")], more_above=False)
    view.select_all()

    view.copy_plain()

    assert clipboard() == "why?\n\nbecause x\n\none\ntwo"
    assert not QGuiApplication.clipboard().mimeData().hasHtml()


def test_copying_a_message_takes_all_of_it(view: TranscriptView) -> None:
    view.set_items([reply("a", "one\n\n**two**", reasoning="secret"), asked("q")], more_above=False)

    view.copy_item("a")
    view.copy_item("nobody")

    assert clipboard() == "one\n\n**two**"
    assert "<strong>two</strong>" in QGuiApplication.clipboard().mimeData().html()


def test_copying_nothing_leaves_the_clipboard(view: TranscriptView) -> None:
    QGuiApplication.clipboard().setText("before")
    view.set_items([asked("q")], more_above=False)

    view.copy()
    view.copy_plain()

    assert clipboard() == "before"


def test_the_context_menu_offers_only_what_can_be_done(view: TranscriptView, driver: Driver) -> None:
    view.set_items([reply("a", "go [there](https://x.example) now")], more_above=False)
    link = driver.target(TargetKind.LINK)[1].rect.center().toPoint()

    def labels(point: QPoint) -> list[str]:
        return [action.text() for action in view.make_menu(point).actions()]

    assert labels(link) == ["Open link", "Copy link address", "Copy message", "Select all"]
    assert labels(QPoint(5, 390)) == ["Select all"]
    view.select_all()
    assert labels(driver.point_of("now")) == ["Copy", "Copy as plain text", "Copy message", "Select all"]
    view.set_items([], more_above=False)
    assert labels(link) == []


def test_a_link_can_be_opened_and_its_address_copied_from_the_menu(
    view: TranscriptView, driver: Driver, qtbot: QtBot
) -> None:
    view.set_items([reply("a", "go [there](file:///home/x) now")], more_above=False)
    point = driver.target(TargetKind.LINK)[1].rect.center().toPoint()
    actions = {action.text(): action for action in view.make_menu(point).actions()}

    with qtbot.waitSignal(view.link_activated) as caught:
        actions["Open link"].trigger()
    actions["Copy link address"].trigger()

    assert caught.args == ["file:///home/x"]
    assert clipboard() == "file:///home/x"


def test_tab_visits_what_is_on_screen_and_then_leaves(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    view, field = TranscriptView(load_theme(dark=False)), QLineEdit()
    layout = QVBoxLayout(window)
    layout.addWidget(view)
    layout.addWidget(field)
    window.resize(600, 500)
    view.set_items(
        [reply("a", "[x](http://x.example)\n\n```\ncode\n```", reasoning="r", actions=(ItemAction.RETRY,))],
        more_above=False,
    )
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    view.setFocus(Qt.FocusReason.TabFocusReason)
    urls: list[str] = []
    actions: list[str] = []
    view.link_activated.connect(urls.append)
    view.action_triggered.connect(lambda _item, action: actions.append(action))

    QTest.keyClick(view, Qt.Key.Key_Tab)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert len(view.nodes[0].rows) == 7
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Return, Qt.Key.Key_Space):
        QTest.keyClick(view, Qt.Key.Key_Tab)
        assert not view.grab().isNull()
        QTest.keyClick(view, key)

    assert urls == ["http://x.example"]
    assert clipboard() == "code"
    assert actions == [ItemAction.RETRY]
    assert view.hasFocus()
    QTest.keyClick(view, Qt.Key.Key_Backtab)
    QTest.keyClick(view, Qt.Key.Key_Tab)
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert field.hasFocus()
    QGuiApplication.clipboard().clear()


@pytest.mark.parametrize(
    ("key", "moves_up"),
    [(Qt.Key.Key_Up, True), (Qt.Key.Key_Down, False), (Qt.Key.Key_PageUp, True), (Qt.Key.Key_PageDown, False)],
)
def test_keys_scroll(view: TranscriptView, key: Qt.Key, moves_up: bool) -> None:
    view.set_items(many(40), more_above=False)
    view.scroll_to_item("i20")
    before = view.verticalScrollBar().value()

    QTest.keyClick(view, key)

    assert (view.verticalScrollBar().value() < before) is moves_up


@pytest.mark.parametrize("modifier", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier])
def test_home_and_end_go_all_the_way(view: TranscriptView, driver: Driver, modifier: Qt.KeyboardModifier) -> None:
    view.set_items(many(40), more_above=False)

    QTest.keyClick(view, Qt.Key.Key_Home, modifier)
    assert "i0" in driver.tops()
    assert not view.is_at_end()

    QTest.keyClick(view, Qt.Key.Key_End, modifier)
    assert view.is_at_end()


def test_keys_it_has_no_use_for_go_on_to_the_window(view: TranscriptView) -> None:
    view.set_items([asked("q")], more_above=False)

    for key in (Qt.Key.Key_Escape, Qt.Key.Key_X, Qt.Key.Key_Return):
        event_seen = QTest.keyClick(view, key)
        assert event_seen is None
    assert view.selected_text() == ""


def test_the_wheel_scrolls(view: TranscriptView) -> None:
    view.set_items(many(40), more_above=False)
    before = view.verticalScrollBar().value()

    wheel(view, QPoint(300, 200), down=-120)

    assert view.verticalScrollBar().value() < before
    assert not view.is_at_end()


@pytest.mark.parametrize(("right", "down", "shift"), [(120, 0, False), (0, 120, True)])
def test_long_lines_of_code_scroll_sideways(
    view: TranscriptView, driver: Driver, right: int, down: int, shift: bool
) -> None:
    view.set_items([reply("a", LONG_LINE)], more_above=False)
    point = driver.point_of("x")
    before = view.viewport().grab().toImage()

    wheel(view, point, right=right, down=down, shift=shift)

    assert view.viewport().grab().toImage() != before


def test_the_thin_bar_below_long_lines_can_be_dragged(view: TranscriptView, driver: Driver) -> None:
    view.set_items([reply("a", LONG_LINE)], more_above=False)
    viewport = view.viewport()
    points = (QPoint(x, y) for y in range(viewport.height()) for x in range(40, 80))
    bar = next(point for point in points if view.on_screen.bar_at(QPointF(point)) is not None)
    before = viewport.grab().toImage()

    QTest.mousePress(viewport, LEFT, pos=bar)
    QTest.mouseMove(viewport, bar + QPoint(80, 0))
    QTest.mouseRelease(viewport, LEFT, pos=bar + QPoint(80, 0))

    assert viewport.grab().toImage() != before
    assert not view.has_selection()


def test_dragging_below_the_window_scrolls_on(view: TranscriptView, driver: Driver) -> None:
    view.set_items(many(40), more_above=False)
    view.scroll_to_item("i5")
    viewport = view.viewport()
    before = view.verticalScrollBar().value()

    QTest.mousePress(viewport, LEFT, pos=QPoint(100, 200))
    QTest.mouseMove(viewport, QPoint(120, viewport.height() + 60))
    driver.wait_for(lambda: view.verticalScrollBar().value() > before + 100)
    QTest.mouseRelease(viewport, LEFT, pos=QPoint(120, viewport.height() + 60))

    assert len(view.selected_text()) > 300


def test_the_pointer_shows_what_can_be_clicked(view: TranscriptView, driver: Driver) -> None:
    view.set_items([reply("a", "go [there](https://x.example) now")], more_above=False)
    viewport = view.viewport()

    QTest.mouseMove(viewport, driver.target(TargetKind.LINK)[1].rect.center().toPoint())
    driver.wait_for(lambda: viewport.cursor().shape() is Qt.CursorShape.PointingHandCursor)
    QTest.mouseMove(viewport, driver.point_of("now"))
    driver.wait_for(lambda: viewport.cursor().shape() is Qt.CursorShape.IBeamCursor)
    QApplication.sendEvent(viewport, QEvent(QEvent.Type.Leave))


def test_a_click_does_not_stop_following(view: TranscriptView, driver: Driver) -> None:
    view.set_items([*many(10), reply("live", "start", streaming=True)], more_above=False)
    viewport, point = view.viewport(), QPoint(100, 100)

    QTest.mousePress(viewport, LEFT, pos=point)
    driver.stream("live", "\n\nmore" * 20)
    assert not view.is_at_end()
    QTest.mouseRelease(viewport, LEFT, pos=point)
    driver.stream("live", "\n\nlast")

    assert view.is_at_end()


def test_unfolding_at_the_end_leaves_the_line_where_it_is(view: TranscriptView, driver: Driver) -> None:
    view.set_items([*many(10), reply("a", "answer", reasoning="why\n\n" * 40)], more_above=False)
    top = driver.target(TargetKind.FOLD)[1].rect.top()

    driver.click(TargetKind.FOLD)
    assert driver.target(TargetKind.FOLD)[1].rect.top() == top
    assert not view.is_at_end()

    driver.click(TargetKind.FOLD)
    assert driver.target(TargetKind.FOLD)[1].rect.top() == top
    view.append_item(asked("q", "next\n" * 30))
    assert view.is_at_end()


def test_a_wide_table_scrolls_sideways_in_a_narrow_window(view: TranscriptView, driver: Driver) -> None:
    view.resize(360, 400)
    view.set_items([reply("a", "|" + "heading|" * 9 + "\n|" + "-|" * 9 + "\n|" + "wording|" * 9)], more_above=False)
    before = view.viewport().grab().toImage()

    wheel(view, QPoint(100, 100), right=120)

    assert view.viewport().grab().toImage() != before
