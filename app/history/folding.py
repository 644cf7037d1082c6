"""Unicode's simple case folding, one character for one.

Simple folding is what `/literal/iu` means in JavaScript: the Kelvin sign is a k, a long s an s, a final
sigma a sigma; ß isn't ss and İ isn't i. `str.casefold` makes one character into several and moves every
offset; `re.IGNORECASE` knows other pairs. See context-windows.md, 7.
"""

from functools import cache
from typing import Final

_CASED_RANGES: Final = ((0x41, 0x3400), (0xA000, 0xAC00), (0xF900, 0x1F000))
"""Where characters with case can be; asking all 1.1 million would take a fifth of a second."""
_SINCE_UNICODE_15: Final = {"\u1fd3": "\u0390", "\u1fe3": "\u03b0", "\ufb05": "\ufb06"}
"""Pairs that Python's tables are too old for."""


def fold(text: str) -> str:
    """Return `text` with every character folded: as long as it was, in characters and in UTF-16 units."""
    folded = text.casefold()
    # Full folding can only add characters: where it added none, it is the simple one, and fast.
    return folded if len(folded) == len(text) else text.translate(_table())


def variants(char: str) -> tuple[str, ...]:
    """Return all characters that fold to the same as `char`, itself included."""
    folded = fold(char)
    return _variants().get(folded, (folded,))


def fold_char(char: str) -> str:
    """Return the simple folding of one character, by rule rather than by table."""
    if char in _SINCE_UNICODE_15:
        return _SINCE_UNICODE_15[char]
    folded = char.casefold()
    if len(folded) > 1:
        folded = char.lower()
    return folded if len(folded) == 1 else char


@cache
def _table() -> dict[int, str]:
    chars = (chr(code) for first, end in _CASED_RANGES for code in range(first, end))
    return {ord(char): folded for char in chars if (folded := fold_char(char)) != char}


@cache
def _variants() -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for code, folded in _table().items():
        groups.setdefault(folded, [folded]).append(chr(code))
    return {folded: tuple(group) for folded, group in groups.items()}
