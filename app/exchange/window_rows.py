"""The rows of one context window as they are written to other programs: whole, in order, in bounded memory."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from app.domain.chats import ChatSummary
from app.domain.errors import StorageError
from app.domain.exports import ExportReport
from app.domain.rows import Flag, Part, Row
from app.domain.windows import WindowInfo
from app.history.blobs import Blobs, whole_row
from app.history.reader import DamagedEntry, Entry, HistoryReader, is_boundary


@dataclass(frozen=True, slots=True)
class Heading:
    """What an export says of itself."""

    chat: ChatSummary
    window: WindowInfo
    exported: datetime


@dataclass(frozen=True, slots=True)
class Gap:
    """Neighbouring entries that are not in the file: damaged ones, or one too long to be read."""

    damaged: int = 0
    oversized_bytes: int = 0


class WindowRows:
    """Reads the rows of a window, once; `report` tells how many there were so far."""

    def __init__(self, reader: HistoryReader, window: WindowInfo) -> None:
        self.report = ExportReport()
        self._reader = reader
        self._window = window

    def __iter__(self) -> Iterator[Row | Gap]:
        """Yield what was said in the window, long texts included.

        Raises StorageError, HistoryChanged if the chat is rewritten meanwhile.
        """
        for is_damage, group in itertools.groupby(self._entries(), _is_plain_damage):
            if is_damage:
                count = sum(1 for _ in group)
                self._count(damaged=count)
                yield Gap(damaged=count)
                continue
            for entry in group:
                if isinstance(entry, DamagedEntry):
                    self._count(oversized=1)
                    yield Gap(oversized_bytes=entry.length)
                elif self._is_shown(entry.row):
                    self._count(rows=1)
                    yield self._whole(entry.row)

    def leave_out(self) -> Gap:
        """Tell that the row given last can't be written: it is nested too deeply."""
        self._count(rows=-1, damaged=1)
        return Gap(damaged=1)

    def _entries(self) -> Iterator[Entry]:
        """Yield the entries from the window's begin up to the next boundary."""
        window = self._window
        if window.start == window.end:
            return
        entries = self._reader.entries_forward(self._reader.position_of(window.start))
        for number, entry in enumerate(entries):
            if is_boundary(entry) and (number or window.kind == "first"):
                return
            yield entry

    def _is_shown(self, row: Row) -> bool:
        if row.boundary is not None and not row.parts:
            return False
        is_hidden = Flag.HIDDEN in row.flags or row.copy_of is not None
        self._count(hidden=is_hidden)
        return not is_hidden

    def _whole(self, row: Row) -> Row:
        return row.model_copy(update={"parts": tuple(self._whole_part(row, part) for part in row.parts)})

    def _whole_part(self, row: Row, part: Part) -> Part:
        try:
            return whole_row(row.model_copy(update={"parts": (part,)}), self._blobs).parts[0]
        except StorageError:
            self._count(missing=1)
            return part

    @property
    def _blobs(self) -> Blobs:
        return self._reader.blobs

    def _count(self, *, rows: int = 0, damaged: int = 0, oversized: int = 0, missing: int = 0, hidden: int = 0) -> None:
        report = self.report
        self.report = replace(
            report,
            rows=report.rows + rows,
            damaged=report.damaged + damaged,
            oversized=report.oversized + oversized,
            missing=report.missing + missing,
            hidden=report.hidden + hidden,
        )


def _is_plain_damage(entry: Entry) -> bool:
    return isinstance(entry, DamagedEntry) and not entry.is_oversized


def left_out(report: ExportReport) -> Iterable[tuple[str, int]]:
    """Yield what of the window is not in the file, by name."""
    names = ("damaged", "oversized", "missing")
    return ((name, count) for name in names if (count := getattr(report, name)))
