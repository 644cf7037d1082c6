"""Whether lines of JSON may hold something, told from their bytes, without reading them as JSON.

A needle may let a line through in vain; it never misses one. It is a pattern for what the line would hold if it
was written plainly; lines with escapes that hide plain characters, and lines that aren't UTF-8, always go through.
The patterns are run by the engine of regular expressions in pydantic-core: it takes bytes as they are and is ten
times as fast as `re` or `bytes.lower`, and linear whatever the pattern. See context-windows.md, 6.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pydantic_core import SchemaValidator, ValidationError, core_schema

from app.history.codec import encode_json

_ESCAPED: Final = r"u(?:[^0]|0[^0]|00[^01]|000[^0-7bef]|001[^0-9a-f])"
"""What `encode_row` never writes behind a backslash: a character that can stand as it is, or in another spelling."""
_AFTER_ONE: Final = r"[^\\]\\"
"""A backslash that is not escaped; at the begin of a line nothing is, in JSON."""
_AFTER_MORE: Final = r"\\\\\\"
"""Backslashes of which the last may be escaped or not."""
_UNESCAPED: Final = r"(?:^|[^\\])(?:\\\\)*"
_SPECIAL: Final = frozenset("\\.+*?()|[]{}^$#&-~")
_NEEDLE_CHARS: Final = 200
_ONE_BY_ONE: Final = 100
"""So many escapes are looked at singly; more, in one pass that costs as much as a thousand."""
_LOOKED_BACK: Final = 64
_UNICODE: Final = "string_unicode"
_CUT_TRIES: Final = 64
_MOST_CHARACTER_BYTES: Final = 4
PIECE_BYTES: Final = 1024 * 1024
"""Nothing else of the program runs while a pattern is run: a long text is handed to it in pieces."""
PIECE_OVERLAP: Final = 1_024
"""No needle is as long in any spelling."""


class BytePattern:
    """A regular expression, in Rust's syntax, for bytes of UTF-8."""

    def __init__(self, pattern: str) -> None:
        self._validator: Final = SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))

    def matches(self, data: bytes) -> bool:
        """Whether `data` is UTF-8 in which it matches somewhere."""
        return self._validator.isinstance_python(data)

    def may_match(self, data: bytes) -> bool:
        """Whether it matches somewhere in `data`; bytes that aren't UTF-8 always do."""
        try:
            self._validator.validate_python(data)
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False, include_input=False)
            return found[0]["type"] == _UNICODE
        return True


class Needle:
    """Finds lines of JSON that match `pattern` once the escapes that hide it are undone, or that match `also`.

    `says_slash`: the pattern has a slash, which other programs escape.
    """

    def __init__(self, pattern: str, *, says_slash: bool, also: str = "") -> None:
        hiding = [_ESCAPED, "/"] if says_slash else [_ESCAPED]
        escape = rf"\\(?:{'|'.join(hiding)})"
        self._plain: Final = BytePattern(pattern)
        # Each of these costs hardly more than to see that the bytes are UTF-8; all in one would cost ten times as much,
        # and so does what asks for two backslashes before, of which texts with paths and formulas are full.
        self._hiding: Final = [BytePattern(_AFTER_ONE + each) for each in hiding]
        rare = f"{_AFTER_MORE}(?:{'|'.join(hiding)})"
        self._rare: Final = BytePattern(f"{rare}|{also}" if also else rare)
        self._also: Final = BytePattern(also) if also else None
        self._escape: Final = re.compile(escape.encode())
        self._unescaped: Final = BytePattern(_UNESCAPED + escape)

    def may_match(self, data: bytes) -> bool:
        """Whether a line of `data`, one or many, may match; False is certain."""
        if self._plain.may_match(data) or any(pattern.matches(data) for pattern in self._hiding):
            return True
        if not self._rare.matches(data):
            return False
        return (self._also is not None and self._also.matches(data)) or self._hides(data)

    def _hides(self, data: bytes) -> bool:
        """Whether one of the escapes in `data` is none of a backslash that is escaped itself."""
        for number, found in enumerate(self._escape.finditer(data)):
            before = data[max(0, found.start() - _LOOKED_BACK) : found.start()]
            backslashes = len(before) - len(before.rstrip(b"\\"))
            if number == _ONE_BY_ONE or backslashes == _LOOKED_BACK:
                return self._unescaped.matches(data)
            if backslashes % 2 == 0:
                return True
        return False


def in_pieces(data: bytes, *, piece_bytes: int = PIECE_BYTES) -> Iterator[bytes]:
    """Yield a long text or JSON in pieces that a needle may look at instead: what it looks for lies whole in one.

    No piece begins within a character or behind a backslash; what can't be cut so stays together.
    """
    begin = 0
    while len(data) - begin > piece_bytes:
        end = _between_characters(data, begin + piece_bytes)
        following = _fit_to_begin(data, end - PIECE_OVERLAP)
        if following is None:
            break
        yield data[begin:end]
        begin = following
    yield data[begin:] if begin else data


def _between_characters(data: bytes, at: int) -> int:
    places = range(at, at - _MOST_CHARACTER_BYTES, -1)
    return next((place for place in places if data[place] & 0xC0 != 0x80), at)


def _fit_to_begin(data: bytes, at: int) -> int | None:
    for place in range(at, at - _CUT_TRIES, -1):
        if data[place] & 0xC0 != 0x80 and data[place - 1] != ord("\\"):
            return place
    return None


def string_field(name: str, value: str) -> Needle:
    """Return a needle for objects with a field `name` that is the string `value`, anywhere in a line."""
    text = encode_json(value[:_NEEDLE_CHARS]).decode()
    # Of a longer value the begin tells enough.
    pattern = pattern_of(text if len(value) <= _NEEDLE_CHARS else text[:-1])
    return Needle(rf'"{name}"\s*:\s*{pattern}', says_slash="/" in text)


def number_field(name: str, value: int) -> Needle:
    """Return a needle for objects with a field `name` that a lenient reader takes for the number `value`."""
    # Texts, truth values and numbers with an exponent are left to the reader.
    return Needle(rf'"{name}"\s*:\s*(?:{value}(?:[^0-9]|$)|["tf]|-?[0-9.]+[eE])', says_slash=False)


def pattern_of(text: str) -> str:
    """Return a pattern for `text` as it stands."""
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in text)


def one_of(texts: Sequence[str]) -> str:
    """Return a pattern for any of `texts`."""
    if len(texts) == 1:
        return pattern_of(texts[0])
    if all(len(text) == 1 for text in texts):
        return f"[{''.join(map(pattern_of, texts))}]"
    return f"(?:{'|'.join(map(pattern_of, texts))})"
