"""Finds what was typed into the search field in labels and help texts."""

from typing import Final

_LIKENESS: Final = 84
"""Of 100: below it a mistyped word is another word."""
_SHORTEST: Final = 5
"""Letters from which on a mistyped word can still be told."""


def matches(query: str, text: str) -> bool:
    """Whether every word of `query` stands in `text`."""
    folded = text.casefold()
    words = query.casefold().split()
    return bool(words) and all(word in folded for word in words)


def nearly_matches(query: str, text: str) -> bool:
    """Whether every word of `query` stands in `text`, give or take a letter."""
    from rapidfuzz import fuzz

    folded = text.casefold()
    candidates = folded.split()
    words = query.casefold().split()
    return bool(words) and all(
        word in folded
        or (len(word) >= _SHORTEST and any(fuzz.ratio(word, candidate) >= _LIKENESS for candidate in candidates))
        for word in words
    )
