"""Asks for the name of a memory."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget


class NameDialog(QDialog):
    """Shown with `open()`; nobody waits for its answer."""

    named = Signal(str)

    def __init__(self, parent: QWidget, *, title: str, words: str, name: str = "") -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        label = QLabel(words)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        self.field = QLineEdit(name)
        self.field.setAccessibleName(self.tr("Name"))
        self.field.setMaxLength(200)
        label.setBuddy(self.field)
        # The ending stays unless it is meant.
        stem = name.rpartition(".")[0] or name
        self.field.setSelection(0, len(stem))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        layout = QVBoxLayout(self)
        layout.addWidget(label)
        layout.addWidget(self.field)
        layout.addWidget(self.buttons)
        self.setMinimumWidth(280)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.accepted.connect(lambda: self.named.emit(self.field.text().strip()))
        self.field.textChanged.connect(self._allow)
        self._allow()

    @Slot()
    def _allow(self) -> None:
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(self.field.text().strip()))
