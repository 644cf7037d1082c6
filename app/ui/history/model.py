"""Two levels of a list as a Qt model, values only: windows with their items, or windows with their hits."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.domain.windows import WindowInfo
from app.ui.history.entries import Child, Floor, HitGroup, Note, NoteKind, Value
from app.ui.history.shelf import Splice
from app.ui.history.wording import ModelName, floor_explained, spoken, window_tooltip
from app.ui.tooltip import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
VALUE_ROLE: Final = Qt.ItemDataRole.UserRole
_ROOT: Final = QModelIndex()
_GROUP: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_CHILD: Final = _GROUP | Qt.ItemFlag.ItemNeverHasChildren
_NOTE: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren


@dataclass(slots=True)
class Group:
    """An entry of the first level and what is listed below it. `key` tells it from all others."""

    key: str
    value: WindowInfo | Floor | HitGroup | Note
    children: list[Child] = field(default_factory=list)
    may_have_more: bool = False
    """Nothing was asked for yet, and something may be there."""
    serial: int = 0


class HistoryModel(QAbstractItemModel):
    """Groups and their children. Asks for children by `wanted`; whoever has them puts them in with `splice`."""

    wanted = Signal(str)
    """The children of the group with this key are to be fetched."""
    about_to_splice = Signal()
    spliced = Signal()
    """Rows came or went: what is in view may be kept in its place."""

    def __init__(self, model_name: ModelName, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model_name = model_name
        self._groups: list[Group] = []
        self._rows: dict[int, int] = {}
        self._serials = 0

    # What is listed

    @property
    def groups(self) -> Sequence[Group]:
        return self._groups

    def group(self, key: str) -> Group | None:
        """Return the group of a key."""
        return next((group for group in self._groups if group.key == key), None)

    def group_index(self, key: str) -> QModelIndex:
        """Return where a group stands; an invalid index if it doesn't."""
        row = next((row for row, group in enumerate(self._groups) if group.key == key), None)
        return QModelIndex() if row is None else self.index(row, 0)

    def value_at(self, index: Index) -> Value | None:
        """Return the value of an index."""
        # Asked several times for each row of a layout, as are `index` and `flags`: no call that can be spared.
        if not index.isValid():
            return None
        serial, row = index.internalId(), index.row()
        if not serial:
            return self._groups[row].value if row < len(self._groups) else None
        at = self._rows.get(serial)
        if at is None:
            return None
        children = self._groups[at].children
        return children[row] if row < len(children) else None

    def group_at(self, index: Index) -> Group | None:
        """Return the group an index is, or lies in."""
        if not index.isValid():
            return None
        row = self._rows.get(index.internalId()) if index.internalId() else index.row()
        return self._groups[row] if row is not None and row < len(self._groups) else None

    # Changing it

    def clear(self) -> None:
        """List nothing."""
        self.beginResetModel()
        self._groups = []
        self._number()
        self.endResetModel()

    def show_groups(self, groups: Sequence[Group]) -> None:
        """List these groups. One that is listed already keeps its children; its value may be another.

        What stays must be in the same order as before.
        """
        self.about_to_splice.emit()
        wanted = {group.key for group in groups}
        for row in reversed(range(len(self._groups))):
            if self._groups[row].key not in wanted:
                self.beginRemoveRows(_ROOT, row, row)
                del self._groups[row]
                self._number()
                self.endRemoveRows()
        for row, group in enumerate(groups):
            if row < len(self._groups) and self._groups[row].key == group.key:
                self.set_value(row, group.value)
            else:
                self._insert_group(row, group)
        self.spliced.emit()

    def add_group(self, group: Group) -> None:
        """List one more group, as the last."""
        self._insert_group(len(self._groups), group)

    def _insert_group(self, row: int, group: Group) -> None:
        self._serials += 1
        group.serial = self._serials
        self.beginInsertRows(_ROOT, row, row)
        self._groups.insert(row, group)
        self._number()
        self.endInsertRows()

    def set_value(self, row: int, value: WindowInfo | Floor | HitGroup | Note) -> None:
        """Show another value for a group."""
        if self._groups[row].value != value:
            self._groups[row].value = value
            index = self.index(row, 0)
            self.dataChanged.emit(index, index)
            if last := len(self._groups[row].children):
                # They are drawn as their window says.
                self.dataChanged.emit(self.index(0, 0, index), self.index(last - 1, 0, index))

    def splice(self, key: str, *splices: Splice) -> None:
        """Change the children of a group; the first change is the one furthest down."""
        group = self.group(key)
        if group is None:
            return
        parent = self.group_index(key)
        group.may_have_more = False
        self.about_to_splice.emit()
        for row, removed, inserted in splices:
            if removed:
                self.beginRemoveRows(parent, row, row + removed - 1)
                del group.children[row : row + removed]
                self.endRemoveRows()
            if inserted:
                self.beginInsertRows(parent, row, row + len(inserted) - 1)
                group.children[row:row] = inserted
                self.endInsertRows()
        self.spliced.emit()

    def empty(self, key: str) -> None:
        """Put the children of a group away: they are fetched again when they are wanted."""
        group = self.group(key)
        if group is not None:
            self.splice(key, Splice(0, len(group.children), ()))
            group.may_have_more = True

    def _number(self) -> None:
        self._rows = {group.serial: row for row, group in enumerate(self._groups)}

    # Qt's questions

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        if column or row < 0:
            return QModelIndex()
        if not parent.isValid():
            return self.createIndex(row, 0, 0) if row < len(self._groups) else QModelIndex()
        at = parent.row()
        if parent.internalId() or at >= len(self._groups):
            return QModelIndex()
        group = self._groups[at]
        return self.createIndex(row, 0, group.serial) if row < len(group.children) else QModelIndex()

    def parent(self, index: Index = _ROOT) -> QModelIndex:  # type: ignore[override]
        row = self._rows.get(index.internalId()) if index.isValid() and index.internalId() else None
        return QModelIndex() if row is None else self.createIndex(row, 0, 0)

    def rowCount(self, parent: Index = _ROOT) -> int:
        if not parent.isValid():
            return len(self._groups)
        if parent.internalId() or parent.column() > 0:
            return 0
        group = self.group_at(parent)
        return 0 if group is None else len(group.children)

    def columnCount(self, _parent: Index = _ROOT) -> int:
        return 1

    def hasChildren(self, parent: Index = _ROOT) -> bool:  # noqa: N802 - Qt's name
        if not parent.isValid():
            return bool(self._groups)
        group = self.group_at(parent)
        if group is None or parent.internalId():
            return False
        return bool(group.children) or group.may_have_more

    def canFetchMore(self, parent: Index) -> bool:  # noqa: N802 - Qt's name
        group = self.group_at(parent)
        return group is not None and not parent.internalId() and group.may_have_more

    def fetchMore(self, parent: Index) -> None:  # noqa: N802 - Qt's name
        group = self.group_at(parent)
        if group is not None and self.canFetchMore(parent):
            group.may_have_more = False
            self.wanted.emit(group.key)

    def flags(self, index: Index) -> Qt.ItemFlag:
        value = self.value_at(index)
        if value is None:
            return Qt.ItemFlag.NoItemFlags
        if isinstance(value, Note) and value.kind is not NoteKind.ERROR:
            return _NOTE
        return _CHILD if index.internalId() else _GROUP

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        value = self.value_at(index)
        if value is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return spoken(value, self._model_name)
            case Qt.ItemDataRole.ToolTipRole:
                return _tooltip(value)
            case _ if role == VALUE_ROLE:
                return value
            case _:
                return None


def _tooltip(value: Value) -> str | None:
    match value:
        case WindowInfo():
            return plain_tooltip(window_tooltip(value))
        case HitGroup():
            return plain_tooltip(window_tooltip(value.window))
        case Floor():
            return plain_tooltip(floor_explained())
        case Note():
            return plain_tooltip(value.text)
        case _:
            return None
