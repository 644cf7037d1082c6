"""A lock that is held for one write, between processes. See ADR-0004."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import filelock

from app.disk import FILE_MODE, storage_error
from app.domain.errors import StorageError

WRITE_LOCK_SECONDS: Final = 10.0
"""How long a writer waits for another process's single write before it gives up."""


class WriteLock:
    """Held for one write, across processes; on one instance threads of this process do not wait for each other."""

    def __init__(self, path: Path, *, what: str) -> None:
        """`what` names for people what is written to: “this chat”."""
        self._lock = filelock.FileLock(path, thread_local=False, mode=FILE_MODE)
        self._what = what

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Wait for the lock and hold it. Raises StorageError after `WRITE_LOCK_SECONDS`."""
        try:
            self._lock.acquire(timeout=WRITE_LOCK_SECONDS, poll_interval=0.005)
        except filelock.Timeout:
            raise StorageError(f"Another program is writing to {self._what} and does not finish.") from None
        except OSError as error:
            raise storage_error(f"{self._what[:1].upper()}{self._what[1:]} can't be locked", error) from error
        try:
            yield
        finally:
            self._lock.release()
