"""Counts texts in tokens with the vocabularies that ship with Muntin; the only home of tiktoken."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.assets import resource
from app.domain.errors import KnownError

if TYPE_CHECKING:
    from tiktoken import Encoding

MOST_KEPT: Final = 20_000
"""Texts whose count is kept: each step of a turn counts its whole window again. About 3 MB."""
MAX_CHUNK_CHARS: Final = 64_000
"""tiktoken never gets more at once: it holds no lock for long and fails on a million spaces."""


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """A file of `resources/tokenizers`; `name` is the one tiktoken looks for."""

    name: str
    sha256: str


_VOCABULARIES: Final = {
    "o200k_base": _Vocabulary(
        name="fb374d419588a4632f3f557e76b4b70aebbca790",
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}


class TokenCounter:
    """Counts texts in tokens. One instance serves the whole program, from any thread.

    The vocabulary is loaded at the first count (half a second, 80 MB), so count off the
    event loop. Nothing is ever written or fetched.
    """

    def __init__(self, folder: Path | None = None, *, most_kept: int = MOST_KEPT) -> None:
        """Count with the vocabularies in `folder`, by default those of the program."""
        self._folder = folder or resource("tokenizers")
        self._encodings: dict[str, Encoding] = {}
        self._loading = threading.Lock()
        self._most_kept = most_kept
        self._kept: dict[tuple[str, int, int], int] = {}
        """Counts by encoding, length and hash: a table of the texts themselves would keep them alive."""

    def count_text(self, text: str, encoding: str) -> int:
        """Return how many tokens of the vocabulary `encoding` make up `text`.

        A long text is counted in chunks; the sum is at most 0.2 % off. Names of special
        tokens are plain text; lone surrogates count as U+FFFD. What can't be counted (an
        encoding that doesn't ship, a chunk that tiktoken refuses) costs one token a byte, so
        that a count never comes out too low.

        Raises `KnownError` if the vocabulary's file is missing or not the expected bytes.
        """
        if encoding not in _VOCABULARIES:
            return _count_bytes(text)
        key = (encoding, len(text), hash(text))
        count = self._kept.get(key)
        if count is None:
            table = self._table(encoding)
            count = sum(_count_chunk(chunk, table) for chunk in _chunks(text))
            if len(self._kept) >= self._most_kept:
                self._kept.clear()
            self._kept[key] = count
        return count

    def load(self, encoding: str) -> None:
        """Load a vocabulary ahead of its first count; nothing to do for one that doesn't ship.

        Raises `KnownError` as `count_text` does.
        """
        if encoding in _VOCABULARIES:
            self._table(encoding)

    def _table(self, encoding: str) -> Encoding:
        with self._loading:
            table = self._encodings.get(encoding)
            if table is None:
                table = self._encodings[encoding] = _load(encoding, self._folder)
            return table


def _load(encoding: str, folder: Path) -> Encoding:
    _check(folder / _VOCABULARIES[encoding].name, _VOCABULARIES[encoding].sha256)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken

    return tiktoken.get_encoding(encoding)


def _check(path: Path, sha256: str) -> None:
    """Refuse a changed file before tiktoken sees it: it would delete the file and go to the network."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise KnownError(f"A file of Muntin can't be read: {path}. Please install Muntin again.") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise KnownError(f"A file of Muntin is damaged: {path}. Please install Muntin again.")


def _chunks(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = _cut(text, start)
        yield text[start:end]
        start = end


def _cut(text: str, start: int) -> int:
    """Return where the chunk from `start` ends: where the vocabulary would cut as well, if possible.

    After a newline, otherwise before a space, because words carry the space in front of them.
    Looked for in the last quarter only, so that chunks stay long.
    """
    end = start + MAX_CHUNK_CHARS
    if end >= len(text):
        return len(text)
    earliest = start + MAX_CHUNK_CHARS * 3 // 4
    newline = text.rfind("\n", earliest, end)
    if newline >= 0:
        return newline + 1
    space = text.rfind(" ", earliest, end)
    return space if space >= 0 else end


def _count_chunk(chunk: str, table: Encoding) -> int:
    try:
        return len(table.encode(chunk, disallowed_special=()))
    except ValueError:
        return _count_bytes(chunk)


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
