"""Exact references to items: where a row lies, and a fingerprint of its bytes, keyed by the chat.

A reference names one row for good or nothing: its bytes are compared at each use. Rows that are added behind it and
moves to the archive leave it as it is. See context-windows.md, 7.
"""

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import Final

FINGERPRINT_BYTES: Final = 9
ANCHOR_BYTES: Final = 8
_REF: Final = re.compile(r"i([0-9a-f]{1,15})\.([A-Za-z0-9_-]{12})")
_SEQ: Final = re.compile(r"#(0|[1-9][0-9]{0,15})")
_ROW_ID: Final = re.compile(r"m:(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ExactRef:
    """A row by its place in the stretch and its fingerprint."""

    offset: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class SeqRef:
    """A row by its number."""

    seq: int


@dataclass(frozen=True, slots=True)
class RowIdRef:
    """A row by its id."""

    row_id: str


def parse_ref(ref: str) -> ExactRef | SeqRef | RowIdRef | None:
    """Return what a reference says, None if it is none."""
    if found := _REF.fullmatch(ref):
        return ExactRef(int(found[1], 16), found[2])
    if found := _SEQ.fullmatch(ref):
        return SeqRef(int(found[1]))
    if found := _ROW_ID.fullmatch(ref):
        return RowIdRef(found[1])
    return None


def format_ref(offset: int, line: bytes, *, session: str) -> str:
    """Return the reference of the row in `line`, which begins at `offset` of the stretch: at most 29 characters."""
    return f"i{offset:x}.{fingerprint(line, session=session)}"


def fingerprint(line: bytes, *, session: str) -> str:
    """Return 12 characters that tell this line of this chat from all others."""
    key = hashlib.blake2b(session.encode("utf-8", "surrogatepass"), digest_size=32).digest()
    digest = hashlib.blake2b(line, digest_size=FINGERPRINT_BYTES, key=key).digest()
    return base64.urlsafe_b64encode(digest).decode()


def anchor_of(line: bytes) -> str:
    """Return what a mark keeps of the row it has come to, in hexadecimal."""
    return hashlib.blake2b(line, digest_size=ANCHOR_BYTES).hexdigest()
