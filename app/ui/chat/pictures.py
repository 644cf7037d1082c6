"""Pictures from outside, measured and scaled to what models look at. Blocks; needs no window and no GUI thread.

What is in a picture file beside the picture, such as the place where a photo was taken, stays behind.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from PySide6.QtCore import QBuffer, QByteArray, QCoreApplication, QIODevice, QRect, QSize, Qt
from PySide6.QtGui import QColorSpace, QImage, QImageReader, QImageWriter, QPainter

from app.domain.errors import KnownError
from app.session.inputs import NewFile

LONG_EDGE: Final = 1_568
"""Pixels; models scale what is larger down themselves."""
MAX_DECODED_BYTES: Final = 400 * 2**20
_ALLOCATION_MB: Final = 512
MOST_PNG_BYTES: Final = 3_500_000
"""Larger ones are sent as JPEG: 5 MB as base64 is the most that every provider takes."""
JPEG_QUALITY: Final = 90
THUMBNAIL_PX: Final = 128
_READABLE: Final = frozenset({"png", "jpeg", "gif", "webp", "bmp", "tiff", "ico", "heic", "heif", "avif"})
"""Formats of Qt and of the system; not those that are texts, such as SVG, nor those that random bytes may be."""


class Picture(NamedTuple):
    """A picture ready to be attached, and a small square of it."""

    file: NewFile
    thumbnail: QImage


def read_picture(data: bytes, name: str) -> Picture | None:
    """Return a file's content as a picture, of an animation the first; None if it is no picture Qt knows.

    Raises KnownError if it is one and can't be read or is too large to.
    """
    with _reading(data) as reader:
        return _read(reader, name)


def _read(reader: QImageReader, name: str) -> Picture | None:
    kind = _kind(reader)
    if kind is None:
        return None
    size = reader.size()
    if not size.isValid() or size.isEmpty():
        if kind == "bmp":
            # "BM" is all it takes to be one: texts begin so, too.
            return None
        raise KnownError(_tr("“{name}” is broken: the picture can't be read.").format(name=name))
    if not _fits(reader):
        text = _tr("“{name}” is too large: a picture of {width:,} by {height:,} pixels can't be attached.")
        raise KnownError(text.format(name=name, width=size.width(), height=size.height()))
    if max(size.width(), size.height()) > LONG_EDGE:
        reader.setScaledSize(_fitted(size))
    image = reader.read()
    if image.isNull():
        raise KnownError(_tr("“{name}” is broken: the picture can't be read.").format(name=name))
    return _picture(image, name, is_photo=kind == "jpeg")


def scale_picture(image: QImage, name: str) -> Picture:
    """Return a picture that is in memory already, such as one of the clipboard. Raises KnownError."""
    if image.isNull():
        raise KnownError(_tr("“{name}” is broken: the picture can't be read.").format(name=name))
    image.setDevicePixelRatio(1)
    if max(image.width(), image.height()) > LONG_EDGE:
        smooth = Qt.TransformationMode.SmoothTransformation
        image = image.scaled(_fitted(image.size()), Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
    return _picture(image, name, is_photo=False)


def thumbnail_of(data: bytes) -> QImage:
    """Return a small square of a kept picture, a null image if it can't be read: other programs may have put it."""
    with _reading(data) as reader:
        if _kind(reader) is None or not _fits(reader):
            return QImage()
        return _thumbnail(reader.read())


@contextlib.contextmanager
def _reading(data: bytes) -> Iterator[QImageReader]:
    """Give a reader of `data`, and have it let go of the data before that goes: the one of TIFF uses it to its end."""
    QImageReader.setAllocationLimit(_ALLOCATION_MB)
    buffer = QBuffer()
    buffer.setData(data)
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    try:
        yield reader
    finally:
        reader.setDevice(None)  # type: ignore[arg-type]  # Qt takes none; its types do not say so


def _kind(reader: QImageReader) -> str | None:
    """Return the format, None if it is no picture that is taken."""
    kind = bytes(reader.format().data()).decode() if reader.canRead() else ""
    return kind if kind in _READABLE else None


def _fits(reader: QImageReader) -> bool:
    """Return whether the picture says a size that there is memory for."""
    size = reader.size()
    depth = max(32, QImage.toPixelFormat(reader.imageFormat()).bitsPerPixel())
    return not size.isEmpty() and size.width() * size.height() * depth // 8 <= MAX_DECODED_BYTES


def _fitted(size: QSize) -> QSize:
    scale = LONG_EDGE / max(size.width(), size.height())
    return QSize(max(1, round(size.width() * scale)), max(1, round(size.height() * scale)))


def _picture(image: QImage, name: str, *, is_photo: bool) -> Picture:
    space = image.colorSpace()
    if space.isValid() and space != QColorSpace(QColorSpace.NamedColorSpace.SRgb):
        image.convertToColorSpace(QColorSpace(QColorSpace.NamedColorSpace.SRgb))
    data, media_type = b"", "image/png"
    if not is_photo or image.hasAlphaChannel():
        data = _encoded(_redrawn(image, keeps_alpha=image.hasAlphaChannel()), b"png")
    if not data or len(data) > MOST_PNG_BYTES:
        data, media_type = _encoded(_redrawn(image, keeps_alpha=False), b"jpeg"), "image/jpeg"
    file = NewFile(name, data, media_type, image.width(), image.height())
    return Picture(file, _thumbnail(image))


def _redrawn(image: QImage, *, keeps_alpha: bool) -> QImage:
    """Return the picture alone: a copy would keep the texts of its file."""
    form = QImage.Format.Format_ARGB32_Premultiplied if keeps_alpha else QImage.Format.Format_RGB32
    drawn = QImage(image.size(), form)
    drawn.fill(Qt.GlobalColor.transparent if keeps_alpha else Qt.GlobalColor.white)
    painter = QPainter(drawn)
    painter.drawImage(0, 0, image)
    painter.end()
    return drawn


def _encoded(image: QImage, form: bytes) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(form))
    if form == b"jpeg":
        writer.setQuality(JPEG_QUALITY)
    if not writer.write(image):
        raise KnownError(_tr("The picture can't be converted."))
    return bytes(buffer.data().data())


def _thumbnail(image: QImage) -> QImage:
    """Return the middle of a picture as a square."""
    if image.isNull():
        return image
    edge = min(image.width(), image.height())
    middle = QRect((image.width() - edge) // 2, (image.height() - edge) // 2, edge, edge)
    side = min(edge, THUMBNAIL_PX)
    smooth = Qt.TransformationMode.SmoothTransformation
    return image.copy(middle).scaled(side, side, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Attachments", text)
