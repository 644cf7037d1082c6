"""Who may answer in the open chat: the menu of profiles, and what is asked of the engine when one is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.ui.bridge import Bridge
from app.ui.chat.profile_button import ProfileButton

if TYPE_CHECKING:
    from app.domain.chats import ChatSummary
    from app.settings.schema import Settings


class ProfilesController(QObject):
    """Shows the chat's profile on a button, and all of them in a menu."""

    failed = Signal(str)
    """A sentence for people about something that could not be done."""
    settings_wanted = Signal()
    """The person wants to edit profiles."""

    def __init__(self, button: ProfileButton, bridge: Bridge, tasks: TaskSet, window: QWidget) -> None:
        super().__init__(window)
        self._button = button
        self._bridge = bridge
        self._tasks = tasks
        self._settings: Settings | None = None
        self._chat: ChatSummary | None = None
        self.menu = QMenu(self.tr("&Profile"), window)
        self.menu.aboutToShow.connect(self._fill)
        self._group: QActionGroup | None = None
        button.clicked.connect(self._open_menu)

    def use(self, settings: Settings) -> None:
        """Offer the profiles of these settings."""
        self._settings = settings
        self._show()

    def show(self, chat: ChatSummary | None) -> None:
        """Show the profile of a chat as it is now."""
        self._chat = chat
        self._show()

    def _show(self) -> None:
        if self._settings is None or self._chat is None:
            self._button.show_profile("")
            return
        from app.settings.profiles import find_profile

        profile = find_profile(self._settings, self._chat.profile)
        if profile is None:
            self._button.show_profile(self.tr("(missing profile)"), is_missing=True)
        else:
            self._button.show_profile(profile.name)

    @Slot()
    def _open_menu(self) -> None:
        self.menu.popup(self._button.mapToGlobal(QPoint(0, self._button.height())))

    @Slot()
    def _fill(self) -> None:
        self.menu.clear()
        if self._settings is None or self._chat is None:
            return
        from app.settings.profiles import all_profiles, find_profile

        self._group = QActionGroup(self.menu)
        current = find_profile(self._settings, self._chat.profile)
        if current is None:
            self._add_missing(self._chat.profile)
        for profile in all_profiles(self._settings):
            if find_profile(self._settings, profile.id) is not profile:
                continue  # another one has its id
            action = self._add(profile.name, is_checked=profile is current)
            action.triggered.connect(lambda _checked=False, wanted=profile.id: self.choose(wanted))
        self.menu.addSeparator()
        self.menu.addAction(self.tr("Edit profiles…"), self.settings_wanted.emit)

    def _add_missing(self, profile_id: str) -> None:
        text = self.tr("(missing profile: {id})").format(id=profile_id) if profile_id else self.tr("(missing profile)")
        self._add(text, is_checked=True).setEnabled(False)

    def _add(self, text: str, *, is_checked: bool) -> QAction:
        action = self.menu.addAction(text.replace("&", "&&"))
        action.setCheckable(True)
        action.setChecked(is_checked)
        assert self._group is not None
        self._group.addAction(action)
        return action

    def choose(self, profile_id: str) -> None:
        """Have the chat go on with a profile from its next message."""
        if self._chat is not None and profile_id != self._chat.profile:
            self._tasks.spawn(self._choose(self._chat.id, profile_id), name="choose a profile")

    async def _choose(self, session: str, profile_id: str) -> None:
        try:
            await self._bridge.set_profile(session, profile_id)
        except KnownError as error:
            self.failed.emit(str(error))
