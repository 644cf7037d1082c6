"""Joins the questions of the open chat to its page: shows them, and takes the answers to the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal, Slot

from app.domain.approvals import Question, Verdict
from app.domain.errors import KnownError
from app.domain.text import one_line
from app.ui.chat.answer_keys import key_name

if TYPE_CHECKING:
    from app.aio import TaskSet
    from app.domain.events import ApprovalAsked
    from app.ui.bridge import Bridge
    from app.ui.chat.live import LiveReplies
    from app.ui.chat.page import ChatPage

_SAID_CHARS: Final = 300


class Approvals(QObject):
    """What waits for the person's answer in the open chat. Never takes the keyboard from where it is."""

    changed = Signal()
    """Other things wait, or nothing any more."""
    told = Signal(str)
    """What a screen reader says of a question."""
    failed = Signal(str)

    def __init__(self, page: ChatPage, bridge: Bridge, live: LiveReplies, tasks: TaskSet, parent: QObject) -> None:
        super().__init__(parent)
        self._page = page
        self._bridge = bridge
        self._live = live
        self._tasks = tasks
        self._session = ""
        self._wanted = ""
        self._told: list[ApprovalAsked] = []
        self._answered: list[ApprovalAsked] = []
        self.waiting: tuple[ApprovalAsked, ...] = ()
        page.answered.connect(self.answer)
        page.question_wanted.connect(self.show)

    def follow(self, session: str) -> None:
        """Show the questions of that chat; of none for an empty text."""
        if session != self._session:
            self._session, self._wanted = session, ""
            self._told, self._answered = [], []
        self.look()

    @Slot()
    def look(self) -> None:
        """Show what waits now; a screen reader says each question once."""
        asked = self._live.questions(self._session) if self._session else ()
        if asked != self.waiting:
            self.waiting = asked
            self._answered = [each for each in self._answered if each in asked]
            self._told = [each for each in self._told if each in asked]
            self._page.show_waiting(asked)
            self.changed.emit()
        for each in asked:
            if each not in self._told:
                self._told.append(each)
                text = self._spoken(each)
                self.told.emit(text)
                self._page.announce(text)
        if self._wanted:
            self.show(self._wanted)

    @Slot(str)
    def show(self, call_id: str) -> None:
        """Put the keyboard on the first answer to a question, however far away its card is."""
        self._wanted = ""
        if not self._page.transcript.go_to_question(call_id) and self._is_open(call_id):
            # The end of the chat is not among what is shown: it is once that has been read.
            self._wanted = call_id
            self._page.scroll_to_end()

    @Slot(str, object)
    def answer(self, call_id: str, verdict: Verdict) -> None:
        """Answer a question, once."""
        asked = next((each for each in self.waiting if each.call_id == call_id), None)
        if asked is not None and asked not in self._answered:
            self._answered.append(asked)
            self._tasks.spawn(self._answer(asked, verdict), name="answer a question")

    def answer_first(self, verdict: Verdict) -> None:
        """Answer what was asked first. Nothing is allowed unseen: its card is shown instead if it is not on screen."""
        if self.question(verdict) is None:
            return
        first = self.waiting[0]
        if verdict is Verdict.DENY or self._page.transcript.shows_question(first.call_id):
            self.answer(first.call_id, verdict)
        else:
            self.show(first.call_id)

    def question(self, verdict: Verdict) -> Question | None:
        """Return what was asked first, if that may be answered so."""
        if not self.waiting:
            return None
        first = self.waiting[0].question
        return first if first.scope or verdict is not Verdict.ALWAYS else None

    async def _answer(self, asked: ApprovalAsked, verdict: Verdict) -> None:
        try:
            await self._bridge.answer(asked, verdict)
        except KnownError as error:
            self.failed.emit(str(error))

    def _is_open(self, call_id: str) -> bool:
        return any(each.call_id == call_id for each in self.waiting)

    def _spoken(self, asked: ApprovalAsked) -> str:
        summary = one_line(asked.question.summary, most_chars=_SAID_CHARS)
        return self.tr("Muntin asks: {summary}. {allow} allows it, {deny} doesn’t.").format(
            summary=summary.rstrip("."), allow=key_name(Verdict.ALLOW), deny=key_name(Verdict.DENY)
        )
