"""What stands in the composer of one chat, on disk: the newest text wins."""

import asyncio

from app.aio import run_blocking
from app.history.files import ChatFiles
from app.history.sidecars import Draft, read_sidecar, write_sidecar


class DraftFile:
    """`draft.json` of one chat, read and written one after the other."""

    def __init__(self, files: ChatFiles) -> None:
        self._path = files.draft
        self._lock = asyncio.Lock()
        self._newest: str | None = None

    async def load(self) -> str:
        """Return the draft, empty if there is none. Raises StorageError."""
        async with self._lock:
            draft = await run_blocking(read_sidecar, self._path, Draft)
            return draft.text if draft else ""

    async def save(self, text: str) -> None:
        """Keep `text`. Raises StorageError."""
        self._newest = text
        async with self._lock:
            newest, self._newest = self._newest, None
            if newest is not None:
                await run_blocking(write_sidecar, self._path, Draft(text=newest))

    async def drop(self, text: str) -> None:
        """Forget the draft if it is `text`: that has become a message. Raises StorageError."""
        if self._newest == text:
            self._newest = None
        if await self.load() == text:
            await self.save("")

    async def settle(self) -> None:
        """Wait for the end of what is being written."""
        async with self._lock:
            return
