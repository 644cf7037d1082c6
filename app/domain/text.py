"""What a text says, apart from what it is made of."""

import re
import unicodedata
from typing import Final

_BREAKS: Final = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
"""Line ends, control characters, and what turns the direction of the text around it."""
_TAIL_CHARS: Final = 12
_PICTURES: Final = 0x2400
"""Where Unicode's pictures of control characters begin."""
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""What breaks a line, turns its direction, or can't be seen at all. Joiners and marks that scripts need may stay."""


def clean_text(text: str) -> str:
    """Return `text` with every lone surrogate as U+FFFD, and two halves of a character as that character."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # A pair of surrogates is one character; only lone ones are replaced.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def is_blank(text: str) -> bool:
    """Whether nothing in `text` can be seen: white space, control and format characters only."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf") for char in text)


def with_unseen_named(text: str) -> str:
    """Return `text` with what can't be seen, or makes other things seen, named instead; tabs and line feeds stay."""

    def named(found: re.Match[str]) -> str:
        code = ord(found[0])
        return chr(_PICTURES + code) if code < ord(" ") else f"⟨U+{code:04X}⟩"

    return _UNSEEN.sub(named, text)


def one_line(name: str, *, most_chars: int) -> str:
    """Return a name so that nothing in it breaks or turns the line it stands in; a long one loses its middle."""
    line = _BREAKS.sub(" ", name).strip()
    if len(line) <= most_chars:
        return line
    return f"{line[: most_chars - 1 - _TAIL_CHARS]}…{line[-_TAIL_CHARS:]}"


def utf16_units(text: str) -> int:
    """Return the length of `text` in UTF-16 units: what Qt counts in, and `session_history` too."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class Utf16Text:
    """A text that is cut by UTF-16 units, and never within a character."""

    def __init__(self, text: str) -> None:
        self.units: Final = utf16_units(text)
        # Where each character is one unit the text can be cut as it is.
        self._text: Final = text if self.units == len(text) else ""
        self._data: Final = b"" if self._text else text.encode("utf-16-le", "surrogatepass")

    def piece(self, start: int, size: int) -> tuple[str, int, int]:
        """Return what stands from `start` on, at most `size` units, with its true begin and end.

        A begin or an end inside a character moves back to before it; a piece of one unit may give two.
        """
        begin, end = min(max(0, start), self.units), min(max(0, start) + max(1, size), self.units)
        begin, end = self._between(begin), self._between(end)
        if begin == end < self.units:
            end = min(self.units, end + 1)
            end += self._between(end) != end
        if not self._data:
            return self._text[begin:end], begin, end
        return self._data[2 * begin : 2 * end].decode("utf-16-le", "surrogatepass"), begin, end

    def _between(self, at: int) -> int:
        """Return `at`, or one less if it lies between the two halves of a character."""
        if not self._data or not 0 < at < self.units:
            return at
        is_inside = 0xD8 <= self._data[2 * at - 1] < 0xDC <= self._data[2 * at + 1] < 0xE0
        return at - 1 if is_inside else at
