"""Pages and text of a PDF file. The only module that knows pypdfium2."""

from __future__ import annotations

import contextlib
import io
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.domain.errors import KnownError

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_PAGES: Final = 1_000
MAX_TEXT_CHARS: Final = 10_000_000
_PDFIUM: Final = threading.Lock()
"""PDFium may be used by one thread at a time, in the whole process."""
_TORN: Final = re.compile(r"[\x02\ufffe]\n?")
"""What PDFium puts for the hyphen of a word that goes on in the next line."""
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class PdfText:
    """What can be said of a PDF file. `text` is empty if it holds none, as scans do."""

    pages: int
    text: str
    unlocked: bytes | None = None
    """The file without its encryption, if it has one that every reader opens: providers take none with any."""


@dataclass(frozen=True, slots=True)
class PdfPages:
    """The texts of some pages of a PDF file, one after another; empty for a page without any."""

    total: int
    """Of all pages of the file."""
    texts: tuple[str, ...]


def read_pdf(data: bytes) -> PdfText:
    """Return pages and text of a PDF file; the text of each page below a line with its number.

    Raises KnownError if it is broken, locked by a password, or has more than `MAX_PAGES` pages. Blocks.
    """
    with _opened(data) as document:
        return _read(document)


def read_pages(data: bytes, *, first: int, most_chars: int, most_pages: int, go_on: Callable[[], None]) -> PdfPages:
    """Return the texts of pages from number `first` on until they are more than `most_chars` together.

    `go_on` is asked before each page and raises what ends it all. Raises KnownError if the file is broken or locked by
    a password. Blocks.
    """
    with _opened(data) as document:
        total = len(document)
        texts: list[str] = []
        for number in range(first - 1, min(total, first - 1 + most_pages)):
            go_on()
            texts.append(_page_text(document, number))
            most_chars -= len(texts[-1])
            if most_chars < 0:
                break
        return PdfPages(total, tuple(texts))


@contextlib.contextmanager
def _opened(data: bytes) -> Iterator[PdfDocument]:
    with _PDFIUM:
        from pypdfium2 import PdfDocument, PdfiumError
        from pypdfium2.raw import FPDF_ERR_PASSWORD

        try:
            document = PdfDocument(data)
        except PdfiumError as error:
            if error.err_code == FPDF_ERR_PASSWORD:
                raise KnownError("It is locked by a password.") from error
            raise KnownError("It is broken, or no PDF file.") from error
        try:
            yield document
        except PdfiumError as error:
            raise KnownError("It is broken: not all of its pages can be read.") from error
        finally:
            document.close()


def _read(document: PdfDocument) -> PdfText:
    pages = len(document)
    if pages > MAX_PAGES:
        raise KnownError(f"It has {pages:,} pages; at most {MAX_PAGES:,} can be attached.")
    texts: list[str] = []
    room = MAX_TEXT_CHARS
    for number in range(pages):
        text = _page_text(document, number)[:room]
        room -= len(text)
        if text:
            texts.append(f"[page {number + 1}]\n{text}")
    return PdfText(pages, "\n\n".join(texts), _unlocked(document))


def _unlocked(document: PdfDocument) -> bytes | None:
    from pypdfium2 import PdfiumError
    from pypdfium2.raw import FPDF_REMOVE_SECURITY, FPDF_GetSecurityHandlerRevision

    if FPDF_GetSecurityHandlerRevision(document) < 0:
        return None
    copy = io.BytesIO()
    with contextlib.suppress(PdfiumError):
        document.save(copy, flags=FPDF_REMOVE_SECURITY)
        return copy.getvalue() or None
    return None


def _page_text(document: PdfDocument, number: int) -> str:
    page = document[number]
    lines = page.get_textpage()
    try:
        found: str = lines.get_text_bounded()
    finally:
        lines.close()
        page.close()
    return _UNPRINTABLE.sub("", _TORN.sub("", found.replace("\r\n", "\n"))).strip()
