"""The step being streamed, kept so that a crash loses at most half a second of it.

See context-windows.md, 2 and 12. The file holds one row; it becomes history when its step is
settled, or at the next open.
"""

import contextlib
from typing import Final, Literal

from app.disk import replace, storage_error, write_atomic
from app.domain.errors import DuplicateRow
from app.domain.ids import new_id
from app.domain.rows import Flag, Row, ToolPart
from app.history.branch_file import BranchFolder
from app.history.codec import decode_line, encode_row
from app.history.files import ChatFiles
from app.history.reader import HistoryReader, Position, RowEntry, is_reset_entry
from app.history.store import Store

SAVE_INTERVAL_SECONDS: Final = 0.4
"""With the time of a save, at least every 500 ms."""


class PartialFile:
    """`partial.json` of one chat."""

    def __init__(self, files: ChatFiles) -> None:
        self._path = files.partial

    def save(self, row: Row) -> None:
        """Keep the reply as it is now. Raises StorageError."""
        write_atomic(self._path, encode_row(row))

    def load(self) -> Row | None:
        """Return the reply that was being streamed, None if there is none.

        One that can't be read is set aside as `.damaged`. Raises StorageError.
        """
        try:
            found = decode_line(self._path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise storage_error("The unfinished reply can't be read", error) from error
        if isinstance(found, Row):
            return found
        self.set_aside()
        return None

    def set_aside(self) -> None:
        """Keep the file under another name that nothing reads. Raises StorageError."""
        try:
            replace(self._path, self._path.with_name(f"partial-{new_id()}.damaged"))
        except OSError as error:
            raise storage_error("The unfinished reply can't be set aside", error) from error

    def drop(self) -> None:
        """Remove the file. One that stays is no loss: its row is in history, and the next open sees that."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)


def recover_partial(
    partial: PartialFile, store: Store, versions: BranchFolder, *, session: str, last_seq: int, floor_seq: int = 0
) -> tuple[Row, ...]:
    """Turn a reply that a crash cut off into a row of history; return what was added.

    One whose row is in history already, or was cut off since, or that says nothing is dropped; one of another chat, or
    of a turn from before a manual reset, is set aside. Calls that were pending are marked interrupted and never run
    again. Rows up to `floor_seq` count as before one. Raises StorageError.
    """
    row = partial.load()
    if row is None:
        return ()
    if row.session != session:
        partial.set_aside()
        return ()
    added: tuple[Row, ...] = ()
    if row.parts:
        match _place_of(row, store.reader, floor_seq):
            case "above the floor":
                partial.set_aside()
                return ()
            case "at the end" if not versions.ids_among([row.id]):
                with contextlib.suppress(DuplicateRow):
                    added = store.append([_as_history(row)], expected_last_seq=last_seq)
            case _:
                pass
    partial.drop()
    return added


def _place_of(row: Row, reader: HistoryReader, floor_seq: int) -> Literal["there", "at the end", "above the floor"]:
    """Return where a reply belongs, by the rows from the newest back to the message that it answers.

    That is nearly always the newest. It is not if the file could not be removed once its row was written.
    """
    is_above = False
    end: Position | None = None
    while True:
        page = reader.page_backward(end)
        for entry in reversed(page.entries):
            found = entry.row if isinstance(entry, RowEntry) else None
            if found is not None and found.id == row.id:
                return "there"
            if is_reset_entry(entry) or (found is not None and found.seq is not None and found.seq <= floor_seq):
                is_above = True
            if found is not None and found.id == row.turn:
                return "above the floor" if is_above else "at the end"
        if page.exhausted:
            return "above the floor" if is_above else "at the end"
        end = page.next


def _as_history(row: Row) -> Row:
    if Flag.SETTLED not in row.flags:
        return interrupted(row)
    return row.model_copy(update={"flags": tuple(flag for flag in row.flags if flag != Flag.SETTLED)})


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
