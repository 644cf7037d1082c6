"""Asks before a fresh context window begins by hand: it can't be undone."""

from collections.abc import Awaitable, Callable

from PySide6.QtCore import QCoreApplication, QObject, Qt, Slot
from PySide6.QtWidgets import QCheckBox, QMessageBox, QWidget

from app.domain.errors import KnownError


class SoftClear(QObject):
    """The question, in front of a window; nobody waits for its answer."""

    def __init__(self, window: QWidget, clear: Callable[[bool], None]) -> None:
        """`clear` is called if the answer is yes, with whether the model's notes are set aside too."""
        box = QMessageBox(window)
        super().__init__(box)
        self._clear = clear
        self._notes: QCheckBox | None = None
        self._is_open = True
        self.box = box
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
        yes.clicked.connect(self._say_yes)
        box.finished.connect(self._end)
        box.open()

    async def offer_to_set_notes_aside(self, has_notes: Awaitable[bool]) -> None:
        """Offer it once it is known that there are notes, unless the question is answered by then."""
        try:
            if not await has_notes or not self._is_open:
                return
        except KnownError:
            # Without being asked they are set aside: rather that than put before the model again.
            return
        self._notes = QCheckBox(_tr("Also set the model's notes for itself aside"))
        self._notes.setToolTip(_tr("They are renamed and stay in the memory, but no model is shown them unasked."))
        self._notes.setChecked(True)
        self.box.setCheckBox(self._notes)

    @Slot()
    def _say_yes(self) -> None:
        self._clear(self._notes is None or self._notes.isChecked())

    @Slot()
    def _end(self) -> None:
        self._is_open = False


def _tr(text: str) -> str:
    return QCoreApplication.translate("SoftClear", text)
