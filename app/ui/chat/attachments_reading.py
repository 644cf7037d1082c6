"""Files the person picked, read so far that the engine can keep them. Blocks; run it on a thread of the pool."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final, NamedTuple

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QImage

from app.domain.errors import KnownError
from app.session.inputs import NewFile
from app.ui.chat.attachments_wording import quoted
from app.ui.chat.pictures import read_picture, scale_picture

MAX_READ_BYTES: Final = 32 * 2**20
_PHONE_PICTURE: Final = re.compile(rb"ftyp(heic|heix|hevc|heim|mif1|msf1|avif|avis)")


class FolderGiven(KnownError):
    """A folder was given in the place of a file."""


class Picked(NamedTuple):
    """A file ready for the engine, with a small square of it if it is a picture."""

    file: NewFile
    thumbnail: QImage | None = None


def read_file(path: Path) -> Picked:
    """Return what is at `path`; pictures are scaled.

    Raises KnownError in words, at once for what is no file: FolderGiven for a folder.
    """
    name = quoted(path.name)
    data = _content(path, name)
    if _PHONE_PICTURE.match(data[4:12]):
        picture = read_picture(data, name)
        if picture is None:
            raise KnownError(_tr("“{name}” can't be read here. Save it as JPEG or PNG first.").format(name=name))
        return Picked(*picture)
    picture = read_picture(data, name)
    return Picked(*picture) if picture is not None else Picked(NewFile(path.name, data))


def read_image(image: QImage, name: str) -> Picked:
    """Return a picture of the clipboard. Raises KnownError."""
    return Picked(*scale_picture(image, name))


def read_text(text: str, name: str) -> Picked:
    """Return a text of the clipboard as a file."""
    return Picked(NewFile(name, text.encode("utf-8", "replace"), "text/plain"))


def _content(path: Path, name: str) -> bytes:
    try:
        _check(path.stat(), name)
        # A pipe that took the file's place meanwhile must not be waited for.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            _check(os.fstat(descriptor), name)
            data = file.read(MAX_READ_BYTES + 1)
    except (FileNotFoundError, ValueError) as error:
        # No file has a name with a NUL or with half a character in it; an address on a web page may.
        raise KnownError(_tr("“{name}” is not there any more.").format(name=name)) from error
    except PermissionError as error:
        raise KnownError(_tr("“{name}” may not be read by this account.").format(name=name)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise KnownError(_tr("“{name}” can't be read: {reason}.").format(name=name, reason=reason)) from error
    if len(data) > MAX_READ_BYTES:
        raise KnownError(_too_large(name))
    return data


def _check(found: os.stat_result, name: str) -> None:
    if stat.S_ISDIR(found.st_mode):
        text = _tr("“{name}” is a folder. Drop it alone to attach it, or attach the files in it.")
        raise FolderGiven(text.format(name=name))
    if not stat.S_ISREG(found.st_mode):
        raise KnownError(_tr("“{name}” is no file that could be attached.").format(name=name))
    if found.st_size > MAX_READ_BYTES:
        raise KnownError(_too_large(name))


def _too_large(name: str) -> str:
    text = _tr("“{name}” is too large: files of up to {most} MB can be attached.")
    return text.format(name=name, most=MAX_READ_BYTES // 2**20)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Attachments", text)
