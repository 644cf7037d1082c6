"""Texts from outside, made fit to be shown and kept: without keys, and short."""

import re
from collections.abc import Collection
from typing import Final

from app.domain.errors import MAX_DETAIL_CHARS
from app.logs import hide_keys

_SPACES: Final = re.compile(r"\s+")
_JOINERS: Final = "\u200c\u200d"
"""Part of how Persian, Indian languages and emoji are written."""
_MAX_READ_CHARS: Final = 20_000


def quote(text: str, keys: Collection[str]) -> str:
    """Return a text from outside fit to be shown: on one line, without keys, within `MAX_DETAIL_CHARS`."""
    # Keys first: cutting could leave half of one.
    clean = hide_keys(one_line(text[:_MAX_READ_CHARS]), keys)
    return clean if len(clean) <= MAX_DETAIL_CHARS else f"{clean[: MAX_DETAIL_CHARS - 1]}…"


def one_line(text: str) -> str:
    """Return `text` on one line, without signs that can't be seen or that turn the order of others."""
    spaced = _SPACES.sub(" ", text).strip()
    return "".join(sign for sign in spaced if sign.isprintable() or sign in _JOINERS)
