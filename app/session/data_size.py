"""How much room the data folder takes, chat by chat. Plain synchronous code."""

import os
from pathlib import Path

from app.domain.connections import DataReport
from app.history.library import Library
from app.logs import log_file


def measure(root: Path) -> DataReport:
    """Return what lies in the data folder `root`. What can't be looked at counts nothing. Raises StorageError."""
    chats = [
        (summary.id, summary.title, _size_of(root / "sessions" / summary.id)) for summary in Library(root).summaries()
    ]
    return DataReport(
        folder=str(root),
        total_bytes=_size_of(root),
        chats=tuple(sorted(chats, key=lambda chat: chat[2], reverse=True)),
        trash_bytes=_size_of(root / "trash"),
        log_file=str(log_file(root)),
    )


def _size_of(folder: Path) -> int:
    """Return the bytes of all files below `folder`; links are not followed."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(parent, name).lstat().st_size
            except OSError:
                # It went away meanwhile.
                continue
    return total
