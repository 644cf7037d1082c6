"""Which messages have become rows already."""

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from app.history.branch_file import BranchFolder
from app.history.files import ChatFiles
from app.history.reader import HistoryReader, Position
from app.session.state import rows_of

_CLOCK_JUMP: Final = timedelta(days=1)
"""By so much may a computer's clock have been wrong when a message was written down."""


def ids_among(files: ChatFiles, reader: HistoryReader, ids: Collection[str]) -> set[str]:
    """Return those of `ids` that rows of the history have, or of a version that is not the chat now.

    Blocks; raises StorageError.
    """
    found = _ids_in_chat(reader, ids)
    return found | BranchFolder(files.branches).ids_among([each for each in ids if each not in found])


def _ids_in_chat(reader: HistoryReader, ids: Collection[str]) -> set[str]:
    """Ids begin with the time of their making in milliseconds: rows from long before the oldest are not read."""
    oldest_ms = min((_made_ms(each) for each in ids), default=0.0) - _CLOCK_JUMP.total_seconds() * 1_000
    found: set[str] = set()
    end: Position | None = None
    while True:
        page = reader.page_backward(end)
        rows = rows_of(page.entries)
        found.update(row.id for row in rows if row.id in ids)
        is_older = any(row.created is not None and row.created.timestamp() * 1_000 < oldest_ms for row in rows)
        if page.exhausted or is_older or len(found) == len(ids):
            return found
        end = page.next


def _made_ms(row_id: str) -> float:
    try:
        return int(row_id[:12], 16)
    except ValueError:
        return 0.0
