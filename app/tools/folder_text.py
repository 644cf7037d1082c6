"""Files as texts: what they are written in, their lines, and changes that leave everything else as it was."""

import codecs
import contextlib
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""What no text holds; vertical tab, form feed and ESC may be in one."""
_AT_ONCE: Final = 1 << 20
"""Characters that are looked at in one go: no other thread runs meanwhile, and one of them draws the window."""


@dataclass(frozen=True, slots=True)
class Coding:
    """How a file writes its characters. `name` is for people."""

    name: str
    codec: str
    mark: bytes = b""
    """The byte order mark it begins with."""


UTF_8: Final = Coding("UTF-8", "utf-8")
_MARKED: Final = (
    Coding("UTF-8", "utf-8", codecs.BOM_UTF8),
    Coding("UTF-16", "utf-16-le", codecs.BOM_UTF16_LE),
    Coding("UTF-16", "utf-16-be", codecs.BOM_UTF16_BE),
)
_UNMARKED: Final = (UTF_8, Coding("Windows-1252", "cp1252"), Coding("Latin-1", "latin-1"))


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file as it is, line ends included, without its byte order mark."""

    text: str
    coding: Coding = UTF_8

    def encoded(self, text: str) -> bytes:
        """Return another text as this file writes it. Raises UnicodeEncodeError if it can't."""
        return self.coding.mark + text.encode(self.coding.codec)


def decode(data: bytes) -> FileText | None:
    """Return the text that `data` is, None if it is none."""
    marked = [coding for coding in _MARKED if data.startswith(coding.mark)]
    for coding in marked or _UNMARKED:
        with contextlib.suppress(UnicodeDecodeError):
            text = data[len(coding.mark) :].decode(coding.codec)
            return None if _has_controls(text) else FileText(text, coding)
    return None


def _has_controls(text: str) -> bool:
    return any(_CONTROLS.search(text, start, start + _AT_ONCE) for start in range(0, len(text), _AT_ONCE))


def is_pdf(data: bytes) -> bool:
    """Whether `data` is a PDF file; something may stand before its mark."""
    mark = data[:1024].find(b"%PDF-")
    return mark == 0 or (mark > 0 and b"startxref" in data[-2048:])


class Span(NamedTuple):
    """A stretch of a text, in characters."""

    start: int
    end: int


class Lines:
    """A text whose lines all end with a line feed, and the way back to how they ended."""

    def __init__(self, text: str) -> None:
        self._raw: Final = text
        returns = text.count("\r\n") if "\r" in text else 0
        self.newline = "\r\n" if returns and 2 * returns > text.count("\n") else "\n"
        if "\r" in text and "\n" not in text:
            # Old Macs ended lines so.
            self.newline = "\r"
            text = text.replace("\r", "\n")
        self.text: Final = text.replace("\r\n", "\n") if returns else text
        self._returns = _line_ends_of_two(self._raw) if returns else ()

    def replaced(self, spans: Sequence[Span], new: str) -> str:
        """Return the text as it was written, with `new` for each of the `spans` of `text`, in order."""
        new = with_newline(new, self.newline)
        pieces: list[str] = []
        done = 0
        for span in spans:
            pieces += (self._raw[done : self._at(span.start)], new)
            done = self._at(span.end)
        return "".join((*pieces, self._raw[done:]))

    def _at(self, position: int) -> int:
        return position + bisect_left(self._returns, position)


def with_newline(text: str, newline: str) -> str:
    """Return `text` with its lines ended by `newline`."""
    text = text.replace("\r\n", "\n")
    return text if newline == "\n" else text.replace("\n", newline)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text that ends them with line feeds; none for an empty one."""
    lines: list[str] = []
    start = 0
    while start < len(text):
        end = text.find("\n", start + _AT_ONCE) + 1 or len(text)
        lines += text[start:end].split("\n")
        if not lines[-1]:
            lines.pop()
        start = end
    return lines


def count_words(count: int, word: str = "line") -> str:
    """Return a number of things in words: “1 line”, “1,204 lines”."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _line_ends_of_two(text: str) -> list[int]:
    """Return where line feeds that follow a return are in the text without these returns."""
    return [found.start() - before for before, found in enumerate(re.finditer("\r\n", text))]
