"""A played history: windows and items from memory, one page at a time, with whatever goes wrong on the way."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from app.domain.errors import KnownError
from app.domain.text import Utf16Text, utf16_units
from app.domain.windows import (
    Filters,
    HistoryItem,
    ItemsPage,
    ItemText,
    Mark,
    SearchHit,
    SearchPage,
    Skipped,
    ToolUse,
    WindowInfo,
    WindowKind,
    WindowsPage,
)

BEGUN = datetime(2026, 5, 3, 9, 0, tzinfo=UTC)
ROW_BYTES = 100


@dataclass
class PlayedHistory:
    """What a bridge answers about one chat. Everything is asked in the order of the tests' own calls."""

    windows: list[WindowInfo] = field(default_factory=list)
    items: list[HistoryItem] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    page_size: int = 100
    indexing: list[tuple[int, int]] = field(default_factory=list)
    """Answers to be given before the windows are known: bytes read, bytes in all."""
    errors: dict[str, list[KnownError]] = field(default_factory=dict)
    """Raised by the next calls of that name, one each."""
    hold: asyncio.Event | None = None
    """Every answer waits for it."""
    skipped: Skipped = field(default_factory=Skipped)
    """Of each page."""
    calls: list[str] = field(default_factory=list)

    def add_window(
        self,
        kind: WindowKind,
        texts: Sequence[tuple[str, str]],
        *,
        title: str = "",
        tokens: int | None = None,
        is_above_floor: bool = False,
        tools: tuple[ToolUse, ...] = (),
    ) -> WindowInfo:
        """Add a window of `(role, text)`; it is the active one until another follows."""
        self.windows = [replace(window, is_active=False, closed=self._time()) for window in self.windows]
        number = len(self.windows) + 1
        window_id = f"w:{len(self.items)}" if number > 1 else "w:0"
        start = len(self.items) * ROW_BYTES
        for role, text in texts:
            self.add_item(window_id, role, text, is_above_floor=is_above_floor, tools=tools)
        window = WindowInfo(
            id=window_id,
            number=number,
            kind=kind,
            start=start,
            end=len(self.items) * ROW_BYTES,
            rows=len(texts),
            opened=self._time(),
            tokens=tokens,
            title=title or next((text[:80] for role, text in texts if role == "user"), ""),
            is_active=True,
            is_above_floor=is_above_floor,
        )
        self.windows.append(window)
        return window

    def add_item(
        self,
        window_id: str,
        role: str,
        text: str,
        *,
        is_above_floor: bool = False,
        tools: tuple[ToolUse, ...] = (),
        **flags: bool,
    ) -> HistoryItem:
        """Add an item to the end."""
        seq = len(self.items) + 1
        item = HistoryItem(
            ref=f"ref{seq}",
            row_id=f"row{seq}",
            seq=seq,
            role="user" if role == "user" else "assistant",
            kind="message",
            created=self._time(),
            model="" if role == "user" else "practice/practice",
            tools=() if role == "user" else tools,
            preview=" ".join(text.split())[:200],
            chars=len(text),
            window_id=window_id,
            offset=(seq - 1) * ROW_BYTES,
            is_above_floor=is_above_floor,
            **flags,
        )
        self.items.append(item)
        self.texts[item.ref] = text
        return item

    def _time(self) -> datetime:
        return BEGUN + timedelta(minutes=7 * len(self.items))

    # What a bridge is asked

    async def history_windows(self, session: str) -> WindowsPage:
        await self._begin("windows")
        total = len(self.items) * ROW_BYTES
        if self.indexing:
            read, size = self.indexing.pop(0)
            return WindowsPage((), is_complete=False, bytes_read=read, total_bytes=size)
        return WindowsPage(tuple(reversed(self.windows)), is_complete=True, bytes_read=0, total_bytes=total)

    async def history_items(
        self, session: str, mark: Mark | None, *, filters: Filters, recent_first: bool = False, limit: int = 100
    ) -> ItemsPage:
        await self._begin("items")
        wanted = [item for item in self.items if not filters.window_id or item.window_id == filters.window_id]
        if recent_first:
            wanted.reverse()
        at = mark.offset if mark is not None else 0
        end = at + min(limit, self.page_size)
        following = Mark("e", end) if end < len(wanted) else None
        return ItemsPage(tuple(wanted[at:end]), following, ROW_BYTES, end - at, self.skipped)

    async def search_history(
        self,
        session: str,
        query: str,
        mark: Mark | None,
        *,
        filters: Filters,
        recent_first: bool = True,
        limit: int = 50,
    ) -> SearchPage:
        await self._begin("search")
        wanted = [item for item in reversed(self.items) if _is_wanted(item, filters)]
        at = mark.offset if mark is not None else 0
        end = at + self.page_size
        hits = [hit for item in wanted[at:end] if (hit := self._hit(item, query)) is not None]
        following = Mark("e", end) if end < len(wanted) else None
        read = (min(end, len(wanted)) - at) * ROW_BYTES
        return SearchPage(tuple(hits), following, read, len(self.items) * ROW_BYTES, end - at, self.skipped)

    async def read_history_item(
        self, session: str, ref: str, *, offset_chars: int = 0, limit_chars: int = 16_000
    ) -> ItemText | None:
        await self._begin("read")
        item = next((item for item in self.items if ref in (item.ref, f"#{item.seq}", f"m:{item.row_id}")), None)
        if item is None:
            return None
        text = Utf16Text(self.texts[item.ref])
        piece, begin, end = text.piece(offset_chars, limit_chars)
        return ItemText(item, piece, begin, end if end < text.units else None, text.units)

    async def _begin(self, name: str) -> None:
        self.calls.append(name)
        if self.hold is not None:
            await self.hold.wait()
        await asyncio.sleep(0)
        if self.errors.get(name):
            raise self.errors[name].pop(0)

    def _hit(self, item: HistoryItem, query: str) -> SearchHit | None:
        text = self.texts[item.ref]
        at = text.casefold().find(query.casefold())
        if at < 0:
            return None
        begin = max(0, at - 120)
        snippet = text[begin : at + len(query) + 120].replace("\n", " ")
        units = utf16_units(text[at : at + len(query)])
        return SearchHit(item, snippet, at - begin, len(query), utf16_units(text[:at]), units)


def _is_wanted(item: HistoryItem, filters: Filters) -> bool:
    return (
        (not filters.window_id or item.window_id == filters.window_id)
        and (not filters.role or item.role == filters.role)
        and (not filters.tool_name or any(tool.name == filters.tool_name for tool in item.tools))
    )
