"""The settings as their window sees them: what holds now, and one way to ask the engine for something."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal, Slot
from shiboken6 import isValid

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.domain.events import Event, SettingsChanged
from app.settings.schema import Edit, Settings
from app.ui.bridge import Bridge
from app.ui.settings.wording import sentence_of

T = TypeVar("T")


class Choices(QObject):
    """Holds the settings that are on disk; every change of them goes through here."""

    changed = Signal(object)
    """The `Settings` that hold from now on."""
    refused = Signal(object)
    """A change could not be saved: these `Settings` go on."""
    said = Signal(str)
    """A sentence for people about something that failed; empty once something worked."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, parent: QObject) -> None:
        super().__init__(parent)
        self.bridge = bridge
        self._tasks = tasks
        self._questions: set[asyncio.Task[None]] = set()
        self.settings = Settings()
        bridge.events_arrived.connect(self._hear)

    def read(self) -> None:
        """Ask for the settings that hold now."""
        self.ask(self.bridge.settings, self._take, owner=self, name="read the settings")

    def change(self, edit: Edit) -> None:
        """Save a change; `changed` or `refused` follows."""
        self.ask(
            lambda: self.bridge.change_settings(edit),
            self._saved,
            owner=self,
            name="save a setting",
            fail=self._refuse,
            is_change=True,
        )

    def close(self) -> None:
        """End every question; changes go on."""
        for task in list(self._questions):
            task.cancel()

    def ask(
        self,
        question: Callable[[], Coroutine[Any, Any, T]],
        answer: Callable[[T], None],
        *,
        owner: QObject,
        name: str,
        fail: Callable[[str], None] | None = None,
        is_change: bool = False,
    ) -> Callable[[], None]:
        """Ask `question`, then call `answer`, or `fail` with a sentence; neither once `owner` is gone.

        What changes nothing ends with the window. Return what ends it before.
        """

        async def run() -> None:
            try:
                result = await question()
            except KnownError as error:
                if isValid(owner):
                    (fail or self.said.emit)(sentence_of(error))
                return
            if isValid(owner):
                answer(result)

        task = self._tasks.spawn(run(), name=name)
        if not is_change:
            self._questions.add(task)
            task.add_done_callback(self._questions.discard)

        def end() -> None:
            task.cancel()

        return end

    def _take(self, settings: Settings) -> None:
        self.settings = settings
        self.changed.emit(settings)

    def _saved(self, settings: Settings) -> None:
        self.said.emit("")
        self._take(settings)

    def _refuse(self, sentence: str) -> None:
        self.said.emit(sentence)
        self.refused.emit(self.settings)

    @Slot(tuple)
    def _hear(self, events: tuple[Event, ...]) -> None:
        if any(isinstance(event, SettingsChanged) for event in events):
            self.read()
