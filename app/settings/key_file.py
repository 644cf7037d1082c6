"""`keys.json`: keys in a plain file that this account alone may read; only by a person's explicit choice."""

import contextlib
import json
import os
import stat
import threading
import time
from pathlib import Path
from typing import Final

from app.disk import FILE_MODE, make_private_folder, storage_error, write_atomic
from app.domain.errors import StorageError

UNFINISHED_SECONDS: Final = 60.0
"""A write that has taken longer will never end."""

_WHAT: Final = "The file of keys"
_OPEN_TO_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class KeyFile:
    """Reads the file at every call, as another Muntin may have written it. Any thread may call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self.problem = ""
        """A sentence for people once the file was found open to others."""

    def get(self, account: str) -> str | None:
        """Return the key of `account`. Raises StorageError if the file is there and can't be read."""
        with self._lock:
            return self._read().get(account)

    def put(self, account: str, key: str) -> None:
        """Keep `key`. Raises StorageError."""
        with self._lock:
            self._write({**self._read(), account: key})

    def delete(self, account: str) -> None:
        """Forget the key of `account`; without keys there is no file. Raises StorageError."""
        with self._lock:
            self._remove_unfinished()
            keys = self._read()
            if keys.pop(account, None) is not None:
                self._write(keys)

    def _read(self) -> dict[str, str]:
        try:
            with self._path.open("rb") as file:
                self._close_to_others(file.fileno())
                value = json.loads(file.read())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise storage_error(f"{_WHAT} can't be read", error) from error
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value.values()):
            # Never overwritten: somebody may still find the keys in it.
            raise StorageError(f"{_WHAT}, {self._path}, is damaged. Mend or delete it, then try again.")
        return value

    def _write(self, keys: dict[str, str]) -> None:
        if keys:
            make_private_folder(self._path.parent)
            data = json.dumps(keys, indent=2, ensure_ascii=False).encode()
            write_atomic(self._path, data, what=_WHAT)
            return
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise storage_error(f"{_WHAT} can't be deleted", error) from error

    def _remove_unfinished(self) -> None:
        """Remove what a write left that was killed halfway: a key that is deleted would still be in it."""
        with contextlib.suppress(OSError):
            for left in self._path.parent.glob(f".{self._path.name}.*.tmp"):
                # A younger one may be another Muntin's, which is about to put it in place.
                if time.time() - left.stat().st_mtime > UNFINISHED_SECONDS:
                    left.unlink()

    def _close_to_others(self, descriptor: int) -> None:
        """Mend the rights of a file that others may read, and remember to say so."""
        if os.name == "nt" or not stat.S_IMODE(os.fstat(descriptor).st_mode) & _OPEN_TO_OTHERS:
            return
        os.fchmod(descriptor, FILE_MODE)
        self.problem = (
            "Other accounts of this computer could read the file of keys. Now they can't,"
            " but the keys in it may be known; make new ones if you are not the only one here."
        )
