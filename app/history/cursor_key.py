"""`cursor.key`: what cursors are signed with, so that nobody else can make one. See context-windows.md, 6."""

import contextlib
import os
import secrets
import threading
from pathlib import Path
from typing import Final

from app.disk import write_atomic, write_new
from app.domain.errors import StorageError

KEY_BYTES: Final = 32


class CursorKey:
    """`cursor.key`: 32 random bytes, made when they are first needed. Any thread and any process may ask.

    Read anew for each cursor, so that two Muntins agree whatever happens to the file. If the disk refuses, the key
    lives as long as the program.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._in_memory = b""
        self._lock = threading.Lock()

    def get(self) -> bytes:
        """Return the key. A file that can't be read or has another length is replaced: older cursors are void."""
        with self._lock:
            return self._read() or self._make() or self._of_this_run()

    def _read(self) -> bytes:
        try:
            key = self._path.read_bytes()
        except OSError:
            return b""
        return key if len(key) == KEY_BYTES else b""

    def _make(self) -> bytes:
        fresh = secrets.token_bytes(KEY_BYTES)
        with contextlib.suppress(OSError):
            _write_first(self._path, fresh)
        # Another process may have been faster; the file is right.
        if key := self._read():
            return key
        with contextlib.suppress(StorageError):
            write_atomic(self._path, fresh)
        return self._read()

    def _of_this_run(self) -> bytes:
        self._in_memory = self._in_memory or secrets.token_bytes(KEY_BYTES)
        return self._in_memory


def _write_first(path: Path, data: bytes) -> None:
    """Put `data` at `path` unless a file is there by now; nobody ever sees half of it. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    write_new(temporary, data, durable=True)
    try:
        with contextlib.suppress(FileExistsError):
            if os.name == "nt":
                temporary.rename(path)
            else:
                path.hardlink_to(temporary)
    finally:
        temporary.unlink(missing_ok=True)
