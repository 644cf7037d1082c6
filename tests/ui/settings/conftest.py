"""The real settings window over real files; only the key store and the far end of the wire are played."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import qasync
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.aio import SystemClock, TaskSet
from app.domain.errors import KnownError
from app.domain.events import Emit
from app.history.library import Library
from app.providers.discovery import Ports
from app.providers.registry import Registry
from app.session.env import SessionEnv
from app.session.manager import SessionManager
from app.ui.settings.endpoint_form import EndpointForm
from app.ui.settings.page import CommitField, QuietCombo
from app.ui.settings.window import SettingsWindow
from tests.fakes.clock import counting_ids
from tests.fakes.connections import MemoryStore, make_connections
from tests.fakes.scripted import ScriptedProvider
from tests.ui.conftest import Desk


class FailingStore(MemoryStore):
    """A key store that is locked, or waits behind its prompt, once it is told to."""

    reason = "The key store did not answer."

    def __init__(self) -> None:
        super().__init__()
        self.is_failing = False
        self.answered = threading.Event()
        self.answered.set()
        self.waiting = 0

    def get(self, account: str) -> str | None:
        self._check()
        return super().get(account)

    def put(self, account: str, secret: str) -> None:
        self._check()
        super().put(account, secret)

    def delete(self, account: str) -> None:
        self._check()
        super().delete(account)

    def _check(self) -> None:
        self.waiting += 1
        self.answered.wait(30)
        self.waiting -= 1
        if self.is_failing:
            raise KnownError(self.reason)


class SettingsDesk(Desk):
    """A desk whose key store, environment and local servers a test decides on."""

    def __init__(self, qtbot: QtBot, root: Path, provider: ScriptedProvider) -> None:
        self.store = FailingStore()
        self.environ: dict[str, str] = {}
        self.ports: Ports | None = None
        super().__init__(qtbot, root, provider)

    def _make_manager(self, emit: Emit) -> SessionManager:
        tasks = TaskSet(lambda _name, error: self.failures.append(error))
        env = SessionEnv(
            providers=Registry(),
            emit=emit,
            clock=SystemClock(),
            new_id=counting_ids(f"row{len(self.provider.requests)}x"),
            tasks=tasks,
            random=lambda: 0.0,
        )
        library = Library(self.root)
        connections = make_connections(
            self.root,
            env.providers,
            [self.provider],
            emit=emit,
            tasks=tasks,
            store=self.store,
            environ=self.environ,
            ports=self.ports,
        )
        return SessionManager(env, library, connections)

    def open_settings(self) -> SettingsWindow:
        """Open the settings by their keys and wait until they show what is on disk."""
        self.window.activateWindow()
        self.until(self.window.isActiveWindow)
        self.qtbot.keyClick(self.window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
        window = self.settings
        self.until(lambda: window._is_loaded)
        return window

    @property
    def settings(self) -> SettingsWindow:
        found = [window for window in self.window.findChildren(SettingsWindow) if window.isVisible()]
        assert len(found) == 1
        return found[0]

    def open_provider(self, endpoint_id: str) -> EndpointForm:
        """Click a provider's card and wait until its key has been looked for."""
        window = self.open_settings()
        window.open_page(window.providers)
        self.click(window.providers.cards[endpoint_id])
        return self.form()

    def form(self) -> EndpointForm:
        form = self.settings.providers.form
        assert isinstance(form, EndpointForm)
        self.until(lambda: form.key.place.count() > 0 or form.key.problem.text() != "")
        return form

    def on_disk(self) -> dict[str, Any]:
        """What the file of settings holds."""
        path = self.root / "settings.json"
        found: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {}
        return found

    def endpoint(self, endpoint_id: str) -> dict[str, Any]:
        found: dict[str, Any] = next(each for each in self.on_disk()["endpoints"] if each["id"] == endpoint_id)
        return found

    def saved(self, look: Callable[[dict[str, Any]], object]) -> None:
        """Wait until the file says something."""

        def says() -> bool:
            try:
                return bool(look(self.on_disk()))
            except (KeyError, StopIteration):
                return False

        self.until(says)

    def click(self, widget: QWidget, pos: QPoint | None = None) -> None:
        if pos is None:
            self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)
        else:
            self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=pos)

    def write(self, field: CommitField, text: str) -> None:
        """Replace what stands in a field, as a person does."""
        field.setFocus()
        field.selectAll()
        if text:
            self.qtbot.keyClicks(field, text)
        else:
            self.qtbot.keyClick(field, Qt.Key.Key_Backspace)
        self.qtbot.keyClick(field, Qt.Key.Key_Return)

    def choose(self, combo: QuietCombo, data: object) -> None:
        """Choose an entry of a list with the arrow keys."""
        combo.setFocus()
        for _ in range(combo.count()):
            if combo.currentIndex() == combo.findData(data):
                return
            key = Qt.Key.Key_Down if combo.currentIndex() < combo.findData(data) else Qt.Key.Key_Up
            self.qtbot.keyClick(combo, key)
        raise AssertionError(f"{data} can't be chosen")

    def boxes(self) -> list[QMessageBox]:
        """Every question that is on screen."""
        widgets = QApplication.topLevelWidgets()
        return [box for box in widgets if isinstance(box, QMessageBox) and box.isVisible()]

    def answer(self, text: str) -> str:
        """Press a button of the question that is asked; return the question."""
        boxes = self.boxes()
        assert len(boxes) == 1
        question = boxes[0].text()
        button = next(each for each in boxes[0].findChildren(QPushButton) if each.text().replace("&", "") == text)
        self.click(button)
        return question


@pytest.fixture
def desk(
    qtbot: QtBot, gui_loop: qasync.QEventLoop, tmp_path: Path, provider: ScriptedProvider
) -> Iterator[SettingsDesk]:
    made = SettingsDesk(qtbot, tmp_path / "data", provider)
    yield made
    if made.program.engine.is_running:
        made.close()
    assert made.failures == []
    left = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    assert left == []
