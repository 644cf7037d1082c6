"""Which rows of a chat's history are loaded, in order, those that show nothing included."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # Loads pydantic, which must wait for the first paint.
    from app.domain.rows import Row


class LoadedRows:
    """A stretch of rows without gaps."""

    def __init__(self) -> None:
        self._order: list[str] = []
        self._rows: dict[str, Row] = {}
        self._newest: frozenset[str] | None = None
        """What lies behind the newest boundary here; found out when it is asked for."""

    def clear(self) -> None:
        """Hold nothing."""
        self._order.clear()
        self._rows.clear()
        self._newest = None

    def row(self, row_id: str) -> Row | None:
        """Return the row of that id if it is loaded."""
        return self._rows.get(row_id)

    def prepend(self, rows: Sequence[Row]) -> None:
        """Add older rows."""
        fresh = [row for row in rows if row.id not in self._rows]
        self._order[:0] = [row.id for row in fresh]
        self._rows.update((row.id, row) for row in fresh)
        self._newest = None

    def append(self, rows: Iterable[Row]) -> None:
        """Add newer rows; those that are there already stay where they are, as they are now."""
        for row in rows:
            if row.id not in self._rows:
                self._order.append(row.id)
            self._rows[row.id] = row
        self._newest = None

    def cut(self, after: str, *, from_begin: bool) -> list[str] | None:
        """Forget everything behind a row, and return its ids; None if that row is not here.

        `from_begin` says that nothing lies above the first row: only then an empty `after` names a place.
        """
        at = self._place_behind(after, from_begin=from_begin)
        if at is None:
            return None
        gone = self._order[at:]
        del self._order[at:]
        self._newest = None
        for row_id in gone:
            del self._rows[row_id]
        return gone

    def first_behind(self, after: str, shown: Container[str], *, from_begin: bool) -> str | None:
        """Return the first row behind another that is `shown`; empty if none follows, None if that is not known."""
        at = self._place_behind(after, from_begin=from_begin)
        if at is None:
            return None
        return next((row_id for row_id in self._order[at:] if row_id in shown), "")

    def boundary_behind(self, row_id: str) -> Row | None:
        """Return the newest boundary behind a row, the last manual reset if there is one; None if there is none."""
        found: Row | None = None
        for each in reversed(self._order):
            if each == row_id:
                break
            row = self._rows[each]
            if row.boundary is not None:
                if row.boundary.kind not in ("rollover", "compaction"):
                    return row
                found = found or row
        return found

    def is_in_newest(self, row_id: str) -> bool:
        """Whether no boundary lies behind a row that is here."""
        if self._newest is None:
            begins = (at for at in reversed(range(len(self._order))) if self._rows[self._order[at]].boundary)
            self._newest = frozenset(self._order[next(begins, 0) :])
        return row_id in self._newest

    def newest(self, role: str = "") -> Row | None:
        """Return the newest message of the newest window that anybody sees, of a side if one is named."""
        if not self._order:
            return None
        # Where there are rows, this is loaded.
        from app.domain.rows import Flag, Kind

        for row_id in reversed(self._order):
            row = self._rows[row_id]
            if row.boundary is not None:
                return None
            if row.kind == Kind.MESSAGE and Flag.HIDDEN not in row.flags and role in ("", row.role):
                return row
        return None

    def _place_behind(self, after: str, *, from_begin: bool) -> int | None:
        if not after:
            return 0 if from_begin else None
        return self._order.index(after) + 1 if after in self._rows else None
