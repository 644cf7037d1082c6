"""A message as it lies in the history, for whoever wants to see that; and one sentence in a box of its own."""

from typing import Final

from PySide6.QtCore import QCoreApplication, QLocale, QSize, Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMessageBox, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

_MOST_LINE_CHARS: Final = 4_000
_MOST_CHARS: Final = 400_000
"""More than this would hold the window up; Copy takes all of it."""
_SIZE: Final = QSize(620, 480)


class RawEntry(QDialog):
    """Shows the JSON of one row; nothing in it can be changed."""

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Raw entry"))
        self._whole = text
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(self.tr("The message as it lies in the history"))
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setPlainText(_shown(text))
        self.text.setTabChangesFocus(True)
        self.copy_button = QPushButton(self.tr("Copy"))
        self.copy_button.clicked.connect(self._copy)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.addButton(self.copy_button, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.text)
        layout.addWidget(buttons)
        self.resize(_SIZE.boundedTo(parent.size() - QSize(16, 16)))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._whole)


def say_plainly(title: str, text: str, parent: QWidget) -> None:
    """Show a sentence in a box; nobody waits for its end."""
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(QMessageBox.Icon.Information)
    box.setWindowTitle(title)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(text)
    box.open()


def _shown(text: str) -> str:
    """Return a text whose lines are all short enough to be laid out at once."""
    lines = []
    for line in text[:_MOST_CHARS].split("\n"):
        more = len(line) - _MOST_LINE_CHARS
        lines.append(line[:_MOST_LINE_CHARS] + _more(more) if more > 0 else line)
    beyond = len(text) - _MOST_CHARS
    return "\n".join(lines) + (_more(beyond) if beyond > 0 else "")


def _more(count: int) -> str:
    words = QCoreApplication.translate("RawEntry", "… ({count} more characters)")
    return words.format(count=QLocale().toString(count))
