"""A context window as a file of the person's: there whole, or not at all."""

import contextlib
import errno
import os
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from app.disk import replace, storage_error, sync_folder, write_all
from app.domain.errors import StorageError
from app.domain.exports import ExportKind, ExportReport
from app.exchange.markdown import markdown_of
from app.exchange.plain_json import json_of
from app.exchange.window_rows import Heading, WindowRows
from app.history.reader import HistoryReader

_CHUNK_BYTES: Final = 256 * 1024
_BINARY: Final = getattr(os, "O_BINARY", 0)


def write_window(
    path: Path, kind: ExportKind, reader: HistoryReader, heading: Heading, go_on: Callable[[], None]
) -> ExportReport:
    """Write one window to `path`, in place of what was there, and tell what is in the file.

    `go_on` is asked now and then and may raise. Raises StorageError with a sentence; what was there is kept then.
    """
    rows = WindowRows(reader, heading.window)
    if kind == "json":
        _write(path, json_of(heading, rows), go_on)
    else:
        _write(path, (piece.encode("utf-8") for piece in markdown_of(heading, rows)), go_on)
    return rows.report


def _write(path: Path, pieces: Iterable[bytes], go_on: Callable[[], None]) -> None:
    temporary = path.with_name(f".muntin-{secrets.token_hex(6)}.tmp")
    try:
        # As readable as any other file the person saves: the export is theirs to hand on.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
        try:
            for chunk in _chunks(pieces):
                go_on()
                write_all(descriptor, chunk)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        raise _refusal(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _chunks(pieces: Iterable[bytes]) -> Iterable[bytes]:
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _CHUNK_BYTES:
            yield b"".join(waiting)
            waiting.clear()
            size = 0
    yield b"".join(waiting)


def _refusal(path: Path, error: OSError) -> StorageError:
    what = f"“{path.name}” can't be saved"
    match error.errno:
        case errno.ENOENT:
            return StorageError(f"{what}: the folder is not there.")
        case errno.EISDIR | errno.ENOTEMPTY:
            return StorageError(f"{what}: there is a folder of that name.")
        case errno.ENAMETOOLONG:
            return StorageError(f"{what}: the name is too long.")
        case _:
            return storage_error(what, error)
