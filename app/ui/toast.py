"""A short message over the window's lower edge, with at most one thing to do about it."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

SHOW_MS: Final = 10_000


class Toast(QFrame):
    """Shows one message at a time; stays while the pointer or the focus is on it."""

    def __init__(self, parent: QWidget, bottom: Callable[[], int]) -> None:
        """`bottom` gives the height in pixels of what it must not cover at the lower edge of `parent`."""
        super().__init__(parent)
        self._host = parent
        self._bottom = bottom
        self.setObjectName("toast")
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self.button = QPushButton()
        self.button.clicked.connect(self._act)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 10, 12, 10)
        layout.setSpacing(16)
        layout.addWidget(self._text, 1)
        layout.addWidget(self.button)
        self._action: Callable[[], None] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._time_is_up)
        parent.installEventFilter(self)
        self.hide()

    def show_message(
        self, text: str, *, button: str = "", action: Callable[[], None] | None = None, show_ms: int = SHOW_MS
    ) -> None:
        """Show `text` for a time, and `button` if there is an `action`."""
        self._text.setText(text)
        self.button.setText(button)
        self.button.setVisible(action is not None)
        self._action = action
        self._place()
        self.show()
        self.raise_()
        self._timer.start(show_ms)
        announcement = QAccessibleAnnouncementEvent(self, text)
        QAccessible.updateAccessibility(announcement)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    @Slot()
    def _act(self) -> None:
        action, self._action = self._action, None
        self.hide()
        if action is not None:
            action()

    @Slot()
    def _time_is_up(self) -> None:
        if self.underMouse() or self.button.hasFocus():
            self._timer.start(SHOW_MS)
        else:
            self.hide()

    def _place(self) -> None:
        parent = self._host
        metrics = self._text.fontMetrics()
        width = metrics.horizontalAdvance(self._text.text()) + 40
        if self._action is not None:
            width = max(280, width + self.button.sizeHint().width() + 16)
        # A line of some 80 letters is read easily, whatever their size.
        width = max(120, min(width, 80 * metrics.averageCharWidth(), parent.width() - 24))
        self.setFixedWidth(width)
        height = max(self.heightForWidth(width), self.sizeHint().height())
        self.setFixedHeight(height)
        self.move(QPoint((parent.width() - width) // 2, parent.height() - self._bottom() - height - 12))
