"""Garbage collection on the interface's thread only.

Python collects reference cycles on whichever thread allocates. A Qt object in such a cycle would be
torn down by the engine's thread, and the binding then destroys it a second time: the program crashes.
So automatic collection is off, and a timer does the same work here. See ADR-0002.
"""

import gc
from typing import Final

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Slot

CHECK_MS: Final = 50
"""Often: what piles up between two looks is collected in one go, and holds up a frame."""
FULL_MS: Final = 60_000
"""A full collection looks at everything and holds up several frames; garbage that old can wait."""
SETTLED_MS: Final = 5_000
"""By then the program has started; what is there then stays."""


class GarbageCollector(QObject):
    """Collects a generation when it is due by Python's own thresholds."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thresholds = gc.get_threshold()
        gc.disable()
        gc.freeze()
        self._since_full = QElapsedTimer()
        self._since_full.start()
        self._timer = QTimer(self)
        self._timer.setInterval(CHECK_MS)
        self._timer.timeout.connect(self.collect_due)
        self._timer.start()
        QTimer.singleShot(SETTLED_MS, self._settle)

    @Slot()
    def collect_due(self) -> None:
        """Collect the oldest generation that is due, if any."""
        counts = gc.get_count()
        for generation in (2, 1, 0):
            # A threshold of 0 (Python 3.14 for the oldest) means that it is never due by itself.
            if not 0 < self._thresholds[generation] < counts[generation]:
                continue
            if generation == 2:
                if self._since_full.elapsed() < FULL_MS:
                    continue
                self._since_full.restart()
            gc.collect(generation)
            return

    @Slot()
    def _settle(self) -> None:
        """Look no more at what the start has built: it makes every full collection longer.

        Nothing is collected first: that held the interface up for 50 ms just when the first reply may be running.
        """
        gc.freeze()
