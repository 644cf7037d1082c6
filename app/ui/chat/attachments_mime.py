"""What a paste or a drop carries, decided in one place."""

from typing import NamedTuple

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QImage

from app.domain.text import is_blank


class Carried(NamedTuple):
    """Files by their paths, a picture, or neither: then it is text or nothing."""

    paths: tuple[str, ...] = ()
    image: QImage | None = None


def may_carry(source: QMimeData) -> bool:
    """Whether `source` is something to attach rather than text to insert; cheap, for a drag that comes over."""
    return _is_files(source) or _is_picture(source)


def carried(source: QMimeData) -> Carried:
    """Return what is to be attached of `source`.

    Programs that copy text often put a picture of it beside it, and file managers the text of the path.
    """
    if _is_files(source):
        return Carried(paths=tuple(url.toLocalFile() for url in source.urls()))
    if _is_picture(source):
        image = source.imageData()
        if isinstance(image, QImage) and not image.isNull():
            return Carried(image=image)
    return Carried()


def _is_files(source: QMimeData) -> bool:
    return source.hasUrls() and bool(source.urls()) and all(url.isLocalFile() for url in source.urls())


def _is_picture(source: QMimeData) -> bool:
    return source.hasImage() and (not source.hasText() or is_blank(source.text()))
