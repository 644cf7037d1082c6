"""`branches/<id>.jsonl`: rows that were cut off a chat, behind a line that says where and why.

A branch is written once and never changed. One that can't be read is set aside. See context-windows.md, 3.
"""

import contextlib
import os
import re
import secrets
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from app.disk import (
    FOLDER_MODE,
    open_for_append,
    open_for_read,
    read_at,
    replace,
    storage_error,
    sync_folder,
    write_all,
)
from app.domain.errors import ChatNotFound, StorageError
from app.domain.ids import new_id
from app.domain.rows import Row
from app.domain.versions import CutReason
from app.history.codec import decode_line, encode_json, parse_json
from app.history.scanner import Caps, Line, read_forward

VERSION: Final = 1

_SAFE_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FIRST_LINES: Final = Caps(page_rows=2)
_OLDEST: Final = datetime(1970, 1, 1, tzinfo=UTC)


class UnreadableBranch(StorageError):
    """A branch file that is not whole."""


@dataclass(frozen=True, slots=True)
class BranchHead:
    """What a branch says of itself, and its first row."""

    id: str
    after: str
    first: Row

    @property
    def age(self) -> tuple[datetime, str]:
        return age_of(self.first)


@dataclass(frozen=True, slots=True)
class BranchLine:
    """One row of a branch with the bytes of its line, line feed left out."""

    row: Row
    data: bytes


def age_of(row: Row) -> tuple[datetime, str]:
    """Return what versions are put in order by: it goes with the row, whichever file it lies in."""
    created = row.created or _OLDEST
    return (created if created.tzinfo is not None else created.replace(tzinfo=UTC), row.id)


class BranchFolder:
    """The branch files of one chat. Every method raises StorageError if the disk refuses."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, branch: str) -> Path:
        """Return where a branch lies. Raises StorageError if the name is none."""
        if not _SAFE_ID.fullmatch(branch):
            raise StorageError("This version is not there any more.")
        return self._folder / f"{branch}.jsonl"

    def ids(self) -> list[str]:
        """Return the name of every branch file."""
        try:
            names = [path.stem for path in self._folder.iterdir() if path.suffix == ".jsonl"]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise storage_error("The versions of this chat can't be read", error) from error
        return sorted(name for name in names if _SAFE_ID.fullmatch(name))

    def write(self, branch: str, *, after: str, reason: CutReason, created: datetime, lines: Iterable[bytes]) -> None:
        """Make a branch of `lines`, durably; nothing is left of it if that fails."""
        header = {"v": VERSION, "branch": branch, "after": after, "created": created, "reason": reason}
        path = self.path(branch)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        try:
            self._make_folder()
            descriptor = open_for_append(temporary)
            try:
                write_all(descriptor, encode_json(header) + b"\n")
                for line in lines:
                    write_all(descriptor, line + b"\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            replace(temporary, path)
            sync_folder(self._folder)
        except OSError as error:
            self._discard(path)
            raise storage_error("This version of the chat can't be kept", error) from error
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def head(self, branch: str) -> BranchHead:
        """Return the begin of a branch. Raises UnreadableBranch, StorageError."""
        with self._opened(branch) as (descriptor, size):
            lines = read_forward(descriptor, 0, size, caps=_FIRST_LINES).lines
            if len(lines) < 2 or read_at(descriptor, 1, size - 1) != b"\n":
                raise UnreadableBranch("This version of the chat is damaged.")
            return BranchHead(branch, _after(lines[0]), _branch_line(lines[1]).row)

    def lines(self, branch: str) -> Iterator[BranchLine]:
        """Yield the rows of a branch. Raises UnreadableBranch, StorageError."""
        with self._opened(branch) as (descriptor, size):
            at, is_header = 0, True
            if not size or read_at(descriptor, 1, size - 1) != b"\n":
                raise UnreadableBranch("This version of the chat is damaged.")
            while at < size:
                page = read_forward(descriptor, at, size)
                for line in page.lines:
                    if is_header:
                        _after(line)
                        is_header = False
                    else:
                        yield _branch_line(line)
                if page.inside is not None:
                    raise UnreadableBranch("This version of the chat is damaged.")
                at = page.next if not page.exhausted else size

    def ids_among(self, ids: Collection[str]) -> set[str]:
        """Return those of `ids` that rows of any branch have."""
        needles = {each: b'"id":' + encode_json(each) for each in ids}
        found: set[str] = set()
        try:
            for path in self._folder.glob("*.jsonl") if needles else ():
                with path.open("rb") as lines:
                    for line in lines:
                        found |= {each for each, needle in needles.items() if needle in line}
        except OSError as error:
            raise storage_error("The versions of this chat can't be read", error) from error
        return found

    def remove(self, branch: str) -> None:
        """Remove a branch whose rows are in the chat."""
        try:
            self.path(branch).unlink(missing_ok=True)
            sync_folder(self._folder)
        except OSError as error:
            raise storage_error("A version of this chat can't be removed", error) from error

    def set_aside(self, branch: str) -> None:
        """Rename a branch that can't be read, so that it is not looked at again."""
        path = self.path(branch)
        try:
            replace(path, path.with_name(f"{path.name}.{new_id()}.damaged"))
            sync_folder(self._folder)
        except OSError as error:
            raise storage_error("A damaged version of this chat can't be set aside", error) from error

    def _make_folder(self) -> None:
        """Make the folder in the chat's own, which must not come back once the chat is deleted."""
        if not self._folder.parent.is_dir():
            raise ChatNotFound("This chat is not there any more.")
        with contextlib.suppress(FileExistsError):
            self._folder.mkdir(mode=FOLDER_MODE)
            sync_folder(self._folder.parent)

    def _discard(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _opened(self, branch: str) -> Iterator[tuple[int, int]]:
        try:
            descriptor = open_for_read(self.path(branch))
            if descriptor is None:
                raise StorageError("This version is not there any more.")
            try:
                yield descriptor, os.fstat(descriptor).st_size
            finally:
                os.close(descriptor)
        except OSError as error:
            raise storage_error("A version of this chat can't be read", error) from error


def _after(line: object) -> str:
    header = parse_json(line.data) if isinstance(line, Line) else None
    after = header.get("after") if isinstance(header, dict) else None
    if not isinstance(after, str) or not isinstance(header, dict) or "branch" not in header:
        raise UnreadableBranch("This version of the chat is damaged.")
    return after


def _branch_line(line: object) -> BranchLine:
    row = decode_line(line.data) if isinstance(line, Line) else None
    # No boundary is ever cut off: one that stands here would end a window that it doesn't belong to.
    if not isinstance(row, Row) or row.boundary is not None or not isinstance(line, Line):
        raise UnreadableBranch("This version of the chat is damaged.")
    return BranchLine(row, line.data)
