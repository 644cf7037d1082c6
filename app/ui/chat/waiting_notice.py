"""The line about a reply that keeps a person waiting: the countdown to the next try, or that nothing comes."""

import math

from PySide6.QtCore import QObject, QTimer, Slot

from app.domain.events import RetryScheduled
from app.ui.chat.composer import Composer


class WaitingNotice(QObject):
    """Shows below the composer what is waited for."""

    def __init__(self, composer: Composer, parent: QObject) -> None:
        super().__init__(parent)
        self._composer = composer
        self._retry: RetryScheduled | None = None
        self._is_quiet = False
        self._seconds_left = 0
        self._timer = QTimer(self)
        self._timer.setInterval(1000)
        self._timer.timeout.connect(self._tick)

    def count_down(self, retry: RetryScheduled) -> None:
        """Count down to `retry`."""
        self._is_quiet = False
        self._retry = retry
        self._seconds_left = math.ceil(retry.delay_seconds)
        self._timer.start()
        self._show(retry)

    def show_quiet(self, seconds: int) -> None:
        """Say that the provider has sent nothing for `seconds`."""
        self._is_quiet = True
        self._composer.set_hint(self.tr("No answer for {seconds} s. Esc stops.").format(seconds=seconds))

    @property
    def is_quiet(self) -> bool:
        """Whether it says that nothing comes."""
        return self._is_quiet

    def end(self) -> None:
        """Show nothing any more; harmless if nothing is shown."""
        if self._retry is not None or self._is_quiet:
            self._retry = None
            self._is_quiet = False
            self._timer.stop()
            self._composer.set_hint("")

    @Slot()
    def _tick(self) -> None:
        if self._retry is not None:
            self._seconds_left = max(0, self._seconds_left - 1)
            self._show(self._retry)

    def _show(self, retry: RetryScheduled) -> None:
        # Why stands in the conversation.
        text = self.tr("Trying again in {seconds} s (try {next} of {most}). Esc stops.").format(
            seconds=self._seconds_left,
            next=retry.attempt + 1,
            most=retry.max_attempts,
        )
        self._composer.set_hint(text)
