"""The step being streamed, kept so that a crash loses at most half a second of it.

See context-windows.md, 2 and 12. The file holds one row; it becomes history when its step is
settled, or at the next open.
"""

from typing import Final

from app.domain.rows import Flag, Row, ToolPart
from app.history.codec import decode_line, encode_row
from app.history.files import ChatFiles, storage_error, write_atomic
from app.history.store import DuplicateRow, Store

SAVE_INTERVAL_SECONDS: Final = 0.5


class PartialFile:
    """`partial.json` of one chat."""

    def __init__(self, files: ChatFiles) -> None:
        self._path = files.partial

    def save(self, row: Row) -> None:
        """Keep the reply as it is now. Raises StorageError."""
        write_atomic(self._path, encode_row(row))

    def load(self) -> Row | None:
        """Return the reply that was being streamed, None if there is none or it can't be read."""
        try:
            found = decode_line(self._path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise storage_error("The unfinished reply can't be read", error) from error
        return found if isinstance(found, Row) else None

    def drop(self) -> None:
        """Remove the file; harmless if there is none. Raises StorageError."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise storage_error("The unfinished reply can't be removed", error) from error


def recover_partial(partial: PartialFile, store: Store, *, session: str, last_seq: int) -> tuple[Row, ...]:
    """Turn a reply that a crash cut off into a row of history; return what was added.

    One whose row is in history already, that says nothing, or that belongs elsewhere is dropped. Calls
    that were pending are marked interrupted and never run again. Raises StorageError.
    """
    row = partial.load()
    added: tuple[Row, ...] = ()
    if row is not None and row.session == session and row.parts:
        try:
            added = store.append([interrupted(row)], expected_last_seq=last_seq)
        except DuplicateRow:
            added = ()
    partial.drop()
    return added


def interrupted(row: Row) -> Row:
    """Return `row` as one that was cut off."""
    parts = tuple(
        part.model_copy(update={"state": "interrupted"})
        if isinstance(part, ToolPart) and part.state == "pending"
        else part
        for part in row.parts
    )
    flags = row.flags if Flag.INTERRUPTED in row.flags else (*row.flags, Flag.INTERRUPTED)
    return row.model_copy(update={"parts": parts, "flags": flags, "seq": None, "batch": None})
