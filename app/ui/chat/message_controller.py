"""What can be done with the messages of the open chat: change, answer again, go back, branch, quote, look behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from PySide6.QtCore import QObject, Signal, Slot

from app.domain.errors import KnownError
from app.session.inputs import Refused, Regenerate, SwitchVersion
from app.ui.chat.deeds import Deed, Offer, VersionMark
from app.ui.chat.message_editor import MessageEditor, is_too_long
from app.ui.chat.message_window import MessageWindow
from app.ui.chat.quotation import quotation_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.aio import TaskSet
    from app.domain.ids import NewId
    from app.domain.rows import Row
    from app.domain.versions import Versions
    from app.session.inputs import Input
    from app.ui.bridge import Bridge
    from app.ui.chat.composer_loan import ComposerLoan
    from app.ui.chat.page import ChatPage
    from app.ui.chat.pager import StretchPager


@dataclass(slots=True)
class _Step:
    """A step to another version: where the old one stood, and which button the keyboard was on, if on any."""

    top: int
    deed: Deed | None


class MessageController(QObject):
    """Offers for each message what can be done with it, and does it, for the chat that is open."""

    failed = Signal(str)
    """A sentence for people about something that could not be done."""
    branched = Signal(object)
    """The `ChatSummary` of a new chat."""
    other_model_wanted = Signal(str)
    """A reply is to be given again by a model that is yet to be chosen; its row."""
    quoted = Signal(str)
    """Lines for the composer."""

    def __init__(  # noqa: PLR0913 - what a message needs to be changed, shown and told
        self,
        page: ChatPage,
        bridge: Bridge,
        tasks: TaskSet,
        pager: StretchPager,
        loan: ComposerLoan,
        *,
        new_id: NewId,
        may_write: Callable[[], bool],
        is_streaming: Callable[[], bool],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._page = page
        self._bridge = bridge
        self._tasks = tasks
        self._pager = pager
        self._may_write = may_write
        self._is_streaming = is_streaming
        self._session = ""
        self._versions: dict[str, Versions] = {}
        self._step: _Step | None = None
        self._is_branching = self._wants_last = self._is_joined = False
        self.window = MessageWindow(pager, bridge, tasks, self)
        self.window.changed.connect(self._show_offers)
        self.editor = MessageEditor(page, loan, self._ask, new_id=new_id, parent=self)
        page.composer.last_wanted.connect(self.edit_last)
        page.escape_pressed.connect(self.editor.cancel)
        page.offer_taken.connect(self.take)
        pager.more_loaded.connect(self.refresh)
        pager.end_reached.connect(self._edit_wanted)

    # Which chat

    def show(self, session: str, model: str, versions: Sequence[Versions]) -> None:
        """Be about the chat whose rows the pager has."""
        self._session = session
        self.editor.show(session, model)
        self.window.show(session)
        if not self._is_joined:
            self._is_joined = True
            self._page.transcript.set_offers(self.offers)
        self.show_versions(versions)

    def show_none(self) -> None:
        """Be about no chat."""
        self._session = ""
        self._step = None
        self._wants_last = False
        self.editor.show_none()
        self.window.show("")
        self._versions = {}

    # Versions

    @property
    def empty_version(self) -> bool:
        """Whether a version that is the chat now has nothing to show: its mark needs a place of its own."""
        newest = self._pager.loaded.newest()
        return newest is not None and newest.role == "user" and "" in self._firsts().values()

    def show_versions(self, versions: Sequence[Versions]) -> None:
        """Show which messages there are several versions of."""
        self._versions = {each.after: each for each in versions}
        self.show_marks()

    def show_marks(self) -> None:
        """Show the versions where they begin, as far as that is among what is shown."""
        if not self._is_joined:
            return
        marks = {}
        for after, first in self._firsts().items():
            versions = self._versions[after]
            marks[first or self._notice()] = VersionMark(versions.current + 1, len(versions.ids))
        self._page.transcript.show_marks(marks, refusal=self._refusal())

    def _firsts(self) -> dict[str, str]:
        """Return with which item the version begins that is the chat now, for each row with several; empty for none."""
        found = {}
        for after in self._versions:
            first = self._pager.loaded.first_behind(after, self._pager.shown, from_begin=self._pager.begins)
            if first is not None and (first or self._pager.reaches_end):
                found[after] = first
        return found

    def _notice(self) -> str:
        """Return the item that stands for the reply that a message lacks."""
        newest = self._pager.loaded.newest()
        return "" if newest is None else f"open-{newest.id}"

    @Slot()
    def refresh(self) -> None:
        """Follow what is shown now."""
        self.show_marks()
        if self.editor.row_id:
            self.editor.show_fading()

    def take_step(self, rows: Sequence[Row]) -> bool:
        """Put the begin of the version that was asked for where the other one stood; return whether one was."""
        step, self._step = self._step, None
        if step is None:
            return False
        first = next((row.id for row in rows if row.id in self._pager.shown), "")
        view = self._page.transcript
        view.place_item(first, step.top)
        if step.deed is not None:
            self.show_marks()
            view.focus_button(first, step.deed)
        return True

    def _switch(self, first: str, direction: int, deed: Deed) -> None:
        view = self._page.transcript
        after = next((after for after, each in self._firsts().items() if (each or self._notice()) == first), None)
        if after is None or self._step is not None:
            return
        versions = self._versions[after]
        at = versions.current + direction
        if 0 <= at < len(versions.ids):
            has_focus = bool(view.focused_item)
            self._step = _Step(view.top_of_item(first) or 0, deed if has_focus else None)
            self._ask(SwitchVersion(after, versions.ids[at]), self._end_step)

    def _end_step(self, *, is_done: bool) -> None:
        if not is_done:
            self._step = None

    # What is offered

    def offers(self, item_id: str) -> Sequence[Offer]:
        """Return what can be done with a message."""
        row = self._pager.loaded.row(item_id)
        if row is None or row.boundary is not None:
            return (Offer(Deed.COPY), Offer(Deed.COPY_PLAIN)) if item_id in self._pager.shown else ()
        may_write, in_window = self._may_write(), self.window.holds(item_id)
        found = [Offer(Deed.COPY), Offer(Deed.COPY_PLAIN)]
        if may_write:
            found.append(Offer(Deed.QUOTE))
        if may_write and in_window:
            refusal = self._refusal()
            if row.role == "user":
                found.append(Offer(Deed.EDIT, refusal))
            else:
                found += [Offer(Deed.ANSWER_AGAIN, refusal), Offer(Deed.ANSWER_WITH, refusal)]
        found += [Offer(Deed.BRANCH), Offer(Deed.RAW)]
        if in_window is False:
            found.append(Offer(Deed.WHY))
        return found

    def _refusal(self) -> str:
        """Return why nothing can be changed now, as a sentence; empty if it can."""
        if not self._may_write():
            return self.tr("This chat can only be read here.")
        return self.tr("Stop the reply first.") if self._is_streaming() else ""

    @Slot()
    def _show_offers(self) -> None:
        if self._is_joined:
            self._page.transcript.viewport().update()

    @property
    def last_own(self) -> Row | None:
        """The newest message of the person's that can be changed now."""
        return self._newest("user")

    @property
    def last_reply(self) -> Row | None:
        """The newest reply that can be given again now."""
        newest = self._pager.loaded.newest()
        return self._newest("assistant") if newest is not None and newest.role == "assistant" else None

    @property
    def last_message(self) -> Row | None:
        """The newest message of the window of either side, as far as it is loaded."""
        return self._pager.loaded.newest() if self._session and self._pager.reaches_end else None

    def _newest(self, role: str) -> Row | None:
        if not self._session or not self._pager.reaches_end or self._refusal():
            return None
        return self._pager.loaded.newest(role)

    # What is done

    @Slot(str, object)
    def take(self, item_id: str, offer: Offer) -> None:
        """Do what was offered, or say why it can't be done."""
        if offer.refusal:
            self._page.composer.set_hint(offer.refusal)
            self._page.announce(offer.refusal)
            return
        match offer.deed:
            case Deed.PREVIOUS:
                self._switch(item_id, -1, offer.deed)
            case Deed.NEXT:
                self._switch(item_id, 1, offer.deed)
            case Deed.QUOTE:
                self._quote(self._page.transcript.text_of_item(item_id))
            case Deed.EDIT:
                self._edit(item_id)
            case Deed.ANSWER_AGAIN:
                self._ask(Regenerate(item_id))
            case Deed.ANSWER_WITH:
                self.other_model_wanted.emit(item_id)
            case Deed.BRANCH:
                self.branch(item_id)
            case Deed.RAW:
                self._tasks.spawn(self._show_raw(self._session, item_id), name="show a raw entry")
            case Deed.WHY:
                self._say_why(item_id)
            case Deed.COPY | Deed.COPY_PLAIN | Deed.MORE:
                pass
            case _:
                assert_never(offer.deed)

    @Slot()
    def edit_last(self) -> None:
        """Put the newest message of the person's into the composer, to be changed."""
        if reason := self._refusal():
            self._page.composer.set_hint(reason)
        elif not self._pager.reaches_end:
            self._wants_last = True
            self._pager.show_latest()
        elif (row := self.last_own) is not None:
            self._edit(row.id)

    @Slot()
    def _edit_wanted(self) -> None:
        self.show_marks()
        wants, self._wants_last = self._wants_last, False
        if wants:
            self.edit_last()

    def _edit(self, row_id: str) -> None:
        row = self._pager.loaded.row(row_id)
        if row is not None and is_too_long(row):
            self._page.composer.set_hint(
                self.tr("This message is too long to be changed here. Copy it, and send it as a file."), is_error=True
            )
        elif row is not None:
            self.editor.begin(row)

    @Slot()
    def answer_again(self) -> None:
        """Have the newest reply given again."""
        if (row := self.last_reply) is not None:
            self._ask(Regenerate(row.id))

    def answer_with(self, row_id: str, model: str) -> None:
        """Have a reply given again by another model, which the chat goes on with."""
        self._tasks.spawn(self._answer_with(self._session, row_id, model), name="answer with another model")

    async def _answer_with(self, session: str, row_id: str, model: str) -> None:
        try:
            await self._bridge.set_model(session, model)
        except KnownError as error:
            self.failed.emit(str(error))
            return
        if session == self._session:
            self._ask(Regenerate(row_id))

    @Slot()
    def branch_from_end(self) -> None:
        """Begin a new chat with everything up to the newest message."""
        if (row := self.last_message) is not None:
            self.branch(row.id)

    def branch(self, row_id: str) -> None:
        """Begin a new chat with everything up to a message."""
        if self._session and not self._is_branching:
            self._is_branching = True
            self._tasks.spawn(self._branch(self._session, row_id), name="branch a chat")

    async def _branch(self, session: str, row_id: str) -> None:
        try:
            self.branched.emit(await self._bridge.branch_chat(session, f"m:{row_id}"))
        except KnownError as error:
            self.failed.emit(str(error))
        finally:
            self._is_branching = False

    def _quote(self, text: str) -> None:
        self.quoted.emit(quotation_of(text))

    async def _show_raw(self, session: str, row_id: str) -> None:
        from app.ui.chat.raw_entry import RawEntry

        try:
            text = await self._bridge.raw_row(session, row_id)
        except KnownError as error:
            self.failed.emit(str(error))
            return
        if text is None:
            self.failed.emit(self.tr("This message is not there any more: the chat's history was changed."))
        elif session == self._session:
            RawEntry(text, self._page.window()).open()

    def _say_why(self, row_id: str) -> None:
        from app.ui.chat.raw_entry import say_plainly

        title = self.tr("Why is this not in the window?")
        say_plainly(title, self.window.why_not(row_id), self._page.window())

    # Asking

    def _ask(self, item: Input, then: Callable[..., None] | None = None) -> None:
        """Have the engine do `item`; `then` is told whether it is done, a refusal is shown below the field."""
        if not self._session:
            return
        self._page.composer.set_hint("")
        self._page.composer.set_busy(on=True)
        self._tasks.spawn(self._ask_engine(self._session, item, then), name="change what was said")

    async def _ask_engine(self, session: str, item: Input, then: Callable[..., None] | None) -> None:
        try:
            outcome = await self._bridge.send(session, item)
        except KnownError as error:
            outcome = Refused(str(error))
        if then is not None:
            then(is_done=not isinstance(outcome, Refused))
        if session != self._session:
            return
        composer = self._page.composer
        composer.set_busy(on=False)
        if isinstance(outcome, Refused):
            composer.set_hint(outcome.reason, is_error=bool(outcome.reason))
