"""Joins the list of chats to the engine: make, open, rename, delete, get back, and what each is doing."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.aio import TaskSet
from app.domain.errors import ChatNotFound, KnownError
from app.domain.events import (
    ApprovalAsked,
    ApprovalEnded,
    ChatBranched,
    ChatChanged,
    ChatCopying,
    QueueChanged,
    ReplyUnsaved,
    RowsAppended,
    SessionBroke,
    SessionEvent,
    StateChanged,
)
from app.ui.bridge import Bridge
from app.ui.chats_model import ChatsModel, Mark
from app.ui.models_controller import ModelsController

if TYPE_CHECKING:
    from app.domain.chats import ChatSummary


class ChatsController(QObject):
    """Keeps the list and which chat of it is open."""

    open_changed = Signal(str)
    """This chat is to be shown; empty for none."""
    entered = Signal()
    """The person means to write in the open chat now."""
    title_changed = Signal()
    """Title, model, profile or folder of the open chat may be another."""
    deleted = Signal(str, str)
    """Id and title of a chat that went to the trash."""
    restored = Signal(str)
    """Id of a chat that left the trash."""
    failed = Signal(str)
    """A sentence for people about something that could not be done."""
    told = Signal(str)
    """A sentence for people about something that is being done, or of what came of it."""

    def __init__(self, model: ChatsModel, models: ModelsController, bridge: Bridge, tasks: TaskSet) -> None:
        super().__init__(model)
        self._model = model
        self._models = models
        self._bridge = bridge
        self._tasks = tasks
        self.open_session = ""
        self._deleted: list[str] = []
        self._deleting: set[str] = set()
        self._changes = 0
        self._asking: dict[str, set[str]] = {}
        model.rename_requested.connect(self.rename)

    async def load(self, last: str) -> None:
        """Read the list and open chat `last`, or else the latest, or else a new one. Raises KnownError."""
        await self._models.load()
        self._model.set_chats(await self._bridge.list_chats())
        chats = self._model.chats()
        if self._model.find(last) is not None:
            self.open(last)
        elif chats:
            self.open(chats[0].id)
        else:
            await self._create()
        with contextlib.suppress(KnownError):
            # What can't be removed now is tried again at the next start.
            await self._bridge.tidy_trash()

    @property
    def open_chat(self) -> ChatSummary | None:
        """The open chat as the list shows it, None if there is none."""
        return self._model.find(self.open_session)

    def open_title(self) -> str:
        """Return the title of the open chat, empty if there is none."""
        chat = self._model.find(self.open_session)
        return self._model.title_of(chat) if chat is not None else ""

    def open_model(self) -> str:
        """Return `provider/model` of the open chat, empty if there is none."""
        chat = self._model.find(self.open_session)
        return chat.model if chat is not None else ""

    @Slot(str)
    def open(self, session: str) -> None:
        """Show a chat."""
        self.open_session = session
        if self._model.mark(session) in (Mark.UNREAD, Mark.ERROR):
            self._model.set_mark(session, Mark.NONE)
        self.open_changed.emit(session)
        self.title_changed.emit()

    @Slot()
    def new(self) -> None:
        """Show an empty chat: one that is there already, or a new one."""
        self._tasks.spawn(self._create(), name="make a chat")

    @Slot(str, str)
    def rename(self, session: str, title: str) -> None:
        """Give a chat a title of the person's."""
        self._tasks.spawn(self._rename(session, title), name="rename a chat")

    @Slot(str)
    def delete(self, session: str) -> None:
        """Move a chat to the trash; another is shown if it was open."""
        self._tasks.spawn(self._delete(session), name="delete a chat")

    @property
    def can_undo_delete(self) -> bool:
        """Whether a chat was deleted since the start and is not back yet."""
        return bool(self._deleted)

    @Slot()
    def undo_delete(self) -> None:
        """Get the chat that was deleted last back from the trash and show it."""
        if self._deleted:
            self.restore(self._deleted.pop())

    @Slot(str)
    def restore(self, session: str) -> None:
        """Get a chat back from the trash and show it."""
        self._tasks.spawn(self._restore(session), name="restore a chat")

    @Slot(object)
    def take_in(self, chat: ChatSummary) -> None:
        """Show a chat that was made elsewhere."""
        self._changes += 1
        self._model.put_chat(chat)
        self.open(chat.id)
        self.entered.emit()

    def take_back(self, chat: ChatSummary) -> None:
        """Show a chat that is back from the trash."""
        if chat.id in self._deleted:
            self._deleted.remove(chat.id)
        self._changes += 1
        self._model.put_chat(chat)
        self.restored.emit(chat.id)
        self.open(chat.id)

    @Slot()
    def refresh(self) -> None:
        """Read the list again: another process may have changed it."""
        self._tasks.spawn(self._refresh(), name="read the list again")

    def hear(self, event: SessionEvent) -> None:
        """Show an event of any chat in the list."""
        is_open = event.session == self.open_session
        match event:
            case ChatChanged():
                self._changes += 1
                if self._model.find(event.session) is not None:
                    self._model.put_chat(event.summary)
                self.title_changed.emit()
            case ChatBranched():
                self._changes += 1
                self._model.put_chat(event.summary)
                if sentence := self._left_out(event):
                    self.told.emit(sentence)
            case ChatCopying():
                percent = 100 * event.copied_bytes // max(1, event.total_bytes)
                self.told.emit(self.tr("The chat is being copied: {percent} %").format(percent=percent))
            case QueueChanged():
                self._model.set_queued(event.session, len(event.queue.messages))
            case ReplyUnsaved() | SessionBroke() if not is_open:
                self._model.set_mark(event.session, Mark.ERROR)
            case RowsAppended() if not is_open and any(row.error is not None for row in event.rows):
                self._model.set_mark(event.session, Mark.ERROR)
            case _:
                self._hear_of_turn(event)

    def _hear_of_turn(self, event: SessionEvent) -> None:
        """Mark what a chat is doing. It waits for the person also while other calls run."""
        match event:
            case StateChanged() if not event.state.is_active:
                self._asking.pop(event.session, None)
                if self._model.mark(event.session) in (Mark.STREAMING, Mark.ASKING):
                    is_open = event.session == self.open_session
                    self._model.set_mark(event.session, Mark.NONE if is_open else Mark.UNREAD)
                return
            case StateChanged():
                pass
            case ApprovalAsked():
                self._asking.setdefault(event.session, set()).add(event.call_id)
            case ApprovalEnded() if self._asking.get(event.session):
                self._asking[event.session].discard(event.call_id)
            case _:
                return
        self._model.set_mark(event.session, Mark.ASKING if self._asking.get(event.session) else Mark.STREAMING)

    def _left_out(self, event: ChatBranched) -> str:
        """Return what the new chat lacks of the old one, empty if it has all of it."""
        sentences = [
            (event.damaged, self.tr("damaged entries: {count}")),
            (event.oversized, self.tr("entries too long to be read: {count}")),
            (event.missing_files, self.tr("files that were gone: {count}")),
        ]
        left = ", ".join(text.format(count=count) for count, text in sentences if count)
        text = self.tr("The new chat was made without what can't be read of the old one: {left}.")
        return text.format(left=left) if left else ""

    async def _create(self, *, only_if_none_is_open: bool = False) -> None:
        try:
            wanted = self._models.default_ref
            chat = await self._bridge.new_chat(wanted)
            if chat.model != wanted:
                # It was there already, from a time when new chats had another model.
                chat = await self._bridge.set_model(chat.id, wanted)
        except KnownError as error:
            self.failed.emit(str(error))
            return
        self._changes += 1
        self._model.put_chat(chat)
        if only_if_none_is_open and self.open_session:
            # The person has opened another one meanwhile, by undo for instance.
            return
        if chat.id != self.open_session:
            self.open(chat.id)
        self.entered.emit()

    async def _rename(self, session: str, title: str) -> None:
        try:
            self._model.put_chat(await self._bridge.rename_chat(session, title))
        except KnownError as error:
            self.failed.emit(str(error))
        self.title_changed.emit()

    async def _delete(self, session: str) -> None:
        chat = self._model.find(session)
        if chat is None or session in self._deleting:
            return
        self._deleting.add(session)
        try:
            await self._bridge.delete_chat(session)
        except KnownError as error:
            self.failed.emit(str(error))
            return
        finally:
            self._deleting.discard(session)
        self._changes += 1
        following = self._neighbour(session)
        self._model.remove_chat(session)
        self._deleted.append(session)
        self.deleted.emit(session, self._model.title_of(chat))
        if session != self.open_session:
            return
        if following is not None:
            self.open(following)
        else:
            self.open_session = ""
            self.open_changed.emit("")
            await self._create(only_if_none_is_open=True)

    def _neighbour(self, session: str) -> str | None:
        """Return the chat below, or else above, in the list."""
        ids = [chat.id for chat in self._model.chats()]
        at = ids.index(session) if session in ids else 0
        rest = ids[at + 1 :] or ids[:at][-1:]
        return rest[0] if rest else None

    async def _restore(self, session: str) -> None:
        try:
            self.take_back(await self._bridge.restore_chat(session))
        except ChatNotFound as error:
            self.restored.emit(session)
            self.failed.emit(str(error))
        except KnownError as error:
            # It is in the trash still.
            self._deleted.append(session)
            self.failed.emit(str(error))

    async def _refresh(self) -> None:
        """Show the list as it is on disk, unless something of ours changed it while it was read."""
        before = self._changes
        with contextlib.suppress(KnownError):
            chats = await self._bridge.list_chats()
            if before == self._changes:
                self._model.set_chats(chats)
                self.title_changed.emit()
