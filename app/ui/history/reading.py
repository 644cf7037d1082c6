"""Fetches the text of an item, or of a whole window's items, in bounded pieces around what is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from app.aio import TaskSet
from app.domain.errors import HistoryChanged, KnownError, StaleItem
from app.domain.windows import Filters, HistoryItem, ItemText, Mark, SearchHit, WindowInfo
from app.ui.bridge import Bridge

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Coroutine

PIECE_CHARS: Final = 16_000
MOST_CHARS: Final = 80_000
"""So much text is kept; pieces further away are fetched again when they are wanted."""
BEFORE_HIT_CHARS: Final = 2_000
"""The first piece begins so far before a hit."""
MOST_WALKED: Final = 20_000
"""So many items of a window are read as one text: all of them can be gone back to."""
_PAGE_ITEMS: Final = 50


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an item's text, in UTF-16 units. `at` is the item's number in what is read."""

    at: int
    item: HistoryItem
    text: str
    offset: int
    next_offset: int | None
    total: int


@dataclass(frozen=True, slots=True)
class Emphasis:
    """The hit that led to an item, in UTF-16 units of its text."""

    offset: int
    length: int


class Reading(QObject):
    """What the reader shows: neighbouring pieces. Tells what to add and to take away, at either end."""

    began = Signal()
    """Something else is read; nothing of it is there yet."""
    added = Signal(object, bool)
    """A `Piece`, and whether it stands before all others."""
    dropped = Signal(int, bool)
    """So many pieces went, at the start if true, else at the end."""
    settled = Signal()
    """Nothing is being fetched any more."""
    failed = Signal(str)
    """A sentence for people."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._tasks = tasks
        self._session = ""
        self._task: asyncio.Task[None] | None = None
        self._walked: list[HistoryItem] = []
        self._mark: Mark | None = None
        self._walk_ends = True
        self._again: Callable[[], Coroutine[object, object, None]] | None = None
        self._is_paused = False
        self.item: HistoryItem | None = None
        """The item that is read, unless a window is."""
        self.window: WindowInfo | None = None
        self.emphasis: Emphasis | None = None
        self.pieces: list[Piece] = []
        self.is_cut = False
        """The window has more items than are read as one text."""

    # What the panel asks

    def open_item(self, session: str, value: HistoryItem | SearchHit) -> None:
        """Read an item from its begin, or around a hit."""
        hit = value if isinstance(value, SearchHit) else None
        item = value.item if isinstance(value, SearchHit) else value
        self._begin(session, item=item)
        self.emphasis = Emphasis(hit.offset_chars, hit.length_chars) if hit is not None else None
        self._walked = [item]
        start = max(0, hit.offset_chars - BEFORE_HIT_CHARS) if hit is not None else 0
        self._run(lambda: self._read_forward(0, start))

    def open_window(self, session: str, window: WindowInfo) -> None:
        """Read all items of a window in order, as one text."""
        self._begin(session, window=window)
        self._walk_ends = False
        self._run(self._read_next)

    def jump(self, *, to_end: bool) -> None:
        """Go to the begin or the end of an item."""
        if self.item is None or not self.pieces:
            return
        total = self.pieces[-1].total
        start = max(0, total - PIECE_CHARS) if to_end else 0
        self._drop(len(self.pieces), at_start=True)
        self._run(lambda: self._read_forward(0, start))

    def more(self) -> None:
        """Fetch what comes after."""
        if self.has_more and not self.is_busy:
            self._run(self._read_next)

    def earlier(self) -> None:
        """Fetch what comes before."""
        if self.has_earlier and not self.is_busy:
            self._run(self._read_earlier)

    def try_again(self) -> None:
        """Repeat what failed."""
        if self._again is not None and not self.is_busy:
            self._run(self._again)

    def close(self) -> None:
        """Read nothing."""
        self._begin("")

    def pause(self) -> None:
        """End what runs; `resume` runs it again."""
        self._is_paused = self.is_busy
        self.stop()

    def resume(self) -> None:
        """Fetch what `pause` has ended."""
        if self._is_paused:
            self.try_again()

    def stop(self) -> None:
        """End what runs."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    @property
    def is_busy(self) -> bool:
        return self._task is not None

    @property
    def has_more(self) -> bool:
        if not self.pieces:
            return not self._walk_ends
        last = self.pieces[-1]
        return last.next_offset is not None or last.at + 1 < len(self._walked) or not self._walk_ends

    @property
    def has_earlier(self) -> bool:
        return bool(self.pieces) and (self.pieces[0].offset > 0 or self.pieces[0].at > 0)

    # Fetching

    def _begin(self, session: str, *, item: HistoryItem | None = None, window: WindowInfo | None = None) -> None:
        self.stop()
        self._is_paused = False
        self._session = session
        self.item, self.window, self.emphasis = item, window, None
        self.pieces = []
        self._walked = []
        self._mark, self._walk_ends = None, True
        self.is_cut = False
        self.began.emit()

    def _run(self, work: Callable[[], Coroutine[object, object, None]]) -> None:
        self.stop()
        self._is_paused = False
        self._again = work
        self._task = self._tasks.spawn(self._do(work), name="read the history")

    async def _do(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except KnownError as error:
            self._task = None
            self.failed.emit(str(error))
        else:
            self._task = None
            self.settled.emit()

    async def _read_forward(self, at: int, offset: int) -> None:
        self._add(at, await self._read(at, offset, PIECE_CHARS), at_start=False)

    async def _read_next(self) -> None:
        """Add pieces until there is about one piece's worth of text more."""
        chars = 0
        while chars < PIECE_CHARS // 2 and self.has_more:
            last = self.pieces[-1] if self.pieces else None
            if last is not None and last.next_offset is not None:
                at, offset = last.at, last.next_offset
            else:
                at, offset = (0 if last is None else last.at + 1), 0
                if at >= len(self._walked) and not await self._walk():
                    return
            text = await self._read(at, offset, PIECE_CHARS)
            self._add(at, text, at_start=False)
            chars += len(text.text)

    async def _read_earlier(self) -> None:
        first = self.pieces[0]
        if first.offset > 0:
            start = max(0, first.offset - PIECE_CHARS)
            self._add(first.at, await self._read(first.at, start, first.offset - start), at_start=True)
            return
        at = first.at - 1
        text = await self._read(at, 0, PIECE_CHARS)
        if text.next_offset_chars is not None:
            start = (text.total_chars - 1) // PIECE_CHARS * PIECE_CHARS
            text = await self._read(at, start, PIECE_CHARS)
        self._add(at, text, at_start=True)

    async def _walk(self) -> bool:
        """Learn which items come next in the window; return whether there are any."""
        assert self.window is not None
        while not self._walk_ends:
            page = await self._bridge.history_items(
                self._session, self._mark, filters=Filters(window_id=self.window.id), limit=_PAGE_ITEMS
            )
            self._mark = page.next
            self.is_cut = page.next is not None and len(self._walked) >= MOST_WALKED
            self._walk_ends = page.next is None or self.is_cut
            self._walked += [replace(item, preview="") for item in page.items]
            if page.items:
                return True
        return False

    async def _read(self, at: int, offset: int, limit: int) -> ItemText:
        item = self._walked[at]
        text = await self._read_item(item, offset, limit)
        if text is None:
            raise HistoryChanged(self.tr("This message is not in the history any more."))
        return text

    async def _read_item(self, item: HistoryItem, offset: int, limit: int) -> ItemText | None:
        try:
            return await self._bridge.read_history_item(self._session, item.ref, offset_chars=offset, limit_chars=limit)
        except StaleItem:
            # Its place in the file is another one by now; its number is not.
            ref = lasting_ref(item)
            return await self._bridge.read_history_item(self._session, ref, offset_chars=offset, limit_chars=limit)

    def _add(self, at: int, text: ItemText, *, at_start: bool) -> None:
        piece = Piece(at, self._walked[at], text.text, text.offset_chars, text.next_offset_chars, text.total_chars)
        if at_start:
            self.pieces.insert(0, piece)
        else:
            self.pieces.append(piece)
        self.added.emit(piece, at_start)
        self._put_away(at_start=not at_start)

    def _put_away(self, *, at_start: bool) -> None:
        kept, count = sum(len(piece.text) for piece in self.pieces), 0
        while kept > MOST_CHARS and len(self.pieces) - count > 1:
            piece = self.pieces[count] if at_start else self.pieces[-1 - count]
            kept -= len(piece.text)
            count += 1
        if count:
            self._drop(count, at_start=at_start)

    def _drop(self, count: int, *, at_start: bool) -> None:
        if at_start:
            del self.pieces[:count]
        else:
            del self.pieces[-count:]
        self.dropped.emit(count, at_start)


def lasting_ref(item: HistoryItem) -> str:
    """Return a reference that no rewrite and no rotation makes stale."""
    return f"#{item.seq}" if item.seq is not None else f"m:{item.row_id}"
