"""The private append receipt: tells our own appends from everything else that happened to the files.

An epoch names a stretch of history in which lines were only ever added by Muntin. Positions and
references stay good as long as the epoch does. See context-windows.md, 3, and ADR-0004, which also says
what a receipt does not see.
"""

import contextlib
import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final, Literal

from app.disk import Stamp, open_for_read, read_at, write_atomic
from app.domain.errors import StorageError
from app.history.files import ChatFiles

TAIL_BYTES: Final = 64 * 1024
_MOST_EPOCH_BYTES: Final = 24
TICK_NS: Final = 10_000_000
"""Within 10 ms two writes may leave the same time stamp."""
COARSE_TICK_NS: Final = 2_000_000_000
"""Where stamps are whole seconds (FAT): 2 s."""

State = Literal["pending", "stable"]
WallClockNs = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Move:
    """A rotation under way: the first `length` bytes of the active file are copied behind the archive.

    It has taken place once the active file is another one than that of `device` and `inode`. Until then what lies
    in the archive behind its first `archive_size` bytes doesn't count.
    """

    archive_size: int
    length: int
    sha256: str
    """Of the bytes that move, in hexadecimal."""
    device: int
    inode: int

    def is_open(self, chat: Stamp | None) -> bool:
        """Whether `chat` is still the file whose begin is being copied."""
        return chat is not None and (chat.device, chat.inode) == (self.device, self.inode)


@dataclass(frozen=True, slots=True)
class Receipt:
    """`pending` from before a mutation, `stable` after it; the stamps are those of `stable`."""

    epoch: str
    state: State
    chat: Stamp | None
    archive: Stamp | None
    tail_sha256: str
    written_ns: int
    move: Move | None = None


def new_epoch() -> str:
    """Return a random epoch name."""
    return secrets.token_hex(6)


def read_receipt(files: ChatFiles) -> Receipt | None:
    """Return the receipt on disk, None if there is none or it can't be read."""
    try:
        raw = json.loads(files.receipt.read_bytes())
        state = raw["state"]
        if state not in ("pending", "stable"):
            return None
        return Receipt(
            epoch=_epoch(raw["epoch"]),
            state=state,
            chat=_stamp(raw["chat"]),
            archive=_stamp(raw["archive"]),
            tail_sha256=str(raw["tail_sha256"]),
            written_ns=int(raw["written_ns"]),
            move=_move(raw.get("move")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def take_receipt(
    files: ChatFiles, *, epoch: str, state: State, move: Move | None = None, now_ns: WallClockNs = time.time_ns
) -> Receipt:
    """Return a receipt of the files as they are now."""
    return Receipt(
        epoch=epoch,
        state=state,
        chat=Stamp.of(files.chat),
        archive=Stamp.of(files.archive),
        tail_sha256=tail_hash(files),
        written_ns=now_ns(),
        move=move,
    )


def write_receipt(files: ChatFiles, receipt: Receipt, *, durable: bool = False) -> bool:
    """Put the receipt on disk, not fsynced unless `durable`; return whether that went well.

    If it fails the old one is removed: no receipt means a new epoch, which costs comfort and nothing else.
    """
    try:
        write_atomic(files.receipt, json.dumps(asdict(receipt)).encode(), durable=durable)
    except StorageError:
        drop_receipt(files)
        return False
    return True


def drop_receipt(files: ChatFiles) -> None:
    """Remove the receipt, so that the next writer starts a new epoch."""
    with contextlib.suppress(OSError):
        files.receipt.unlink(missing_ok=True)


def is_current(receipt: Receipt, files: ChatFiles, *, now_ns: WallClockNs = time.time_ns) -> bool:
    """Whether the files are still exactly as `receipt` says."""
    if receipt.state != "stable":
        return False
    chat = Stamp.of(files.chat)
    if chat != receipt.chat or Stamp.of(files.archive) != receipt.archive:
        return False
    coarse = chat is not None and chat.mtime_ns % 1_000_000_000 == 0
    age = now_ns() - receipt.written_ns
    if age >= (COARSE_TICK_NS if coarse else TICK_NS):
        return True
    return tail_hash(files) == receipt.tail_sha256


def settled_archive_bytes(receipt: Receipt | None, archive: Stamp | None, chat: Stamp | None) -> int:
    """Return how much of the archive counts: not what a rotation under way has copied into it so far."""
    size = archive.size if archive is not None else 0
    move = receipt.move if receipt is not None else None
    return min(size, move.archive_size) if move is not None and move.is_open(chat) else size


def tail_hash(files: ChatFiles) -> str:
    """Return the SHA-256 of the last 64 KiB of the active file, in hexadecimal."""
    descriptor = open_for_read(files.chat)
    if descriptor is None:
        return hashlib.sha256(b"").hexdigest()
    try:
        size = os.fstat(descriptor).st_size
        start = max(0, size - TAIL_BYTES)
        return hashlib.sha256(read_at(descriptor, size - start, start)).hexdigest()
    finally:
        os.close(descriptor)


def _epoch(raw: object) -> str:
    """Return the name of an epoch, which is as long as ours: cursors have room for no longer one."""
    if not isinstance(raw, str) or not 0 < len(raw.encode()) <= _MOST_EPOCH_BYTES:
        raise ValueError("no name of an epoch")
    return raw


def _stamp(raw: object) -> Stamp | None:
    return Stamp(**raw) if isinstance(raw, dict) else None


def _move(raw: object) -> Move | None:
    move = Move(**raw) if isinstance(raw, dict) else None
    if move is not None and not all(type(value) is int for value in (move.archive_size, move.length)):
        raise ValueError("no sizes")
    return move if move is None or (move.archive_size >= 0 and move.length >= 0) else None
