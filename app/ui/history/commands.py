"""What can be done with an item or a window of the history: copy, quote, branch, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QDir, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.aio import TaskSet
from app.domain.errors import KnownError, StaleItem
from app.domain.windows import Filters, HistoryItem, WindowInfo
from app.ui.bridge import Bridge
from app.ui.chat.quotation import MOST_QUOTED_CHARS, quotation, quotation_of
from app.ui.history.reading import lasting_ref
from app.ui.history.wording import file_name, number_text

if TYPE_CHECKING:
    from app.domain.exports import ExportKind, ExportReport

MOST_COPIED_CHARS: Final = 2_000_000
"""A longer text is copied up to here, and that is said."""
_READ_CHARS: Final = 200_000
_LONG_EXPORT_BYTES: Final = 5_000_000
"""Writing more than this takes longer than people wait without a word."""


class HistoryCommands(QObject):
    """Does what a menu or a button of the panel asks for; tells how it went."""

    told = Signal(str)
    """A sentence for people about what was done, or could not be."""
    quoted = Signal(str)
    """Lines for the composer."""
    branched = Signal(object)
    """The `ChatSummary` of a new chat."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._tasks = tasks
        self._host = parent
        self._folder = QDir.homePath()
        self._is_branching = False

    # Texts

    def copy(self, session: str, item: HistoryItem) -> None:
        """Put the whole text of an item on the clipboard."""
        self._tasks.spawn(self._copy(session, item), name="copy from the history")

    def quote(self, session: str, item: HistoryItem) -> None:
        """Put the text of an item into the composer as a quotation."""
        self._tasks.spawn(self._quote(session, item), name="quote from the history")

    def quote_text(self, text: str) -> None:
        """Put a text into the composer as a quotation."""
        self.quoted.emit(quotation_of(text))

    async def _copy(self, session: str, item: HistoryItem) -> None:
        text, total = await self._read(session, item, MOST_COPIED_CHARS)
        if text is None:
            return
        QGuiApplication.clipboard().setText(text)
        if total > len(text):
            words = self.tr("Only the first {count} characters were copied.").format(count=number_text(len(text)))
            self.told.emit(words)
        else:
            self.told.emit(self.tr("Copied."))

    async def _quote(self, session: str, item: HistoryItem) -> None:
        text, total = await self._read(session, item, MOST_QUOTED_CHARS)
        if text is not None:
            self.quoted.emit(quotation(text, is_cut=total > len(text)))

    async def _read(self, session: str, item: HistoryItem, most: int) -> tuple[str | None, int]:
        """Return an item's text up to `most` characters, and how many it has; None if it can't be read."""
        try:
            return await self._read_from(session, item.ref, most)
        except StaleItem:
            pass
        except KnownError as error:
            self.told.emit(str(error))
            return None, 0
        try:
            return await self._read_from(session, lasting_ref(item), most)
        except KnownError as error:
            self.told.emit(str(error))
            return None, 0

    async def _read_from(self, session: str, ref: str, most: int) -> tuple[str | None, int]:
        pieces: list[str] = []
        offset: int | None = 0
        left, total = most, 0
        while offset is not None and left > 0:
            found = await self._bridge.read_history_item(
                session, ref, offset_chars=offset, limit_chars=min(left, _READ_CHARS)
            )
            if found is None:
                self.told.emit(self.tr("This message is not in the history any more."))
                return None, 0
            pieces.append(found.text)
            left -= len(found.text)
            total, offset = found.total_chars, found.next_offset_chars
        return "".join(pieces), total

    # Branches

    def branch(self, session: str, item: HistoryItem) -> None:
        """Make a new chat of everything up to an item."""
        self._start_branch(session, item)

    def branch_from_end(self, session: str, window: WindowInfo) -> None:
        """Make a new chat of everything up to the end of a window."""
        self._start_branch(session, window)

    def _start_branch(self, session: str, origin: HistoryItem | WindowInfo) -> None:
        if not self._is_branching:
            self._is_branching = True
            self._tasks.spawn(self._branch(session, origin), name="branch a chat")

    async def _branch(self, session: str, origin: HistoryItem | WindowInfo) -> None:
        try:
            item = origin if isinstance(origin, HistoryItem) else await self._last_item(session, origin)
            if item is None:
                self.told.emit(self.tr("Nothing was said in this window that a chat could begin with."))
                return
            self.branched.emit(await self._branch_at(session, item))
        except KnownError as error:
            self.told.emit(str(error))
        finally:
            self._is_branching = False

    async def _branch_at(self, session: str, item: HistoryItem) -> object:
        try:
            return await self._bridge.branch_chat(session, item.ref)
        except StaleItem:
            return await self._bridge.branch_chat(session, lasting_ref(item))

    async def _last_item(self, session: str, window: WindowInfo) -> HistoryItem | None:
        mark = None
        while True:
            page = await self._bridge.history_items(
                session, mark, filters=Filters(window_id=window.id), recent_first=True, limit=1
            )
            if page.items or page.next is None:
                return page.items[0] if page.items else None
            mark = page.next

    # Exports

    def export(self, session: str, window: WindowInfo, kind: ExportKind) -> None:
        """Ask where to, then write a window to a file."""
        names = {"markdown": (self.tr("Markdown (*.md)"), "md"), "json": (self.tr("JSON (*.json)"), "json")}
        pattern, suffix = names[kind]
        dialog = QFileDialog(self._host.window(), self.tr("Export a window"), self._folder, pattern)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setDefaultSuffix(suffix)
        dialog.selectFile(f"{file_name(window)}.{suffix}")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self._start_export(session, window, Path(path), kind))
        dialog.open()

    def _start_export(self, session: str, window: WindowInfo, path: Path, kind: ExportKind) -> None:
        self._folder = str(path.parent)
        self._tasks.spawn(self._export(session, window, path, kind), name="export a window")

    async def _export(self, session: str, window: WindowInfo, path: Path, kind: ExportKind) -> None:
        if window.end - window.start > _LONG_EXPORT_BYTES:
            self.told.emit(self.tr("Writing {name}…").format(name=path.name))
        try:
            report = await self._bridge.export_window(session, window.id, path, kind)
        except KnownError as error:
            self.told.emit(str(error))
            return
        self.told.emit(self._told_export(report, path))

    def _told_export(self, report: ExportReport, path: Path) -> str:
        count = self.tr("{count} entries are saved in {name}.").format(count=number_text(report.rows), name=path.name)
        words = self.tr("1 entry is saved in {name}.").format(name=path.name) if report.rows == 1 else count
        if not report.is_whole:
            left_out = report.damaged + report.oversized + report.missing
            many = self.tr("{count} could not be read; the file says which.").format(count=number_text(left_out))
            words += " " + (self.tr("One could not be read; the file says which.") if left_out == 1 else many)
        return words
