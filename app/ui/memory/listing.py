"""The list of memories: what holds everywhere, and what belongs to the open chat."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QCoreApplication, QModelIndex, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem

from app.domain.memories import MemoryEntry, MemoryListing, MemoryScope
from app.ui.memory.wording import entry_words, scope_name, scope_words, size_text
from app.ui.theme import Theme, tinted_icon

_VALUE: Final = Qt.ItemDataRole.UserRole
_ICON: Final = 14


class MemoryList(QTreeWidget):
    """Shows values; asks nothing of the engine."""

    chosen = Signal(object)
    """A `MemoryEntry` to open."""
    menu_wanted = Signal(object, QPoint)
    """A `MemoryEntry` or a `MemoryScope`, and where."""
    rename_wanted = Signal(object)
    delete_wanted = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._listings: dict[MemoryScope, MemoryListing] = {}
        self.setObjectName("memoryList")
        self.setAccessibleName(_tr("Memories"))
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setIndentation(theme.px(12))
        self.setUniformRowHeights(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.activated.connect(self._activate)
        self.clicked.connect(self._activate)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._theme = theme
        self.setIndentation(theme.px(12))
        self.show_listings(self._listings)

    def show_listings(self, listings: dict[MemoryScope, MemoryListing]) -> None:
        """Show these memories; what was current stays it."""
        self._listings = listings
        current = self.current
        self.clear()
        self.setIconSize(QSize(self._theme.px(_ICON), self._theme.px(_ICON)))
        for scope in (MemoryScope.WORKSPACE, MemoryScope.GLOBAL):
            if scope in listings:
                self._add_scope(scope, listings[scope])
        self.expandAll()
        if isinstance(current, MemoryEntry):
            self.select(current.path)
        if self.hasFocus():
            self._choose_one()

    @property
    def current(self) -> MemoryEntry | MemoryScope | None:
        """What the keyboard is on."""
        return self._value(self.currentIndex())

    def select(self, path: str) -> None:
        """Put the keyboard on a memory."""
        for at in range(self.topLevelItemCount()):
            group = self.model().index(at, 0)
            for number in range(self.model().rowCount(group)):
                index = self.model().index(number, 0, group)
                value = self._value(index)
                if isinstance(value, MemoryEntry) and value.path == path:
                    self.setCurrentIndex(index)
                    return

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() is not Qt.FocusReason.MouseFocusReason:
            self._choose_one()

    def _choose_one(self) -> None:
        """Make something current, so that it is seen where the keyboard is."""
        if not self.currentIndex().isValid():
            group = self.model().index(0, 0)
            first = self.model().index(0, 0, group)
            self.setCurrentIndex(first if isinstance(self._value(first), MemoryEntry) else group)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        value = self.current
        if isinstance(value, MemoryEntry) and event.key() == Qt.Key.Key_Delete:
            self.delete_wanted.emit(value)
        elif isinstance(value, MemoryEntry) and event.key() == Qt.Key.Key_F2:
            self.rename_wanted.emit(value)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
            place = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
        else:
            index, place = self.indexAt(event.pos()), event.globalPos()
        if (value := self._value(index)) is not None:
            self.menu_wanted.emit(value, place)

    def _add_scope(self, scope: MemoryScope, listing: MemoryListing) -> None:
        group = QTreeWidgetItem([scope_name(scope)])
        group.setData(0, _VALUE, scope)
        font = self.font()
        font.setBold(True)
        group.setFont(0, font)
        group.setToolTip(0, scope_words(scope))
        self.addTopLevelItem(group)
        group.setFirstColumnSpanned(True)
        for entry in listing.entries:
            group.addChild(self._item(entry))
        for words in _notes(listing):
            note = QTreeWidgetItem([words])
            note.setFlags(Qt.ItemFlag.NoItemFlags)
            note.setForeground(0, self._theme.muted)
            group.addChild(note)
            note.setFirstColumnSpanned(True)

    def _item(self, entry: MemoryEntry) -> QTreeWidgetItem:
        item = QTreeWidgetItem([entry.name, size_text(entry.size_bytes)])
        item.setData(0, _VALUE, entry)
        words = entry_words(entry)
        item.setToolTip(0, f"{entry.name}\n{words}")
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{entry.name}, {words}")
        item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        item.setForeground(1, self._theme.muted)
        if entry.is_pinned:
            item.setIcon(1, tinted_icon("pin", self._theme.muted, size=self._theme.px(_ICON)))
        return item

    def _value(self, index: QModelIndex) -> MemoryEntry | MemoryScope | None:
        value = index.siblingAtColumn(0).data(_VALUE)
        if isinstance(value, MemoryEntry):
            return value
        # Qt keeps a text enumeration as its text.
        return MemoryScope(value) if value in tuple(MemoryScope) else None

    @Slot(QModelIndex)
    def _activate(self, index: QModelIndex) -> None:
        value = self._value(index)
        if isinstance(value, MemoryEntry):
            self.chosen.emit(value)


def _notes(listing: MemoryListing) -> list[str]:
    notes = [] if listing.entries else [_tr("Nothing yet")]
    if listing.others == 1:
        notes.append(_tr("1 file there can't be a memory"))
    elif listing.others:
        notes.append(_tr("{count} files there can't be memories").format(count=listing.others))
    if not listing.is_complete:
        notes.append(_tr("There are more than can be listed"))
    return notes


def _tr(text: str) -> str:
    return QCoreApplication.translate("Memory", text)
