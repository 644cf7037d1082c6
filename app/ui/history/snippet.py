"""The words around a hit, laid out with the hit marked."""

from typing import Final

from PySide6.QtCore import QPointF
from PySide6.QtGui import QBrush, QFont, QTextCharFormat, QTextLayout, QTextOption

from app.domain.text import utf16_units
from app.domain.windows import SearchHit
from app.ui.theme import Theme

_LEAD_CHARS: Final = 28
"""So much of a snippet stands before the hit."""


def lay_out_snippet(hit: SearchHit, font: QFont, theme: Theme, *, width: int, lines: int) -> QTextLayout:
    """Return the first `lines` lines of a hit's snippet, in `width` pixels."""
    text, start = lead(hit.snippet, hit.start)
    before, found = text[:start], text[start : start + hit.length]
    layout = QTextLayout(text, font)
    look = QTextCharFormat()
    look.setFontWeight(QFont.Weight.Bold)
    look.setForeground(QBrush(theme.accent_text))
    look.setBackground(QBrush(theme.accent))
    span = QTextLayout.FormatRange()
    span.start, span.length, span.format = utf16_units(before), utf16_units(found), look
    layout.setFormats([span])
    choice = QTextOption()
    choice.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(choice)
    layout.beginLayout()
    top = 0.0
    for _ in range(lines):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        line.setPosition(QPointF(0, top))
        top += line.height()
    layout.endLayout()
    return layout


def lead(snippet: str, start: int) -> tuple[str, int]:
    """Return a snippet that begins a little before its hit, and where the hit is then."""
    if start <= _LEAD_CHARS:
        return snippet, start
    at = snippet.find(" ", start - _LEAD_CHARS, start - _LEAD_CHARS // 2)
    at = start - _LEAD_CHARS if at < 0 else at + 1
    return "…" + snippet[at:], start - at + 1
