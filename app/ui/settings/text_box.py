"""A field of several lines that tells its text when the person has finished it."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy


class CommitText(QPlainTextEdit):
    """As `CommitField`, for several lines. Tab goes on to the next control."""

    committed = Signal(str)

    def __init__(self, name: str, *, most_chars: int, lines: int = 6) -> None:
        """A text of more than `most_chars` is not told: `is_too_long` says so."""
        super().__init__()
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._most_chars = most_chars
        self._lines = lines
        self._shown = ""

    @property
    def is_too_long(self) -> bool:
        return len(self.toPlainText()) > self._most_chars

    def show_text(self, text: str, *, is_forced: bool = False) -> None:
        """Show a text, unless another is being typed."""
        if self.toPlainText() == text:
            self._shown = text
        elif is_forced or self.toPlainText() == self._shown:
            self._shown = text
            self.setPlainText(text)

    def commit(self) -> None:
        """Tell what was typed, if it has not been told yet and is not too long."""
        text = self.toPlainText()
        if text != self._shown and not self.is_too_long:
            self._shown = text
            self.committed.emit(text)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.commit()

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.fontMetrics().lineSpacing() * self._lines + 16)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.sizeHint().height())
