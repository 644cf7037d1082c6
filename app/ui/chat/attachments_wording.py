"""What is said of a file beside its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QCoreApplication, QLocale

if TYPE_CHECKING:  # It loads pydantic, which must wait for the first paint.
    from app.domain.rows import MediaPart


_SHOWN_CHARS: Final = 80
_BREAKS: Final = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
"""Line ends, control characters, and what turns the direction of the text around it."""


def one_line(name: str, *, most_chars: int = _SHOWN_CHARS) -> str:
    """Return a name as it stands in a line or in a sentence: nothing in it breaks or turns the text around it."""
    line = _BREAKS.sub(" ", name).strip()
    if len(line) <= most_chars:
        return line
    return f"{line[: most_chars - 13]}…{line[-12:]}"


def detail_of(part: MediaPart) -> str:
    """Return what a file is, in a few words: "12 pages · 1.4 MB", "1568 × 1045 · 310 kB"."""
    locale = QLocale()
    digits = 1 if part.bytes >= 1_000_000 else 0
    size = locale.formattedDataSize(part.bytes, digits, QLocale.DataSizeFormat.DataSizeSIFormat)
    if part.pages is not None:
        pages = _tr("1 page") if part.pages == 1 else _tr("{count} pages").format(count=locale.toString(part.pages))
        return f"{pages} · {size}"
    if part.width is not None and part.height is not None:
        return f"{part.width} × {part.height} · {size}"
    return size


def _tr(text: str) -> str:
    return QCoreApplication.translate("Attachments", text)
