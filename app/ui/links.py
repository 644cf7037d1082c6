"""Opens links of texts: web and mail at once, anything else only after a question."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QCoreApplication, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget

MAX_SHOWN_URL: Final = 500
_SAFE_SCHEMES: Final = frozenset({"http", "https", "mailto"})

Tell = Callable[[str, str, Callable[[], None]], None]
"""Shows a sentence, with the name of a button and what that does."""


def open_link(window: QWidget, url: str, tell: Tell) -> None:
    """Open `url` outside of the program; what can't be opened is told with a way to copy it."""
    target = QUrl(url)
    if target.scheme().lower() in _SAFE_SCHEMES:
        _open_outside(target, tell)
        return
    box = QMessageBox(window)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(QMessageBox.Icon.Warning)
    box.setWindowTitle(_tr("Open a link"))
    box.setTextFormat(Qt.TextFormat.PlainText)
    question = _tr("This is no web page and no mail address. Open it all the same?")
    box.setText(f"{question}\n\n{url[:MAX_SHOWN_URL]}")
    open_button = box.addButton(_tr("Open"), QMessageBox.ButtonRole.AcceptRole)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    open_button.clicked.connect(lambda: _open_outside(target, tell))
    box.open()


def _open_outside(target: QUrl, tell: Tell) -> None:
    if not QDesktopServices.openUrl(target):
        url = target.toString()
        tell(
            _tr("No program could be found to open this link."),
            _tr("Copy address"),
            lambda: QGuiApplication.clipboard().setText(url),
        )


def _tr(text: str) -> str:
    return QCoreApplication.translate("Links", text)
