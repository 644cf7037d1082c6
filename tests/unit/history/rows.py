"""Short ways to make and read rows in tests."""

from app.disk import make_private_folder
from app.domain.rows import Boundary, Role, Row, TextPart
from app.history.files import ChatFiles
from app.history.reader import DamagedEntry, Entry, HistoryReader
from app.history.store import Store

SESSION = "s1"


def text_row(row_id: str, text: str = "", *, role: Role = "user") -> Row:
    return Row(id=row_id, session=SESSION, role=role, parts=(TextPart(text=text or f"text of {row_id}"),))


def boundary_row(row_id: str, kind: str = "rollover") -> Row:
    return Row(id=row_id, session=SESSION, role="user", boundary=Boundary(kind=kind), kind=kind)


def open_store(files: ChatFiles) -> Store:
    """A store as a new process would make it, in a folder as the library makes it."""
    make_private_folder(files.folder)
    return Store(ChatFiles(files.folder), session=SESSION)


def labels(entries: tuple[Entry, ...] | list[Entry]) -> list[str]:
    return ["damaged" if isinstance(entry, DamagedEntry) else entry.row.id for entry in entries]


def all_labels(files: ChatFiles) -> list[str]:
    return labels(list(HistoryReader(ChatFiles(files.folder)).entries_forward()))
