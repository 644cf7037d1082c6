"""Files on their way into a message, chat by chat: read, kept by the engine, shown in the composer's tray."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QDir, QLocale, QObject, Qt, Signal, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from app.aio import TaskSet
from app.domain.errors import ChatNotFound, KnownError
from app.domain.events import ChatChanged, Event, SettingsChanged
from app.ui.bridge import Bridge
from app.ui.chat.attachments_tray import Chip
from app.ui.chat.attachments_wording import detail_of, quoted
from app.ui.chat.composer import Composer

if TYPE_CHECKING:  # These load pydantic, or a good deal of Qt, which must wait for the first paint.
    from app.domain.models import ModelCard
    from app.domain.rows import MediaPart
    from app.ui.chat.attachments_reading import Picked

MAX_FILES: Final = 20
MAX_TOTAL_BYTES: Final = 32 * 2**20
MAX_INSERT_CHARS: Final = 1_000_000
"""A longer paste stays a file: the field would take too long over it."""
MAX_INSERT_LINE_CHARS: Final = 50_000
"""So does one with a longer line: each key press lays a line out anew, and a million letters take a minute."""
_SHOWN_REFUSALS: Final = 3

Read = Callable[[], "Picked"]


@dataclass(slots=True, eq=False)
class _Job:
    """A file that is being read and kept. `text` is what was pasted, to go back to."""

    session: str
    name: str
    read: Read
    text: str = ""
    lone_path: str = ""
    """Where it is, if it is the only one that was given: it may be a folder, to be attached as one."""
    chip: Chip | None = None
    """What stands for it in the tray, while its chat is shown."""
    is_cancelled: bool = False


class AttachmentKeeper(QObject):
    """Fills the tray of one composer for the chat that is open; files stay with the chat they were given to."""

    changed = Signal()
    """Other files go with the next message now."""
    failed = Signal(str)
    """A sentence for people about a file of a chat that is not shown."""
    folder_given = Signal(str, str)
    """A chat, and the path of the one folder that was given to it as if it were a file."""
    thumbnail_loaded = Signal(str, QImage)
    """SHA-256 of a picture of the transcript, and a small square of it."""

    def __init__(self, composer: Composer, bridge: Bridge, tasks: TaskSet, parent: QObject) -> None:
        super().__init__(parent)
        self._composer = composer
        self._bridge = bridge
        self._tasks = tasks
        self._session = ""
        self._model = ""
        self._cards: tuple[ModelCard, ...] = ()
        self._parts: list[MediaPart] = []
        self._jobs: list[_Job] = []
        self._late: dict[str, list[MediaPart]] = {}
        self._pasted: dict[str, str] = {}
        self._newest_paste: _Job | MediaPart | None = None
        self._folder = QDir.homePath()
        self._refused: list[str] = []
        self._in_turn = asyncio.Lock()
        composer.attach_requested.connect(self.choose_files)
        composer.field.files_given.connect(self.attach_files)
        composer.field.image_given.connect(self.attach_image)
        composer.field.long_text_given.connect(self.attach_text)
        composer.field.paste_undone.connect(self._undo_paste)
        composer.tray.removed.connect(self._remove)
        composer.tray.text_wanted.connect(self._insert_as_text)
        bridge.events_arrived.connect(self._hear)

    # Which chat

    def show(self, session: str, model: str, parts: tuple[MediaPart, ...]) -> None:
        """Show the files of a chat's draft, and those that arrived while it was not shown; "" for no chat."""
        self._session, self._model = session, model
        self._pasted.clear()
        self._newest_paste = None
        self._composer.field.has_pasted_file = False
        self._refused.clear()
        self._composer.tray.clear()
        self._parts = []
        known = [*parts, *(part for part in self._late.pop(session, []) if part not in parts)]
        for part in known:
            self._show_part(part)
        for job in self._jobs:
            job.chip = None
            if job.session == session and not job.is_cancelled:
                self._show_job(job)
        self._tell()
        if len(known) > len(parts):
            self.changed.emit()

    def leave(self) -> None:
        """Another chat is being opened, or none: what arrives from now on waits until this one is shown again."""
        self._session = ""

    @property
    def parts(self) -> tuple[MediaPart, ...]:
        """The files that go with the next message."""
        return tuple(self._parts)

    def drop_sent(self, parts: tuple[MediaPart, ...]) -> None:
        """Take out what has become part of a message; files that came meanwhile stay."""
        for part in parts:
            if part in self._parts:
                self._take_out(part)
        self._tell()

    # What the person gives

    @Slot()
    def choose_files(self) -> None:
        """Ask for files with the desktop's own dialog."""
        if not self._may_attach:
            return
        dialog = QFileDialog(self._composer.window(), self.tr("Attach files"), self._folder)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters([self.tr("All files (*)")])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        session = self._session
        dialog.filesSelected.connect(lambda paths: self._take_chosen(session, paths))
        dialog.open()

    def _take_chosen(self, session: str, paths: list[str]) -> None:
        self._folder = str(Path(paths[0]).parent)
        self._attach_paths(session, paths)

    @Slot(list)
    def attach_files(self, paths: list[str]) -> None:
        """Attach the files at `paths` to the open chat."""
        if self._may_attach:
            self._attach_paths(self._session, paths)

    @Slot(QImage)
    def attach_image(self, image: QImage) -> None:
        """Attach a picture of the clipboard to the open chat."""
        from app.ui.chat.attachments_reading import read_image

        name = self.tr("Pasted picture")
        if self._may_attach:
            self._forget_refusals()
            self._begin(self._session, name, partial(read_image, image, name))

    @Slot(str)
    def attach_text(self, text: str) -> None:
        """Attach a long text of the clipboard to the open chat; it can still become text of the field."""
        from app.ui.chat.attachments_reading import read_text

        if not self._may_attach:
            # No chat is open yet: what is in the field then goes into the first one.
            self._insert(text)
            return
        self._forget_refusals()
        name = self.tr("Pasted text ({count} characters)").format(count=QLocale().toString(len(text)))
        self._newest_paste = self._begin(self._session, name, partial(read_text, text, name), text=text)
        if self._newest_paste is None:
            self._composer.field.has_pasted_file = False

    @property
    def _may_attach(self) -> bool:
        return bool(self._session) and self._composer.may_attach

    def _attach_paths(self, session: str, paths: list[str]) -> None:
        from app.ui.chat.attachments_reading import read_file

        self._forget_refusals()
        for path in paths:
            job = self._begin(session, Path(path).name, partial(read_file, Path(path)))
            if job is None:
                break
            job.lone_path = path if len(paths) == 1 else ""

    # Reading and keeping

    def _begin(self, session: str, name: str, read: Read, *, text: str = "") -> _Job | None:
        """Start with one file; None if there is no room for it."""
        waiting = sum(job.session == session for job in self._jobs)
        there = len(self._parts) if session == self._session else len(self._late.get(session, ()))
        if there + waiting >= MAX_FILES:
            self._refuse(session, self.tr("At most {count} files can go with one message.").format(count=MAX_FILES))
            return None
        job = _Job(session, quoted(name), read, text)
        self._jobs.append(job)
        if session == self._session:
            self._show_job(job)
        self._tasks.spawn(self._run(job), name="attach a file")
        return job

    async def _run(self, job: _Job) -> None:
        part: MediaPart | None = None
        thumbnail: QImage | None = None
        try:
            async with self._in_turn:
                if job.is_cancelled:
                    return
                picked = await self._bridge.run_aside(job.read)
                thumbnail = picked.thumbnail
                part = await self._bridge.attach(job.session, picked.file)
        except ChatNotFound:
            # It was deleted meanwhile, and with it what would have been said.
            pass
        except KnownError as error:
            if not job.is_cancelled:
                self._tell_refusal(job, error)
        finally:
            self._jobs.remove(job)
            if part is None:
                self._hide_job(job)
        if part is not None and not job.is_cancelled:
            self._arrive(job, part, thumbnail)

    def _tell_refusal(self, job: _Job, error: KnownError) -> None:
        from app.ui.chat.attachments_reading import FolderGiven

        if isinstance(error, FolderGiven) and job.lone_path:
            self.folder_given.emit(job.session, job.lone_path)
        else:
            self._refuse(job.session, str(error))
            self._forget_paste(job)

    def _arrive(self, job: _Job, part: MediaPart, thumbnail: QImage | None) -> None:
        if job.session != self._session:
            self._late.setdefault(job.session, []).append(part)
            self._tasks.spawn(self._keep_late(job.session, part), name="keep a file for later")
            return
        there = next((each for each in self._parts if each == part), None)
        if job.text and _may_insert(job.text):
            self._pasted[part.blob.sha256] = job.text
        if there is not None:
            self._hide_job(job)
            if job is self._newest_paste:
                self._newest_paste = there
            return
        if sum(each.bytes for each in self._parts) + part.bytes > MAX_TOTAL_BYTES:
            self._hide_job(job)
            self._forget_paste(job)
            most = MAX_TOTAL_BYTES // 2**20
            text = self.tr("“{name}” is left out: together, files of up to {most} MB can go with one message.")
            self._refuse(job.session, text.format(name=part.name, most=most))
            return
        if job is self._newest_paste:
            self._newest_paste = part
        self._show_part(part, thumbnail, instead_of=job.chip)
        self._tell()
        self.changed.emit()

    def _show_job(self, job: _Job) -> None:
        job.chip = Chip(job, job.name, self.tr("Reading…"), is_reading=True)
        self._composer.tray.add(job.chip)

    def _hide_job(self, job: _Job) -> None:
        if job.chip is not None:
            self._composer.tray.take(job.chip)
            job.chip = None

    async def _keep_late(self, session: str, part: MediaPart) -> None:
        try:
            await self._bridge.add_to_draft(session, part)
        except ChatNotFound:
            self._late.pop(session, None)
        except KnownError as error:
            self.failed.emit(str(error))

    def _show_part(self, part: MediaPart, thumbnail: QImage | None = None, *, instead_of: Chip | None = None) -> None:
        self._parts.append(part)
        is_picture = part.media_type.startswith("image/")
        offers_text = part.blob.sha256 in self._pasted
        chip = Chip(part, part.name, detail_of(part), is_picture=is_picture, offers_text=offers_text)
        self._composer.tray.add(chip, instead_of=instead_of)
        if thumbnail is not None:
            chip.set_thumbnail(thumbnail)
        elif is_picture and self._session:
            self._tasks.spawn(self._load_for_chip(self._session, part), name="load a thumbnail")

    async def _load_for_chip(self, session: str, part: MediaPart) -> None:
        image = await self._thumbnail(session, part.blob.sha256)
        chip = self._composer.tray.chip_of(part)
        if image is not None and chip is not None:
            chip.set_thumbnail(image)

    @Slot(tuple)
    def load_thumbnails(self, names: tuple[str, ...]) -> None:
        """Load small squares of pictures that the transcript shows, named by their SHA-256."""
        if self._session:
            self._tasks.spawn(self._load_for_transcript(self._session, names), name="load thumbnails")

    async def _load_for_transcript(self, session: str, names: tuple[str, ...]) -> None:
        for sha256 in names:
            image = await self._thumbnail(session, sha256)
            if session != self._session:
                return
            if image is not None:
                self.thumbnail_loaded.emit(sha256, image)

    async def _thumbnail(self, session: str, sha256: str) -> QImage | None:
        """Return a small square of a picture, None if it is gone: an icon stands for it then."""
        from app.ui.chat.pictures import thumbnail_of

        try:
            data = await self._bridge.attached_file(session, sha256)
        except KnownError:
            return None
        return await self._bridge.run_aside(partial(thumbnail_of, data))

    def _refuse(self, session: str, sentence: str) -> None:
        if session != self._session:
            self.failed.emit(sentence)
            return
        if sentence not in self._refused:
            self._refused.append(sentence)
        shown = " ".join(self._refused[:_SHOWN_REFUSALS])
        more = len(self._refused) - _SHOWN_REFUSALS
        if more > 0:
            shown += " " + self.tr("(and {count} more)").format(count=more)
        self._composer.set_hint(shown, is_error=True)

    def _forget_refusals(self) -> None:
        """Begin anew: what was refused before has been read."""
        if self._refused:
            self._refused.clear()
            self._composer.set_hint("")

    # Taking out

    @Slot(object)
    def _remove(self, key: object) -> None:
        """Take a file out again; `key` is that of its chip: the part, or the job that has not ended."""
        if isinstance(key, _Job):
            key.is_cancelled = True
            self._hide_job(key)
            self._forget_paste(key)
            return
        part = next((part for part in self._parts if part is key), None)
        if part is not None:
            self._forget_paste(part)
            self._take_out(part)
            self._tell()
            self.changed.emit()

    def _forget_paste(self, key: _Job | MediaPart) -> None:
        """Let Undo be about the text again, if it would be about this file."""
        if key is self._newest_paste:
            self._newest_paste = None
            self._composer.field.has_pasted_file = False

    def _take_out(self, part: MediaPart) -> None:
        chip = self._composer.tray.chip_of(part)
        self._parts.remove(part)
        if chip is not None:
            self._composer.tray.take(chip)

    @Slot(object)
    def _insert_as_text(self, key: object) -> None:
        """Put a long paste into the field after all."""
        job = key if isinstance(key, _Job) else None
        part = next((part for part in self._parts if part is key), None)
        text = job.text if job is not None else self._pasted.get(part.blob.sha256, "") if part is not None else ""
        self._remove(key)
        self._insert(text)

    def _insert(self, text: str) -> None:
        if text and _may_insert(text):
            self._composer.insert_text(text)

    @Slot()
    def _undo_paste(self) -> None:
        """Undo what became of the last long paste, which nothing has followed."""
        self._insert_as_text(self._newest_paste)

    # What the model can read

    @Slot(tuple)
    def _hear(self, events: tuple[Event, ...]) -> None:
        for event in events:
            match event:
                case SettingsChanged():
                    self._cards = ()
                    self._tell()
                case ChatChanged() if event.session == self._session and event.summary.model != self._model:
                    self._model = event.summary.model
                    self._tell()
                case _:
                    pass

    def _tell(self) -> None:
        """Say below the field what of the files the chat's model would not get."""
        if not self._parts:
            self._composer.set_notice("")
        elif self._cards:
            self._show_notice()
        else:
            self._tasks.spawn(self._load_cards(), name="load models for a notice")

    async def _load_cards(self) -> None:
        self._cards = await self._bridge.list_models()
        self._show_notice()

    def _show_notice(self) -> None:
        from app.domain.models import ModelCard
        from app.session.attachments import readable

        provider, _, name = self._model.partition("/")
        # Of a model that is in no list nothing is known.
        unlisted = ModelCard(id=name, provider=provider, name=name, limit=None, max_output=None)
        card = next((card for card in self._cards if card.ref == self._model), unlisted)
        self._composer.set_notice(" ".join(readable(self._parts, card)) if self._model else "")


def _may_insert(text: str) -> bool:
    """Whether the field stays quick with this text in it."""
    return len(text) <= MAX_INSERT_CHARS and all(len(line) <= MAX_INSERT_LINE_CHARS for line in text.split("\n"))
