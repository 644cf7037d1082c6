"""Reading along in a chat that another process holds: what that appends, and whether the chat is free."""

import asyncio
import contextlib
import logging
from typing import Final

from app.aio import run_blocking
from app.disk import Stamp
from app.domain.chats import Access
from app.domain.errors import ChatNotFound, StorageError
from app.domain.events import AccessChanged, ChatRewritten, RowsAppended, SessionBroke
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
        self._seen: tuple[int, str] | None = None
        """Number and id of the newest row that was told of."""
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
        seen = self._seen
        rows = await run_blocking(_newest_rows, self._reader, seen)
        if rows is None:
            # Something was edited there: what is shown here need not be in the chat any more.
            self._seen = None
            rows = await run_blocking(_newest_rows, self._reader, None)
            self._env.emit(ChatRewritten(self._session))
        elif rows and seen is not None:
            self._env.emit(RowsAppended(self._session, rows))
        newest = max(rows or (), key=lambda row: row.seq or 0, default=None)
        if newest is not None:
            self._seen = (newest.seq or 0, newest.id)
        elif self._seen is None:
            self._seen = (0, "")

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


def _newest_rows(reader: HistoryReader, seen: tuple[int, str] | None) -> tuple[Row, ...] | None:
    """Return the rows behind the newest one that was `seen`, oldest first; None if that is there no longer.

    Without one only the newest page is read.
    """
    collected: list[Row] = []
    end: Position | None = None
    while True:
        page = reader.page_backward(end)
        rows = rows_of(page.entries)
        last_seq = seen[0] if seen is not None else 0
        collected[:0] = [row for row in rows if (row.seq or 0) > last_seq]
        if seen is None or (page.exhausted and not last_seq):
            return tuple(collected)
        older = [row for row in rows if row.seq and row.seq <= last_seq]
        if older:
            return tuple(collected) if (older[-1].seq, older[-1].id) == seen else None
        if page.exhausted:
            return None
        end = page.next
