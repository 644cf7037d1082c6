"""What a memory's file holds, and which version that is."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

from app.domain.memories import MemoryEntry, MemoryText
from app.memory.faults import NotText
from app.memory.places import Place, read_bytes, walk
from app.memory.uses import Use

NOTHING: Final = ""
"""The version of what is not there."""
MOST_BYTES: Final = 16_000_000
"""Of a file that a person has put there by hand: more is never read."""


def entry_of(place: Place, use: Use) -> MemoryEntry:
    """Return a file as it is listed."""
    assert place.status is not None
    return MemoryEntry(
        path=str(place.path),
        size_bytes=place.status.st_size,
        changed=datetime.fromtimestamp(max(0.0, place.status.st_mtime), UTC),
        uses=use.uses,
        last_used=use.last_used,
        is_pinned=use.is_pinned,
    )


def text_of(place: Place) -> MemoryText:
    """Return the text of a file, its ends of line as `\\n`. Raises NotText, StorageError."""
    data = read_bytes(place)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise NotText(f"{place.path} is no text, so it can't be shown or changed here.")
    return MemoryText(str(place.path), text.replace("\r\n", "\n"), version_of(data))


def version_at(place: Place) -> str:
    """Return the version of a file, or of all that is in a folder. Raises NotText, StorageError."""
    if place.status is None:
        return NOTHING
    if place.is_file:
        return version_of(read_bytes(place, most_bytes=MOST_BYTES))
    stamps = [
        (each.path.key, each.status.st_size, each.status.st_mtime_ns) for each in walk(place).files if each.status
    ]
    return version_of(repr(stamps).encode())


def version_of(data: bytes) -> str:
    """Return what names a content."""
    return sha256(data).hexdigest()[:32]
