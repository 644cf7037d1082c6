"""Tells that the program itself has failed, where the report lies, and that nothing typed is lost."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget


class CrashNotice(QObject):
    """Shows one message at a time; may be told from any thread."""

    _told = Signal(str, bool)

    def __init__(self, window: QWidget, *, save: Callable[[], object]) -> None:
        """`save` puts on disk what is being written."""
        super().__init__(window)
        self._window = window
        self._save = save
        self._box: QMessageBox | None = None
        self._told.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def tell(self, report: Path | None) -> None:
        """Show that something failed just now; `report` is what was written about it."""
        # A thread may fail when the window is gone already.
        with contextlib.suppress(RuntimeError):
            self._told.emit(str(report or ""), False)

    def tell_of_last_time(self, report: Path) -> None:
        """Show that the program ended by a fault the last time."""
        self._told.emit(str(report), True)

    @Slot(str, bool)
    def _show(self, report: str, was_last_time: bool) -> None:  # noqa: FBT001 - a Qt slot
        if self._box is None:
            self._open(report, was_last_time=was_last_time)
        # Last: it may be what has failed.
        self._save()

    def _open(self, report: str, *, was_last_time: bool) -> None:
        box = QMessageBox(self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle(self.tr("Something went wrong"))
        box.setTextFormat(Qt.TextFormat.PlainText)
        if was_last_time:
            box.setText(self.tr("Muntin ended unexpectedly the last time."))
            kept = self.tr("Your chats are there. A reply that was being written is kept as far as it had come.")
        else:
            box.setText(self.tr("Something went wrong inside Muntin."))
            kept = self.tr("Your chats and what you are writing are saved. You can go on; if it looks odd, restart.")
        if report:
            where = self.tr("A report without any of your texts or keys lies here:")
            kept = f"{kept}\n\n{where}\n{report}"
            folder = box.addButton(self.tr("Open folder"), QMessageBox.ButtonRole.ActionRole)
            folder.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(report).parent))))
        box.setInformativeText(kept)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Close))
        box.finished.connect(self._closed)
        self._box = box
        box.open()

    @Slot()
    def _closed(self) -> None:
        self._box = None
