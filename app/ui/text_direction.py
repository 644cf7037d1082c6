"""Which way a line reads, for lines that are painted by hand."""

import unicodedata
from typing import Final

from PySide6.QtCore import Qt

_MOST_LOOKED_AT: Final = 200
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})


def direction_flag(text: str) -> Qt.TextFlag:
    """Return what tells `QPainter.drawText` the way `text` reads: that of its first letter.

    Else a painter takes every line to begin at the left, and the ellipsis of a shortened one gets before its begin.
    """
    if text.isascii():
        return Qt.TextFlag.TextForceLeftToRight
    for char in text[:_MOST_LOOKED_AT]:
        way = unicodedata.bidirectional(char)
        if way in _RIGHT_TO_LEFT:
            return Qt.TextFlag.TextForceRightToLeft
        if way == "L":
            break
    return Qt.TextFlag.TextForceLeftToRight
