"""Who may read and write a chat when: the gate between threads, the lease between processes.

See context-windows.md, 1, and ADR-0004.
"""

import contextlib
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import filelock

from app.disk import FILE_MODE, storage_error, write_atomic
from app.domain.errors import ChatInUse, ChatNotFound, StorageError
from app.write_lock import WriteLock

LEASE_SECONDS: Final = 0.1
"""Long enough to outlast another process that only looks whether the lease is free."""


class AppendLock(WriteLock):
    """Held for one write to a chat, across processes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, what="this chat")


class WriterFirst:
    """Many readers or one writer; a waiting writer goes before the next reader.

    A reader must not enter twice on one thread.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._readers = 0
        self._writers = 0
        self._is_writing = False

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: self._writers == 0)
            self._readers += 1
        try:
            yield
        finally:
            with self._condition:
                self._readers -= 1
                self._condition.notify_all()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        with self._condition:
            self._writers += 1
            try:
                self._condition.wait_for(lambda: not self._is_writing and self._readers == 0)
                self._is_writing = True
            except BaseException:
                self._writers -= 1
                raise
        try:
            yield
        finally:
            with self._condition:
                self._writers -= 1
                self._is_writing = False
                self._condition.notify_all()


class Lease:
    """The right to write to a chat and to repair it, held from opening it to closing it."""

    def __init__(self, path: Path, holder_path: Path) -> None:
        self._lock = filelock.FileLock(path, thread_local=False, mode=FILE_MODE)
        self._holder_path = holder_path
        self._mutex = threading.Lock()

    def take(self) -> None:
        """Take the lease. Raises ChatInUse naming the holder if another process has it."""
        with self._mutex:
            if self._lock.is_locked:
                return
            self._acquire()
            # The name is for people only; the lock is what counts.
            with contextlib.suppress(StorageError):
                write_atomic(self._holder_path, json.dumps({"pid": os.getpid()}).encode(), durable=False)

    def release(self) -> None:
        """Give the lease back; harmless when not held."""
        with self._mutex:
            if self._lock.is_locked:
                with contextlib.suppress(OSError):
                    self._holder_path.unlink(missing_ok=True)
                self._lock.release()

    def probe(self) -> str | None:
        """Return who holds the lease, None if nobody does or this process."""
        with self._mutex:
            if not self._lock.is_locked:
                try:
                    self._acquire()
                except ChatInUse as error:
                    return error.holder
                self._lock.release()
            return None

    def _acquire(self) -> None:
        if not self._holder_path.parent.is_dir():
            raise ChatNotFound("This chat is not there any more.")
        try:
            self._lock.acquire(timeout=LEASE_SECONDS, poll_interval=0.01)
        except filelock.Timeout:
            raise ChatInUse(self._holder_name()) from None
        except OSError as error:
            raise storage_error("This chat can't be locked", error) from error

    def _holder_name(self) -> str:
        try:
            pid = int(json.loads(self._holder_path.read_text("utf-8"))["pid"])
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return "another Muntin window"
        return f"another Muntin window (process {pid})"
