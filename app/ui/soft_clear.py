"""Asks before a fresh context window begins by hand: it can't be undone."""

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QMessageBox, QWidget


def ask_to_clear(window: QWidget, clear: Callable[[], None]) -> QMessageBox:
    """Ask in front of `window`, without waiting; `clear` is called if the answer is yes."""
    box = QMessageBox(window)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle(_tr("Start afresh"))
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(_tr("Let the model start afresh?"))
    box.setInformativeText(
        _tr(
            "It is never again shown what was said here, and can't search it. "
            "You keep every message and can read and search all of them. This can't be undone."
        )
    )
    yes = box.addButton(_tr("Start afresh"), QMessageBox.ButtonRole.AcceptRole)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    yes.clicked.connect(clear)
    box.open()
    return box


def _tr(text: str) -> str:
    return QCoreApplication.translate("SoftClear", text)
