"""The list of chats: values only. Chats stand under the day they were last used."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.domain.chats import ChatSummary
from app.ui.tooltip import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
_NO_PARENT: Final = QModelIndex()


class Mark(StrEnum):
    """What a chat is doing, drawn beside its title."""

    NONE = ""
    STREAMING = "streaming"
    ASKING = "asking"
    UNREAD = "unread"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ChatEntry:
    """A chat in the list."""

    summary: ChatSummary
    mark: Mark = Mark.NONE
    queued: int = 0
    """How many messages wait in it."""


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A heading in the list: not selectable."""

    title: str


MARK_ROLE: Final = Qt.ItemDataRole.UserRole + 1
IS_GROUP_ROLE: Final = Qt.ItemDataRole.UserRole + 2
QUEUED_ROLE: Final = Qt.ItemDataRole.UserRole + 3


class ChatsModel(QAbstractListModel):
    """Chats grouped by day, latest first; keeps marks of what each is doing."""

    rename_requested = Signal(str, str)
    """Chat id and the new title, after an edit in place."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chats: dict[str, ChatSummary] = {}
        self._marks: dict[str, Mark] = {}
        self._queued: dict[str, int] = {}
        """Of chats that were open since the start; of the others counts what is on disk."""
        self._entries: list[ChatEntry | GroupEntry] = []
        self._words: list[str] = []
        self._today = date.today

    def set_chats(self, chats: Iterable[ChatSummary]) -> None:
        """Replace the list."""
        self._chats = {chat.id: chat for chat in chats}
        self._rebuild()

    def set_filter(self, text: str) -> None:
        """Show only chats whose title has every word of `text`, whatever its case and accents; all for none."""
        words = _folded(text).split()
        if words != self._words:
            self._words = words
            self._rebuild()

    def put_chat(self, chat: ChatSummary) -> None:
        """Add a chat or show what changed of it."""
        before = self._chats.get(chat.id)
        if before is not None:
            # Only the list of all chats counts what waits.
            chat = replace(chat, queued=before.queued)
        if before == chat:
            return
        self._chats[chat.id] = chat
        self._rebuild()

    def remove_chat(self, session: str) -> None:
        """Take a chat out of the list."""
        if self._chats.pop(session, None) is not None:
            self._marks.pop(session, None)
            self._queued.pop(session, None)
            self._rebuild()

    def set_mark(self, session: str, mark: Mark) -> None:
        """Show what a chat is doing."""
        if self.mark(session) == mark:
            return
        self._marks[session] = mark
        self._show_state(session, MARK_ROLE)

    def set_queued(self, session: str, count: int) -> None:
        """Show how many messages wait in a chat."""
        if self._queued.get(session) != count:
            self._queued[session] = count
            self._show_state(session, QUEUED_ROLE)

    def _show_state(self, session: str, role: int) -> None:
        row = self.row_of(session)
        if row is not None:
            entry = self._entries[row]
            assert isinstance(entry, ChatEntry)
            self._entries[row] = self._entry_of(entry.summary)
            index = self.index(row)
            # Named roles: a title that is being edited must not be filled in again.
            self.dataChanged.emit(index, index, [role, Qt.ItemDataRole.AccessibleTextRole])

    def _entry_of(self, chat: ChatSummary) -> ChatEntry:
        return ChatEntry(chat, self.mark(chat.id), self._queued.get(chat.id, chat.queued))

    def mark(self, session: str) -> Mark:
        """Return what a chat is doing."""
        return self._marks.get(session, Mark.NONE)

    def chat_at(self, index: Index) -> ChatSummary | None:
        """Return the chat of an index, None for headings and for none."""
        if not index.isValid() or not 0 <= index.row() < len(self._entries):
            return None
        entry = self._entries[index.row()]
        return entry.summary if isinstance(entry, ChatEntry) else None

    def find(self, session: str) -> ChatSummary | None:
        """Return a chat by its id."""
        return self._chats.get(session)

    def chats(self) -> list[ChatSummary]:
        """Return all chats in the order shown, also those that the filter leaves out."""
        return sorted(self._chats.values(), key=lambda chat: chat.updated, reverse=True)

    def row_of(self, session: str) -> int | None:
        """Return where a chat stands, None if it is not in the list."""
        for row, entry in enumerate(self._entries):
            if isinstance(entry, ChatEntry) and entry.summary.id == session:
                return row
        return None

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or not 0 <= index.row() < len(self._entries):
            return None
        entry = self._entries[index.row()]
        if isinstance(entry, GroupEntry):
            return {IS_GROUP_ROLE: True, Qt.ItemDataRole.DisplayRole: entry.title}.get(role)
        return self._chat_data(entry, role)

    def _chat_data(self, entry: ChatEntry, role: int) -> Any:
        title = self.title_of(entry.summary)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return title
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tooltip(title)
            case Qt.ItemDataRole.EditRole:
                return entry.summary.title
            case Qt.ItemDataRole.AccessibleTextRole:
                queued = self.tr("queued {count}").format(count=entry.queued) if entry.queued else ""
                return ", ".join(words for words in (title, self._mark_words(entry.mark), queued) if words)
            case _ if role == MARK_ROLE:
                return entry.mark.value
            case _ if role == QUEUED_ROLE:
                return entry.queued
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        chat = self.chat_at(index)
        title = " ".join(str(value).split())
        if chat is None or role != Qt.ItemDataRole.EditRole or not title:
            return False
        if title != chat.title:
            self.rename_requested.emit(chat.id, title)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        if self.chat_at(index) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable

    def title_of(self, chat: ChatSummary) -> str:
        """Return the title for people; a chat without a message has none of its own yet."""
        return chat.title or self.tr("New chat")

    def _mark_words(self, mark: Mark) -> str:
        return {
            Mark.STREAMING: self.tr("a reply is being written"),
            Mark.ASKING: self.tr("asks you"),
            Mark.UNREAD: self.tr("unread"),
            Mark.ERROR: self.tr("the last reply failed"),
        }.get(mark, "")

    def _rebuild(self) -> None:
        """Make the entries again; selections follow their chats."""
        self.layoutAboutToBeChanged.emit()
        kept = [(index, self.chat_at(index)) for index in self.persistentIndexList()]
        entries: list[ChatEntry | GroupEntry] = []
        for chat in self.chats():
            if not self._is_wanted(chat):
                continue
            group = self._group_of(chat.updated)
            if not entries or group != self._last_group(entries):
                entries.append(GroupEntry(group))
            entries.append(self._entry_of(chat))
        self._entries = entries
        for index, chat_or_none in kept:
            row = self.row_of(chat_or_none.id) if chat_or_none is not None else None
            self.changePersistentIndex(index, self.index(row) if row is not None else QModelIndex())
        self.layoutChanged.emit()

    def _is_wanted(self, chat: ChatSummary) -> bool:
        if not self._words:
            return True
        title = _folded(self.title_of(chat))
        return all(word in title for word in self._words)

    @staticmethod
    def _last_group(entries: list[ChatEntry | GroupEntry]) -> str:
        return next(entry.title for entry in reversed(entries) if isinstance(entry, GroupEntry))

    def _group_of(self, moment: datetime) -> str:
        day = moment.astimezone().date()
        age = self._today() - day
        if age <= timedelta(0):
            return self.tr("Today")
        if age == timedelta(1):
            return self.tr("Yesterday")
        if age <= timedelta(7):
            return self.tr("Last 7 days")
        if age <= timedelta(30):
            return self.tr("Last 30 days")
        return self.tr("Older")


def _folded(text: str) -> str:
    """Return `text` without case and accents."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text)
    return "".join(char for char in apart if not unicodedata.combining(char)).casefold()
