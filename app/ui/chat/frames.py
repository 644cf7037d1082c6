"""When the next frame of a stream is due: at most thirty a second, fewer when they take long."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QElapsedTimer, QObject, QTimer

FRAME_MS: Final = 33


class FrameClock(QObject):
    """Runs `show` once for all that was asked since the last frame."""

    def __init__(self, show: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._show = show
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._run)
        self._since = QElapsedTimer()
        self._since.start()
        self._cost_ms = 0

    def ask(self) -> None:
        """Have the next frame run when it is due."""
        if not self._timer.isActive():
            # A frame that takes long is followed by a longer pause: the window stays alive.
            pause = max(FRAME_MS, 3 * self._cost_ms)
            self._timer.start(max(0, pause - self._since.elapsed()))

    def finish(self) -> None:
        """Run the frame that is waiting, if any, now."""
        if self._timer.isActive():
            self._timer.stop()
            self._run()

    def _run(self) -> None:
        self._since.restart()
        self._show()
        self._cost_ms = self._since.elapsed()
