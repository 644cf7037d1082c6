"""The line above the field while a queued message is being changed there."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget


class EditingLine(QWidget):
    """Says what the field is for now; keeps the change or drops it."""

    save_pressed = Signal()
    cancel_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        text = QLabel(self.tr("You are changing a queued message"))
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setObjectName("mutedText")
        text.setWordWrap(True)
        self.save = QPushButton(self.tr("Save"))
        self.save.setObjectName("small")
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setObjectName("small")
        self.cancel.setToolTip(self.tr("Leave the message as it was (Esc)"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(text, 1)
        layout.addWidget(self.save)
        layout.addWidget(self.cancel)
        self.save.clicked.connect(self.save_pressed)
        self.cancel.clicked.connect(self.cancel_pressed)
