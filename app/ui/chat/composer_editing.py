"""The line above the field while a message is being changed there."""

from enum import Enum, auto

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget


class Edited(Enum):
    """What is being changed."""

    QUEUED = auto()
    """A message that waits to be sent."""
    SENT = auto()
    """A message of the chat, to be sent again in its place."""


class EditingLine(QWidget):
    """Says what the field is for now; keeps the change or drops it."""

    save_pressed = Signal()
    cancel_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setObjectName("mutedText")
        self._text.setWordWrap(True)
        self.save = QPushButton(self.tr("Save"))
        self.save.setObjectName("small")
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setObjectName("small")
        self.cancel.setToolTip(self.tr("Leave the message as it was (Esc)"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._text, 1)
        layout.addWidget(self.save, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignTop)
        self.save.clicked.connect(self.save_pressed)
        self.cancel.clicked.connect(self.cancel_pressed)

    def show_for(self, edited: Edited) -> None:
        """Say what is being changed. A message that was sent is not saved but sent again, by the button for that."""
        is_sent = edited is Edited.SENT
        self.save.setVisible(not is_sent)
        self._text.setText(
            self.tr("You are changing an earlier message. What follows it fades and is kept as a version.")
            if is_sent
            else self.tr("You are changing a queued message")
        )

    @property
    def text(self) -> str:
        """What the line says."""
        return self._text.text()
