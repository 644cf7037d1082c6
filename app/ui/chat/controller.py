"""Joins one chat's page to the engine: opens, shows what happens, sends, stops, keeps drafts."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.aio import TaskSet
from app.domain.chats import Access, TurnState
from app.domain.errors import KnownError
from app.domain.events import (
    AccessChanged,
    AnswerDelayed,
    ApprovalAsked,
    ApprovalEnded,
    ChatChanged,
    ChatRewritten,
    QueueChanged,
    ReplyDelta,
    ReplyDropped,
    ReplyStarted,
    ReplyUnsaved,
    RetryScheduled,
    RowsAppended,
    RowsCut,
    SessionBroke,
    SessionEvent,
    StateChanged,
    ToolEnded,
    ToolStarted,
    VersionsChanged,
)
from app.domain.ids import NewId
from app.domain.text import is_blank
from app.session.inputs import DraftContent, Input, Refused, ResetContext, ResumeTurn, UserInput
from app.ui.bridge import Bridge
from app.ui.chat.approvals import Approvals
from app.ui.chat.attachments import AttachmentKeeper
from app.ui.chat.composer_buttons import Moment
from app.ui.chat.composer_loan import ComposerLoan
from app.ui.chat.drafts import DraftKeeper
from app.ui.chat.items import Item, ItemAction, Speaker
from app.ui.chat.live import LiveReplies, LiveReply
from app.ui.chat.message_controller import MessageController
from app.ui.chat.page import ChatPage
from app.ui.chat.pager import StretchPager
from app.ui.chat.queue_tray_controller import QueueController
from app.ui.chat.renderers import prepare_renderers
from app.ui.chat.waiting_notice import WaitingNotice

if TYPE_CHECKING:  # These load pydantic, which must wait for the first paint.
    from collections.abc import Callable, Sequence

    from app.domain.rows import Row
    from app.session.worker import OpenedChat


class _WantedMessage(NamedTuple):
    """A message to be shown as soon as its chat is."""

    session: str
    row_id: str
    offset: int


class ChatController(QObject):
    """Drives the page for the chat that is open; hears of all chats."""

    state_changed = Signal()
    """What may be done with the open chat is another thing now."""
    failed = Signal(str)
    """A sentence for people about something that could not be done."""
    rows_came = Signal()
    """The history of the open chat has grown."""
    rows_cut = Signal()
    """The history of the open chat ends elsewhere now."""
    new_chat_wanted = Signal()
    settings_wanted = Signal(str)
    """The page of providers and keys would help, opened at this provider."""
    model_wanted = Signal()
    """Another model would help."""

    def __init__(
        self,
        page: ChatPage,
        bridge: Bridge,
        live: LiveReplies,
        tasks: TaskSet,
        *,
        model_name: Callable[[str], str],
        new_id: NewId,
    ) -> None:
        super().__init__(page)
        self._page = page
        self._bridge = bridge
        self._live = live
        self._tasks = tasks
        self._model_name = model_name
        self._new_id = new_id
        self.session = ""
        self._asked_for = ""
        self._sent = UserInput("", "")
        self._openings = 0
        self._unopened = ""
        self._typed_before = ""
        self._is_warm = False
        page.composer.text_changed.connect(self._warm_up_for_text)
        self._early: list[SessionEvent] = []
        self._wanted: _WantedMessage | None = None
        self._last_row: Row | None = None
        self._action_item: Item | None = None
        self._unsaved: Row | None = None
        self._unsaved_reason = ""
        self._access = Access.WRITABLE
        self._state = TurnState.IDLE
        self._waiting = WaitingNotice(page.composer, self)
        self.approvals = Approvals(page, bridge, live, tasks, self)
        self.approvals.failed.connect(self.failed)
        self.approvals.changed.connect(self.state_changed)
        self.files = AttachmentKeeper(page.composer, bridge, tasks, self)
        self.files.failed.connect(self.failed)
        self.files.thumbnail_loaded.connect(page.show_thumbnail)
        page.thumbnails_wanted.connect(self.files.load_thumbnails)
        self._drafts = DraftKeeper(page.composer, self.files, bridge, tasks, self)
        self._drafts.failed.connect(self._draft_failed)
        self._loan = ComposerLoan(page.composer, self.files, self._drafts, self)
        self.queue = QueueController(
            page,
            bridge,
            tasks,
            self.files,
            self._loan,
            model_name=model_name,
            new_id=new_id,
            is_streaming=lambda session: (live.state(session) or TurnState.IDLE).is_active,
            parent=self,
        )
        self.queue.failed.connect(self.failed)
        self.queue.changed.connect(self.state_changed)
        page.composer.send_requested.connect(self._send_composed)
        page.composer.queue_requested.connect(self._send_composed)
        page.composer.content_changed.connect(self.state_changed)
        page.composer.stop_requested.connect(self.stop)
        page.empty.prompt_chosen.connect(self.send)
        self.pager = StretchPager(page, bridge, tasks, model_name, self)
        self.pager.failed.connect(self.failed)
        self.pager.end_reached.connect(self._show_end)
        self.messages = MessageController(
            page,
            bridge,
            tasks,
            self.pager,
            self._loan,
            new_id=new_id,
            may_write=lambda: self.may_write,
            is_streaming=lambda: self._state.is_active,
            parent=self,
        )
        self.messages.failed.connect(self.failed)
        self.messages.editor.late.connect(self._keep_late)
        page.action_triggered.connect(self._act)
        page.banner.button_pressed.connect(self._press_banner)

    # What the window asks

    def open(self, session: str) -> None:
        """Show another chat; the one shown until now is left."""
        if session == self._asked_for:
            return
        self.save_draft()
        self.files.leave()
        left, self._asked_for = self._asked_for, session
        if self._wanted is not None and self._wanted.session != session:
            self._wanted = None
        self._early = []
        if not self.session:
            self._typed_before = self._page.composer.text()
        # What is typed until the other chat is there would belong to neither.
        self._page.composer.set_busy(on=True)
        self._openings += 1
        self._tasks.spawn(self._open(session, left, self._openings), name="open a chat")

    def show_message(self, row_id: str, offset: int, *, session: str = "") -> None:
        """Scroll a message into view and mark it, however far back; its row begins `offset` bytes into the history.

        A message that shows nothing by itself has its nearest neighbour shown. With `session` another chat may be
        meant: that is done once it is open.
        """
        self._wanted = None
        if session and session != self.session:
            self._wanted = _WantedMessage(session, row_id, offset)
        elif self._is_current:
            self.pager.show(row_id, offset, self._mark)

    def close(self) -> None:
        """Show no chat: the open one went away."""
        self._asked_for = self.session = ""
        self._reset()
        self._page.composer.set_busy(on=False)

    @property
    def is_streaming(self) -> bool:
        """Whether a turn of the open chat is running."""
        return self._is_current and self._state.is_active

    @property
    def may_write(self) -> bool:
        """Whether anything about the chat that is shown may be changed here."""
        return self._is_current and self._access is Access.WRITABLE

    @property
    def _is_current(self) -> bool:
        """Whether the chat on screen is the one that was asked for last."""
        return bool(self.session) and self.session == self._asked_for

    @property
    def may_resume(self) -> bool:
        """Whether the newest turn may be continued or tried again."""
        return self._action_item is not None

    @Slot(str)
    def send(self, text: str) -> None:
        """Send a text as a message of the open chat, without the files above the field."""
        if self._is_current and not self._state.is_active and not is_blank(text):
            self._ask(UserInput(self._new_id(), text))

    @Slot(str)
    @Slot(str, object)
    def _send_composed(self, text: str, moment: Moment = Moment.AFTER_TURN) -> None:
        """Send what stands in the composer, text and files, or let it wait; either will do."""
        files = self.files.parts
        if self._is_current and (files or not is_blank(text)):
            waits = self._state.is_active or self.queue.goes_on
            self._ask(UserInput(self._new_id(), text, files), moment if waits else None)

    @property
    def may_queue(self) -> bool:
        """Whether what stands in the composer can be queued now."""
        composer = self._page.composer
        return self.is_streaming and self.may_write and composer.has_content and not composer.is_editing

    @Slot()
    def stop(self) -> None:
        """End the running reply; what has come is kept."""
        if self.session:
            self._tasks.spawn(self._bridge.stop(self.session), name="stop")

    @Slot()
    def resume(self) -> None:
        """Continue the newest reply, or try again."""
        if self._is_current and self.may_resume:
            self._ask(ResumeTurn())

    @property
    def reset_refusal(self) -> str:
        """Why no fresh context window can begin now, as a sentence; empty if one can."""
        if not self.may_write:
            return self.tr("This chat can only be read here.")
        if self._state.is_active:
            return self.tr("A reply is being written. Wait for its end, or stop it first.")
        if self._last_row is None:
            return self.tr("There is nothing here that the model could forget.")
        return ""

    @Slot()
    def reset_context(self, *, sets_notes_aside: bool = True) -> None:
        """Begin a fresh context window, with notes of the model put away if wanted; why not is said below the field."""
        if reason := self.reset_refusal:
            self._page.composer.set_hint(reason)
        else:
            self._ask(ResetContext(sets_notes_aside))

    @Slot()
    def save_draft(self) -> None:
        """Put the draft on disk now, and what is being changed of the queue or the chat."""
        self.queue.put_away()
        self.messages.editor.put_away()
        self._drafts.save()

    # What the engine tells

    def hear(self, event: SessionEvent) -> None:
        """Show an event of the open chat; `LiveReplies` has heard it already."""
        if event.session == self._asked_for != self.session:
            # It happened while the chat was being opened: shown when the chat is.
            self._early.append(event)
        if not self.session or event.session != self.session:
            return
        match event:
            case RowsAppended():
                self._show_rows(event.rows)
            case RowsCut() | VersionsChanged():
                self._hear_of_versions(event)
            case StateChanged():
                self._set_state(event.state)
            case AccessChanged(access=Access.WRITABLE) if self._is_current and self._access is not Access.WRITABLE:
                # Title, draft and rows may all be others by now.
                self._show_again(event.session)
            case ChatRewritten():
                self._show_again(event.session)
            case AccessChanged():
                self._set_access(event.access, event.holder)
            case SessionBroke():
                self._page.composer.set_hint(event.reason, is_error=True)
            case QueueChanged():
                self.queue.show_queue(event.queue)
            case ChatChanged():
                self.queue.show_chat(event.summary)
                self.messages.editor.show_model(event.summary.model)
            case _:
                self._hear_of_reply(event)

    def _hear_of_reply(self, event: SessionEvent) -> None:
        match event:
            case ReplyStarted():
                self._end_waiting()
                self._show_live()
            case ReplyDelta():
                if self._waiting.is_quiet:
                    self._waiting.end()
                self._show_live_text(event)
            case ApprovalAsked() | ApprovalEnded():
                self._show_calls(event.row_id)
                self.approvals.look()
            case ToolStarted() | ToolEnded():
                self._show_calls(event.row_id)
            case AnswerDelayed():
                self._waiting.show_quiet(event.seconds)
            case ReplyDropped():
                self.pager.shown.discard(event.row_id)
                self._page.transcript.remove_item(event.row_id)
            case RetryScheduled():
                self._show_waiting(event)
            case ReplyUnsaved():
                self._show_unsaved(event.row, event.reason)
            case _:
                pass

    # Opening

    async def _open(self, session: str, left: str, number: int) -> None:
        try:
            if left:
                await self._bridge.leave_chat(left)
            opened = await self._bridge.open_chat(session)
        except KnownError as error:
            if number == self._openings:
                self.close()
                self._unopened = session
                self._page.banner.show_text(str(error), self.tr("Try again"))
            return
        if number != self._openings:
            # The person has gone on to another chat meanwhile.
            if session != self._asked_for:
                await self._bridge.leave_chat(session)
            return
        self._show_opened(opened)

    def _show_opened(self, opened: OpenedChat) -> None:
        from app.ui.chat.row_items import last_message

        self._reset()
        self.session = opened.summary.id
        # A short chat asks for more at once.
        has_items = self.pager.begin(self.session, opened.page)
        self._last_row = last_message(opened.page.entries)
        self._state = self._live.state(self.session) or opened.state
        self.messages.show(self.session, opened.summary.model, opened.versions)
        self._set_access(opened.access, opened.holder)
        self._drafts.watch(self.session, opened.draft.text, typed_before=self._typed_before)
        self.files.show(self.session, opened.summary.model, opened.draft.attachments)
        self._typed_before = ""
        self.queue.show(opened.summary, opened.queue)
        is_empty = not has_items and opened.page.older is None and self._live.reply(self.session) is None
        self._page.show_empty(on=is_empty)
        self._set_state(self._state)
        self._show_live()
        self.approvals.follow(self.session)
        if (retry := self._live.retry(self.session)) is not None:
            self._show_waiting(retry)
        if (seconds := self._live.quiet_seconds(self.session)) is not None:
            self._waiting.show_quiet(seconds)
        if opened.unsaved is not None:
            self._show_unsaved(opened.unsaved, opened.unsaved_reason)
        if has_items:
            self._warm_up()
        self._page.composer.set_busy(on=False)
        early, self._early = self._early, []
        for event in early:
            if isinstance(
                event,
                RowsAppended | RowsCut | VersionsChanged | AccessChanged | SessionBroke | ReplyUnsaved | QueueChanged,
            ):
                self.hear(event)
        self.state_changed.emit()
        if self._wanted is not None:
            self.show_message(self._wanted.row_id, self._wanted.offset)

    def _reset(self) -> None:
        self._unopened = ""
        self.approvals.follow("")
        self._last_row = None
        self._action_item = None
        self._unsaved = None
        self._state = TurnState.IDLE
        self._waiting.end()
        self.pager.reset()
        self._page.show_empty(on=False)
        self.queue.show_none()
        self.messages.show_none()
        self._loan.forget()
        self._drafts.watch("", self._typed_before)
        self.files.show("", "", ())
        self._page.composer.set_streaming(on=False)
        self._page.composer.set_hint("")
        self._page.banner.show_text("")
        self.state_changed.emit()

    # Showing

    def _show_rows(self, rows: tuple[Row, ...]) -> None:
        from app.history.reader import RowEntry
        from app.ui.chat.row_items import last_message

        self._drop_action()
        for row in rows:
            if self._unsaved is not None and row.id == self._unsaved.id:
                self._unsaved = None
            if row.id == self._sent.id:
                self._clear_sent(self._sent)
        self.messages.editor.note_rows(rows)
        if self.pager.reaches_end:
            self._show_below(rows)
            has_stepped = self.messages.take_step(rows)
            if not has_stepped and any(row.role == "user" and row.id in self.pager.shown for row in rows):
                self._page.transcript.scroll_to_end()
        else:
            self.pager.miss(rows)
        self.rows_came.emit()
        self._page.show_empty(on=False)
        if any(row.boundary is not None for row in rows):
            self.messages.window.forget()
            self._last_row = None  # what was said before can't be gone on with
        self._last_row = last_message([RowEntry(row, "chat", 0) for row in rows]) or self._last_row
        self._offer_action()

    def _cut(self, after: str) -> None:
        """Take out what was cut off; what is there instead is told next."""
        self._drop_action()
        self.pager.cut(after)
        self._last_row = self.pager.loaded.newest() if self.pager.reaches_end else None
        self.messages.refresh()
        self.rows_cut.emit()

    def _hear_of_versions(self, event: RowsCut | VersionsChanged) -> None:
        if isinstance(event, RowsCut):
            self._cut(event.after)
        else:
            self.messages.show_versions(event.versions)
            # A version that has nothing to show stands where the reply is missing.
            self._drop_action()
            self._offer_action()
        self.state_changed.emit()

    def _show_below(self, rows: Sequence[Row]) -> None:
        from app.ui.chat.row_items import item_of

        self.pager.loaded.append(rows)
        for row in rows:
            item = item_of(row, self._model_name)
            if item is None:
                continue
            if row.id in self.pager.shown:
                self._page.transcript.update_item(item)
            else:
                self.pager.shown.add(row.id)
                self._page.transcript.append_item(item)
        self.messages.refresh()

    @Slot()
    def _show_end(self) -> None:
        """Show what belongs below the rows that were on disk when the end of the history was read."""
        from app.ui.chat.row_items import waiting_item

        self._drop_action()
        self._show_below(self.pager.take_missed())
        self._last_row = self.pager.loaded.newest() or self._last_row
        self._show_live()
        self.approvals.look()
        if (retry := self._live.retry(self.session)) is not None:
            self._page.transcript.append_item(waiting_item(retry))
        if self._unsaved is not None:
            self._show_unsaved(self._unsaved, self._unsaved_reason)
        self._offer_action()

    def _mark(self, item_id: str) -> None:
        self._page.transcript.scroll_to_item(item_id)
        self._page.transcript.mark_item(item_id)
        self._page.transcript.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_live(self) -> None:
        reply = self._live.reply(self.session)
        if reply is None or reply.row_id in self.pager.shown:
            return
        if not self.pager.reaches_end:
            self._page.transcript.note_beyond(reply.row_id)
            return
        self.pager.shown.add(reply.row_id)
        self._page.show_empty(on=False)
        self._page.transcript.append_item(self._live_item(reply))

    def _live_item(self, reply: LiveReply) -> Item:
        return Item(
            id=reply.row_id,
            speaker=Speaker.ASSISTANT,
            name=self._model_name(reply.model),
            created=reply.started,
            sections=reply.sections(),
            streaming=True,
        )

    def _show_calls(self, row_id: str) -> None:
        """Show how far the calls of the running reply are."""
        reply = self._live.reply(self.session)
        if reply is not None and reply.row_id == row_id and row_id in self.pager.shown:
            self._page.transcript.update_item(self._live_item(reply))

    def _show_live_text(self, event: ReplyDelta) -> None:
        if event.row_id in self.pager.shown:
            self._page.transcript.append_delta(event.row_id, event.kind, event.text)

    def _set_state(self, state: TurnState) -> None:
        self._state = state
        self._page.composer.set_streaming(on=state.is_active)
        self._drop_action()
        if not state.is_active:
            self.approvals.look()
            self._end_waiting()
            self._offer_action()
        self.messages.refresh()
        self.state_changed.emit()

    def _offer_action(self) -> None:
        """Put the one thing that helps below the newest turn if it ended early."""
        from app.session.state import is_unfinished
        from app.ui.chat.row_items import item_of, open_turn_item, with_action

        row = self._last_row
        if row is None or self._state.is_active or self._access is not Access.WRITABLE or self._unsaved is not None:
            return
        if row.role == "user":
            self._action_item = replace(open_turn_item(row.id), has_version=self.messages.empty_version)
            if self.pager.reaches_end:
                self._page.transcript.append_item(self._action_item)
        elif is_unfinished(row) and (item := item_of(row, self._model_name)) is not None:
            self._action_item = item
            self._page.transcript.update_item(with_action(item, row))

    def _drop_action(self) -> None:
        item, self._action_item = self._action_item, None
        if item is None:
            return
        if item.speaker is Speaker.NOTICE:
            self._page.transcript.remove_item(item.id)
        else:
            self._page.transcript.update_item(item)

    def _show_unsaved(self, row: Row, reason: str) -> None:
        """Show a reply that the disk refuses so far, with a way to try again."""
        from app.ui.chat.row_items import item_of, unsaved_item

        item = item_of(row, self._model_name)
        if item is None:
            return
        self._unsaved, self._unsaved_reason = row, reason
        self._drop_action()
        self._page.show_empty(on=False)
        if not self.pager.reaches_end:
            self._page.transcript.note_beyond(row.id)
            return
        self.pager.shown.add(row.id)
        # Replaces the running reply if it is shown.
        self._page.transcript.append_item(unsaved_item(item, reason))

    def _show_waiting(self, retry: RetryScheduled) -> None:
        from app.ui.chat.row_items import waiting_item

        self._waiting.count_down(retry)
        if self.pager.reaches_end:
            self._page.transcript.append_item(waiting_item(retry))

    def _end_waiting(self) -> None:
        self._waiting.end()
        self._page.transcript.remove_item(f"waiting-{self.session}")

    def _set_access(self, access: Access, holder: str) -> None:
        self._access = access
        self._page.composer.set_writable(on=access is Access.WRITABLE)
        self.queue.set_changeable(on=access is Access.WRITABLE)
        self._page.empty.setEnabled(access is Access.WRITABLE)
        match access:
            case Access.WRITABLE:
                self._page.banner.show_text("")
            case Access.HELD_ELSEWHERE:
                text = self.tr("This chat is open in {holder}. You can read along here.").format(holder=holder)
                self._page.banner.show_text(text)
            case Access.UNWRITABLE:
                text = self.tr("{reason} The chat can only be read.").format(reason=holder)
                self._page.banner.show_text(text, self.tr("Try again"))
            case Access.FREE:
                text = self.tr("This chat was open elsewhere and is free again.")
                self._page.banner.show_text(text, self.tr("Open here"))
        self._drop_action()
        self._offer_action()
        self.messages.refresh()
        self.state_changed.emit()

    @Slot()
    def _warm_up_for_text(self) -> None:
        """Whoever types will have a reply to read; an empty chat that lies idle needs nothing yet."""
        if self._page.composer.text():
            self._warm_up()

    def _warm_up(self) -> None:
        """Have the engine import what showing a reply needs, before there is one to show."""
        if not self._is_warm and self.session:
            self._is_warm = True
            self._tasks.spawn(self._bridge.run_aside(prepare_renderers), name="warm up")

    # Asking

    @Slot(str, object)
    def _act(self, _item_id: str, action: ItemAction) -> None:
        match action:
            case ItemAction.CONTINUE | ItemAction.RETRY:
                self.resume()
            case ItemAction.NEW_CHAT:
                self.new_chat_wanted.emit()
            case ItemAction.SETTINGS:
                request = self._last_row.request if self._last_row is not None else None
                self.settings_wanted.emit(request.provider if request is not None else "")
            case ItemAction.MODEL:
                self.model_wanted.emit()
            case ItemAction.SAVE:
                self._tasks.spawn(self._save_owed(self.session), name="save a reply")

    async def _save_owed(self, session: str) -> None:
        try:
            await self._bridge.save_owed(session)
        except KnownError as error:
            if session == self.session and self._unsaved is not None:
                self._show_unsaved(self._unsaved, str(error))

    @Slot()
    def _press_banner(self) -> None:
        """Do what the line under the header offers."""
        if not self._unopened and not self.session:
            return
        if self._unopened or self._access is Access.UNWRITABLE:
            self._tasks.spawn(self._open_again(self._unopened or self.session), name="open a chat again")
        else:
            self._tasks.spawn(self._take_over_chat(self.session), name="take over a chat")

    async def _open_again(self, session: str) -> None:
        """Open a chat anew: its worker learns again what it may do."""
        with contextlib.suppress(KnownError):
            await self._bridge.leave_chat(session)
        if session in (self._asked_for, self._unopened):
            self._show_again(session)

    def _show_again(self, session: str) -> None:
        if self.messages.editor.row_id and self._loan.is_changed:
            # What is shown again may not have the message any more that this was to be.
            self._typed_before = self._loan.content.text
        self._drafts.watch("", "")
        self._asked_for = ""
        self.open(session)

    async def _take_over_chat(self, session: str) -> None:
        """Ask for the right to write; rows missed until now and the right itself are told as events."""
        try:
            await self._bridge.take_over(session)
        except KnownError as error:
            self.failed.emit(str(error))

    def _ask(self, item: Input, moment: Moment | None = None) -> None:
        """Have the engine begin with `item`, or queue the message for a `moment`."""
        if isinstance(item, UserInput):
            self._sent = item
        self._page.composer.set_hint("")
        self._page.composer.set_busy(on=True)
        if moment is None:
            self.pager.show_latest()
        self._tasks.spawn(self._ask_engine(self.session, item, moment), name="send")

    async def _ask_engine(self, session: str, item: Input, moment: Moment | None) -> None:
        try:
            if moment is not None and isinstance(item, UserInput):
                outcome = await self.queue.put(session, item, moment)
            else:
                outcome = await self._bridge.send(session, item)
        except KnownError as error:
            outcome = Refused(str(error))
        if session != self.session or not self._is_current:
            return
        composer = self._page.composer
        composer.set_busy(on=False)
        if isinstance(outcome, Refused):
            composer.set_hint(outcome.reason, is_error=bool(outcome.reason))
            return
        if isinstance(item, UserInput):
            if outcome.is_queued:
                self._page.announce(self.tr("The message is queued."))
            if outcome.is_queued:
                self._page.announce(self.tr("The message is queued."))
            self._clear_sent(item)
            if self._sent is item:
                # The row of a queued message comes later: by then the same words may stand there for another.
                self._sent = UserInput("", "")

    def _clear_sent(self, sent: UserInput) -> None:
        """Empty the composer once what stands in it is on disk as a message."""
        has_text = self._page.composer.text() == sent.text
        has_files = all(part in self.files.parts for part in sent.attachments)
        if (sent.text or sent.attachments) and has_text and has_files:
            self._drafts.clear(sent)
            self._page.composer.set_busy(on=not self._is_current)

    @Slot(str, object)
    def _keep_late(self, session: str, content: DraftContent) -> None:
        self._tasks.spawn(self._keep_late_change(session, content), name="keep a change that was refused")

    async def _keep_late_change(self, session: str, content: DraftContent) -> None:
        try:
            await self._bridge.save_draft(session, content)
        except KnownError as error:
            self.failed.emit(str(error))

    @Slot(str, str)
    def _draft_failed(self, session: str, reason: str) -> None:
        if session == self.session:
            self._page.composer.set_hint(reason, is_error=True)
