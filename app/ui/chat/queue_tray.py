"""The messages that wait, above the composer: why they wait, and one line for each. Shows; decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.domain.queue import Pause, QueueView
from app.ui.chat.composer import MAX_COLUMN
from app.ui.chat.queue_tray_list import QueueList
from app.ui.chat.queue_tray_model import QueueModel
from app.ui.theme import Theme

if TYPE_CHECKING:
    from app.ui.chat.queue_tray_model import Describe

_NARROW_PX: Final = 280
"""Below this width, before any zoom, the button stands below the words."""


class QueueTray(QWidget):
    """Hidden while nothing waits."""

    go_on_wanted = Signal()
    """A paused queue shall go on."""
    left = Signal()
    """The keyboard was here, and nothing waits any more."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("queueTray")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(self.tr("Queue"))
        self.model = QueueModel(self)
        self.list = QueueList(self.model, theme)
        self._may_change = True
        self._pause_line = QWidget()
        self._pause_text = QLabel()
        self._pause_text.setTextFormat(Qt.TextFormat.PlainText)
        self._pause_text.setObjectName("mutedText")
        self._pause_text.setWordWrap(True)
        self.go_on = QPushButton()
        self.go_on.setObjectName("small")
        self.go_on.clicked.connect(self.go_on_wanted)
        self._frame = QFrame()
        self._frame.setObjectName("queueFrame")
        self._lay_out()
        self.set_theme(theme)
        self.hide()

    def _lay_out(self) -> None:
        self._pause_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._pause_line)
        self._pause_layout.setContentsMargins(10, 4, 4, 0)
        self._pause_layout.addWidget(self._pause_text, 1)
        self._pause_layout.addWidget(self.go_on, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
        inner = QVBoxLayout(self._frame)
        inner.setContentsMargins(2, 2, 2, 2)
        inner.setSpacing(0)
        inner.addWidget(self._pause_line)
        inner.addWidget(self.list)
        self._column = QWidget()
        stack = QVBoxLayout(self._column)
        stack.setContentsMargins(12, 0, 12, 6)
        stack.addWidget(self._frame)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addStretch(0)
        outer.addWidget(self._column, 1)
        outer.addStretch(0)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._narrow_px = theme.px(_NARROW_PX)
        self._column.setMaximumWidth(theme.px(MAX_COLUMN))
        self.list.set_theme(theme)

    def leave_right(self, width: int) -> None:
        """Leave `width` pixels free at the right, as the composer does."""
        layout = self.layout()
        assert layout is not None
        layout.setContentsMargins(0, 0, width, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = event.size().width() < self._narrow_px
        direction = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self._pause_layout.setDirection(direction)

    def show_queue(self, queue: QueueView, describe: Describe) -> None:
        """Show what waits now; `describe` says with what a message is answered if that is nothing usual."""
        had_focus = self.list.hasFocus() or self.go_on.hasFocus()
        self.model.set_messages(queue.messages)
        self.model.set_describe(describe)
        self._show_pause(queue)
        self.setVisible(bool(queue.messages))
        if had_focus and not queue.messages:
            self.left.emit()
        elif had_focus and not self.go_on.isVisible():
            self.list.setFocus()

    def set_changeable(self, *, on: bool) -> None:
        """Say whether anything may be changed here."""
        self._may_change = on
        self.list.set_changeable(on=on)
        self.go_on.setVisible(on)

    def _show_pause(self, queue: QueueView) -> None:
        is_one = len(queue.messages) == 1
        words = {
            Pause.RESTART: self.tr("This message has waited since the chat was last open.")
            if is_one
            else self.tr("These messages have waited since the chat was last open."),
            Pause.STOPPED: self.tr("Waiting, because you stopped the reply."),
            Pause.ERROR: self.tr("Waiting, because the last reply failed."),
        }
        self._pause_line.setVisible(queue.pause is not None)
        if queue.pause is not None:
            self._pause_text.setText(" ".join(each for each in (words[queue.pause], queue.reason) if each))
            self.go_on.setText(self.tr("Send it") if is_one else self.tr("Send them"))
            self.go_on.setVisible(self._may_change)
