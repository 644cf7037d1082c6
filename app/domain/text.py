"""What a text says, apart from what it is made of."""

import re
import unicodedata
from typing import Final

_BREAKS: Final = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
"""Line ends, control characters, and what turns the direction of the text around it."""
_TAIL_CHARS: Final = 12


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


def one_line(name: str, *, most_chars: int) -> str:
    """Return a name so that nothing in it breaks or turns the line it stands in; a long one loses its middle."""
    line = _BREAKS.sub(" ", name).strip()
    if len(line) <= most_chars:
        return line
    return f"{line[: most_chars - 1 - _TAIL_CHARS]}…{line[-_TAIL_CHARS:]}"
