"""Colours of source code, by Pygments, which is imported at first use."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtGui import QColor

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_MAX_CHARS: Final = 30_000
_MAX_LINE_CHARS: Final = 2_000


class Span(NamedTuple):
    """A stretch of code in one colour."""

    start: int
    length: int
    colour: QColor


def prepare(language: str) -> None:
    """Make a language ready, which takes 25 ms once; for any thread but the interface's."""
    _lexer(language)


def highlight(code: str, language: str, colours: Mapping[str, QColor]) -> list[Span]:
    """Return the coloured stretches of `code`; none for an unknown language, and none if it is too long to be quick."""
    if not language or len(code) > _MAX_CHARS or max(map(len, code.split("\n"))) > _MAX_LINE_CHARS:
        return []
    lexer = _lexer(language.lower())
    if lexer is None:
        return []
    spans: list[Span] = []
    for start, kind, text in lexer.get_tokens_unprocessed(code):
        colour = _colour(str(kind).removeprefix("Token").lstrip("."), colours)
        if colour is not None and text.strip():
            spans.append(Span(start, len(text), colour))
    return spans


def _colour(kind: str, colours: Mapping[str, QColor]) -> QColor | None:
    while kind:
        if kind in colours:
            return colours[kind]
        kind = kind.rpartition(".")[0]
    return None


@cache
def _lexer(language: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None
