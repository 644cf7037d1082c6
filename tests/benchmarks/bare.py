"""A child process: a bare window of PySide6, the floor under every figure.

`paint` ends at its first paint, `idle` stays, `loop` measures what the program is measured for while it streams.
"""

import sys
import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow, QPlainTextEdit

LOOP_MS = 5_000


class FirstPaint(QObject):
    """Calls `then` behind the first paint of what it filters."""

    def __init__(self, parent: QObject, then: Callable[[], None]) -> None:
        super().__init__(parent)
        self._then: Callable[[], None] | None = then
        parent.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint and self._then is not None:
            QTimer.singleShot(0, self._then)
            self._then = None
        return False


def main() -> None:
    application = QApplication(sys.argv[:1])
    application.setStyle("Fusion")
    window = QMainWindow()
    window.resize(1080, 760)
    field = QPlainTextEdit()
    if sys.argv[1] == "loop":
        window.setCentralWidget(field)
    FirstPaint(window, lambda: _painted(field))
    window.show()
    application.exec()


def _painted(field: QPlainTextEdit) -> None:
    match sys.argv[1]:
        case "paint":
            sys.stdout.write(f'{{"painted": {time.monotonic()}}}\n')
            QApplication.quit()
        case "idle":
            sys.stdout.write("{}\n")
            sys.stdout.flush()
        case _:
            _measure_loop(field)


def _measure_loop(field: QPlainTextEdit) -> None:
    from tests.benchmarks.probes import GapTimer, KeyProbe

    gaps, keys = GapTimer(field), KeyProbe(field)
    gaps.start()
    keys.start()

    def end() -> None:
        sys.stdout.write(f'{{"gaps_ms": {gaps.stop()}, "keys_ms": {keys.stop()}}}\n')
        QApplication.quit()

    QTimer.singleShot(LOOP_MS, end)


if __name__ == "__main__":
    main()
