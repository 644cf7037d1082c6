"""What stands in the composer of one chat, on disk: the newest content wins."""

import asyncio

from app.aio import run_blocking
from app.domain.rows import MediaPart
from app.history.blobs import Blobs
from app.history.files import ChatFiles
from app.history.sidecars import Draft, read_sidecar, write_sidecar
from app.session.inputs import DraftContent


class DraftFile:
    """`draft.json` of one chat, read and written one after the other."""

    def __init__(self, files: ChatFiles) -> None:
        self._path = files.draft
        self._blobs = Blobs(files.blobs)
        self._lock = asyncio.Lock()
        self._newest: DraftContent | None = None

    async def load(self, *, may_repair: bool = True) -> DraftContent:
        """Return the draft, empty if there is none, without files that are gone. Raises StorageError.

        Who doesn't hold the chat's lease may not set a broken one aside: the holder may just have written a whole one.
        """
        async with self._lock:
            return await run_blocking(self._read, may_repair=may_repair)

    async def save(self, content: DraftContent) -> None:
        """Keep `content`. Raises StorageError."""
        self._newest = content
        async with self._lock:
            newest, self._newest = self._newest, None
            if newest is not None:
                await run_blocking(self._write, newest)

    async def add(self, part: MediaPart) -> None:
        """Keep one more file beside what is there. Raises StorageError."""
        async with self._lock:
            newest, self._newest = self._newest, None
            content = newest if newest is not None else await run_blocking(self._read)
            if part not in content.attachments:
                content = DraftContent(content.text, (*content.attachments, part))
            await run_blocking(self._write, content)

    async def drop(self, text: str, attachments: tuple[MediaPart, ...] = ()) -> None:
        """Forget the draft if it is this: that has become a message. Raises StorageError."""
        sent = DraftContent(text, attachments)
        async with self._lock:
            if self._newest is not None:
                # Someone waits to save this, and does so next.
                self._newest = DraftContent() if self._newest == sent else self._newest
            elif await run_blocking(self._read) == sent:
                await run_blocking(self._write, DraftContent())

    async def settle(self) -> None:
        """Wait for the end of what is being written."""
        async with self._lock:
            return

    def _read(self, *, may_repair: bool = True) -> DraftContent:
        draft = read_sidecar(self._path, Draft, may_repair=may_repair)
        if draft is None:
            return DraftContent()
        return DraftContent(draft.text, tuple(part for part in draft.attachments if self._blobs.has(part.blob.sha256)))

    def _write(self, content: DraftContent) -> None:
        write_sidecar(self._path, Draft(text=content.text, attachments=content.attachments))
