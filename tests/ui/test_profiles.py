"""Who answers in a chat: the button in the header and its menu, on real chats."""

import json

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction

from app.history.files import ChatFiles
from app.settings.schema import Profile
from app.ui.chat.profile_button import ProfileButton
from app.ui.settings.edits import change_part
from app.ui.settings.window import SettingsWindow
from tests.fakes.scripted import reply
from tests.ui.conftest import Desk

NO_RAISE = "This plugin does not support (raise|grabbing)"


def button(desk: Desk) -> ProfileButton:
    return desk.window.page.profile_button


def on_disk(desk: Desk) -> str:
    path = ChatFiles(desk.root / "sessions" / desk.session).meta
    return str(json.loads(path.read_text())["profile"])


def ready(desk: Desk) -> None:
    desk.until(lambda: bool(desk.window.profiles.menu) and button(desk).isVisible())


def entries(desk: Desk) -> list[QAction]:
    desk.window.profiles.menu.aboutToShow.emit()
    return desk.window.profiles.menu.actions()


def texts(desk: Desk) -> list[str]:
    return [action.text() for action in entries(desk)]


def checked(desk: Desk) -> list[str]:
    return [action.text() for action in entries(desk) if action.isChecked()]


def choose(desk: Desk, text: str) -> None:
    next(action for action in entries(desk) if action.text() == text).trigger()


def add(desk: Desk, *profiles: Profile, default: str = "") -> None:
    edit = change_part("agents", profiles=profiles, default_profile=default)

    async def change() -> None:
        await desk.window._bridge.change_settings(edit)

    desk.program.tasks.spawn(change(), name="change the profiles")


def test_the_header_names_the_profile_and_offers_all_of_them(desk: Desk) -> None:
    ready(desk)
    assert button(desk).text() == "Assistant  ▾"
    assert button(desk).accessibleName() == "Profile: Assistant"
    assert texts(desk) == ["Assistant", "Planner", "Reader", "", "Edit profiles…"]
    assert checked(desk) == ["Assistant"]


@pytest.mark.qt_log_ignore(NO_RAISE, extend=True)
def test_a_profile_is_chosen_by_keyboard_and_stays_with_the_chat(desk: Desk) -> None:
    ready(desk)
    button(desk).setFocus()
    desk.qtbot.keyClick(button(desk), Qt.Key.Key_Space)
    menu = desk.window.profiles.menu
    assert menu.isVisible()
    for _ in range(2):
        desk.qtbot.keyClick(menu, Qt.Key.Key_Down)
    desk.qtbot.keyClick(menu, Qt.Key.Key_Return)
    desk.until(lambda: button(desk).text() == "Planner  ▾")
    assert on_disk(desk) == "planner"
    assert checked(desk) == ["Planner"]
    desk.provider.play(reply("ok"))
    desk.say("first")
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: button(desk).text() == "Assistant  ▾")
    desk.restart()
    first = next(chat.id for chat in desk.window.chats_model.chats() if chat.profile)
    desk.window.chats.open(first)
    desk.until(lambda: button(desk).text() == "Planner  ▾")


def test_the_chat_menu_has_the_same_entries(desk: Desk) -> None:
    ready(desk)
    assert desk.window.actions_.profile.menu() is desk.window.profiles.menu
    choose(desk, "Reader")
    desk.until(lambda: button(desk).text() == "Reader  ▾")


def test_own_profiles_appear_as_soon_as_they_are_made(desk: Desk) -> None:
    ready(desk)
    add(desk, Profile(id="r-and-d", name="R&D"))
    desk.until(lambda: "R&&D" in texts(desk))
    choose(desk, "R&&D")
    desk.until(lambda: button(desk).accessibleName() == "Profile: R&D")
    assert button(desk).text() == "R&&D  ▾"


def test_the_profile_of_new_chats_is_shown_where_none_was_chosen(desk: Desk) -> None:
    ready(desk)
    add(desk, default="planner")
    desk.until(lambda: button(desk).text() == "Planner  ▾")
    assert checked(desk) == ["Planner"]
    choose(desk, "Reader")
    desk.until(lambda: on_disk(desk) == "reader")


def test_a_profile_that_is_gone_is_said_so_and_another_mends_it(desk: Desk) -> None:
    ready(desk)
    add(desk, Profile(id="editor", name="Editor"))
    desk.until(lambda: "Editor" in texts(desk))
    choose(desk, "Editor")
    desk.until(lambda: button(desk).text() == "Editor  ▾")
    add(desk)
    desk.until(lambda: "(missing profile)" in button(desk).text())
    assert "gone" in button(desk).accessibleDescription()
    first = entries(desk)[0]
    assert (first.text(), first.isEnabled(), first.isChecked()) == ("(missing profile: editor)", False, True)
    choose(desk, "Assistant")
    desk.until(lambda: button(desk).text() == "Assistant  ▾")
    assert on_disk(desk) == "assistant"
    assert "(missing profile: editor)" not in texts(desk)


def test_edit_profiles_opens_their_page(desk: Desk) -> None:
    ready(desk)
    choose(desk, "Edit profiles…")
    window = desk.window.findChild(SettingsWindow)
    assert window is not None
    assert window.page is window.agents
    window.close()


def test_a_narrow_header_shows_an_icon_and_leaves_the_title_its_room(desk: Desk) -> None:
    ready(desk)
    desk.window.resize(QSize(1000, 700))
    desk.until(lambda: button(desk).text() == "Assistant  ▾")
    assert button(desk).icon().isNull()
    desk.window.resize(QSize(360, 700))
    desk.until(lambda: button(desk).text() == "▾")
    assert not button(desk).icon().isNull()
    assert button(desk).accessibleName() == "Profile: Assistant"
    header = button(desk).parentWidget()
    assert header is not None
    assert header.minimumSizeHint().width() <= header.width()
    assert header.width() <= 360


def test_a_long_name_is_cut(desk: Desk) -> None:
    ready(desk)
    desk.window.resize(QSize(1000, 700))
    add(desk, Profile(id="long", name="A profile with a name that goes on and on and on, to the end"))
    desk.until(lambda: len(texts(desk)) == 6)
    choose(desk, texts(desk)[3])
    desk.until(lambda: button(desk).text().startswith("A prof"))
    desk.until(lambda: "…" in button(desk).text())


def test_a_chat_held_elsewhere_keeps_its_profile_and_folder(desk: Desk) -> None:
    desk.provider.play(reply("ok"))
    desk.say("first")
    session = desk.session
    desk.close()
    lease = ChatFiles(desk.root / "sessions" / session).lease
    lease.take()
    try:
        desk.program = desk.show()
        desk.until(lambda: bool(desk.window.controller.session))
        desk.until(lambda: button(desk).isVisible() and not button(desk).isEnabled())
        assert "can only be read" in button(desk).toolTip()
        assert "▾" not in button(desk).text()
        assert not desk.window.actions_.profile.isEnabled()
        assert not desk.window.actions_.attach_folder.isEnabled()
        assert not desk.window.page.composer.folder_button.isEnabled()
    finally:
        desk.close()
        lease.release()


def test_the_icon_keeps_its_sign_in_a_narrow_window_with_everything_large(desk: Desk) -> None:
    ready(desk)
    desk.window.resize(360, 760)
    for _ in range(10):
        desk.window.actions_.zoom_in.trigger()
    desk.until(lambda: desk.window.appearance.theme.zoom > 1.9 and button(desk).text() == "▾")
    desk.until(lambda: button(desk).width() >= button(desk).minimumSizeHint().width())
