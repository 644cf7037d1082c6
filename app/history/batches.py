"""Which rows of a stretch of history belong to batches that are whole.

A batch counts whole or not at all: `batch: {id, index, count}` on each of its rows, next to each
other and in order. See context-windows.md, 3.
"""

from collections.abc import Sequence
from typing import Final

from app.domain.rows import Row

MAX_BATCH_ROWS: Final = 256
"""The store makes no larger batches; one that claims to be larger is torn."""


def row_of(entry: object) -> Row | None:
    """Return the row of an entry, None for damage."""
    return entry if isinstance(entry, Row) else getattr(entry, "row", None)


def torn_stretches(entries: Sequence[object]) -> list[range]:
    """Return the index ranges of rows that claim a batch which is not whole here, oldest first.

    `entries` are rows, objects with a `row`, or anything else (damage), in file order.
    """
    torn: list[range] = []
    at = 0
    while at < len(entries):
        stop = _batch_stop(entries, at)
        row = row_of(entries[at])
        if row is not None and row.batch is not None and not _is_whole(entries[at:stop]):
            torn.append(range(at, stop))
        at = stop
    return torn


def _batch_stop(entries: Sequence[object], at: int) -> int:
    """Return the index behind the run of rows that begins at `at` and shares one batch in order."""
    first = row_of(entries[at])
    if first is None or first.batch is None:
        return at + 1
    stop = at + 1
    while stop < len(entries):
        row = row_of(entries[stop])
        if (
            row is None
            or row.batch is None
            or row.batch.id != first.batch.id
            or row.batch.index != first.batch.index + stop - at
        ):
            break
        stop += 1
    return stop


def _is_whole(entries: Sequence[object]) -> bool:
    first = row_of(entries[0])
    assert first is not None
    assert first.batch is not None
    return first.batch.index == 0 and first.batch.count == len(entries) <= MAX_BATCH_ROWS
