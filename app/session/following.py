"""Reading along in a chat that another process holds: what that appends, and whether the chat is free."""

import asyncio
import contextlib
import logging
from typing import Final

from app.aio import run_blocking
from app.disk import Stamp
from app.domain.chats import Access
from app.domain.errors import ChatNotFound, StorageError
from app.domain.events import AccessChanged, RowsAppended, SessionBroke
from app.domain.rows import Row
from app.history.files import ChatFiles
from app.history.reader import HistoryReader, Position
from app.session.env import SessionEnv
from app.session.queue import MessageQueue
from app.session.state import rows_of

log = logging.getLogger(__name__)

FOLLOW_SECONDS: Final = 1.0
"""How often a chat that another process holds is looked at."""


class Follower:
    """Tells what becomes of one chat whose lease this process doesn't have."""

    def __init__(
        self, env: SessionEnv, session: str, files: ChatFiles, reader: HistoryReader, queue: MessageQueue
    ) -> None:
        self._env = env
        self._session = session
        self._files = files
        self._reader = reader
        self._queue = queue
        self._seen_seq: int | None = None
        self._told: tuple[Access, str] | None = None
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Take note of what is there, and follow from then on."""
        with contextlib.suppress(StorageError):
            # Before anybody reads a page to show: what is appended from now on is told.
            await self.tell_new_rows()
        with contextlib.suppress(StorageError):
            await self._queue.load(may_repair=False)
        self._running = self._env.tasks.spawn(self._follow(), name=f"follow {self._session}")

    def end(self) -> None:
        """Follow no longer."""
        if self._running is not None:
            self._running.cancel()
            self._running = None

    async def stop(self) -> None:
        """Follow no longer, and wait for the end of that."""
        running = self._running
        self.end()
        if running is not None:
            await asyncio.gather(running, return_exceptions=True)

    async def tell_new_rows(self) -> None:
        """Tell of the rows that came since last time; the first time only take note of the newest number."""
        seen = self._seen_seq
        rows = await run_blocking(_rows_after, self._reader, seen or 0, newest_page_only=seen is None)
        self._seen_seq = max((row.seq or 0 for row in rows), default=seen or 0)
        if rows and seen is not None:
            self._env.emit(RowsAppended(self._session, rows))

    def tell_access(self, access: Access, holder: str) -> None:
        """Tell who may write, if that is news."""
        if (access, holder) != self._told:
            self._told = (access, holder)
            self._env.emit(AccessChanged(self._session, access, holder))

    async def _follow(self) -> None:
        rows: Stamp | None = None
        queue = await run_blocking(Stamp.of, self._files.queue)
        while True:
            try:
                if (now := await run_blocking(Stamp.of, self._files.chat)) != rows:
                    await self.tell_new_rows()
                    rows = now
                if (now := await run_blocking(Stamp.of, self._files.queue)) != queue:
                    await self._queue.load(may_repair=False)
                    queue = now
                holder = await run_blocking(self._files.lease.probe)
                self.tell_access(Access.HELD_ELSEWHERE if holder else Access.FREE, holder or "")
            except ChatNotFound:
                self._env.emit(SessionBroke(self._session, "This chat was deleted in another window."))
                return
            except (StorageError, OSError) as error:
                log.info("%s can't be followed for a moment: %s", self._session, error)
            await self._env.clock.sleep(FOLLOW_SECONDS)


def _rows_after(reader: HistoryReader, last_seq: int, *, newest_page_only: bool) -> tuple[Row, ...]:
    """Return the rows numbered above `last_seq`, oldest first."""
    collected: list[Row] = []
    end: Position | None = None
    while True:
        page = reader.page_backward(end)
        rows = rows_of(page.entries)
        collected[:0] = [row for row in rows if (row.seq or 0) > last_seq]
        if newest_page_only or page.exhausted or any((row.seq or 0) <= last_seq for row in rows):
            return tuple(collected)
        end = page.next
