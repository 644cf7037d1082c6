"""How long the model of the open chat thinks: the menu of its levels, and what is asked of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.ui.bridge import Bridge
from app.ui.level_wording import level_name

if TYPE_CHECKING:
    from app.domain.chats import ChatSummary


class LevelsController(QObject):
    """Knows the levels there are to choose from and which one holds."""

    failed = Signal(str)
    """A sentence for people about something that could not be done."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, window: QWidget) -> None:
        super().__init__(window)
        self._bridge = bridge
        self._tasks = tasks
        self._chat: ChatSummary | None = None
        self.levels: tuple[str, ...] = ()
        """Those of the chat's model."""
        self.menu = QMenu(self.tr("&Thinking"), window)
        self.menu.aboutToShow.connect(self._fill)
        self._group: QActionGroup | None = None

    def show(self, chat: ChatSummary | None, levels: tuple[str, ...]) -> None:
        """Show the level of a chat whose model has these."""
        self._chat = chat
        self.levels = levels if chat is not None else ()

    @property
    def current(self) -> str:
        """The level that holds; empty for the default, also where the model lacks the one that was chosen."""
        level = self._chat.level if self._chat is not None else ""
        return level if level in self.levels else ""

    def choose(self, level: str) -> None:
        """Have the chat's model think so long from its next message on."""
        if self._chat is not None and level != self._chat.level:
            self._tasks.spawn(self._choose(self._chat.id, level), name="choose a level")

    @Slot()
    def _fill(self) -> None:
        self.menu.clear()
        self._group = QActionGroup(self.menu)
        for level in ("", *self.levels):
            action = self.menu.addAction(level_name(level))
            action.setCheckable(True)
            action.setChecked(level == self.current)
            self._group.addAction(action)
            action.triggered.connect(lambda _checked=False, wanted=level: self.choose(wanted))

    async def _choose(self, session: str, level: str) -> None:
        try:
            await self._bridge.set_level(session, level)
        except KnownError as error:
            self.failed.emit(str(error))
