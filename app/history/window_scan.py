"""Where windows begin: one pass forwards over the bytes of a history, in bounded pages.

Only lines that may be a boundary are decoded, and the few a window takes its title from. What is a boundary is
decided as the reader decides it. See context-windows.md, 2 to 6, and ADR-0011.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from app.domain.rows import Flag, Kind, MediaPart, Row
from app.domain.windows import WindowKind
from app.history.batch_lookup import is_whole
from app.history.codec import BOUNDARY_NEEDLE, MAX_LINE_BYTES, Damage, decode_line, is_reset
from app.history.needles import BytePattern
from app.history.reader import MAX_FOREIGN_LINE_BYTES
from app.history.snapshot import OpenFile, Snapshot

PAGE_BYTES: Final = 2 * 1024 * 1024
TITLE_CHARS: Final = 80
TITLE_ROWS: Final = 50
"""A title is looked for in so many rows of a window, so that no window costs more."""
FINGERPRINT_BYTES: Final = 64 * 1024
_LINES_ONE_BY_ONE: Final = 20_000
"""So many lines of a page are looked at singly, which is fast for rows of a usual length only."""
_LETTER: Final = r"\\u00(?:6[124eEfF]|7[259])"
"""Of `boundary`, escaped: other programs may write names so, wherever in a line they stand."""
_ESCAPED_LETTER: Final = re.compile(_LETTER.encode())
_RARE: Final = BytePattern(r"\\u00[67]")
"""One fast pass is enough for nearly every page; texts about escapes need another."""
_HIDES_LETTER: Final = BytePattern(rf"(?:^|[^\\])(?:\\\\)*{_LETTER}")
_BACKSLASH: Final = ord("\\")
_EMPTY_LINES: Final = re.compile(rb"\n{2,}")
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_MAX_SEQ: Final = 2**63


@dataclass(frozen=True, slots=True)
class Found:
    """One window as far as it was read. Its boundary is the line from `start` to `body`, line feed included."""

    id: str
    kind: WindowKind
    start: int
    body: int
    fingerprint: str = ""
    """Of the boundary's line; empty of the first window, which has none."""
    created: datetime | None = None
    """When the boundary was written."""
    tokens: int | None = None
    """What the last request of the window before it cost."""
    rows: int = 0
    opened: datetime | None = None
    title: str = ""

    @property
    def is_reset(self) -> bool:
        """Whether nothing before it may reach a model."""
        return self.kind in ("reset", "unknown")


FIRST: Final = Found("w:0", "first", 0, 0)


class DamagedRead(Exception):
    """A file became shorter while it was read: begin again."""


class WindowScan:
    """Finds windows, page by page; `at` is how far it has come in the stretch, and `windows` what lies before."""

    def __init__(self, windows: Sequence[Found] = (FIRST,), at: int = 0, *, page_bytes: int = PAGE_BYTES) -> None:
        """A page must hold a whole line that is not over the cap."""
        self.windows = list(windows)
        self.at = at
        self._page_bytes = page_bytes
        self._long_line: tuple[int, bool] | None = None
        """Where the line over the cap began that the last page ended in, and whether it may be a boundary."""
        self._ids = {window.id for window in self.windows}

    @property
    def is_between_lines(self) -> bool:
        return self._long_line is None

    def read_page(self, snapshot: Snapshot) -> None:
        """Read on by one bounded page. Raises DamagedRead, OSError."""
        file = snapshot.file_at(self.at)
        data = file.read(self._page_bytes, self.at)
        if not data:
            raise DamagedRead
        if self._long_line is not None:
            self._pass_over(file, data)
            return
        is_last = self.at + len(data) >= file.end
        stop = len(data) if is_last else data.rfind(b"\n") + 1
        if stop == 0:
            self._long_line = (self.at, BOUNDARY_NEEDLE in data)
            self.at += len(data)
            return
        self._take_lines(file, data, stop)
        self.at += stop

    def _take_lines(self, file: OpenFile, data: bytes, stop: int) -> None:
        rows = _count_lines(data, 0, stop)
        suspects = {*_line_starts_with(BOUNDARY_NEEDLE, data, 0, stop), *_lines_with_escaped_letters(data, stop)}
        begin = 0
        for start in sorted(suspects):
            end = _line_end(data, start, stop)
            boundary = self._boundary(file, data[start:end], self.at + start, min(end + 1, stop) + self.at)
            if boundary is not None:
                self._extend(file, data, begin, start, _count_lines(data, begin, start))
                self._open(boundary)
                begin, rows = min(end + 1, stop), -1
        self._extend(file, data, begin, stop, rows if rows >= 0 else _count_lines(data, begin, stop))

    def _extend(self, file: OpenFile, data: bytes, begin: int, stop: int, rows: int) -> None:
        """Add the lines of `data` from `begin` to `stop` to the newest window."""
        window = self.windows[-1]
        if window.rows < TITLE_ROWS and not (window.title and window.opened):
            window = self._with_title(window, file, data, begin, stop)
        self.windows[-1] = replace(window, rows=window.rows + rows)

    def _with_title(self, window: Found, file: OpenFile, data: bytes, begin: int, stop: int) -> Found:
        for start, end in _lines(data, begin, stop, TITLE_ROWS - window.rows):
            row = decode_line(data[start:end]) if end - start <= MAX_LINE_BYTES else None
            if not isinstance(row, Row) or not is_whole(row, file, self.at + start, min(end + 1, stop) + self.at):
                continue
            window = replace(window, opened=window.opened or row.created, title=window.title or _title_of(row))
            if window.title and window.opened:
                break
        return window

    def _boundary(self, file: OpenFile, line: bytes, start: int, body: int) -> Found | None:
        """Return the window that a line opens, None if it is no boundary after all."""
        found = decode_line(line)
        if isinstance(found, Damage):
            return Found("", "unknown", start, body, fingerprint(line)) if found.is_reset else None
        if found.boundary is None:
            return None
        is_long = len(line) > MAX_LINE_BYTES
        if not is_reset(found) and not is_long and not is_whole(found, file, start, body):
            return None
        return Found(
            _id_of(found),
            _kind_of(found.boundary.kind),
            start,
            body,
            fingerprint(line),
            created=found.created,
            tokens=found.boundary.context_tokens,
            opened=found.created,
        )

    def _open(self, boundary: Found) -> None:
        name = boundary.id or f"w:b:{boundary.start}"
        window_id, number = name, 1
        while window_id in self._ids:
            number += 1
            window_id = f"{name}.{number}"
        self._ids.add(window_id)
        self.windows.append(replace(boundary, id=window_id))

    # Lines over the cap

    def _pass_over(self, file: OpenFile, data: bytes) -> None:
        assert self._long_line is not None
        start, may_be_boundary = self._long_line
        lead_at = max(start, self.at - len(BOUNDARY_NEEDLE) + 1)
        lead = file.read(self.at - lead_at, lead_at)
        stop = data.find(b"\n")
        end = stop if stop >= 0 else len(data)
        may_be_boundary = may_be_boundary or BOUNDARY_NEEDLE in lead + data[:end]
        if stop < 0 and self.at + len(data) < file.end:
            self._long_line = (start, may_be_boundary)
            self.at += len(data)
            return
        self._long_line = None
        line_end = self.at + end
        self.at = line_end + 1 if stop >= 0 else line_end
        boundary = self._long_boundary(file, start, line_end) if may_be_boundary else None
        if boundary is not None:
            self._open(boundary)
        else:
            window = self.windows[-1]
            self.windows[-1] = replace(window, rows=window.rows + 1)

    def _long_boundary(self, file: OpenFile, start: int, end: int) -> Found | None:
        if end - start > MAX_FOREIGN_LINE_BYTES:
            begin = file.read(FINGERPRINT_BYTES, start)
            return Found("", "unknown", start, self.at, fingerprint(begin, end - start))
        return self._boundary(file, file.read(end - start, start), start, self.at)


def fingerprint(line: bytes, length: int | None = None) -> str:
    """Return what tells the boundary's line from any other: a hash of its begin, and its length."""
    digest = hashlib.sha256(line[:FINGERPRINT_BYTES]).hexdigest()[:32]
    return f"{digest}.{len(line) if length is None else length}"


def _kind_of(kind: str) -> WindowKind:
    match kind:
        case "rollover" | "reset" | "compaction":
            return kind
        case _:
            return "unknown"


def _id_of(row: Row) -> str:
    """Return the name of the window that `row` opens, empty if it has none that is fit to be one."""
    if row.seq is not None and 0 <= row.seq < _MAX_SEQ:
        return f"w:{row.seq}"
    return f"w:m:{row.id}" if row.seq is None and _PLAIN_ID.fullmatch(row.id) else ""


def _title_of(row: Row) -> str:
    """Return the first words of a message of the person's, empty if the row is none."""
    is_shown = row.boundary is None and row.copy_of is None and not {Flag.HIDDEN, Flag.REJECTED} & {*row.flags}
    if row.role != "user" or row.kind != Kind.MESSAGE or not is_shown:
        return ""
    text = row.text or " ".join(part.name for part in row.parts if isinstance(part, MediaPart))
    words = " ".join(text[: 4 * TITLE_CHARS].split())
    return words if len(words) <= TITLE_CHARS else words[: TITLE_CHARS - 1].rstrip() + "…"


# Lines of a page


def _count_lines(data: bytes, begin: int, stop: int) -> int:
    """Return how many lines there are, empty ones left out. `begin` is the begin of a line."""
    rows, at = 0, begin
    for _ in range(_LINES_ONE_BY_ONE):
        if at >= stop:
            return rows
        end = data.find(10, at, stop)
        if end < 0:
            end = stop
        if end > at:
            rows += 1
        at = end + 1
    if at < stop:
        ends_open = data[stop - 1] != 10
        empty = sum(len(found[0]) - 1 for found in _EMPTY_LINES.finditer(data, at, stop)) + (data[at] == 10)
        rows += data.count(b"\n", at, stop) - empty + ends_open
    return rows


def _line_starts_with(needle: bytes, data: bytes, begin: int, stop: int) -> Iterator[int]:
    """Yield where lines begin that hold `needle`."""
    found = data.find(needle, begin, stop)
    while found >= 0:
        yield data.rfind(b"\n", 0, found) + 1
        found = data.find(needle, _line_end(data, found, stop), stop)


def _lines_with_escaped_letters(data: bytes, stop: int) -> Iterator[int]:
    """Yield where lines begin in which a name may be hidden by escapes."""
    if not _RARE.may_match(data) or not _HIDES_LETTER.may_match(data):
        return
    found = _ESCAPED_LETTER.search(data, 0, stop)
    while found is not None:
        at = found.start()
        behind = found.end()
        if _is_escape(data, at):
            yield data.rfind(b"\n", 0, at) + 1
            behind = _line_end(data, at, stop)
        found = _ESCAPED_LETTER.search(data, behind, stop)


def _is_escape(data: bytes, at: int) -> bool:
    """Whether the backslash at `at` is none that is escaped itself."""
    before = at
    while before > 0 and data[before - 1] == _BACKSLASH:
        before -= 1
    return (at - before) % 2 == 0


def _line_end(data: bytes, at: int, stop: int) -> int:
    end = data.find(10, at, stop)
    return end if end >= 0 else stop


def _lines(data: bytes, begin: int, stop: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of the first `most` lines that are not empty."""
    at = begin
    while at < stop and most > 0:
        end = _line_end(data, at, stop)
        if end > at:
            yield at, end
            most -= 1
        at = end + 1
