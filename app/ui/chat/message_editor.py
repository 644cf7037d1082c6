"""Lets an earlier message be changed in the composer and sent again in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.domain.text import is_blank
from app.session.inputs import DraftContent, EditMessage, UserInput
from app.ui.chat.attachments import MAX_INSERT_CHARS, MAX_INSERT_LINE_CHARS
from app.ui.chat.composer_editing import Edited
from app.ui.chat.composer_loan import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.domain.ids import NewId
    from app.domain.rows import Row
    from app.ui.chat.composer_loan import ComposerLoan
    from app.ui.chat.page import ChatPage


@dataclass(slots=True)
class _Edit:
    row_id: str
    sent: str = ""
    """Id of the message that is on its way to take the place of it."""


class MessageEditor(QObject):
    """Borrows the composer for one message at a time; what follows that message is faded meanwhile."""

    late = Signal(str, object)
    """A chat that was left while a change of it was refused, and the `DraftContent` that keeps it."""

    def __init__(
        self, page: ChatPage, loan: ComposerLoan, ask: Callable[..., None], *, new_id: NewId, parent: QObject
    ) -> None:
        """`ask` has the engine do something and calls back whether that is done."""
        super().__init__(parent)
        self._page = page
        self._loan = loan
        self._ask = ask
        self._new_id = new_id
        self._session = ""
        self._model = ""
        self._edit: _Edit | None = None
        page.composer.save_requested.connect(self._send)
        page.composer.edit_cancelled.connect(self.cancel)

    def show(self, session: str, model: str) -> None:
        """Be about a chat."""
        self._session, self._model = session, model

    def show_model(self, model: str) -> None:
        """Know which model the chat has now: what it can read of files is said by it."""
        self._model = model

    def show_none(self) -> None:
        """Be about no chat."""
        self._session = self._model = ""
        self._edit = None

    @property
    def row_id(self) -> str:
        """The message that is being changed; empty if none is."""
        return self._edit.row_id if self._edit is not None else ""

    def begin(self, row: Row) -> None:
        """Put a message into the composer, its text and its files."""
        from app.domain.rows import MediaPart

        if self.row_id == row.id:
            self._page.composer.field.setFocus()
            return
        edit = _Edit(row.id)
        parts = tuple(part for part in row.parts if isinstance(part, MediaPart))
        content = DraftContent(row.text, parts)
        if self._loan.take(self._session, self._model, content, edited=Edited.SENT, end=self._end):
            self._edit = edit
            self._page.transcript.show_item(row.id)
            self._page.transcript.fade_behind(row.id)
            self._page.announce(self.tr("You are changing an earlier message. Esc leaves it as it was."))

    @Slot()
    def cancel(self) -> None:
        """Leave the message as it was."""
        if self._edit is not None and not self._edit.sent:
            self._end()

    def put_away(self) -> None:
        """The chat is left: what was changed and not sent goes into its draft."""
        edit = self._edit
        if edit is None:
            return
        is_changed, content = self._loan.is_changed, self._loan.content
        late = joined(self._loan.kept, content)
        self._end()
        if is_changed and not edit.sent and (content.attachments or not is_blank(content.text)):
            self._loan.put(self._session, self._model, late)

    def show_fading(self) -> None:
        """Fade what stands behind the message now."""
        self._page.transcript.fade_behind(self.row_id or None)

    @Slot(str)
    def _send(self, text: str) -> None:
        edit = self._edit
        if edit is None or edit.sent:
            return
        message = UserInput(self._new_id(), text, self._loan.content.attachments)
        edit.sent = message.id
        session, late = self._session, joined(self._loan.kept, self._loan.content)

        def done(*, is_done: bool) -> None:
            if self._edit is edit:
                edit.sent = ""
                if is_done:
                    self._end()
            elif not is_done:
                self.late.emit(session, late)

        self._ask(EditMessage(edit.row_id, message), done)

    def note_rows(self, rows: Sequence[Row]) -> None:
        """A message is on disk: it may be the changed one."""
        if self._edit is not None and any(row.id == self._edit.sent for row in rows):
            self._end()

    def _end(self) -> None:
        """Let the composer be as it was before."""
        self._edit = None
        self._loan.give_back(self._session, self._model)
        self._page.transcript.fade_behind(None)


def is_too_long(row: Row) -> bool:
    """Whether a message is longer than what may be typed: the field would take too long, or has not all of it here."""
    from app.domain.rows import TextPart

    is_apart = any(isinstance(part, TextPart) and part.blob is not None for part in row.parts)
    if is_apart or len(row.text) > MAX_INSERT_CHARS:
        return True
    return len(row.text) > MAX_INSERT_LINE_CHARS and max(map(len, row.text.split("\n"))) > MAX_INSERT_LINE_CHARS
