"""`windows.json` on disk: written by anybody, believed only as far as its own hash and the receipt go.

What it says of content is compared with the history by whoever uses it. See ADR-0011.
"""

import contextlib
import hashlib
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

import orjson

from app.disk import Stamp, write_atomic
from app.domain.errors import StorageError
from app.history.files import ChatFiles
from app.history.window_scan import FIRST, Found

VERSION: Final = 1
MAX_BYTES: Final = 64 * 1024 * 1024
"""A larger file is not ours: this is a million windows."""
_KINDS: Final = ("first", "rollover", "reset", "compaction", "unknown")


@dataclass(frozen=True, slots=True)
class SavedIndex:
    """Every window of the first `size` bytes of the stretch, as it was in `epoch`.

    That they are *all* is the certificate of the floor: no manual reset lies in those bytes but the ones named.
    """

    epoch: str
    size: int
    windows: tuple[Found, ...]


def load_index(files: ChatFiles) -> SavedIndex | None:
    """Return what the file says, None if it is missing, broken or another program's; never raises."""
    try:
        if files.windows.stat().st_size > MAX_BYTES:
            return None
        raw = orjson.loads(files.windows.read_bytes())
        body = raw["index"]
        if raw["v"] != VERSION or raw["sha256"] != _hash(orjson.dumps(body)):
            return None
        windows = tuple(_found(window) for window in body["windows"])
        index = SavedIndex(_text(body["epoch"]), _whole(body["size"]), windows)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, MemoryError):
        return None
    return index if index.epoch and _is_in_order(index) else None


def save_index(files: ChatFiles, index: SavedIndex) -> None:
    """Put `index` on disk, not fsynced. That it can't be written costs time and nothing else."""
    body = orjson.dumps({"epoch": index.epoch, "size": index.size, "windows": [asdict(each) for each in index.windows]})
    whole = b'{"sha256":"%s","v":%d,"index":%s}' % (_hash(body).encode(), VERSION, body)
    with contextlib.suppress(StorageError):
        write_atomic(files.windows, whole, durable=False)


def recertify_index(files: ChatFiles, *, old_epoch: str, new_epoch: str, unchanged_bytes: int | None = None) -> None:
    """Let an index made in `old_epoch` hold in `new_epoch`, in which every byte of the stretch is where it was.

    With `unchanged_bytes` only the archive and so many bytes of the active file are: it holds for those.
    Only while the locks are held and the files are known to be those of `old_epoch`.
    """
    index = load_index(files)
    if index is None or index.epoch != old_epoch:
        return
    if unchanged_bytes is not None:
        try:
            archive = Stamp.of(files.archive)
        except OSError:
            return
        index = _cut_index(index, unchanged_bytes + (archive.size if archive is not None else 0))
    save_index(files, replace(index, epoch=new_epoch))


def _cut_index(index: SavedIndex, size: int) -> SavedIndex:
    """Return the index of the first `size` bytes of the stretch, as far as it can be told without reading them."""
    if index.size <= size:
        return index
    windows = [window for window in index.windows if window.body <= size]
    # How many rows of the last one lie before the cut nobody knows: it is counted again from its boundary on.
    newest = windows[-1]
    windows[-1] = replace(newest, rows=0, opened=newest.created, title="")
    return SavedIndex(index.epoch, newest.body, tuple(windows))


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _is_in_order(index: SavedIndex) -> bool:
    starts = [window.start for window in index.windows]
    bodies = [window.body for window in index.windows]
    return (
        bool(index.windows)
        and (index.windows[0].id, index.windows[0].start, index.windows[0].body) == (FIRST.id, 0, 0)
        and len({window.id for window in index.windows}) == len(starts)
        and all(body <= start for body, start in zip(bodies, starts[1:], strict=False))
        and all(start < body for start, body in zip(starts[1:], bodies[1:], strict=True))
        and bodies[-1] <= index.size
    )


def _found(raw: dict[str, Any]) -> Found:
    kind = raw["kind"]
    if kind not in _KINDS:
        raise ValueError("no kind of window")
    return Found(
        id=_text(raw["id"]),
        kind=kind,
        start=_whole(raw["start"]),
        body=_whole(raw["body"]),
        fingerprint=_text(raw["fingerprint"]),
        created=_time(raw["created"]),
        tokens=None if raw["tokens"] is None else _whole(raw["tokens"]),
        rows=_whole(raw["rows"]),
        opened=_time(raw["opened"]),
        title=_text(raw["title"]),
    )


def _text(raw: object) -> str:
    if not isinstance(raw, str):
        raise TypeError("no text")
    return raw


def _whole(raw: object) -> int:
    if type(raw) is not int or raw < 0:
        raise ValueError("no size")
    return raw


def _time(raw: object) -> datetime | None:
    return None if raw is None else datetime.fromisoformat(_text(raw))
