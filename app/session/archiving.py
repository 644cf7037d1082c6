"""Sealed windows go to the archive in the background: between turns, never between an append and its request.

See context-windows.md, 4. Nothing depends on it having happened.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from app.aio import run_blocking, run_to_end
from app.domain.errors import StorageError
from app.history.files import ChatFiles
from app.history.rotation import Rotation
from app.history.store import Store
from app.session.env import SessionEnv

log = logging.getLogger(__name__)

PAUSE_SECONDS: Final = 0.01
"""Between two pieces, each of which takes one or two thousandths of a second."""


class Archiver:
    """Runs the rotation of one chat whose lease this process holds; gives way to a turn after each piece."""

    def __init__(
        self, env: SessionEnv, session: str, files: ChatFiles, store: Store, *, is_busy: Callable[[], bool]
    ) -> None:
        self._env = env
        self._session = session
        self._rotation = Rotation(files, store)
        self._is_busy = is_busy
        self._newest: object = None
        self._is_due = True
        self._running: asyncio.Task[None] | None = None

    def start(self, newest: object = None) -> None:
        """Move what lies before the newest boundary, if that has not been done since it was another one.

        `newest` is whatever tells the newest boundary from others; left out when the chat is opened.
        """
        if newest != self._newest:
            self._newest, self._is_due = newest, True
        if self._is_due and (self._running is None or self._running.done()):
            self._running = self._env.tasks.spawn(self._run(), name=f"archive {self._session}")

    async def stop(self) -> None:
        """End after the piece under way."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self) -> None:
        try:
            while not self._is_busy():
                piece = run_blocking(self._rotation.step)
                if not await run_to_end(piece, self._env.tasks, name=f"archive a piece of {self._session}"):
                    self._is_due = False
                    return
                # Python runs one thread at a time: the window that is being opened must not share it half and half.
                await asyncio.sleep(PAUSE_SECONDS)
        except StorageError as error:
            # The chat is whole as it is; the next turn or the next opening tries again.
            log.info("%s can't be archived now: %s", self._session, error)
