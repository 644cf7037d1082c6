"""Cursors: where a listing or a search goes on, as a short text that a model hands back and can't make up.

Opaque, authenticated, and bound to the chat and to the very question it was given for. It says where to go on, never
what may be read: the view looks at the privacy floor whatever a cursor says. See context-windows.md, 6.
"""

import base64
import contextlib
import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from typing import Final

from app.domain.errors import BugError, InvalidCursor
from app.domain.windows import Filters, Mark, Skipped
from app.history.cursor_key import CursorKey

MAX_CURSOR_CHARS: Final = 160
VERSION: Final = 1
MAC_BYTES: Final = 16

EVERYTHING: Final = Filters()
NOTHING_SKIPPED: Final = Skipped()

_SCOPE_BYTES: Final = 8
_HAS_EDGE: Final = 1
_IS_BOUNDARY: Final = 2
_MOST_NUMBER_BYTES: Final = 10
_URL_SAFE: Final = re.compile(r"[A-Za-z0-9_-]+")

ALTERED: Final = "This cursor is not one that was given, or was changed on the way. Copy it exactly, or leave it out."
OF_ANOTHER_CALL: Final = (
    "This cursor belongs to another call. Repeat the action, query, filters and order of the call that gave it,"
    " or leave the cursor out to start again."
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The question a cursor belongs to; it is good for no other."""

    session: str
    action: str
    query: str = ""
    filters: Filters = EVERYTHING
    recent_first: bool = True

    def digest(self) -> bytes:
        """Return 8 bytes that stand for it."""
        wanted = self.filters
        fields = [
            self.session,
            self.action,
            self.query,
            wanted.window_id,
            wanted.role,
            wanted.tool_name,
            self.recent_first,
        ]
        return hashlib.sha256(json.dumps(fields).encode()).digest()[:_SCOPE_BYTES]


@dataclass(frozen=True, slots=True)
class Progress:
    """What was read for a question so far, in all calls: the last one can't say "everything" without it."""

    bytes_read: int = 0
    rows: int = 0
    skipped: Skipped = NOTHING_SKIPPED

    def __add__(self, other: "Progress") -> "Progress":
        return Progress(self.bytes_read + other.bytes_read, self.rows + other.rows, self.skipped + other.skipped)


NOTHING_READ: Final = Progress()


class Cursors:
    """Makes and reads the cursors of all chats. Reads its key from disk at every call: off the event loop."""

    def __init__(self, key: CursorKey) -> None:
        self._key = key

    def encode(self, mark: Mark, scope: Scope, progress: Progress = NOTHING_READ) -> str:
        """Return the cursor for `mark`, at most 160 characters that are safe in an address."""
        body = bytes([VERSION]) + scope.digest() + _pack(mark, progress)
        text = base64.urlsafe_b64encode(body + self._mac(body)).rstrip(b"=").decode("ascii")
        if len(text) > MAX_CURSOR_CHARS:
            raise BugError(f"a cursor of {len(text)} characters")
        return text

    def decode(self, text: str, scope: Scope) -> tuple[Mark, Progress]:
        """Return where to go on and what was read until there.

        Raises InvalidCursor, with a sentence for the model, for a text that `encode` did not give for this scope.
        """
        data = _bytes_of(text)
        body, mac = data[:-MAC_BYTES], data[-MAC_BYTES:]
        if not body or not hmac.compare_digest(mac, self._mac(body)) or body[0] != VERSION:
            raise InvalidCursor(ALTERED)
        start = 1 + _SCOPE_BYTES
        if not hmac.compare_digest(body[1:start], scope.digest()):
            raise InvalidCursor(OF_ANOTHER_CALL)
        return _unpack(body[start:])

    def _mac(self, body: bytes) -> bytes:
        return hmac.digest(self._key.get(), body, "sha256")[:MAC_BYTES]


def _bytes_of(text: str) -> bytes:
    if len(text) > MAX_CURSOR_CHARS or not _URL_SAFE.fullmatch(text):
        raise InvalidCursor(ALTERED)
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise InvalidCursor(ALTERED) from None
    # Several texts may stand for the same bytes; only one was given.
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii") != text:
        raise InvalidCursor(ALTERED)
    return data


def _pack(mark: Mark, progress: Progress) -> bytes:
    skipped = progress.skipped
    flags = (_HAS_EDGE if mark.inside_edge is not None else 0) | (_IS_BOUNDARY if mark.inside_is_boundary else 0)
    numbers = [
        mark.offset,
        mark.hits,
        mark.inside_edge or 0,
        mark.anchor_offset,
        progress.bytes_read,
        progress.rows,
        skipped.oversized,
        skipped.damaged,
        skipped.blobs,
    ]
    return (
        bytes([flags])
        + _pack_text(mark.epoch)
        + _pack_text(mark.anchor)
        + b"".join(_pack_number(number) for number in numbers)
    )


def _unpack(data: bytes) -> tuple[Mark, Progress]:
    reader = _Packed(data[1:])
    epoch, anchor = reader.text(), reader.text()
    offset, hits, edge, anchor_offset, bytes_read, rows, oversized, damaged, blobs = (reader.number() for _ in range(9))
    mark = Mark(
        epoch=epoch,
        offset=offset,
        hits=hits,
        inside_edge=edge if data[0] & _HAS_EDGE else None,
        inside_is_boundary=bool(data[0] & _IS_BOUNDARY),
        anchor=anchor,
        anchor_offset=anchor_offset,
    )
    return mark, Progress(bytes_read, rows, Skipped(oversized, damaged, blobs))


def _pack_number(number: int) -> bytes:
    """Seven bits a byte, the low ones first: most numbers are small."""
    if not 0 <= number < 1 << 7 * _MOST_NUMBER_BYTES:
        raise BugError("a mark with a number that is none")
    packed = bytearray()
    while number >= 0x80:
        packed.append(number & 0x7F | 0x80)
        number >>= 7
    packed.append(number)
    return bytes(packed)


def _pack_text(text: str) -> bytes:
    """Length and bytes; hexadecimal digits take half of it, which an odd length says."""
    with contextlib.suppress(ValueError):
        data = bytes.fromhex(text)
        if data.hex() == text:
            return _pack_number(len(data) * 2 + 1) + data
    data = text.encode("utf-8", "surrogatepass")
    return _pack_number(len(data) * 2) + data


class _Packed:
    """Takes apart what `_pack` made; the bytes are authentic by then."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self) -> int:
        number = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    def text(self) -> str:
        head = self.number()
        data = self._data[self._at : self._at + head // 2]
        self._at += head // 2
        return data.hex() if head % 2 else data.decode("utf-8", "surrogatepass")
