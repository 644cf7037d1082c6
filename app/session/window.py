"""Reading the active window of a chat from disk, as a turn works with it."""

import contextlib
from typing import Final

from app.domain.errors import ProviderError, StorageError
from app.domain.rows import ReasoningPart, Row, TextPart, ToolPart
from app.history.blobs import Blobs, whole_row
from app.history.reader import Entry, HistoryReader, Position, is_boundary
from app.providers.registry import Registry
from app.session.state import newest_window, rows_of

TOOL_JSON_CHARS: Final = 16_000
"""What a result that is no text is taken for; tools cap themselves about there."""
_MOST_PAGES: Final = 16
"""Of 2 MiB. Where no reply says by then what the window costs, nobody knows it."""


class WindowReader:
    """Reads rows whole, with usage figures that can be true. Blocks."""

    def __init__(self, reader: HistoryReader, blobs: Blobs, providers: Registry) -> None:
        self._reader = reader
        self._blobs = blobs
        self._providers = providers

    def window(self, floor_seq: int | None) -> list[Row]:
        """Return the rows of the active window, its boundary included. Raises StorageError."""
        rows = newest_window(rows_of(self._reader.active_window()), floor_seq)
        return [self.usable(row) for row in rows]

    def newest(self, floor_seq: int | None) -> list[Row]:
        """Return its end, as far as a reset looks at it. Raises StorageError."""
        return [self.usable(row) for row in newest_rows(self._reader, floor_seq)]

    def usable(self, row: Row) -> Row:
        """Return `row` whole and with usage figures that can be true."""
        with contextlib.suppress(StorageError):
            # Without its blob the model gets what the row keeps: begin, end, and a note between.
            row = whole_row(row, self._blobs)
        if row.usage is None or row.request is None:
            return row
        limit = None
        with contextlib.suppress(ProviderError):
            _, card = self._providers.find(f"{row.request.provider}/{row.request.model}")
            limit = card.limit
        return row.model_copy(update={"usage": row.usage.plausible(limit)})


def chars_of(row: Row) -> int:
    """Return about how many characters `row` holds in memory."""
    total = 0
    for part in row.parts:
        match part:
            case TextPart() | ReasoningPart():
                total += len(part.text)
            case ToolPart():
                total += len(part.output) if isinstance(part.output, str) else TOOL_JSON_CHARS
            case _:
                pass
    return total


def newest_rows(reader: HistoryReader, floor_seq: int | None) -> list[Row]:
    """Return the newest rows of the active window, its boundary included if it is among them.

    As many as a reset looks at: there is a row, and a reply that says what the window costs. A long window is not
    read for that. Raises StorageError.
    """
    collected: list[Entry] = []
    end: Position | None = None
    for _ in range(_MOST_PAGES):
        page = reader.page_backward(end)
        begin = max((at for at, entry in enumerate(page.entries) if is_boundary(entry)), default=None)
        collected[:0] = page.entries[begin or 0 :]
        rows = newest_window(rows_of(collected), floor_seq)
        if begin is not None or page.exhausted or any(row.usage is not None for row in rows):
            break
        end = page.next
    return rows
