"""Whether a row that was found by itself counts: its batch must be whole, wherever pages end.

See context-windows.md, 3.
"""

from app.domain.rows import Batch, Row
from app.history.batches import MAX_BATCH_ROWS
from app.history.codec import decode_line
from app.history.scanner import Caps, Line, LinePage, read_backward, read_forward
from app.history.snapshot import OpenFile


class WholeBatches:
    """Looks at the rows around those of one file; remembers the last batch."""

    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self._last = range(0)
        self._last_is_whole = False

    def holds(self, row: Row, line: Line) -> bool:
        """Whether the row in `line`, an offset of the file, counts. Raises OSError."""
        if row.batch is None:
            return True
        if line.offset not in self._last:
            before = self._run(row.batch, line, -1)
            behind = self._run(row.batch, line, 1)
            batches = [batch for _, batch in (*reversed(before), (line, row.batch), *behind)]
            begin = before[-1][0].offset if before else line.offset
            self._last = range(begin, (behind[-1][0].offset if behind else line.offset) + 1)
            first = batches[0]
            self._last_is_whole = first.index == 0 and first.count == len(batches) <= MAX_BATCH_ROWS
        return self._last_is_whole

    def _run(self, batch: Batch, line: Line, step: int) -> list[tuple[Line, Batch]]:
        """Return the rows next to `line` that go on with its batch, the nearest first."""
        run: list[tuple[Line, Batch]] = []
        wanted = batch.index if step < 0 else max(0, batch.count - batch.index)
        at = line.offset if step < 0 else line.offset + len(line.data) + 1
        most = min(wanted, MAX_BATCH_ROWS + 1)
        while len(run) < most:
            # What a row claims of its batch may be wrong: little is read until its neighbours say the same.
            page = self._page(at, step, min(most - len(run), len(run) + 1))
            for found in page.lines:
                other = _batch_of(found) if isinstance(found, Line) else None
                if other is None or other.id != batch.id or other.index != batch.index + step * (len(run) + 1):
                    return run
                assert isinstance(found, Line)
                run.append((found, other))
            if page.exhausted or page.inside is not None:
                return run
            at = page.next
        return run

    def _page(self, at: int, step: int, rows: int) -> LinePage:
        if self._file.descriptor is None:
            return LinePage((), at, 0, exhausted=True)
        if step < 0:
            return read_backward(self._file.descriptor, at, caps=Caps(page_rows=rows))
        return read_forward(self._file.descriptor, at, self._file.size, caps=Caps(page_rows=rows))


def _batch_of(line: Line) -> Batch | None:
    row = decode_line(line.data)
    return row.batch if isinstance(row, Row) else None
