"""The picker's list as a Qt model: values only."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.ui.picker.entries import Entry, EntryKind, ability_texts, details_of, spoken_text
from app.ui.tooltip import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
ENTRY_ROLE: Final = Qt.ItemDataRole.UserRole
IS_CURRENT_ROLE: Final = Qt.ItemDataRole.UserRole + 1
_ROOT: Final = QModelIndex()


class EntriesModel(QAbstractListModel):
    """The rows that are listed now."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.entries: Sequence[Entry] = ()
        self._current = ""

    def show_entries(self, entries: Sequence[Entry], current: str) -> None:
        """List these and no others; `current` is the model of the chat."""
        self.beginResetModel()
        self.entries, self._current = tuple(entries), current
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.entries)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or not can_choose(self.entries[index.row()]):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        entry = self.entries[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return entry.text
            case Qt.ItemDataRole.AccessibleTextRole:
                return spoken_text(entry, is_current=self._is_current(entry))
            case Qt.ItemDataRole.ToolTipRole:
                return _tooltip(entry)
            case _ if role == ENTRY_ROLE:
                return entry
            case _ if role == IS_CURRENT_ROLE:
                return self._is_current(entry)
            case _:
                return None

    def row_of(self, ref: str) -> int | None:
        """Return the first row of a model."""
        rows = (row for row, entry in enumerate(self.entries) if entry.kind is EntryKind.MODEL)
        return next((row for row in rows if (card := self.entries[row].card) and card.ref == ref), None)

    def _is_current(self, entry: Entry) -> bool:
        return entry.kind is EntryKind.MODEL and entry.card is not None and entry.card.ref == self._current


def can_choose(entry: Entry) -> bool:
    """Return whether Enter does something on that row."""
    return entry.kind in (EntryKind.MODEL, EntryKind.KEYLESS)


def _tooltip(entry: Entry) -> str | None:
    card = entry.card
    if card is None or entry.kind is not EntryKind.MODEL:
        return None
    words = [text for _icon, text in ability_texts(card)]
    return plain_tooltip("\n".join(filter(None, [card.ref, details_of(entry), ", ".join(words)])))
