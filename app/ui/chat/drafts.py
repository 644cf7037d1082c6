"""Keeps what stands in the composer, text and files, chat by chat, a moment after the last change."""

from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.session.inputs import DraftContent, UserInput
from app.ui.bridge import Bridge
from app.ui.chat.attachments import AttachmentKeeper
from app.ui.chat.composer import Composer

DRAFT_MS: Final = 600
"""A draft is on disk this long after the last key press."""


class DraftKeeper(QObject):
    """Watches one composer for the chat that is open."""

    failed = Signal(str, str)
    """Chat and a sentence for people."""

    def __init__(
        self, composer: Composer, files: AttachmentKeeper, bridge: Bridge, tasks: TaskSet, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._composer = composer
        self._files = files
        self._bridge = bridge
        self._tasks = tasks
        self._session = ""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DRAFT_MS)
        self._timer.timeout.connect(self._time_is_up)
        composer.text_changed.connect(self._content_changed)
        files.changed.connect(self._content_changed)

    def watch(self, session: str, text: str, *, typed_before: str = "") -> None:
        """Show the text of the draft of another chat and keep that from now on; empty for none.

        `typed_before` was typed before any chat was there; it follows the draft.
        """
        self._timer.stop()
        self._session = ""
        self._composer.set_text(text + typed_before)
        self._session = session
        if typed_before:
            self._timer.start()

    def clear(self, sent: UserInput) -> None:
        """Empty composer and draft: this has become a message. Files that came meanwhile stay."""
        session, self._session = self._session, ""
        self._composer.set_text("")
        self._files.drop_sent(sent.attachments)
        self._session = session
        self._timer.stop()
        self._time_is_up()

    def save(self) -> None:
        """Put an unsaved draft on disk now."""
        if self._timer.isActive():
            self._timer.stop()
            self._time_is_up()

    @Slot()
    def _time_is_up(self) -> None:
        if self._session:
            content = DraftContent(self._composer.text(), self._files.parts)
            self._tasks.spawn(self._keep_draft(self._session, content), name="keep a draft")

    @Slot()
    def _content_changed(self) -> None:
        if self._session:
            self._timer.start()

    async def _keep_draft(self, session: str, content: DraftContent) -> None:
        try:
            await self._bridge.save_draft(session, content)
        except KnownError as error:
            self.failed.emit(session, str(error))
