import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QWidget,
)

from app.ui.settings.edits import change_part
from app.ui.settings.window import SettingsWindow
from tests.fakes.disk import refusing
from tests.ui.settings.conftest import SettingsDesk


@pytest.mark.qt_log_ignore("This plugin does not support raise", extend=True)
@pytest.mark.qt_log_ignore("This plugin does not support raise", extend=True)
def test_the_keys_open_the_settings_once_and_escape_closes_them(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    desk.window.actions_.settings.trigger()
    assert desk.settings is window
    desk.qtbot.keyClick(window, Qt.Key.Key_Escape)
    desk.until(lambda: not desk.window.findChildren(SettingsWindow))


def test_the_button_below_the_chats_opens_the_settings(desk: SettingsDesk) -> None:
    desk.click(desk.window.panel.settings)
    assert desk.settings.page is desk.settings.general


def test_settings_that_are_opened_again_show_what_was_chosen(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    desk.choose(window.general.sending, data=False)
    desk.saved(lambda disk: disk["general"]["enter_sends"] is False)
    window.close()
    assert desk.open_settings().general.sending.currentData() is False


def test_closing_the_program_closes_its_settings(desk: SettingsDesk) -> None:
    desk.open_settings()
    desk.close()
    assert not [window for window in desk.window.findChildren(SettingsWindow) if window.isVisible()]


def test_what_is_being_typed_counts_when_the_window_closes(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    form.name.setFocus()
    form.name.selectAll()
    desk.qtbot.keyClicks(form.name, "Work")
    desk.qtbot.keyClick(form.name, Qt.Key.Key_Escape)
    desk.saved(lambda _: desk.endpoint("openai")["name"] == "Work")


def test_a_change_from_elsewhere_is_shown_without_disturbing_what_is_typed(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.settings.activateWindow()
    form.project.setFocus()
    desk.until(form.project.hasFocus)
    desk.qtbot.keyClicks(form.project, "proj")
    desk.settings.choices.change(change_part("appearance", theme="dark"))
    desk.until(lambda: desk.settings.appearance.theme.currentData() == "dark")
    assert form.project.text() == "proj"


def test_a_change_that_can_not_be_saved_is_told_and_taken_back(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    desk.choose(window.general.sending, data=False)
    desk.saved(lambda disk: disk["general"]["enter_sends"] is False)
    with refusing(desk.root / "settings.json"):
        window.general.sending.setFocus()
        desk.qtbot.keyClick(window.general.sending, Qt.Key.Key_Up)
        desk.until(window.notice.isVisible)
        assert window.notice.text()
        assert window.general.sending.currentData() is False
    desk.choose(window.general.sending, data=True)
    desk.saved(lambda disk: disk["general"]["enter_sends"] is True)
    desk.until(lambda: not window.notice.isVisible())


def test_a_file_of_settings_that_was_set_aside_is_named(desk: SettingsDesk) -> None:
    desk.close()
    (desk.root / "settings.json").write_text('{"appearance": {"zoom_percent": 5000}}', "utf-8")
    desk.program = desk._start()
    window = desk.open_settings()
    desk.until(window.aside.isVisible)
    kept = next(path for path in desk.root.iterdir() if path.name.startswith("settings") and path.suffix != ".json")
    assert kept.name in window.aside.text()
    assert "•  Zoom must be 300 or less." in window.aside.text()


# Search


def test_the_search_finds_rows_by_their_words_and_marks_them(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    desk.qtbot.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert window.search.hasFocus() or not window.isActiveWindow()
    desk.qtbot.keyClicks(window.search, "proxy")
    assert window.page is window.network
    marked = [row.label.text() for row in window.network.rows if row.property("isHit")]
    assert marked == ["Proxy", "Address of the proxy"]
    assert [window.list.item(at).isHidden() for at in range(len(window.pages))].count(False) == 1
    window.search.clear()
    assert not any(row.property("isHit") for row in window.network.rows)
    assert not any(window.list.item(at).isHidden() for at in range(len(window.pages)))


def test_the_search_finds_the_details_of_the_provider_that_is_open(desk: SettingsDesk) -> None:
    form = desk.open_provider("openai")
    desk.qtbot.keyClicks(desk.settings.search, "organisation")
    marked = [row.label.text() for row in desk.settings.providers.shown_rows() if row.property("isHit")]
    assert "Organisation" in marked
    assert form.isVisible()


def test_the_search_forgives_a_mistyped_letter(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    desk.qtbot.keyClicks(window.search, "certifcates")
    assert window.page is window.network or window.page is window.providers


def test_the_search_says_when_nothing_is_found(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    desk.qtbot.keyClicks(window.search, "zebra")
    assert window.nothing.isVisible()
    assert "zebra" in window.nothing.text()
    desk.qtbot.keyClick(window.search, Qt.Key.Key_Escape)
    assert (window.search.text(), window.nothing.isVisible(), window.isVisible()) == ("", False, True)
    desk.qtbot.keyClick(window.search, Qt.Key.Key_Escape)
    assert not window.isVisible()


# Everybody


def test_every_control_of_every_page_has_a_name(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    window.providers.open_endpoint("openai")
    window.agents.open_profile("reader")
    kinds = (QAbstractButton, QAbstractItemView, QComboBox, QLineEdit, QPlainTextEdit, QSlider)
    nameless = [
        f"{type(page).__name__}: {widget!r}"
        for page in [window, *window.pages]
        for kind in kinds
        for widget in page.findChildren(kind)
        if _is_ours(widget) and not _name(widget)
    ]
    assert nameless == []


@pytest.mark.parametrize("opened", ["", "openai"])
def test_the_focus_goes_through_every_page_as_the_eye_does(desk: SettingsDesk, opened: str) -> None:
    window = desk.open_settings()
    window.resize(900, 2400)
    if opened:
        window.providers.open_endpoint(opened)
        window.agents.open_profile("reader")
    for page in window.pages:
        window.open_page(page)
        desk.until(lambda page=page: page.isVisible())  # type: ignore[misc]
        places = [(place.y(), place.x()) for place in _places_in_focus_order(page)]
        assert places == sorted(places), page.title


def test_every_page_fits_a_narrow_window(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    window.resize(360, 700)
    desk.until(window.combo.isVisible)
    assert not window.list.isVisible()
    for page in window.pages:
        window.combo.setFocus()
        window.open_page(page)
        assert window.combo.currentText() == page.title
        assert page.minimumSizeHint().width() <= window.scroll_area().viewport().width(), page.title
    window.open_page(window.providers)
    for endpoint in ("anthropic", "openai"):
        window.providers.open_endpoint(endpoint)
        assert window.providers.minimumSizeHint().width() <= window.scroll_area().viewport().width()
    window.resize(900, 700)
    desk.until(window.list.isVisible)


def test_no_text_of_others_is_read_as_rich_text(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    window.providers.open_endpoint("openai")
    rich = [label.text() for label in window.findChildren(QLabel) if label.textFormat() != Qt.TextFormat.PlainText]
    assert [text for text in rich if text] == []


def _places_in_focus_order(page: QWidget) -> list[QPoint]:
    """Return where the middle of each control is that Tab reaches, in tens of pixels."""
    chain: list[QWidget] = []
    widget = page.nextInFocusChain()
    while widget is not None and widget is not page:
        chain.append(widget)
        widget = widget.nextInFocusChain()
    reached = [
        each
        for each in chain
        if page.isAncestorOf(each)
        and each.focusPolicy() & Qt.FocusPolicy.TabFocus
        and each.focusProxy() is None
        and each.isVisible()
        and each.isEnabled()
    ]
    return [each.mapTo(page, QPoint(0, min(each.height(), 30) // 2)) / 10 for each in reached]


def _is_ours(widget: QWidget) -> bool:
    """Whether a person can reach it: parts of Qt's own widgets are reached through those."""
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QComboBox | QLineEdit | QAbstractItemView):
            return False
        parent = parent.parentWidget()
    return True


def _name(widget: QWidget) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)
