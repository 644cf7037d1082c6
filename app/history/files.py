"""Names of a chat's files, and the locks that guard them. Nothing here knows what a row is."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from app.domain.errors import ChatNotFound
from app.history.locks import AppendLock, Lease, WriterFirst


class ChatFiles:
    """Paths of one chat's folder, and the locks and the gate that guard them.

    One instance a chat and process, shared by its store and its readers.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.chat = folder / "chat.jsonl"
        self.archive = folder / "chat-archive.jsonl"
        self.partial = folder / "partial.json"
        self.meta = folder / "session.json"
        self.draft = folder / "draft.json"
        self.queue = folder / "queue.json"
        self.receipt = folder / "receipt.json"
        self.windows = folder / "windows.json"
        self.blobs = folder / "blobs"
        self.branches = folder / "branches"
        self.holder = folder / "session.holder.json"
        self.gate = WriterFirst()
        self._append_lock = AppendLock(folder / "append.lock")
        self.lease = Lease(folder / "session.lock", self.holder)
        self._writers = threading.Lock()

    @contextlib.contextmanager
    def appending(self) -> Iterator[None]:
        """Hold the append lock and then the gate for one write.

        Raises ChatNotFound, and StorageError if another process holds the lock for `WRITE_LOCK_SECONDS`.
        Readers of this process go on while it waits for the other one.
        """
        with self._writers:
            self._check_folder()
            with self._append_lock.held(), self.gate.writing():
                yield

    def sweep(self) -> None:
        """Remove temporary files that a killed process left. Only the lease holder may."""
        for folder in (self.folder, self.branches):
            for path in folder.glob(".*.tmp"):
                with contextlib.suppress(OSError):
                    path.unlink()

    def _check_folder(self) -> None:
        """A lock file must not bring back the folder of a chat that was deleted."""
        if not self.folder.is_dir():
            raise ChatNotFound("This chat is not there any more.")
