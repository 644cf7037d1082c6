"""Runs the real program in this process and a scenario beside it: for measuring and for pictures.

Everything is as `python -m app` does it, from the command line on. The scenario is a coroutine of the interface's
loop; when it ends, the window is closed as a person closes it.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app import __main__ as program_main
from app import bootstrap
from app.aio import OnFailure, TaskSet

if TYPE_CHECKING:
    from app.domain.events import Emit
    from app.session.manager import SessionManager

WAIT_SECONDS = 30.0

Scenario = Callable[[bootstrap.Program], Awaitable[None]]
MakeManager = Callable[["Emit"], "SessionManager"]


@dataclass
class Times:
    """When the window was built and when it had painted, on the monotonic clock."""

    built: float = 0.0
    painted: float = 0.0


def drive(
    data_dir: Path, scenario: Scenario, *, arguments: Sequence[str] = (), make_manager: MakeManager | None = None
) -> Times:
    """Run the program on `data_dir`; `make_manager` replaces what is below the interface.

    Raises what the scenario raised.
    """
    failures: list[BaseException] = []
    times = Times()

    class Driven(bootstrap.Program):
        def __init__(self, options: bootstrap.Options, own: MakeManager, on_failure: OnFailure | None = None) -> None:
            super().__init__(options, make_manager or own, on_failure)
            times.built = time.monotonic()
            PaintWatch(self.window).painted.connect(self._note_paint)
            self._scenario = TaskSet(lambda _name, error: failures.append(error))
            self.window.first_painted.connect(lambda: self._scenario.spawn(self._play(), name="scenario"))

        def _note_paint(self) -> None:
            times.painted = times.painted or time.monotonic()

        async def _play(self) -> None:
            try:
                async with asyncio.timeout(10 * WAIT_SECONDS):
                    await scenario(self)
            finally:
                self.window.close()

    sys.argv = ["muntin", "--data-dir", str(data_dir), "--new-instance", "--offline", *arguments]
    # The program has no place where anybody could wait for its window; that place is made here.
    own = bootstrap.Program
    setattr(bootstrap, "Program", Driven)  # noqa: B010 - a class can't be assigned to, says mypy
    try:
        code = program_main.main()
    finally:
        setattr(bootstrap, "Program", own)  # noqa: B010
    if failures:
        raise failures[0]
    if code:
        raise SystemExit(code)
    return times


async def until(condition: Callable[[], object], *, seconds: float = WAIT_SECONDS) -> None:
    """Wait for a condition. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - the condition may be a file
            await asyncio.sleep(0.005)


class PaintWatch(QObject):
    """Tells when a widget has been painted and everything that was due before is done."""

    painted = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            QTimer.singleShot(0, self.painted.emit)
        return False

    async def paint_when(self, condition: Callable[[], object]) -> float:
        """Return the monotonic time of the first paint at which `condition` holds."""
        seen: asyncio.Future[float] = asyncio.get_running_loop().create_future()

        def look() -> None:
            if not seen.done() and condition():
                seen.set_result(time.monotonic())

        self.painted.connect(look)
        try:
            return await asyncio.wait_for(seen, WAIT_SECONDS)
        finally:
            self.painted.disconnect(look)
