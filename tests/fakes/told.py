"""What a model must be told of a chat: what the disk says of the active window, in words."""

from collections.abc import Sequence

from app.domain.rows import Row, TextPart
from app.history.files import ChatFiles
from app.history.reader import HistoryReader
from app.session.state import active_slice, is_sendable, rows_of

Told = tuple[str, str]
"""Whose text, and what it is."""


def told_on_disk(files: ChatFiles) -> list[Told]:
    """Return what the history says to a model. Blocks."""
    rows = rows_of(HistoryReader(files).active_window())
    return texts_of([row for row in active_slice(rows) if row.role == "user" or is_sendable(row)])


def texts_of(rows: Sequence[Row]) -> list[Told]:
    """Return the texts of `rows`, calls left out."""
    return [(row.role, part.text) for row in rows for part in row.parts if isinstance(part, TextPart) and part.text]
