"""A unified diff as people read it: each line with its sign, file names and hunk numbers in words or left out."""

import re
from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QCoreApplication, QLocale

from app.ui.chat.blocks import clean
from app.ui.chat.readable import Excerpt

ADDED: Final = "+ "
REMOVED: Final = "- "
KEPT: Final = "  "
_HEADER: Final = re.compile(r"\A--- [^\n]*\n\+\+\+ [^\n]*(?:\n|\Z)")
_HUNK: Final = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_SIGNS: Final = {"+": ADDED, "-": REMOVED, " ": KEPT}


def shown_diff(diff: str, *, most_chars: int, most_lines: int) -> Excerpt:
    """Return the change as lines that begin with their sign, or the begin of it."""
    lines: list[str] = []
    chars = 0
    for line in _lines(clean(diff)):
        if len(lines) == most_lines or chars + len(line) > most_chars:
            return Excerpt("\n".join(lines or [line[:most_chars]]), None)
        lines.append(line)
        chars += len(line) + 1
    return Excerpt("\n".join(lines))


def _lines(diff: str) -> Iterator[str]:
    """Give the lines for people; the names of files above the first hunk say nothing that the card doesn't."""
    is_first = True
    for raw in _HEADER.sub("", diff).split("\n"):
        hunk = _HUNK.match(raw)
        if hunk is not None:
            line = int(hunk[1])
            if line > 1 or not is_first:
                yield _tr("⋯ line {number}").format(number=QLocale().toString(line))
        elif raw and not raw.startswith("\\"):  # a remark that the last line has no end
            yield _SIGNS[raw[0]] + raw[1:] if raw[0] in _SIGNS else raw
        is_first = False


def _tr(text: str) -> str:
    return QCoreApplication.translate("ToolCard", text)
