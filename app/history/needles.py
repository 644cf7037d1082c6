"""Whether lines of JSON may hold something, told from their bytes, without reading them as JSON.

A needle may let a line through in vain; it never misses one. It is a pattern for what the line would hold if it
was written plainly; lines with escapes that hide plain characters, and lines that aren't UTF-8, always go through.
The patterns are run by the engine of regular expressions in pydantic-core: it takes bytes as they are and is ten
times as fast as `re` or `bytes.lower`, and linear whatever the pattern. See context-windows.md, 6.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from pydantic_core import SchemaValidator, ValidationError, core_schema

from app.history.codec import encode_json

_UNESCAPED: Final = r"(?:^|[^\\])(?:\\\\)*"
_HIDING: Final = rf"{_UNESCAPED}\\u(?:[^0]|0[^0]|00[^01]|000[^0-7bef]|001[^0-9a-f])"
"""An escape that `encode_row` never writes: of a character that can stand as it is, or in another spelling."""
_HIDING_SLASH: Final = rf"{_UNESCAPED}\\/"
_SPECIAL: Final = frozenset("\\.+*?()|[]{}^$#&-~")
_NEEDLE_CHARS: Final = 200
_UNICODE: Final = "string_unicode"


class BytePattern:
    """A regular expression, in Rust's syntax, for bytes of UTF-8."""

    def __init__(self, pattern: str) -> None:
        self._validator: Final = SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))

    def find(self, data: bytes) -> bool | None:
        """Return whether it matches somewhere in `data`; None if that is not UTF-8."""
        try:
            self._validator.validate_python(data)
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False, include_input=False)
            return None if found[0]["type"] == _UNICODE else False
        return True

    def may_match(self, data: bytes) -> bool:
        """Whether it matches somewhere in `data`; bytes that aren't UTF-8 always do."""
        return self.find(data) is not False


class Needle:
    """Finds lines of JSON that match `pattern` once the escapes that hide it are undone, or that match `also`.

    `says_slash`: the pattern has a slash, which other programs escape.
    """

    def __init__(self, pattern: str, *, says_slash: bool, also: str = "") -> None:
        self._plain: Final = BytePattern(pattern)
        # Apart: together with the pattern it would cost more than both passes.
        self._also: Final = BytePattern(also) if also else None
        self._says_slash: Final = says_slash

    def may_match(self, data: bytes) -> bool:
        """Whether a line of `data`, one or many, may match; False is certain."""
        if self._plain.may_match(data):
            return True
        if self._also is not None and self._also.may_match(data):
            return True
        # Most data has no such escape at all, and `in` tells that fastest.
        if b"\\u" in data and _hiding().may_match(data):
            return True
        return self._says_slash and b"\\/" in data and _hiding_slash().may_match(data)


@cache
def _hiding() -> BytePattern:
    return BytePattern(_HIDING)


@cache
def _hiding_slash() -> BytePattern:
    return BytePattern(_HIDING_SLASH)


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
