"""Whether the batch of one row is whole, found out by looking at its neighbours in the file only.

See `batches`, and context-windows.md, 3.
"""

import os

from app.domain.rows import Batch, Row
from app.history.batches import MAX_BATCH_ROWS, torn_stretches
from app.history.codec import Damage, decode_line
from app.history.scanner import Caps, Line, read_backward, read_forward
from app.history.snapshot import OpenFile


def is_whole(row: Row, file: OpenFile, start: int, body: int) -> bool:
    """Whether the batch of the row between `start` and `body` is whole; a row in none is."""
    batch = row.batch
    if batch is None:
        return True
    if batch.count > MAX_BATCH_ROWS or batch.index >= batch.count:
        return False
    before = _rows_before(file, start, batch.index)
    # One more than belong to it: a batch that goes on is none.
    run = [*before, row, *_rows_behind(file, body, batch.count - batch.index)]
    torn = torn_stretches(run)
    return not any(len(before) in stretch for stretch in torn)


def batch_start(descriptor: int, offset: int) -> int:
    """Return where in a file the batch begins that the row at `offset` is in, whole or not; `offset` if in none.

    Whoever cuts a file there cuts no batch. Raises OSError.
    """
    size = os.fstat(descriptor).st_size
    here = read_forward(descriptor, offset, size, caps=Caps(page_rows=1)).lines
    row = _decoded(here[0]) if here else None
    while isinstance(row, Row) and row.batch is not None and row.batch.index > 0:
        lines = read_backward(descriptor, offset, caps=Caps(page_rows=1)).lines
        before = _decoded(lines[0]) if lines else None
        if not isinstance(before, Row) or before.batch is None or not _follows(before.batch, row.batch):
            break
        row, offset = before, lines[0].offset
    return offset


def _follows(before: Batch, batch: Batch) -> bool:
    return (before.id, before.index + 1) == (batch.id, batch.index)


def _rows_before(file: OpenFile, start: int, count: int) -> list[Row | Damage]:
    rows: list[Row | Damage] = []
    at = start - file.start
    while len(rows) < count and at > 0 and file.descriptor is not None:
        page = read_backward(file.descriptor, at, caps=Caps(page_rows=count - len(rows)))
        rows += [_decoded(line) for line in page.lines]
        if page.inside is not None or page.exhausted:
            break
        at = page.next
    return rows[::-1]


def _rows_behind(file: OpenFile, body: int, count: int) -> list[Row | Damage]:
    rows: list[Row | Damage] = []
    at = body - file.start
    while len(rows) < count and at < file.size and file.descriptor is not None:
        page = read_forward(file.descriptor, at, file.size, caps=Caps(page_rows=count - len(rows)))
        rows += [_decoded(line) for line in page.lines]
        if page.inside is not None or page.exhausted:
            break
        at = page.next
    return rows


def _decoded(line: object) -> Row | Damage:
    return decode_line(line.data) if isinstance(line, Line) else Damage("too long")
