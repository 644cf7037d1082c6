"""The composition root: builds every concrete thing once, wires it, and takes it down in order."""

import asyncio
import logging
import os
import random
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import qasync
from PySide6.QtWidgets import QApplication

from app import APP_ID, APP_NAME, VERSION
from app.aio import Engine, OnFailure, SystemClock, TaskSet
from app.crash import CrashReporter
from app.domain.errors import KnownError
from app.domain.ids import new_id
from app.logs import Log
from app.ui.bridge import Bridge, EventBuffer
from app.ui.crash_notice import CrashNotice
from app.ui.garbage import GarbageCollector
from app.ui.main_window import MainWindow
from app.ui.single_instance import InstanceServer, ask_running_instance

if TYPE_CHECKING:  # Built on the engine's thread after the first paint: it loads pydantic.
    from app.domain.events import Emit
    from app.domain.request import ToolSpec
    from app.history.cursor import Cursors
    from app.history.files import ChatFiles
    from app.session.hot_memories import HotMemories
    from app.session.manager import SessionManager
    from app.tools.base import Tool

log = logging.getLogger(__name__)

QUIT_SECONDS: Final = 2.4
"""How long quitting waits for what is owed to the disk; whole replies are there by then."""
SWITCH_SECONDS: Final = 0.001
"""How soon Python lets the interface's thread have a turn while the engine computes."""


DRAIN_SECONDS: Final = 0.5
"""How long quitting waits for the interface's own short tasks, such as keeping a draft."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for."""

    data_dir: Path
    words_per_second: float
    is_new_instance: bool


def run(options: Options, qt_arguments: list[str], log_: Log, crashes: CrashReporter) -> int:
    """Run the program with its window until it is closed; return the exit code."""
    app = QApplication(qt_arguments)
    app.setApplicationName(APP_NAME)
    app.setApplicationVersion(VERSION)
    app.setDesktopFileName(APP_ID)
    app.setStyle("Fusion")
    app.setQuitOnLastWindowClosed(False)
    if not options.is_new_instance and ask_running_instance(options.data_dir):
        print("Muntin is running already; its window comes to the front.")  # noqa: T201 - for whoever started it
        return 0
    sys.setswitchinterval(SWITCH_SECONDS)
    garbage = GarbageCollector()
    loop = qasync.QEventLoop(app)
    asyncio.set_event_loop(loop)
    with loop:
        loop.run_until_complete(_run(options, log_, crashes))
    garbage.deleteLater()
    return 0


async def _run(options: Options, log_: Log, crashes: CrashReporter) -> None:
    def failed(name: str, error: BaseException) -> None:
        if isinstance(error, KnownError):
            report(name, error)
        else:
            crashes.note(error, where=name)

    def loop_failed(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        failed("interface loop", context.get("exception") or RuntimeError(context["message"]))

    asyncio.get_running_loop().set_exception_handler(loop_failed)
    last_fault = crashes.last_fault()
    crashes.install()
    program = Program(options, lambda emit: make_manager(options, emit, failed, log_), failed)
    notice = CrashNotice(program.window, save=program.window.controller.save_draft)
    crashes.told = notice.tell
    if last_fault is not None:
        program.window.first_painted.connect(lambda: notice.tell_of_last_time(last_fault))
    closed = asyncio.Event()
    program.window.closed.connect(closed.set)
    app = QApplication.instance()
    assert app is not None
    app.aboutToQuit.connect(closed.set)
    for name in (signal.SIGINT, signal.SIGTERM):
        # Ctrl+C in the terminal and the end of the desktop's session: the same as closing the window.
        signal.signal(name, lambda _number, _frame: program.window.close())
    server = None if options.is_new_instance else InstanceServer(options.data_dir)
    if server is not None:
        server.raise_requested.connect(program.window.raise_window)
    program.window.show()
    await closed.wait()
    if server is not None:
        server.close()
    await program.close()


class Program:
    """The window, the engine and the bridge between them."""

    def __init__(
        self,
        options: Options,
        make_manager: "Callable[[Emit], SessionManager]",
        on_failure: OnFailure | None = None,
    ) -> None:
        self.engine = Engine(on_failure or report)
        self.tasks = TaskSet(on_failure or report)
        self._buffer = EventBuffer()
        self.bridge = Bridge(self.engine, lambda: make_manager(self._buffer.put), self._buffer)
        self.window = MainWindow(self.bridge, self.tasks, state_path=options.data_dir / "window.json", new_id=new_id)
        self.window.first_painted.connect(self._begin)

    def _begin(self) -> None:
        """Start the engine once the window is there: its imports would hold up the first paint."""
        self.engine.start()
        self.window.start()

    async def close(self) -> bool:
        """Write what is owed and end the engine; return whether that took less than `QUIT_SECONDS`."""
        await self.tasks.drain(timeout_seconds=DRAIN_SECONDS)
        self.tasks.cancel_all()
        return self.bridge.close(timeout_seconds=QUIT_SECONDS)


def make_manager(options: Options, emit: "Emit", on_failure: OnFailure, log_: Log) -> "SessionManager":
    """Build everything below the interface. Runs on the engine's thread."""
    from app.budget.tokens import TokenCounter
    from app.history.library import Library
    from app.providers.practice.provider import PracticeProvider
    from app.providers.registry import Registry
    from app.session.connections import Connections
    from app.session.env import SessionEnv
    from app.session.manager import SessionManager
    from app.settings.key_store import KeyringStore
    from app.settings.secrets import Secrets
    from app.tools.base import LateTool
    from app.tools.folder_schema import FOLDER_SPECS
    from app.tools.history_schema import SPEC
    from app.tools.memory_schema import SPEC as MEMORY_SPEC

    counter = TokenCounter()
    practice = PracticeProvider(counter, words_per_second=options.words_per_second)
    registry = Registry()
    clock = SystemClock()
    secrets = Secrets(KeyringStore(), file=options.data_dir / "keys.json", environ=os.environ)
    log_.hide(secrets.known)
    tasks = TaskSet(on_failure)
    connections = Connections(
        options.data_dir, registry=registry, built_in=[practice], secrets=secrets, emit=emit, clock=clock, tasks=tasks
    )

    @cache
    def cursors() -> "Cursors":
        from app.history.cursor import Cursors
        from app.history.cursor_key import CursorKey

        return Cursors(CursorKey(options.data_dir / "cursor.key"))

    def make_tools(files: "ChatFiles", session: str) -> "tuple[Tool, ...]":
        def make() -> "Tool":
            from app.tools.session_history import SessionHistoryTool

            return SessionHistoryTool(files, session=session, cursors=cursors(), counter=counter, clock=clock)

        def make_memory() -> "Tool":
            from app.domain.events import MemoriesChanged
            from app.domain.memories import MemoryScope
            from app.memory.memories import Memories, global_store
            from app.tools.memory import MemoryTool

            def told(scope: MemoryScope) -> None:
                emit(MemoriesChanged("" if scope is MemoryScope.GLOBAL else session))

            memories = Memories(global_store(options.data_dir), files.folder)
            return MemoryTool(memories, counter=counter, clock=clock, told=told)

        @cache
        def folder_tools() -> "Mapping[str, Tool]":
            from app.tools.folder_tools import make_folder_tools

            return make_folder_tools(counter, clock, options.data_dir)

        def late(spec: "ToolSpec") -> LateTool:
            return LateTool(spec, lambda: folder_tools()[spec.name])

        return (LateTool(SPEC, make), LateTool(MEMORY_SPEC, make_memory), *map(late, FOLDER_SPECS))

    @cache
    def hot_memories() -> "HotMemories":
        from app.memory.memories import global_store
        from app.session.hot_memories import HotMemories

        return HotMemories(global_store(options.data_dir), counter=counter, clock=clock)

    env = SessionEnv(
        providers=registry,
        emit=emit,
        clock=clock,
        new_id=new_id,
        tasks=tasks,
        random=random.random,
        counter=counter,
        make_tools=make_tools,
        make_preload=lambda files, card, settings: hot_memories().block(files, card, settings),
        forget_preload=lambda files: hot_memories().forget(files),
        settings=lambda: connections.current,
    )
    return SessionManager(env, Library(options.data_dir), connections)


def report(name: str, error: BaseException) -> None:
    """Log what a task died of."""
    log.error("%s failed", name, exc_info=error)
