"""Single changes of memories on disk. Who calls them holds the lock. All raise StorageError."""

import contextlib
from pathlib import Path
from secrets import token_hex
from shutil import rmtree

from app.disk import make_private_folder, replace, storage_error, sync_folder, write_atomic
from app.memory.places import Place


def write_file(place: Place, data: bytes) -> None:
    """Put `data` there, folders included; whole, or not at all."""
    make_private_folder(place.file.parent)
    _sweep(place.file.parent)
    write_atomic(place.file, data, what=str(place.path))


def remove(root: Path, place: Place) -> None:
    """Remove a file, or a folder in one step, and the folders that are empty then."""
    try:
        if place.is_folder:
            # What a kill leaves of it is in no list.
            hidden = place.file.with_name(f".{token_hex(4)}.tmp")
            replace(place.file, hidden)
            rmtree(hidden, ignore_errors=True)
        else:
            place.file.unlink()
        sync_folder(place.file.parent)
    except OSError as error:
        raise storage_error(f"{place.path} can't be deleted", error) from error
    _prune(root, place.file.parent)


def move(root: Path, source: Place, target: Place) -> None:
    """Move a file or a folder to where nothing is, and remove the folders that are empty then."""
    make_private_folder(target.file.parent)
    try:
        replace(source.file, target.file)
        sync_folder(target.file.parent)
        sync_folder(source.file.parent)
    except OSError as error:
        raise storage_error(f"{source.path} can't be renamed", error) from error
    _prune(root, source.file.parent)


def _prune(root: Path, folder: Path) -> None:
    with contextlib.suppress(OSError):
        while folder != root:
            _sweep(folder)
            folder.rmdir()
            folder = folder.parent


def _sweep(folder: Path) -> None:
    """Remove what a killed process left. The lock is held: nobody else is writing."""
    with contextlib.suppress(OSError):
        for path in folder.glob(".*.tmp"):
            if path.is_dir() and not path.is_symlink():
                rmtree(path, ignore_errors=True)
            else:
                path.unlink()
