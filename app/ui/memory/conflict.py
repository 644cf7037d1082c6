"""What the editor says when a memory was changed on disk while the person was writing."""

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout

from app.domain.memories import MemoryText

_SHOWN_LINES: Final = 6


class ConflictBar(QFrame):
    """Shows the newer version, and what can be done about it."""

    mine_chosen = Signal()
    theirs_chosen = Signal()
    copy_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("memoryConflict")
        self._words = QLabel()
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._words.setWordWrap(True)
        self.theirs = QPlainTextEdit()
        self.theirs.setReadOnly(True)
        self.theirs.setTabChangesFocus(True)
        self.theirs.setAccessibleName(self.tr("The newer version"))
        self.mine_button = QPushButton(self.tr("Keep mine"))
        self.theirs_button = QPushButton()
        self.copy_button = QPushButton(self.tr("Copy mine"))
        self.copy_button.setToolTip(self.tr("Puts what you have written on the clipboard"))
        buttons = QGridLayout()
        for number, button in enumerate((self.mine_button, self.theirs_button, self.copy_button)):
            button.setObjectName("small")
            buttons.addWidget(button, number // 2, number % 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(self._words)
        layout.addWidget(self.theirs)
        layout.addLayout(buttons)
        self.mine_button.clicked.connect(self.mine_chosen)
        self.theirs_button.clicked.connect(self.theirs_chosen)
        self.copy_button.clicked.connect(self.copy_wanted)
        self.hide()

    def show_conflict(self, theirs: MemoryText | None) -> None:
        """Ask what is to become of it; None if the memory is gone."""
        if theirs is None:
            words = self.tr("This memory was deleted while you were writing. What you wrote is not saved yet.")
        else:
            words = self.tr(
                "This memory was changed while you were writing. What you wrote is not saved yet. The newer version:"
            )
        self._words.setText(words)
        self.theirs.setPlainText(theirs.text if theirs is not None else "")
        self.theirs.setVisible(theirs is not None)
        self.theirs.setFixedHeight(_SHOWN_LINES * self.theirs.fontMetrics().lineSpacing())
        self.theirs_button.setText(self.tr("Use the newer one") if theirs is not None else self.tr("Let it go"))
        if self.isHidden():
            self.show()
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))
