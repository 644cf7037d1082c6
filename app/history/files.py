"""Names of a chat's files, durable writes, and the two locks.

See ADR-0004. Nothing here knows what a row is.
"""

import contextlib
import json
import os
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import filelock

from app.domain.errors import ChatInUse, ChatNotFound, StorageError

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
APPEND_LOCK_SECONDS: Final = 10.0
"""How long a writer waits for another process's single write before it gives up."""
LEASE_SECONDS: Final = 0.1
"""Long enough to outlast another process that only looks whether the lease is free."""
REPLACE_TRIES: Final = 20
"""Windows refuses to replace a file that a virus scanner or indexer holds for a moment."""
REPLACE_PAUSE_SECONDS: Final = 0.05

_BINARY: Final = getattr(os, "O_BINARY", 0)


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
        self.receipt = folder / "receipt.json"
        self.blobs = folder / "blobs"
        self.holder = folder / "session.holder.json"
        self.gate = WriterFirst()
        self._append_lock = filelock.FileLock(folder / "append.lock", thread_local=False, mode=FILE_MODE)
        self.lease = Lease(folder / "session.lock", self.holder)
        self._writers = threading.Lock()

    @contextlib.contextmanager
    def appending(self) -> Iterator[None]:
        """Hold the append lock and then the gate for one write.

        Raises ChatNotFound, and StorageError if another process holds the lock for `APPEND_LOCK_SECONDS`.
        Readers of this process go on while it waits for the other one.
        """
        with self._writers:
            self._check_folder()
            try:
                self._append_lock.acquire(timeout=APPEND_LOCK_SECONDS, poll_interval=0.005)
            except filelock.Timeout:
                raise StorageError("Another program is writing to this chat and does not finish.") from None
            except OSError as error:
                raise storage_error("This chat can't be locked", error) from error
            try:
                with self.gate.writing():
                    yield
            finally:
                self._append_lock.release()

    def sweep(self) -> None:
        """Remove temporary files that a killed process left. Only the lease holder may."""
        for path in self.folder.glob(".*.tmp"):
            with contextlib.suppress(OSError):
                path.unlink()

    def _check_folder(self) -> None:
        """A lock file must not bring back the folder of a chat that was deleted."""
        if not self.folder.is_dir():
            raise ChatNotFound("This chat is not there any more.")


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

    @property
    def is_held(self) -> bool:
        """Whether this process holds it."""
        return self._lock.is_locked

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


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells one state of a file from another without reading it."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, source: int | Path) -> "Stamp | None":
        """Return the stamp of an open file or a path, None if it doesn't exist."""
        try:
            found = os.stat(source)  # noqa: PTH116 - also takes a descriptor
        except FileNotFoundError:
            return None
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def make_private_folder(path: Path) -> None:
    """Create `path` and its missing parents, readable by this user only."""
    try:
        for folder in (*reversed(path.parents), path):
            if not folder.is_dir():
                folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
                sync_folder(folder.parent)
    except OSError as error:
        raise storage_error(f"The folder {path} can't be made", error) from error


def open_for_append(path: Path) -> int:
    """Return a binary descriptor that reads anywhere and writes only at the end."""
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _BINARY, FILE_MODE)
    try:
        if is_new:
            sync_folder(path.parent)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def write_new(path: Path, data: bytes, *, durable: bool) -> None:
    """Make a file that must not exist yet; nothing is left of it if that fails. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, FILE_MODE)
    try:
        try:
            write_all(descriptor, data)
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def open_for_read(path: Path) -> int | None:
    """Return a binary descriptor, None if there is no such file."""
    try:
        return os.open(path, os.O_RDONLY | _BINARY)
    except FileNotFoundError:
        return None


if hasattr(os, "pread"):

    def read_at(descriptor: int, size: int, offset: int) -> bytes:
        """Return up to `size` bytes from `offset`; fewer only at the end of the file."""
        data = os.pread(descriptor, size, offset)
        if len(data) == size or not data:
            return data
        pieces = [data]
        while data and (missing := size - sum(map(len, pieces))) > 0:
            data = os.pread(descriptor, missing, offset + size - missing)
            pieces.append(data)
        return b"".join(pieces)

else:  # pragma: no cover - Windows

    def read_at(descriptor: int, size: int, offset: int) -> bytes:
        """Return up to `size` bytes from `offset`; fewer only at the end of the file."""
        os.lseek(descriptor, offset, os.SEEK_SET)
        pieces: list[bytes] = []
        missing = size
        while missing > 0 and (data := os.read(descriptor, missing)):
            pieces.append(data)
            missing -= len(data)
        return b"".join(pieces)


def write_atomic(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Put `data` at `path` so that a reader sees the old or the new content, never a mixture.

    With `durable` off the content may be lost by a power failure, not by a crash of the program.
    Raises StorageError; the old content is then still there.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        write_new(temporary, data, durable=durable)
        replace(temporary, path)
        if durable:
            sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise storage_error(f"{path.name} can't be saved", error) from error


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`, however many pieces the system takes it in."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def replace(source: Path, target: Path) -> None:
    """Move `source` over `target`; on Windows again for a second while something holds the target."""
    for attempt in range(REPLACE_TRIES):
        try:
            source.replace(target)
        except PermissionError:
            if os.name != "nt" or attempt == REPLACE_TRIES - 1:
                raise
            threading.Event().wait(REPLACE_PAUSE_SECONDS)
        else:
            return


def sync_folder(path: Path) -> None:
    """Make a created, renamed or removed name durable where the system allows it."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def storage_error(what: str, error: OSError) -> StorageError:
    """Return `error` as a sentence for people that begins with `what`."""
    return StorageError(f"{what}: {error.strerror or error}.")
