"""What is said of a file beside its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QCoreApplication, QLocale

from app.domain.text import one_line

if TYPE_CHECKING:  # It loads pydantic, which must wait for the first paint.
    from app.domain.rows import MediaPart


_SENTENCE_CHARS: Final = 80


def quoted(name: str) -> str:
    """Return a name as it stands in a sentence."""
    return one_line(name, most_chars=_SENTENCE_CHARS)


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
