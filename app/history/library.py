"""All chats of a data folder: where each lies, and the trash.

A deleted chat is moved, never copied: undo moves it back. See context-windows.md, 1.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace as replace_values
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from app.disk import make_private_folder, replace, storage_error, sync_folder
from app.domain.chats import ChatSummary, DeletedChat
from app.domain.errors import ChatInUse, ChatNotFound, StorageError
from app.domain.ids import NewId, new_id
from app.domain.rows import MediaPart, Row
from app.domain.text import is_blank
from app.history.files import ChatFiles
from app.history.reader import HistoryReader, RowEntry
from app.history.sidecars import Deleted, Draft, Queue, SessionMeta, read_sidecar, write_sidecar

TRASH_DAYS: Final = 30
TITLE_CHARS: Final = 60
_UNFINISHED: Final = ".unfinished-"
"""No chat's name begins so: the folder is in no list."""
_SAFE_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Library:
    """The chats and the trash of one data folder."""

    def __init__(self, root: Path, *, new_id: NewId = new_id) -> None:
        self.root = root
        self._sessions = root / "sessions"
        self._trash = root / "trash"
        self._new_id = new_id

    def create(self, *, model: str, now: datetime) -> ChatSummary:
        """Make an empty chat. Raises StorageError; nothing is left of it then."""
        session = self._new_id()
        meta = SessionMeta(model=model, created=now, updated=now)
        files = ChatFiles(self._sessions / session)
        make_private_folder(files.folder)
        try:
            write_sidecar(files.meta, meta)
        except StorageError:
            with contextlib.suppress(OSError):
                files.folder.rmdir()
            raise
        return summary_of(session, meta)

    @contextlib.contextmanager
    def unfinished(self) -> Iterator[tuple[str, ChatFiles]]:
        """Give the id and the files of a chat to be made; it is in the list once the block has ended well.

        Nothing is left of it otherwise; after a kill, `sweep_unfinished` removes it. Raises StorageError.
        """
        session = self._new_id()
        files = ChatFiles(self._sessions / f"{_UNFINISHED}{session}")
        make_private_folder(files.folder)
        try:
            files.lease.take()
            yield session, files
            files.holder.unlink(missing_ok=True)
            if os.name == "nt":
                # Windows moves no folder with an open file in it.
                files.lease.release()
            _move(files.folder, self._sessions / session)
        finally:
            files.lease.release()
            shutil.rmtree(files.folder, ignore_errors=True)

    def sweep_unfinished(self) -> None:
        """Remove chats that a kill left unfinished; those that are being made by any process stay."""
        with contextlib.suppress(OSError):
            for folder in list(self._sessions.glob(f"{_UNFINISHED}*")):
                with contextlib.suppress(ChatInUse, StorageError):
                    files = ChatFiles(folder)
                    files.lease.take()
                    files.lease.release()
                    shutil.rmtree(folder, ignore_errors=True)

    def find_empty(self) -> ChatSummary | None:
        """Return a chat in which nothing was ever said and which no other process holds, if there is one."""
        for summary in self.summaries():
            files = ChatFiles(self._sessions / summary.id)
            if summary.title or files.archive.exists():
                continue
            with contextlib.suppress(OSError, StorageError):
                if (not files.chat.exists() or files.chat.stat().st_size == 0) and files.lease.probe() is None:
                    return summary
        return None

    def files(self, session: str) -> ChatFiles:
        """Return the files of a chat. Raises ChatNotFound."""
        folder = self._sessions / session
        if not _SAFE_ID.fullmatch(session) or not folder.is_dir():
            raise ChatNotFound("This chat is not there any more.")
        return ChatFiles(folder)

    def summaries(self) -> tuple[ChatSummary, ...]:
        """Return all chats, the latest first; reads one or two small files of each. Raises StorageError."""
        folders = _folders(self._sessions)
        # One that is deleted while the list is read is left out.
        found = [
            replace_values(summary_of(folder.name, meta), queued=_count_queued(ChatFiles(folder)))
            for folder in folders
            if (meta := peek_meta(ChatFiles(folder))) and folder.is_dir()
        ]
        return tuple(sorted(found, key=lambda summary: summary.updated, reverse=True))

    def summary(self, session: str) -> ChatSummary:
        """Return one chat as the list shows it. Raises ChatNotFound."""
        return summary_of(session, peek_meta(self.files(session)))

    def rename(self, session: str, title: str) -> ChatSummary:
        """Give a chat that nobody has open a title of the person's. Raises ChatInUse, StorageError."""
        with self._leased(session) as files:
            meta = load_meta(files)
            meta.title = title
            meta.titled_by_user = True
            write_sidecar(files.meta, meta)
        return summary_of(session, meta)

    def save_draft(self, session: str, draft: Draft) -> None:
        """Keep the draft of a chat that nobody has open. Raises ChatInUse, StorageError."""
        with self._leased(session) as files:
            write_sidecar(files.draft, draft)

    def delete(self, session: str, *, now: datetime) -> None:
        """Move a chat that nobody has open to the trash. Raises ChatInUse, ChatNotFound, StorageError."""
        make_private_folder(self._trash)
        with self._leased(session) as files:
            with contextlib.suppress(StorageError):
                # On a full disk the time of the folder has to do.
                write_sidecar(files.folder / "deleted.json", Deleted(deleted=now))
            files.holder.unlink(missing_ok=True)
            if os.name == "nt":
                # Windows moves no folder with an open file in it.
                files.lease.release()
            _move(files.folder, self._trash / session)

    def restore(self, session: str) -> ChatSummary:
        """Move a chat back from the trash. Raises ChatNotFound, StorageError."""
        folder = self._trash / session
        if not _SAFE_ID.fullmatch(session) or not folder.is_dir():
            raise ChatNotFound("This chat is not in the trash any more.")
        if (self._sessions / session).exists():
            raise StorageError("A chat of the same name is there already.")
        _move(folder, self._sessions / session)
        with contextlib.suppress(OSError):
            (self._sessions / session / "deleted.json").unlink(missing_ok=True)
        return self.summary(session)

    @contextlib.contextmanager
    def _leased(self, session: str) -> Iterator[ChatFiles]:
        files = self.files(session)
        files.lease.take()
        try:
            yield files
        finally:
            files.lease.release()

    def deleted(self) -> tuple[DeletedChat, ...]:
        """Return what lies in the trash, the latest first."""
        found = [
            DeletedChat(folder.name, peek_meta(ChatFiles(folder)).title, _deleted_at(folder))
            for folder in _folders(self._trash)
        ]
        return tuple(sorted(found, key=lambda chat: chat.deleted, reverse=True))

    def purge(self, session: str) -> None:
        """Remove a chat from the trash for good. Raises StorageError."""
        if not _SAFE_ID.fullmatch(session):
            return
        try:
            shutil.rmtree(self._trash / session)
        except FileNotFoundError:
            return
        except OSError as error:
            raise storage_error("This chat can't be removed", error) from error

    def purge_old(self, *, now: datetime) -> None:
        """Remove what has been in the trash for 30 days; what can't be removed stays."""
        for chat in self.deleted():
            if now - chat.deleted >= timedelta(days=TRASH_DAYS):
                with contextlib.suppress(StorageError):
                    self.purge(chat.id)


def load_meta(files: ChatFiles, *, may_repair: bool = True) -> SessionMeta:
    """Return what the list shows of a chat, made again from its history if `session.json` is gone.

    Raises StorageError if it is there and can't be read.
    """
    found = read_sidecar(files.meta, SessionMeta, may_repair=may_repair)
    return found if found is not None else _rebuilt_meta(files)


def peek_meta(files: ChatFiles) -> SessionMeta:
    """Return the same for showing only: what can't be read is made again from the history. Never save it."""
    try:
        return load_meta(files, may_repair=False)
    except StorageError:
        return _rebuilt_meta(files)


def _count_queued(files: ChatFiles) -> int:
    try:
        found = read_sidecar(files.queue, Queue, may_repair=False)
    except StorageError:
        return 0
    return len(found.messages) if found is not None else 0


def summary_of(session: str, meta: SessionMeta) -> ChatSummary:
    """Return `meta` as the list shows it."""
    return ChatSummary(
        id=session,
        title=meta.title,
        created=meta.created,
        updated=meta.updated,
        model=meta.model,
        pinned=meta.pinned,
        level=meta.level,
        profile=meta.profile,
        folder=meta.folder,
        grants=meta.grants,
    )


def title_of(text: str, files: Sequence[MediaPart]) -> str:
    """Return a title for a chat that begins with this message: of its text, or else of its first file's name."""
    return title_from(text) or title_from(" ".join(part.name for part in files[:1]))


def title_from(text: str) -> str:
    """Return a title made of the first line with words in `text`, at most 60 characters."""
    line = next((" ".join(line.split()) for line in text.splitlines() if not is_blank(line)), "")
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[: TITLE_CHARS - 1]
    at_word = line.rfind(" ", 0, TITLE_CHARS)
    return (cut[:at_word] if at_word > TITLE_CHARS // 2 else cut).rstrip() + "…"


def _rebuilt_meta(files: ChatFiles) -> SessionMeta:
    changed = _changed_at(files.folder)
    meta = SessionMeta(created=changed, updated=changed)
    try:
        entries = HistoryReader(files).page_forward().entries
    except StorageError:
        return meta
    rows = [entry.row for entry in entries if isinstance(entry, RowEntry)]
    first = next((row for row in rows if _is_message(row)), None)
    if first is not None:
        meta.title = title_of(first.text, _files_of(first))
        meta.created = first.created if first.created and first.created.tzinfo else changed
    meta.model = next((f"{row.request.provider}/{row.request.model}" for row in rows if row.request), "")
    return meta


def _is_message(row: Row) -> bool:
    return row.role == "user" and row.boundary is None and bool(row.text.strip() or _files_of(row))


def _files_of(row: Row) -> list[MediaPart]:
    return [part for part in row.parts if isinstance(part, MediaPart)]


def _folders(parent: Path) -> list[Path]:
    try:
        return [path for path in parent.iterdir() if path.is_dir() and _SAFE_ID.fullmatch(path.name)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise storage_error(f"The data folder {parent.parent} can't be read", error) from error


def _deleted_at(folder: Path) -> datetime:
    try:
        found = read_sidecar(folder / "deleted.json", Deleted)
    except StorageError:
        found = None
    return found.deleted if found is not None else _changed_at(folder)


def _changed_at(folder: Path) -> datetime:
    try:
        return datetime.fromtimestamp(folder.stat().st_mtime, UTC)
    except OSError:
        # It went away while the list was read.
        return datetime.now(UTC)


def _move(source: Path, target: Path) -> None:
    try:
        replace(source, target)
        sync_folder(source.parent)
        sync_folder(target.parent)
    except OSError as error:
        raise storage_error("This chat can't be moved", error) from error
