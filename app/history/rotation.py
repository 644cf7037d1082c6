"""Moving sealed windows from the active file to the archive, in small pieces between which appends go on.

The stretch, archive and active file together, holds the same bytes before and after. Nothing depends on rotation
having happened. See context-windows.md, 4, and ADR-0011.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from app.disk import Stamp, free_bytes, open_for_append, open_for_read, read_at, storage_error, write_all
from app.domain.errors import ChatNotFound, StorageError
from app.history.batch_lookup import batch_start
from app.history.files import ChatFiles
from app.history.moves import PIECE_BYTES
from app.history.receipt import Move
from app.history.store import Store
from app.history.windows_index import IndexKeeper, WindowsIndex

SPARE_BYTES: Final = 64 * 1024 * 1024
"""So much of the disk is left to everybody else while rows are copied."""


@dataclass(slots=True)
class _Work:
    """A move that is being made: first its bytes are hashed, then they are copied."""

    move: Move
    epoch: str
    is_begun: bool = False
    done: int = 0
    """Bytes hashed, or copied once `is_begun`."""
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)


class _Moved(Exception):
    """The files are not as they were when the move was planned."""


class Rotation:
    """Moves what lies before the newest boundary, a piece a step. Only the lease holder may; one at a time."""

    def __init__(
        self,
        files: ChatFiles,
        store: Store,
        *,
        piece_bytes: int = PIECE_BYTES,
        free_bytes: Callable[[Path], int] = free_bytes,
    ) -> None:
        self._files = files
        self._store = store
        self._piece_bytes = piece_bytes
        self._free_bytes = free_bytes
        self._index = IndexKeeper(files)
        self._work: _Work | None = None

    def step(self) -> bool:
        """Do a bounded piece of work; return whether there is more to do.

        Raises StorageError: nothing is lost, what was copied is taken back if possible, and the next step begins
        anew.
        """
        work = self._work
        try:
            if work is None:
                return self._plan()
            if not work.is_begun:
                self._hash(work)
                return True
            return self._copy(work)
        except _Moved:
            self._give_up()
            return True
        except ChatNotFound:
            self._work = None
            raise
        except StorageError:
            self._give_up()
            raise
        except OSError as error:
            self._give_up()
            raise storage_error("Older messages can't be moved to the archive now", error) from error

    def _plan(self) -> bool:
        index = self._index.advance()
        if not isinstance(index, WindowsIndex):
            return True
        with self._store.settled():
            if self._store.move is not None:
                self._store.end_move()
            archive, chat = Stamp.of(self._files.archive), Stamp.of(self._files.chat)
            archive_size = archive.size if archive is not None else 0
            length = self._sealed_bytes(index.windows[-1].start - archive_size)
            # Files that another program has changed meanwhile wait for the next time.
            if chat is None or length <= 0 or index.epoch != self._store.epoch:
                return False
            if self._free_bytes(self._files.folder) < length + SPARE_BYTES:
                # For a while the rows lie on the disk twice: no message may be refused for that.
                return False
            if self._store.end_archive_line():
                return True
            move = Move(archive_size, length, "", chat.device, chat.inode)
            self._work = _Work(move, self._store.epoch)
        return True

    def _sealed_bytes(self, boundary: int) -> int:
        """Return how much of the active file may move: not a part of the batch that the boundary is in."""
        descriptor = open_for_read(self._files.chat) if boundary > 0 else None
        if descriptor is None:
            return 0
        try:
            return batch_start(descriptor, boundary)
        finally:
            os.close(descriptor)

    def _hash(self, work: _Work) -> None:
        with self._files.gate.reading():
            piece = self._read(work)
        work.digest.update(piece)
        work.done += len(piece)
        if work.done == work.move.length:
            self._begin(work)

    def _begin(self, work: _Work) -> None:
        move = replace(work.move, sha256=work.digest.hexdigest())
        with self._store.settled():
            if self._store.epoch != work.epoch or self._store.move is not None or not self._is_at(move.archive_size):
                raise _Moved
            self._store.begin_move(move)
        self._work = _Work(move, work.epoch, is_begun=True)

    def _copy(self, work: _Work) -> bool:
        move = work.move
        with self._store.settled():
            at = move.archive_size + work.done
            if self._store.epoch != work.epoch or self._store.move != move or not self._is_at(at):
                raise _Moved
            if work.done == move.length:
                if work.digest.hexdigest() != move.sha256:
                    raise _Moved
                self._store.finish_move()
                self._work = None
                # Another boundary may have been written meanwhile.
                return True
            piece = _up_to_line_end(self._read(work))
            with self._store.moving():
                self._add(piece)
            work.digest.update(piece)
            work.done += len(piece)
        return True

    def _read(self, work: _Work) -> bytes:
        """Return the next piece of what moves. Raises _Moved if the file is another one or became shorter."""
        descriptor = open_for_read(self._files.chat)
        if descriptor is None:
            raise _Moved
        try:
            is_open = work.move.is_open(Stamp.of(descriptor))
            piece = read_at(descriptor, min(self._piece_bytes, work.move.length - work.done), work.done)
        finally:
            os.close(descriptor)
        if not is_open or not piece:
            raise _Moved
        return piece

    def _add(self, piece: bytes) -> None:
        descriptor = open_for_append(self._files.archive)
        try:
            write_all(descriptor, piece)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _is_at(self, size: int) -> bool:
        archive = Stamp.of(self._files.archive)
        return (archive.size if archive is not None else 0) == size

    def _give_up(self) -> None:
        """Take back what was copied, as far as the disk lets us; whoever opens the chat next does the rest."""
        self._work = None
        try:
            with self._store.settled():
                if self._store.move is not None:
                    self._store.end_move()
        except StorageError:
            pass


def _up_to_line_end(piece: bytes) -> bytes:
    """Return the whole lines of `piece`, all of it if it lies within one line."""
    return piece[: piece.rfind(b"\n") + 1] or piece
