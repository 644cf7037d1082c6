"""The line that counts down to the next try of a step that failed."""

import math

from PySide6.QtCore import QObject, QTimer, Slot

from app.domain.events import RetryScheduled
from app.ui.chat.composer import Composer
from app.ui.wording import error_sentence


class RetryNotice(QObject):
    """Shows the countdown below the composer."""

    def __init__(self, composer: Composer, parent: QObject) -> None:
        super().__init__(parent)
        self._composer = composer
        self._retry: RetryScheduled | None = None
        self._seconds_left = 0
        self._timer = QTimer(self)
        self._timer.setInterval(1000)
        self._timer.timeout.connect(self._tick)

    def begin(self, retry: RetryScheduled) -> None:
        """Count down to `retry`."""
        self._retry = retry
        self._seconds_left = math.ceil(retry.delay_seconds)
        self._timer.start()
        self._show(retry)

    def end(self) -> None:
        """Show nothing any more; harmless if nothing is shown."""
        if self._retry is not None:
            self._retry = None
            self._timer.stop()
            self._composer.set_hint("")

    @Slot()
    def _tick(self) -> None:
        if self._retry is not None:
            self._seconds_left = max(0, self._seconds_left - 1)
            self._show(self._retry)

    def _show(self, retry: RetryScheduled) -> None:
        text = self.tr("{sentence} Trying again in {seconds} s (try {next} of {most}). Esc stops.").format(
            sentence=error_sentence(retry.error_kind),
            seconds=self._seconds_left,
            next=retry.attempt + 1,
            most=retry.max_attempts,
        )
        self._composer.set_hint(text)
