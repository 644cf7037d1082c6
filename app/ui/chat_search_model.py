"""What a search over all chats has found, as a list: each chat with its newest hits. Values only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import (
    QAbstractListModel,
    QDate,
    QDateTime,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from app.domain.text import utf16_units

if TYPE_CHECKING:
    from app.domain.chat_search import ChatHits
    from app.domain.windows import SearchHit

Index = QModelIndex | QPersistentModelIndex
ENTRY_ROLE: Final = Qt.ItemDataRole.UserRole + 1
_NO_PARENT: Final = QModelIndex()
_LEAD_CHARS: Final = 24
"""Of the text before a hit: so much that the hit stands in the first line of a narrow list."""


class EntryKind(Enum):
    """What a row of the list is."""

    CHAT = auto()
    """The title above a chat's hits; it can't be chosen."""
    HIT = auto()
    MORE = auto()
    """Leads to the hits of a chat that are not in the list."""


@dataclass(frozen=True, slots=True)
class ResultEntry:
    """One row: `text` is a title or a piece of a message, in which the hit stands from `start` on, in UTF-16 units."""

    kind: EntryKind
    session: str
    text: str
    detail: str = ""
    """Who said it, and when."""
    start: int = 0
    length: int = 0
    row_id: str = ""
    offset: int = 0
    """Where the message's row begins in the history."""


class ChatSearchModel(QAbstractListModel):
    """Chats in the order they were found."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._groups: dict[str, list[ResultEntry]] = {}
        self._entries: list[ResultEntry] = []

    @property
    def chat_count(self) -> int:
        """How many chats have hits."""
        return len(self._groups)

    def clear(self) -> None:
        """Forget everything."""
        self.beginResetModel()
        self._groups.clear()
        self._entries.clear()
        self.endResetModel()

    def put(self, found: ChatHits) -> None:
        """Show the hits of a chat in place of what was shown of it."""
        session = found.chat.id
        if not found.hits:
            self.remove_chat(session)
            return
        title = found.chat.title or self.tr("New chat")
        group = [ResultEntry(EntryKind.CHAT, session, title, _moment(found.chat.updated))]
        group += [self._hit(session, hit) for hit in found.hits]
        if found.has_more:
            group.append(ResultEntry(EntryKind.MORE, session, self.tr("More in this chat…")))
        at = self._place_of(session)
        old = len(self._groups.get(session, ()))
        if old:
            self.beginRemoveRows(_NO_PARENT, at, at + old - 1)
            del self._entries[at : at + old]
            self.endRemoveRows()
        self.beginInsertRows(_NO_PARENT, at, at + len(group) - 1)
        self._groups[session] = group
        self._entries[at:at] = group
        self.endInsertRows()

    def remove_chat(self, session: str) -> None:
        """Take a chat out of the list."""
        group = self._groups.get(session)
        if group is None:
            return
        at = self._place_of(session)
        self.beginRemoveRows(_NO_PARENT, at, at + len(group) - 1)
        del self._groups[session]
        del self._entries[at : at + len(group)]
        self.endRemoveRows()

    def rename_chat(self, session: str, title: str) -> None:
        """Show another title."""
        group = self._groups.get(session)
        if group is None or group[0].text == title:
            return
        at = self._place_of(session)
        self._entries[at] = group[0] = replace(group[0], text=title)
        self.dataChanged.emit(self.index(at), self.index(at))

    def entry_at(self, index: Index) -> ResultEntry | None:
        """Return the entry of an index, None if there is none."""
        if not index.isValid() or not 0 <= index.row() < len(self._entries):
            return None
        return self._entries[index.row()]

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.entry_at(index)
        if entry is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return entry.text
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(entry)
            case _ if role == ENTRY_ROLE:
                return entry
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        entry = self.entry_at(index)
        if entry is None or entry.kind is EntryKind.CHAT:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def _hit(self, session: str, hit: SearchHit) -> ResultEntry:
        item = hit.item
        who = self.tr("You") if item.role == "user" else self.tr("Reply")
        detail = f"{who} · {_moment(item.created)}" if item.created is not None else who
        cut = max(0, hit.start - _LEAD_CHARS)
        lead = ("…" if cut else "") + hit.snippet[cut : hit.start].lstrip()
        said = hit.snippet[hit.start : hit.start + hit.length]
        text = lead + said + hit.snippet[hit.start + hit.length :]
        start, length = utf16_units(lead), utf16_units(said)
        return ResultEntry(EntryKind.HIT, session, text, detail, start, length, item.row_id, item.offset)

    def _spoken(self, entry: ResultEntry) -> str:
        title = self._groups[entry.session][0].text
        match entry.kind:
            case EntryKind.CHAT:
                return title
            case EntryKind.HIT:
                return self.tr("{detail}: {text} In “{title}”.").format(
                    detail=entry.detail, text=entry.text, title=title
                )
            case EntryKind.MORE:
                return self.tr("More in “{title}”").format(title=title)

    def _place_of(self, session: str) -> int:
        """Return where a chat's entries begin, or would."""
        at = 0
        for name, group in self._groups.items():
            if name == session:
                break
            at += len(group)
        return at


def _moment(moment: datetime) -> str:
    """Return the time for today, else the day."""
    local = QDateTime.fromSecsSinceEpoch(int(moment.timestamp()))
    locale = QLocale()
    if local.date() == QDate.currentDate():
        return locale.toString(local.time(), QLocale.FormatType.ShortFormat)
    return locale.toString(local.date(), QLocale.FormatType.ShortFormat)
