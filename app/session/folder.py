"""Attaching a folder to a chat: which folders may be, said in words. See docs/user-guide.md."""

import contextlib
import os
from pathlib import Path

from app.disk import storage_error
from app.domain.errors import KnownError


def check_folder(text: str, *, data_folder: Path) -> str:
    """Return the folder that `text` names as it is kept: absolute, and without links. Empty stays empty: none.

    Raises KnownError with a sentence for the person if it may not be attached. Blocks.
    """
    if not text.strip():
        return ""
    if "\0" in text or not Path(text).is_absolute():
        raise KnownError("This is no whole path of a folder, so it can't be attached.")
    folder = _resolved(Path(text))
    _check_readable(folder)
    if folder.parent == folder:
        raise KnownError("A whole disk can't be attached. Choose a folder on it.")
    home = _home()
    if home is not None and _is_in(home, folder):
        raise KnownError("Your home folder as a whole can't be attached. Choose a folder inside it.")
    own = data_folder.resolve()
    if _is_in(folder, own):
        raise KnownError("Muntin's own data folder can't be attached. Choose another one.")
    if _is_in(own, folder):
        raise KnownError("Muntin keeps its data inside this folder, so it can't be attached. Choose another one.")
    return str(folder)


def _is_in(inner: Path, outer: Path) -> bool:
    """Whether `outer` is `inner` or a folder it lies in, whatever name leads there."""
    for folder in (inner, *inner.parents):
        with contextlib.suppress(OSError):
            if folder == outer or folder.samefile(outer):
                return True
    return False


def _resolved(path: Path) -> Path:
    try:
        return path.resolve(strict=True)
    except FileNotFoundError as error:
        raise KnownError(f"There is no folder “{path}”.") from error
    except (OSError, RuntimeError) as error:
        raise KnownError(f"The folder “{path}” can't be opened.") from error


def _check_readable(folder: Path) -> None:
    if not folder.is_dir():
        raise KnownError(f"“{folder.name}” is a file. Choose a folder.")
    try:
        with os.scandir(folder) as entries:
            next(entries, None)
    except OSError as error:
        raise storage_error(f"The folder “{folder.name}” can't be read", error) from error


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):
        # Nobody knows where it is.
        return None
