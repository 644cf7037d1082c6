"""Files of messages: kept in the chat's blobs, and shown to a model as it can read them."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto
from pathlib import PurePath
from typing import Final

from app.domain.errors import KnownError, StorageError
from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Blob, MediaPart, Part, Row, TextPart
from app.domain.text import clean_text, one_line
from app.history.blobs import Blobs
from app.pdf import read_pdf
from app.session.inputs import NewFile

MAX_FILE_BYTES: Final = 32 * 2**20
MAX_TEXT_BYTES: Final = 10 * 2**20
MAX_NAME_CHARS: Final = 200
MOST_PDF_PAGES: Final = 100
"""Anthropic takes no more in one request, of most models; of longer ones a model gets the text."""
MOST_PDF_BYTES: Final = 22 * 2**20
"""As base64 it is what Anthropic takes in one request, 32 MB, with room for the chat."""
MAX_QUOTED_CHARS: Final = 60
"""Of a name in a sentence before sending."""

PDF: Final = "application/pdf"
PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What models that see pictures take."""
_TEXTS: Final = {".md": "text/markdown", ".csv": "text/csv", ".html": "text/html", ".json": "application/json"}
_OFFICE: Final = re.compile(
    r"\.(docx?|docm|dotx?|xlsx?|xlsm|pptx?|pptm|odt|ods|odp|rtf|pages|numbers|key)$", re.IGNORECASE
)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""What no text holds; vertical tab, form feed and ESC may be in one."""


# Keeping


def keep(file: NewFile, blobs: Blobs) -> MediaPart:
    """Put a file into `blobs`, with the text of a PDF beside it, and return the part a message names it by.

    Pictures come as they are to be sent; texts are kept as UTF-8. Raises KnownError in words if it can't be
    attached, StorageError if it can't be kept. Blocks.
    """
    name = shown_name(file.name)
    if len(file.data) > MAX_FILE_BYTES:
        raise KnownError(f"“{name}” is too large: files of up to {MAX_FILE_BYTES // 2**20} MB can be attached.")
    if not file.data:
        raise KnownError(f"“{name}” is empty.")
    if _is_pdf(file):
        return _keep_pdf(file, name, blobs)
    if file.media_type in PICTURES:
        return MediaPart(
            media_type=file.media_type,
            name=name,
            bytes=len(file.data),
            width=file.width,
            height=file.height,
            blob=_put(file.data, blobs),
        )
    return _keep_text(file, name, blobs)


def shown_name(name: str) -> str:
    """Return a file's name in one line of at most `MAX_NAME_CHARS`, its ending kept."""
    return one_line(clean_text(name), most_chars=MAX_NAME_CHARS) or "file"


def _is_pdf(file: NewFile) -> bool:
    """Whether a file is a PDF. Something may stand before its mark, but a text that only tells of the mark is none."""
    mark = file.data[:1024].find(b"%PDF-")
    return mark == 0 or (mark > 0 and (b"startxref" in file.data[-2048:] or decoded(file.data) is None))


def _keep_pdf(file: NewFile, name: str, blobs: Blobs) -> MediaPart:
    try:
        found = read_pdf(file.data)
    except KnownError as error:
        raise KnownError(f"“{name}” can't be attached. {error}") from error
    text = clean_text(found.text)
    data = found.unlocked or file.data
    return MediaPart(
        media_type=PDF,
        name=name,
        bytes=len(data),
        pages=found.pages,
        blob=_put(data, blobs),
        text_blob=_put(text.encode(), blobs, chars=len(text)) if text else None,
    )


def _keep_text(file: NewFile, name: str, blobs: Blobs) -> MediaPart:
    text = decoded(file.data)
    if text is None or text.startswith("{\\rtf"):
        if _OFFICE.search(name):
            raise KnownError(f"“{name}” is an office document. Save it as PDF or text there, and attach that.")
        raise KnownError(f"“{name}” can't be attached: Muntin can attach pictures, PDF files and texts.")
    if not text:
        # There was a byte order mark and nothing behind it.
        raise KnownError(f"“{name}” is empty.")
    data = text.encode()
    if len(data) > MAX_TEXT_BYTES:
        raise KnownError(f"“{name}” is too long: texts of up to {MAX_TEXT_BYTES // 2**20} MB can be attached.")
    media_type = _TEXTS.get(PurePath(name).suffix.lower(), "text/plain")
    return MediaPart(media_type=media_type, name=name, bytes=len(data), blob=_put(data, blobs, chars=len(text)))


def decoded(data: bytes) -> str | None:
    """Return `data` as text, None if it is none: UTF-8, UTF-16 with a byte order mark, or else Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings: tuple[str, ...] = ("utf-16",)
    else:
        encodings = ("utf-8-sig", "cp1252")
    for encoding in encodings:
        with contextlib.suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            return None if _CONTROLS.search(text) else text
    return None


def _put(data: bytes, blobs: Blobs, *, chars: int | None = None) -> Blob:
    return Blob(sha256=blobs.put(data), bytes=len(data), chars=chars)


# Showing to a model


class Use(Enum):
    """How a model gets a file."""

    WHOLE = auto()
    """The file itself."""
    TEXT = auto()
    """Its text."""
    NONE = auto()
    """Only that it was there."""


def uses_of(parts: Sequence[MediaPart], card: ModelCard) -> tuple[Use, ...]:
    """Return how the model gets each file of a request, in their order.

    Providers count pages and bytes of all files together. What goes first takes the room, so that a file stays in
    the form it was sent in whatever follows.
    """
    uses: list[Use] = []
    pages = size = 0
    for part in parts:
        use = use_of(part, card)
        if use is Use.WHOLE and part.media_type == PDF and part.text_blob is not None:
            fits = pages + (part.pages or 0) <= MOST_PDF_PAGES and size + part.bytes <= MOST_PDF_BYTES
            use = Use.WHOLE if fits else Use.TEXT
        if use is Use.WHOLE:
            pages += part.pages or 0
            size += part.bytes
        uses.append(use)
    return tuple(uses)


def use_of(part: MediaPart, card: ModelCard) -> Use:
    """Return how the model gets a file that is the only one."""
    match part.media_type:
        case media_type if is_text(media_type):
            return Use.TEXT
        case media_type if media_type in PICTURES:
            return Use.NONE if card.abilities.sees_pictures is False else Use.WHOLE
        case media_type if media_type == PDF:
            has_text = part.text_blob is not None
            if card.abilities.reads_pdf is True and (_is_taken_whole(part) or not has_text):
                return Use.WHOLE
            return Use.TEXT if has_text else Use.NONE
        case _:
            return Use.NONE


def _is_taken_whole(part: MediaPart) -> bool:
    """Whether providers take a PDF file as it is. One they refuse would stop the whole chat, message after message."""
    return (part.pages or 0) <= MOST_PDF_PAGES and part.bytes <= MOST_PDF_BYTES


def is_text(media_type: str) -> bool:
    """Whether files of this type are kept as UTF-8 text."""
    return media_type.startswith("text/") or media_type == "application/json"


def readable(parts: Sequence[MediaPart], card: ModelCard) -> tuple[str, ...]:
    """Return, as sentences for people, what of `parts` the model would not get. Pure."""
    used = tuple(zip(parts, uses_of(parts, card), strict=True))
    left_out = [part for part, use in used if use is Use.NONE]
    pictures = [part for part in left_out if part.media_type in PICTURES]
    scans = [part for part in left_out if part.media_type == PDF]
    others = [part for part in left_out if part not in pictures and part not in scans]
    texts = [part for part, use in used if part.media_type == PDF and use is Use.TEXT]
    sentences = (
        (pictures, "{model} can't see pictures and won't get {names}."),
        (scans, "{model} can't read PDF files, and no text was found in {names}."),
        (others, "{model} can't read {names}."),
        (texts, "{model} gets only the text of {names}."),
    )
    return tuple(
        sentence.format(model=card.name, names=_listed([part.name for part in found]))
        for found, sentence in sentences
        if found
    )


def with_files(request: ModelRequest, card: ModelCard, blobs: Blobs) -> ModelRequest:
    """Return `request` with its files: those the model reads in `files`, of the others their text or a note.

    A file that is gone or altered becomes a note that says so. The same rows always give the same bytes.
    Blocks.
    """
    files: dict[str, bytes] = {}
    parts = [part for row in request.rows for part in row.parts if isinstance(part, MediaPart)]
    uses = iter(uses_of(parts, card))
    rows = tuple(_row_with_files(row, uses, blobs, files) for row in request.rows)
    return replace(request, rows=rows, files=files) if rows != request.rows or files else request


def _row_with_files(row: Row, uses: Iterator[Use], blobs: Blobs, files: dict[str, bytes]) -> Row:
    if not any(isinstance(part, MediaPart) for part in row.parts):
        return row
    return row.model_copy(update={"parts": tuple(_parts_with_files(row.parts, uses, blobs, files))})


def _parts_with_files(
    parts: Sequence[Part], uses: Iterator[Use], blobs: Blobs, files: dict[str, bytes]
) -> Iterator[Part]:
    for part in parts:
        if not isinstance(part, MediaPart):
            yield part
            continue
        use = next(uses)
        blob = part.text_blob if part.media_type == PDF and use is Use.TEXT else part.blob
        try:
            data = b"" if use is Use.NONE or blob is None else files.get(blob.sha256) or blobs.get(blob.sha256)
        except StorageError:
            yield TextPart(text=f"[{_kind_of(part)}, left out: its copy in this chat is gone or was altered]")
            continue
        match use:
            case Use.WHOLE:
                files[part.blob.sha256] = data
                yield part
            case Use.TEXT:
                yield TextPart(text=f"{_titled(part)}:\n\n{data.decode('utf-8', 'replace')}")
            case Use.NONE:
                yield TextPart(text=f"[{_kind_of(part)}, left out: {_reason(part)}]")


def _titled(part: MediaPart) -> str:
    return f"File “{shown_name(part.name)}”{_pages(part)}"


def _kind_of(part: MediaPart) -> str:
    if part.media_type.startswith("image/"):
        return f"picture “{shown_name(part.name)}”"
    return f"file “{shown_name(part.name)}”{_pages(part)}"


def _pages(part: MediaPart) -> str:
    if part.pages is None:
        return ""
    return " (1 page)" if part.pages == 1 else f" ({part.pages:,} pages)"


def _reason(part: MediaPart) -> str:
    if part.media_type.startswith("image/"):
        return "this model can't see pictures"
    if part.media_type == PDF:
        return "it holds no text, and this model can't read PDF files"
    return "this model can't read files of this kind"


def _listed(names: Sequence[str]) -> str:
    if len(names) > 3:
        return f"{len(names)} files"
    return " and ".join(f"“{one_line(name, most_chars=MAX_QUOTED_CHARS)}”" for name in names)
