"""Lends the composer to something else than the next message; what stood there comes back afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.domain.text import is_blank
from app.session.inputs import DraftContent

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.ui.chat.attachments import AttachmentKeeper
    from app.ui.chat.composer import Composer
    from app.ui.chat.composer_editing import Edited
    from app.ui.chat.drafts import DraftKeeper


class ComposerLoan(QObject):
    """One composer, its files and its draft; whoever changes a message borrows all three."""

    def __init__(self, composer: Composer, files: AttachmentKeeper, drafts: DraftKeeper, parent: QObject) -> None:
        super().__init__(parent)
        self.kept = DraftContent()
        """What stood in the composer before it was lent."""
        self._composer = composer
        self._files = files
        self._drafts = drafts
        self._lent = DraftContent()
        self._end: Callable[[], None] | None = None

    @property
    def content(self) -> DraftContent:
        """What stands in the composer."""
        return DraftContent(self._composer.text(), self._files.parts)

    @property
    def is_changed(self) -> bool:
        """Whether what was put there has been changed since."""
        return self._end is not None and self.content != self._lent

    def take(self, session: str, model: str, content: DraftContent, *, edited: Edited, end: Callable[[], None]) -> bool:
        """Put a message there to be changed; return whether that is done. Why not is said below the field.

        `end` is called if somebody else wants the composer before anything was changed. It must give it back.
        """
        if self.is_changed:
            self._composer.set_hint(self.tr("Save or cancel this change first."), is_error=True)
            return False
        if self._end is not None:
            self._end()
        if self._composer.tray.is_reading:
            self._composer.set_hint(self.tr("A file is still being read. Try again in a moment."))
            return False
        self._drafts.save()
        self.kept, self._lent, self._end = self.content, content, end
        self._drafts.watch("", content.text)
        self._files.show(session, model, content.attachments)
        self._composer.set_editing(on=True, edited=edited)
        self._composer.field.setFocus()
        return True

    def give_back(self, session: str, model: str) -> None:
        """Let the composer be as it was before."""
        self._end = None
        self._composer.set_editing(on=False)
        self._drafts.watch(session, self.kept.text)
        self._files.show(session, model, self.kept.attachments)

    def put(self, session: str, model: str, content: DraftContent) -> None:
        """Have this stand in the composer as the draft of a chat."""
        self._files.show(session, model, content.attachments)
        self._drafts.watch(session, "", typed_before=content.text)
        self._files.changed.emit()

    def forget(self) -> None:
        """The chat is not shown any more, and with it its draft."""
        self._end = None
        self._composer.set_editing(on=False)


def joined(first: DraftContent, second: DraftContent) -> DraftContent:
    """Return both texts, one below the other, with the files of both."""
    texts = [each.text for each in (first, second) if not is_blank(each.text)]
    parts = (*first.attachments, *(part for part in second.attachments if part not in first.attachments))
    return DraftContent("\n\n".join(texts), parts)
