"""What is measured inside a running window: gaps of its loop, and the way from a key to its glyph."""

import threading
import time
from collections import deque
from itertools import cycle
from random import Random

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit


class GapTimer(QObject):
    """A precise timer of 1 ms; what is longer between two of its ticks, the loop was kept from running."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._last = 0.0
        self.gaps_ms: list[float] = []
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(1)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        """Begin anew."""
        self.gaps_ms = []
        self._last = time.perf_counter()
        self._timer.start()

    def stop(self) -> list[float]:
        """End and return the gaps in milliseconds."""
        self._timer.stop()
        return self.gaps_ms

    def _tick(self) -> None:
        now = time.perf_counter()
        self.gaps_ms.append((now - self._last) * 1000)
        self._last = now


class KeyProbe(QObject):
    """Presses keys at random moments, whatever the window is busy with, and waits for the field to paint them.

    The keys come from a thread of their own, as they come from the X server. Times count from when a key was due.
    """

    def __init__(self, field: QPlainTextEdit) -> None:
        super().__init__(field)
        self.delays_ms: list[float] = []
        self._field = field
        self._due: deque[float] = deque()
        self._typed: list[float] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._press_keys, daemon=True)
        field.installEventFilter(self)
        field.viewport().installEventFilter(self)

    def start(self) -> None:
        """Begin to type."""
        self._thread.start()

    def stop(self) -> list[float]:
        """End and return the delays in milliseconds."""
        self._is_over.set()
        return self.delays_ms

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.KeyPress and self._due:
            self._typed.append(self._due.popleft())
        elif event.type() is QEvent.Type.Paint and self._typed:
            typed, self._typed = self._typed, []
            QTimer.singleShot(0, lambda: self._note(typed))
        return False

    def _note(self, typed: list[float]) -> None:
        now = time.perf_counter()
        self.delays_ms += [(now - due) * 1000 for due in typed]

    def _press_keys(self) -> None:
        random = Random(1)
        letters = cycle("aa" * 5 + "  ")
        due = time.perf_counter()
        while not self._is_over.is_set():
            due += random.uniform(0.06, 0.18)
            time.sleep(max(0.0, due - time.perf_counter()))
            self._due.append(due)
            for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
                key = QKeyEvent(kind, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, next(letters))
                QCoreApplication.postEvent(self._field, key)
