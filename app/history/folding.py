"""Unicode's simple case folding, one character for one.

Simple folding is what `/literal/iu` means in JavaScript: the Kelvin sign is a k, a long s an s, a final
sigma a sigma; ß isn't ss and İ isn't i. `str.casefold` makes one character into several and moves every
offset; `re.IGNORECASE` knows other pairs. See context-windows.md, 7.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final

_CASED_RANGES: Final = ((0, 0x3400), (0xA000, 0xAC00), (0xF900, 0x1F000))
"""Where characters with case can be."""
_BLOCK: Final = 64
"""Of so many characters mostly none has a case, which is soon seen of all at once."""
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
    return {ord(char): folded for char in _cased() if (folded := fold_char(char)) != char}


def _cased() -> Iterator[str]:
    for first, end in _CASED_RANGES:
        for at in range(first, end, _BLOCK):
            block = "".join(map(chr, range(at, at + _BLOCK)))
            if block.casefold() != block or not _SINCE_UNICODE_15.keys().isdisjoint(block):
                yield from block


@cache
def _variants() -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for code, folded in _table().items():
        groups.setdefault(folded, [folded]).append(chr(code))
    return {folded: tuple(group) for folded, group in groups.items()}
