"""A real window on real files; only the model at the far end is played."""

import asyncio
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import qasync
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.aio import SystemClock, TaskSet
from app.bootstrap import Options, Program
from app.domain.errors import StorageError
from app.domain.events import Emit
from app.domain.rows import Flag, Row
from app.history.files import ChatFiles
from app.history.library import Library
from app.history.reader import HistoryReader, RowEntry
from app.providers.registry import Registry
from app.session.env import SessionEnv
from app.session.manager import SessionManager
from app.tools.base import Tool
from app.ui.main_window import MainWindow
from tests.fakes.clock import counting_ids
from tests.fakes.connections import make_manager
from tests.fakes.scripted import Hold, ScriptedProvider


@pytest.fixture(scope="session")
def qasync_loop(qapp: QApplication) -> qasync.QEventLoop:
    """The interface's loop. It runs whenever Qt's does, so `qtbot.waitUntil` runs its coroutines."""
    loop = qasync.QEventLoop(qapp, already_running=True)
    asyncio.events._set_running_loop(None)
    return loop


@pytest.fixture
def gui_loop(qasync_loop: qasync.QEventLoop) -> Iterator[qasync.QEventLoop]:
    asyncio.events._set_running_loop(qasync_loop)
    yield qasync_loop
    asyncio.events._set_running_loop(None)


class Desk:
    """The program as a person has it before them."""

    def __init__(self, qtbot: QtBot, root: Path, provider: ScriptedProvider) -> None:
        self.qtbot = qtbot
        self.root = root
        self.provider = provider
        self.failures: list[BaseException] = []
        self.tools: list[Tool] = []
        """What the model is offered, from its next turn."""
        self.program = self._start()

    @property
    def window(self) -> MainWindow:
        return self.program.window

    def show(self) -> Program:
        """Start and show the window, without waiting for anything."""
        options = Options(data_dir=self.root, words_per_second=math.inf, is_new_instance=True)
        program = Program(options, self._make_manager)
        self.qtbot.addWidget(program.window)
        program.window.show()
        program.window.activateWindow()
        return program

    def _start(self) -> Program:
        program = self.show()
        self.qtbot.waitUntil(lambda: bool(program.window.controller.session), timeout=10_000)
        return program

    def _make_manager(self, emit: Emit) -> SessionManager:
        env = SessionEnv(
            providers=Registry(),
            emit=emit,
            clock=SystemClock(),
            new_id=counting_ids(f"row{len(self.provider.requests)}x"),
            tasks=TaskSet(lambda _name, error: self.failures.append(error)),
            random=lambda: 0.0,
            make_tools=lambda _files, _session: tuple(self.tools),
        )
        return make_manager(env, Library(self.root), [self.provider])

    def type(self, text: str) -> None:
        self.qtbot.keyClicks(self.window.page.composer.field, text)

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        self.qtbot.keyClick(self.window.page.composer.field, key, modifiers)

    def say(self, text: str) -> None:
        """Type a message, send it, and wait for the end of the reply."""
        before = len(self.rows())
        self.type(text)
        self.press(Qt.Key.Key_Return)
        self.qtbot.waitUntil(lambda: len(self.rows()) >= before + 2, timeout=10_000)
        self.idle()

    def idle(self) -> None:
        """Wait until no turn runs and the window has heard of all that is on disk."""
        self.qtbot.waitUntil(self._is_idle, timeout=10_000)

    def _is_idle(self) -> bool:
        controller = self.window.controller
        if controller.is_streaming or (controller.may_write and self.window.page.composer.field.isReadOnly()):
            return False
        try:
            rows = [row for row in self.rows() if Flag.HIDDEN not in row.flags]
        except StorageError:
            # A test has put something in the way of the file.
            return True
        return not rows or rows[-1].id in controller.pager.shown

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=10_000)

    def reached(self, hold: Hold) -> None:
        self.until(lambda: hold.is_reached)

    @property
    def session(self) -> str:
        return self.window.controller.session

    def rows(self, session: str = "") -> list[Row]:
        files = ChatFiles(self.root / "sessions" / (session or self.session))
        return [entry.row for entry in HistoryReader(files).entries_forward() if isinstance(entry, RowEntry)]

    def shown(self) -> str:
        """All text of the transcript, as Select all and Copy would give it."""
        transcript = self.window.page.transcript
        transcript.select_all()
        return transcript.selected_text()

    def spoken(self) -> str:
        """What a screen reader finds in the transcript, notes below messages included."""
        interface = QAccessible.queryAccessibleInterface(self.window.page.transcript)
        children = [interface.child(number) for number in range(interface.childCount())]
        return "\n".join(child.text(QAccessible.Text.Name) for child in children if child is not None)

    def titles(self) -> list[str]:
        model = self.window.chats_model
        return [model.title_of(chat) for chat in model.chats()]

    def close(self) -> None:
        """Close the window as its button does and wait until all is put away."""
        loop = asyncio.get_running_loop()
        self.window.close()
        closing = loop.create_task(self.program.close())
        self.qtbot.waitUntil(closing.done, timeout=10_000)
        assert closing.result(), "quitting took too long"
        assert len(self.program.tasks) == 0, "a task of the interface was left"

    def restart(self) -> None:
        self.close()
        self.program = self._start()


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider()


@pytest.fixture
def desk(qtbot: QtBot, gui_loop: qasync.QEventLoop, tmp_path: Path, provider: ScriptedProvider) -> Iterator[Desk]:
    font = QApplication.font()
    made = Desk(qtbot, tmp_path / "data", provider)
    yield made
    if made.program.engine.is_running:
        made.close()
    if QApplication.font() != font:
        # A zoom is the whole program's.
        QApplication.setFont(font)
    assert made.failures == []
    left = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    assert left == []
