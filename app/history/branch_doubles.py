"""Versions whose rows are in the chat as well: what a crash in the middle of a cut or a switch leaves.

An id is given once, so that rows behind the same row, with the same ids in the same order, are the same rows.
"""

import contextlib
import os
from collections.abc import Iterable, Sequence
from typing import Final

from app.disk import open_for_read, read_at, storage_error
from app.domain.errors import StorageError
from app.history.branch_file import BranchFolder, BranchHead
from app.history.files import ChatFiles

_PAGE_BYTES: Final = 2 * 1024 * 1024


def rows_behind(after: str, ids: Sequence[str]) -> Sequence[str]:
    """Return what lies behind the last `after` of `ids`; all, if that is empty; nothing, if it is not there."""
    if not after:
        return ids
    return ids[len(ids) - ids[::-1].index(after) :] if after in ids else ()


def is_double(head: BranchHead, behind: Sequence[str], folder: BranchFolder) -> bool:
    """Whether the rows of a version are those that lie behind its row in the chat."""
    if not behind or head.first.id != behind[0]:
        return False
    try:
        ids = [line.row.id for line in folder.lines(head.id)]
    except StorageError:
        return False
    return list(behind[: len(ids)]) == ids


def drop_doubles(heads: Iterable[BranchHead], window: Sequence[str], folder: BranchFolder) -> None:
    """Remove every version that is the chat as well; `window` are the ids of the active window's rows.

    What can't be removed now is removed later.
    """
    for head in heads:
        if is_double(head, rows_behind(head.after, window), folder):
            with contextlib.suppress(StorageError):
                folder.remove(head.id)


def may_have_doubles(heads: Sequence[BranchHead], files: ChatFiles) -> bool:
    """Whether the active file names the first row of a version: no needs no row to be read. Raises StorageError."""
    needles = [b'"%s"' % head.first.id.encode("utf-8", "replace") for head in heads]
    overlap = max(map(len, needles), default=0)
    try:
        descriptor = open_for_read(files.chat)
        if descriptor is None:
            return False
        try:
            at = 0
            while data := read_at(descriptor, _PAGE_BYTES + overlap, at):
                if any(needle in data for needle in needles):
                    return True
                at += _PAGE_BYTES
            return False
        finally:
            os.close(descriptor)
    except OSError as error:
        raise storage_error("This chat can't be read", error) from error
