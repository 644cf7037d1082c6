"""Joins the tray of waiting messages to the engine: queues, orders, removes, sends now, and lets one be changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from PySide6.QtCore import QObject, Signal, Slot

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.domain.ids import NewId
from app.domain.queue import QueuedMessage, QueueView, When
from app.domain.text import is_blank
from app.session.inputs import (
    Accepted,
    Choices,
    DraftContent,
    EditQueued,
    GoOnWithQueue,
    MoveQueued,
    Outcome,
    QueueChange,
    RemoveQueued,
    SendQueuedNow,
    UserInput,
)
from app.ui.bridge import Bridge
from app.ui.chat.attachments import AttachmentKeeper
from app.ui.chat.composer_buttons import Moment
from app.ui.chat.composer_editing import Edited
from app.ui.chat.composer_loan import ComposerLoan, joined
from app.ui.chat.page import ChatPage

if TYPE_CHECKING:  # The tray is made when something waits for the first time.
    from collections.abc import Callable

    from app.domain.chats import ChatSummary
    from app.settings.schema import Settings
    from app.ui.chat.queue_tray_line import Wish


@dataclass(slots=True)
class _Edit:
    """A queued message that stands in the composer."""

    message: QueuedMessage
    is_saving: bool = False


class QueueController(QObject):
    """Drives the tray for the chat that is open."""

    changed = Signal()
    """What may be done with waiting messages is another thing now."""
    counted = Signal(str, int)
    """A chat, and how many messages wait in it."""
    failed = Signal(str)
    """A sentence for people about something that could not be done."""
    undo_offered = Signal(str, object)
    """A sentence for people, and the callable that undoes what it tells."""

    def __init__(  # noqa: PLR0913 - what a message needs to be written, kept and sent
        self,
        page: ChatPage,
        bridge: Bridge,
        tasks: TaskSet,
        files: AttachmentKeeper,
        loan: ComposerLoan,
        *,
        model_name: Callable[[str], str],
        new_id: NewId,
        is_streaming: Callable[[str], bool],
        parent: QObject,
    ) -> None:
        """`is_streaming` says of a chat whether a turn runs in it."""
        super().__init__(parent)
        self._page = page
        self._composer = page.composer
        self._bridge = bridge
        self._tasks = tasks
        self._files = files
        self._loan = loan
        self._model_name = model_name
        self._new_id = new_id
        self._is_streaming = is_streaming
        self._session = ""
        self._chat: ChatSummary | None = None
        self._queue = QueueView()
        self._may_change = False
        self._edit: _Edit | None = None
        self._settings: Settings | None = None
        self._is_joined = False
        self._returned: dict[str, list[QueuedMessage]] = {}
        self._composer.save_requested.connect(self._save)
        self._composer.edit_cancelled.connect(self._cancel)

    # Which chat

    def show(self, chat: ChatSummary, queue: QueueView) -> None:
        """Show what waits in a chat whose draft is shown already."""
        self._session, self._chat = chat.id, chat
        self.show_queue(queue)
        self.counted.emit(chat.id, len(queue.messages))
        for message in self._returned.pop(chat.id, []):
            self._put_into_composer(DraftContent(message.text, message.attachments))

    def show_none(self) -> None:
        """Show no chat's queue."""
        self._session, self._chat = "", None
        self._edit = None
        self.show_queue(QueueView())

    def show_queue(self, queue: QueueView) -> None:
        """Show what waits now."""
        self._queue = queue
        if queue.messages or self._is_joined:
            self._join()
            self._page.queue_tray.show_queue(queue, self._describe)
        edit = self._edit
        if edit is not None and not edit.is_saving and self._find(edit.message.id) is None:
            self._keep_late_edit(edit)
        self._load_profiles()
        self.changed.emit()

    def show_chat(self, chat: ChatSummary) -> None:
        """Show what has changed of the chat: lines say where a message keeps another model."""
        self._chat = chat
        if self._queue.messages:
            self._page.queue_tray.show_queue(self._queue, self._describe)
            self._load_profiles()

    def set_changeable(self, *, on: bool) -> None:
        """Say whether anything of the chat may be changed here."""
        self._may_change = on
        if self._is_joined:
            self._page.queue_tray.set_changeable(on=on)
        self.changed.emit()

    def put_away(self) -> None:
        """Save the message that is being changed: the chat is left, or the program."""
        edit, text, parts = self._edit, self._composer.text(), self._files.parts
        if edit is None:
            return
        if not edit.is_saving and self._is_changed(edit) and (parts or not is_blank(text)):
            change = EditQueued(edit.message.id, text, parts)
            late = joined(self._loan.kept, DraftContent(text, parts))
            self._tasks.spawn(self._save_aside(self._session, change, late), name="save a queued message")
        self._end_edit(edit)

    def _join(self) -> None:
        """Have the tray made, and hear it."""
        if self._is_joined:
            return
        self._is_joined = True
        tray = self._page.queue_tray
        tray.set_changeable(on=self._may_change)
        tray.list.wished.connect(self._grant)
        tray.model.move_wanted.connect(self._move)
        tray.go_on_wanted.connect(self.go_on)
        tray.left.connect(self._composer.field.setFocus)

    # What may be done

    @property
    def goes_on(self) -> bool:
        """Whether messages wait that are sent by themselves."""
        return bool(self._queue.messages) and self._queue.pause is None

    @property
    def may_send_now(self) -> bool:
        """Whether there is anything to send before its time."""
        return self._may_change and (bool(self._queue.messages) or self._composer.has_content)

    async def put(self, session: str, message: UserInput, moment: Moment) -> Outcome:
        """Let a message wait, or end the reply for it. Raises KnownError; nothing has been queued then."""
        when = When.AFTER_TURN if moment is Moment.AFTER_TURN else When.AFTER_STEP
        outcome = await self._bridge.enqueue(session, message, when)
        if moment is Moment.NOW and isinstance(outcome, Accepted) and outcome.is_queued:
            try:
                await self._bridge.change_queue(session, SendQueuedNow(message.id))
            except KnownError as error:
                # It waits all the same.
                self.failed.emit(str(error))
        return outcome

    @Slot()
    def send_now(self) -> None:
        """Send the first of the waiting messages now, or else what stands in the field."""
        if not self.may_send_now:
            return
        if self._edit is not None:
            self._save(self._composer.text(), then_send=True)
        elif self._queue.messages:
            self._change(SendQueuedNow(self._queue.messages[0].id))
        else:
            self._composer.submit_at(Moment.NOW)

    @Slot()
    def go_on(self) -> None:
        """Let a paused queue go on."""
        self._change(GoOnWithQueue())

    @Slot(str, object)
    def _grant(self, message_id: str, wish: Wish) -> None:
        from app.ui.chat.queue_tray_line import WHENS, Wish

        message, row = self._find(message_id), self._page.queue_tray.model.row_of(message_id)
        if message is None or row is None or not self._may_change:
            return
        match wish:
            case Wish.SEND if self._edit is not None and self._edit.message.id == message_id:
                self._save(self._composer.text(), then_send=True)
            case Wish.SEND:
                self._change(SendQueuedNow(message_id))
            case Wish.EDIT:
                self._begin_edit(message)
            case Wish.REMOVE:
                self._remove(message, row)
            case Wish.MOVE_UP:
                self._move(message_id, row - 1)
            case Wish.MOVE_DOWN:
                self._move(message_id, row + 1)
            case Wish.AFTER_STEP | Wish.AFTER_TURN:
                self._change(EditQueued(message_id, when=WHENS[wish]))
            case _:
                assert_never(wish)

    @Slot(str, int)
    def _move(self, message_id: str, place: int) -> None:
        if 0 <= place < len(self._queue.messages):
            self._change(MoveQueued(message_id, place))

    def _change(self, change: QueueChange) -> None:
        if self._session and self._may_change:
            self._tasks.spawn(self._change_queue(self._session, change), name="change the queue")

    async def _change_queue(self, session: str, change: QueueChange) -> None:
        try:
            await self._bridge.change_queue(session, change)
        except KnownError as error:
            self.failed.emit(str(error))

    # Removing

    def _remove(self, message: QueuedMessage, row: int) -> None:
        edit = self._edit
        if edit is not None and edit.message.id == message.id:
            # What comes back by Undo is what was written last.
            message = replace(message, text=self._composer.text(), attachments=self._files.parts)
            self._end_edit(edit)
        self._tasks.spawn(self._remove_queued(self._session, message, row), name="remove a queued message")

    async def _remove_queued(self, session: str, message: QueuedMessage, row: int) -> None:
        try:
            removed = await self._bridge.change_queue(session, RemoveQueued(message.id))
        except KnownError as error:
            self.failed.emit(str(error))
            return
        if removed is not None:
            text = self.tr("The message is removed from the queue.")
            self.undo_offered.emit(text, lambda: self._bring_back(session, message, row))

    def _bring_back(self, session: str, message: QueuedMessage, row: int) -> None:
        """Let a message wait again; where it would be sent at once, it goes into the composer instead."""
        is_shown = session == self._session
        if self._is_streaming(session) or (is_shown and self._queue.messages):
            self._tasks.spawn(self._queue_again(session, message, row), name="queue a message again")
        elif is_shown:
            self._put_into_composer(DraftContent(message.text, message.attachments))
        else:
            self._returned.setdefault(session, []).append(message)

    async def _queue_again(self, session: str, message: QueuedMessage, row: int) -> None:
        choices = Choices(message.model, message.level, message.profile)
        again = UserInput(self._new_id(), message.text, message.attachments, choices)
        try:
            outcome = await self._bridge.enqueue(session, again, message.when)
            if not isinstance(outcome, Accepted):
                self.undo_offered.emit(outcome.reason, lambda: self._bring_back(session, message, row))
            elif outcome.is_queued:
                await self._bridge.change_queue(session, MoveQueued(again.id, row))
        except KnownError as error:
            self.failed.emit(str(error))

    # Changing

    def _begin_edit(self, message: QueuedMessage) -> None:
        if self._edit is not None and self._edit.message.id == message.id:
            self._composer.field.setFocus()
            return
        edit = _Edit(message)
        content = DraftContent(message.text, message.attachments)
        if self._loan.take(self._session, self._model, content, edited=Edited.QUEUED, end=lambda: self._end_edit(edit)):
            self._edit = edit
            self.changed.emit()

    @Slot(str)
    def _save(self, text: str, *, then_send: bool = False) -> None:
        edit = self._edit
        if edit is None or edit.is_saving or self._composer.tray.is_reading:
            return
        if is_blank(text) and not self._files.parts:
            return
        edit.is_saving = True
        self._composer.set_busy(on=True)
        change = EditQueued(edit.message.id, text, self._files.parts)
        self._tasks.spawn(self._save_edit(self._session, edit, change, then_send), name="save a queued message")

    async def _save_edit(self, session: str, edit: _Edit, change: EditQueued, then_send: bool) -> None:  # noqa: FBT001
        reason, text, kept = "", change.text or "", self._loan.kept
        saved: QueuedMessage | None = None
        try:
            saved = await self._bridge.change_queue(session, change)
            if saved is not None and then_send:
                await self._bridge.change_queue(session, SendQueuedNow(change.id))
        except KnownError as error:
            reason = str(error)
        if self._edit is not edit:
            if saved is None:
                await self._keep_aside(session, joined(kept, DraftContent(text, change.attachments or ())))
            return
        edit.is_saving = False
        self._composer.set_busy(on=False)
        if saved is not None:
            self._end_edit(edit)
            if reason:
                self.failed.emit(reason)
        elif reason:
            self._composer.set_hint(reason, is_error=True)
        else:
            self._keep_late_edit(edit)

    async def _save_aside(self, session: str, change: EditQueued, late: DraftContent) -> None:
        """Save a change whose chat is left; one that comes too late goes into the draft of the chat."""
        saved: QueuedMessage | None = None
        try:
            saved = await self._bridge.change_queue(session, change)
        except KnownError as error:
            self.failed.emit(str(error))
        if saved is None:
            await self._keep_aside(session, late)

    async def _keep_aside(self, session: str, late: DraftContent) -> None:
        try:
            await self._bridge.save_draft(session, late)
        except KnownError as error:
            self.failed.emit(str(error))

    @Slot()
    def _cancel(self) -> None:
        if self._edit is not None and not self._edit.is_saving:
            self._end_edit(self._edit)

    def _end_edit(self, _edit: _Edit) -> None:
        """Let the composer be as it was before."""
        self._edit = None
        self._loan.give_back(self._session, self._model)
        self.changed.emit()

    def _keep_late_edit(self, edit: _Edit) -> None:
        """The message was sent before its change was saved: what was written becomes a text of its own."""
        written = DraftContent(self._composer.text(), self._files.parts)
        is_changed = self._is_changed(edit)
        self._end_edit(edit)
        if not is_changed:
            self.failed.emit(self.tr("The message was sent before you changed it."))
            return
        self._put_into_composer(written)
        self.failed.emit(
            self.tr("The message was sent before the change was saved. What you wrote is kept below as a new text.")
        )

    def _is_changed(self, edit: _Edit) -> bool:
        before = edit.message
        return (self._composer.text(), self._files.parts) != (before.text, before.attachments)

    def _put_into_composer(self, content: DraftContent) -> None:
        """Put text and files behind what stands in the composer, as a draft."""
        both = joined(DraftContent(self._composer.text(), self._files.parts), content)
        self._loan.put(self._session, self._model, both)

    @property
    def _model(self) -> str:
        return self._chat.model if self._chat is not None else ""

    # Words

    def _describe(self, message: QueuedMessage) -> str:
        """Say with what a message is answered, as far as the chat has something else now."""
        from app.ui.level_wording import level_name

        chat = self._chat
        if chat is None:
            return ""
        said = []
        if message.model and message.model != chat.model:
            said.append(self.tr("with {model}").format(model=self._model_name(message.model)))
        profile = self._profile_name(message.profile)
        if profile and profile != self._profile_name(chat.profile):
            said.append(self.tr("as {profile}").format(profile=profile))
        if message.level != chat.level:
            said.append(self.tr("thinking: {level}").format(level=level_name(message.level)))
        return " · ".join(said)

    def _load_profiles(self) -> None:
        """Learn the names of profiles as soon as one is to be named."""
        profile = self._chat.profile if self._chat is not None else ""
        if self._settings is None and any(message.profile != profile for message in self._queue.messages):
            self._tasks.spawn(self._load_settings(), name="load profiles for the queue")

    def _profile_name(self, profile_id: str) -> str:
        from app.settings.profiles import find_profile

        profile = find_profile(self._settings, profile_id) if self._settings is not None else None
        return profile.name if profile is not None else ""

    async def _load_settings(self) -> None:
        try:
            self._settings = await self._bridge.settings()
        except KnownError:
            return
        if self._chat is not None:
            self.show_chat(self._chat)

    def _find(self, message_id: str) -> QueuedMessage | None:
        return next((message for message in self._queue.messages if message.id == message_id), None)
