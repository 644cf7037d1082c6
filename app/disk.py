"""Durable writes and plain reads of files; what histories, settings and keys stand on.

Everything raises OSError unless it says otherwise. See ADR-0004.
"""

import contextlib
import errno
import os
import secrets
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.domain.errors import StorageError

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
REPLACE_TRIES: Final = 20
"""Windows refuses to replace a file that a virus scanner or indexer holds for a moment."""
REPLACE_PAUSE_SECONDS: Final = 0.05

_BINARY: Final = getattr(os, "O_BINARY", 0)


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


def write_atomic(path: Path, data: bytes, *, durable: bool = True, what: str = "") -> None:
    """Put `data` at `path` so that a reader sees the old or the new content, never a mixture.

    With `durable` off the content may be lost by a power failure, not by a crash of the program.
    Raises StorageError that begins with `what`, a name for people; the old content is then still there, or the new if
    it was the folder that could not be synced.
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
        raise storage_error(f"{what or path.name} can't be saved", error) from error


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


def free_bytes(folder: Path) -> int:
    """Return how much this user may still write to the disk that `folder` lies on."""
    return shutil.disk_usage(folder).free


_REASONS: Final = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is used up",
    errno.EROFS: "the disk can only be read",
    errno.EACCES: "this account may not do that",
    errno.EPERM: "this account may not do that",
    errno.EIO: "the disk has a fault",
    errno.EMFILE: "too many files are open",
    errno.ENOTDIR: "there is a file where a folder should be",
    errno.EFBIG: "the file would be larger than allowed",
}


def storage_error(what: str, error: OSError) -> StorageError:
    """Return `error` as a sentence for people that begins with `what`."""
    reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
    return StorageError(f"{what}: {reason}.")
