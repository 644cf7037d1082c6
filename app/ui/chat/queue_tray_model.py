"""The messages that wait in the open chat as a Qt model, values only, in the order in which they are sent."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.domain.queue import QueuedMessage, When
from app.ui.tooltip import plain_tooltip

if TYPE_CHECKING:
    from app.domain.rows import MediaPart

Index = QModelIndex | QPersistentModelIndex
Describe = Callable[[QueuedMessage], str]
"""Says with which model a message is answered, where that is another than the chat has now; or nothing."""
MIME_TYPE: Final = "application/x-muntin-queued-message"
_NO_PARENT: Final = QModelIndex()
_SHOWN_CHARS: Final = 400
"""No line shows more."""
_TOOLTIP_CHARS: Final = 1_000


class QueueModel(QAbstractListModel):
    """Follows the queue message by message, so that what is chosen stays chosen. Dragging asks; it moves nothing."""

    move_wanted = Signal(str, int)
    """Id of a message, and the place it is wanted at among all."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._messages: list[QueuedMessage] = []
        self._describe: Describe = lambda _message: ""
        self._may_change = True

    def set_messages(self, messages: Sequence[QueuedMessage]) -> None:
        """Become the queue as it is now."""
        wanted = {message.id for message in messages}
        for row in reversed(range(len(self._messages))):
            if self._messages[row].id not in wanted:
                self.beginRemoveRows(_NO_PARENT, row, row)
                del self._messages[row]
                self.endRemoveRows()
        for row, message in enumerate(messages):
            at = self.row_of(message.id)
            if at is None:
                self.beginInsertRows(_NO_PARENT, row, row)
                self._messages.insert(row, message)
                self.endInsertRows()
            elif at != row:
                # Those above `row` are in place already: it can only come from below.
                self.beginMoveRows(_NO_PARENT, at, at, _NO_PARENT, row)
                self._messages.insert(row, self._messages.pop(at))
                self.endMoveRows()
            if self._messages[row] != message:
                self._messages[row] = message
                self.dataChanged.emit(self.index(row), self.index(row))

    def set_describe(self, describe: Describe) -> None:
        """Say from now on what `describe` says of each message."""
        self._describe = describe
        if self._messages:
            self.dataChanged.emit(self.index(0), self.index(len(self._messages) - 1))

    def set_changeable(self, *, on: bool) -> None:
        """Say whether messages may be dragged."""
        self._may_change = on

    def message_at(self, index: Index) -> QueuedMessage | None:
        """Return the message of an index, None for none."""
        if not index.isValid() or not 0 <= index.row() < len(self._messages):
            return None
        return self._messages[index.row()]

    def row_of(self, message_id: str) -> int | None:
        """Return where a message stands, None if it doesn't wait."""
        return next((row for row, message in enumerate(self._messages) if message.id == message_id), None)

    def describe(self, message: QueuedMessage) -> str:
        """Return with what the message is answered if that is not what the chat has now."""
        return self._describe(message)

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._messages)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        message = self.message_at(index)
        if message is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.text_of(message)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tooltip(message.text.strip()[:_TOOLTIP_CHARS] or names_of(message.attachments))
            case Qt.ItemDataRole.AccessibleTextRole:
                said = [self.text_of(message), self.when_words(message.when)]
                said += [words for words in (self.files_words(message), self.describe(message)) if words]
                return ", ".join(said)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if self.message_at(index) is None:
            return Qt.ItemFlag.ItemIsDropEnabled if self._may_change else Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return flags | Qt.ItemFlag.ItemIsDragEnabled if self._may_change else flags

    # Words

    def text_of(self, message: QueuedMessage) -> str:
        """Return the message in one line; the names of its files if it has no text."""
        text = " ".join(message.text[: 4 * _SHOWN_CHARS].split())[:_SHOWN_CHARS]
        return text or names_of(message.attachments).replace("\n", ", ")

    def files_words(self, message: QueuedMessage) -> str:
        """Return how many files go with the message, in words; nothing if there is none."""
        match len(message.attachments):
            case 0:
                return ""
            case 1:
                return self.tr("1 file")
            case count:
                return self.tr("{count} files").format(count=count)

    def when_words(self, when: When) -> str:
        """Return what a message waits for."""
        return self.tr("after this step") if when is When.AFTER_STEP else self.tr("after this turn")

    # Dragging

    def supportedDropActions(self) -> Qt.DropAction:  # noqa: N802 - Qt's name
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:  # noqa: N802 - Qt's name
        return [MIME_TYPE]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:  # noqa: N802 - Qt's name
        data = QMimeData()
        message = self.message_at(indexes[0]) if indexes else None
        if message is not None:
            data.setData(MIME_TYPE, message.id.encode())
        return data

    def dropMimeData(  # noqa: N802 - Qt's name
        self,
        data: QMimeData,
        _action: Qt.DropAction,
        row: int,
        _column: int,
        parent: Index,
    ) -> bool:
        """Ask for the move; that nothing has moved is true until the engine says so."""
        message_id = bytes(data.data(MIME_TYPE).data()).decode()
        at = self.row_of(message_id)
        if at is None or not self._may_change:
            return False
        to = row if row >= 0 else parent.row() if parent.isValid() else len(self._messages)
        place = to - 1 if to > at else to
        if place != at:
            self.move_wanted.emit(message_id, place)
        return False


def names_of(attachments: Sequence["MediaPart"]) -> str:
    """Return the names of files, each in its line."""
    return "\n".join(part.name for part in attachments)
