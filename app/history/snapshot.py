"""Both files of a chat, opened at one moment at which nobody was writing.

Bytes below the sizes of a *tracked* snapshot stay as they are for as long as its epoch holds: Muntin only adds behind
them. See context-windows.md, 3, and ADR-0011.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.disk import Stamp, open_for_read, read_at, storage_error
from app.domain.errors import ChatNotFound, StorageError
from app.history.files import ChatFiles
from app.history.receipt import Receipt, is_current, read_receipt, settled_archive_bytes

_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class OpenFile:
    """One of the two files: its first `size` bytes lie at `start` of the stretch. No descriptor: no such file."""

    descriptor: int | None
    start: int
    size: int

    @property
    def end(self) -> int:
        return self.start + self.size

    def read(self, size: int, offset: int) -> bytes:
        """Return up to `size` bytes from `offset` of the stretch, none of them beyond this file. Raises OSError."""
        local = offset - self.start
        wanted = min(size, self.size - local)
        return read_at(self.descriptor, wanted, local) if self.descriptor is not None and wanted > 0 else b""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The stretch at one moment: the archive, then the active file.

    `epoch` is empty if something other than Muntin touched the files, or if there is no receipt: then only
    `stamps`, of both files, tell whether they are still the same.
    """

    archive: OpenFile
    chat: OpenFile
    epoch: str
    stamps: tuple[Stamp | None, Stamp | None]

    @property
    def size(self) -> int:
        return self.chat.end

    @property
    def identity(self) -> object:
        """Equal for two snapshots if all the earlier one had is still in the same place in the later one."""
        return self.epoch or self.stamps

    def file_at(self, offset: int) -> OpenFile:
        """Return the file that holds the byte at `offset` of the stretch."""
        return self.archive if offset < self.archive.end else self.chat


@contextlib.contextmanager
def open_snapshot(files: ChatFiles) -> Iterator[Snapshot]:
    """Open both files; writers of this process wait meanwhile. Raises StorageError."""
    for _ in range(_TRIES):
        with files.gate.reading(), _opened(files) as snapshot:
            if snapshot is not None:
                yield snapshot
                return
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(files.appending())
        except ChatNotFound:
            raise
        except StorageError:
            # On a disk that can only be read nobody writes.
            stack.enter_context(files.gate.reading())
        snapshot = stack.enter_context(_opened(files, is_settled=True))
        assert snapshot is not None
        yield snapshot


@contextlib.contextmanager
def _opened(files: ChatFiles, *, is_settled: bool = False) -> Iterator[Snapshot | None]:
    """Yield a snapshot, None if somebody may be writing. `is_settled`: it is known that nobody is."""
    with contextlib.ExitStack() as stack:
        try:
            receipt = read_receipt(files)
            archive, chat = (_open(path, stack) for path in (files.archive, files.chat))
            snapshot = _snapshot(files, receipt, archive, chat, is_settled=is_settled)
        except OSError as error:
            raise storage_error("This chat's history can't be read", error) from error
        yield snapshot


def _open(path: Path, stack: contextlib.ExitStack) -> int | None:
    descriptor = open_for_read(path)
    if descriptor is not None:
        stack.callback(os.close, descriptor)
    return descriptor


def _snapshot(
    files: ChatFiles, receipt: Receipt | None, archive: int | None, chat: int | None, *, is_settled: bool
) -> Snapshot | None:
    stamps = tuple(Stamp.of(descriptor) if descriptor is not None else None for descriptor in (archive, chat))
    archive_stamp, chat_stamp = stamps
    epoch = ""
    if receipt is not None:
        is_ours = (receipt.archive, receipt.chat) == (archive_stamp, chat_stamp) and is_current(receipt, files)
        if not is_ours and not is_settled:
            return None
        epoch = receipt.epoch if is_ours else ""
    archive_size = settled_archive_bytes(receipt, archive_stamp, chat_stamp)
    chat_size = chat_stamp.size if chat_stamp is not None else 0
    return Snapshot(
        OpenFile(archive, 0, archive_size),
        OpenFile(chat, archive_size, chat_size),
        epoch,
        (archive_stamp, chat_stamp),
    )
