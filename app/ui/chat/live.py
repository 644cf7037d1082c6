"""Replies that are being written, in all chats, as the interface has heard of them.

The interface hears every event, so a chat that is opened in mid-reply shows what came before.
"""

import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from app.domain.chats import TurnState
from app.domain.events import (
    AnswerDelayed,
    ApprovalAsked,
    ApprovalEnded,
    ReplyDelta,
    ReplyDropped,
    ReplyStarted,
    RetryScheduled,
    RowsAppended,
    SessionEvent,
    StateChanged,
    ToolEnded,
    ToolStarted,
)
from app.ui.chat.items import CallState, Section, SectionKind, ToolCall

_CALL_STATES: Final[dict[str, CallState]] = {
    "pending": "running",
    "done": "done",
    "failed": "failed",
    "interrupted": "interrupted",
    "denied": "denied",
}


@dataclass(slots=True)
class _Stretch:
    """Text of one kind, or a call and when it began."""

    kind: SectionKind
    chunks: list[str] = field(default_factory=list)
    tool: ToolCall | None = None
    began: float = 0.0


@dataclass(slots=True)
class LiveReply:
    """A reply as far as it was heard."""

    row_id: str
    model: str
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    stretches: list[_Stretch] = field(default_factory=list)

    def add(self, kind: SectionKind, text: str) -> None:
        """Add text to the last stretch if it is of `kind`, to a new one otherwise."""
        if not self.stretches or self.stretches[-1].kind != kind:
            self.stretches.append(_Stretch(kind))
        self.stretches[-1].chunks.append(text)

    def start_call(self, event: ToolStarted) -> None:
        """Show that a call runs; one that nobody asked about is added."""
        stretch, tool = self._call(event.call_id, event.name)
        stretch.began = time.monotonic()
        stretch.tool = replace(tool, state="running", arguments=event.arguments, question=None)

    def ask(self, event: ApprovalAsked) -> None:
        """Show that a call waits for the person's answer."""
        stretch, tool = self._call(event.call_id, event.name)
        question = event.question
        stretch.tool = replace(
            tool, state="asking", arguments=event.arguments, question=question, diff=question.diff or tool.diff
        )

    def end_question(self, event: ApprovalEnded) -> None:
        """Show that a call's question is answered; what becomes of the call is told next."""
        stretch = self._find(event.call_id)
        if stretch is not None and stretch.tool is not None and stretch.tool.state == "asking":
            state: CallState = "running" if stretch.began else "waiting"
            stretch.tool = replace(stretch.tool, state=state, question=None)

    def end_call(self, event: ToolEnded) -> None:
        """Note what became of a call; one that never ran is added."""
        stretch, tool = self._call(event.call_id, event.name)
        seconds = event.seconds
        if seconds is None and stretch.began:
            seconds = time.monotonic() - stretch.began
        stretch.tool = replace(
            tool,
            state=_CALL_STATES[event.state],
            output=event.output,
            seconds=seconds,
            diff=event.diff or tool.diff,
            question=None,
        )

    def sections(self) -> tuple[Section, ...]:
        """Return what was heard as sections of an item."""
        return tuple(Section(each.kind, "".join(each.chunks), each.tool) for each in self.stretches)

    def _find(self, call_id: str) -> _Stretch | None:
        calls = (each for each in reversed(self.stretches) if each.tool is not None)
        return next((each for each in calls if each.tool is not None and each.tool.call_id == call_id), None)

    def _call(self, call_id: str, name: str) -> tuple[_Stretch, ToolCall]:
        """Return a call and the stretch it is, made if nothing was heard of it yet."""
        stretch = self._find(call_id)
        if stretch is not None and stretch.tool is not None:
            return stretch, stretch.tool
        tool = ToolCall(call_id, name, state="waiting")
        stretch = _Stretch("tool", tool=tool)
        self.stretches.append(stretch)
        return stretch, tool


class LiveReplies:
    """What every chat is doing, kept up by `hear`."""

    def __init__(self) -> None:
        self._replies: dict[str, LiveReply] = {}
        self._states: dict[str, TurnState] = {}
        self._quiet: dict[str, int] = {}
        self._retries: dict[str, tuple[RetryScheduled, float]] = {}
        self._questions: dict[str, dict[str, ApprovalAsked]] = {}

    def hear(self, event: SessionEvent) -> None:
        """Take note of an event of any chat."""
        match event:
            case StateChanged():
                self._states[event.session] = event.state
                if not event.state.is_active:
                    self._replies.pop(event.session, None)
                    self._retries.pop(event.session, None)
                    self._quiet.pop(event.session, None)
                    self._questions.pop(event.session, None)
            case RetryScheduled():
                self._retries[event.session] = (event, time.monotonic() + event.delay_seconds)
            case ReplyStarted():
                self._retries.pop(event.session, None)
                self._quiet.pop(event.session, None)
                self._replies[event.session] = LiveReply(event.row_id, event.model)
            case AnswerDelayed():
                self._quiet[event.session] = event.seconds
            case ApprovalAsked() | ApprovalEnded():
                self._note_question(event)
                self._add(event)
            case ReplyDelta() | ToolStarted() | ToolEnded():
                self._add(event)
            case ReplyDropped():
                self._forget(event.session, event.row_id)
            case RowsAppended():
                for row in event.rows:
                    self._forget(event.session, row.id)
            case _:
                pass

    def reply(self, session: str) -> LiveReply | None:
        """Return the running reply of a chat."""
        return self._replies.get(session)

    def retry(self, session: str) -> RetryScheduled | None:
        """Return what a chat waits for, with the time that is left of it."""
        found = self._retries.get(session)
        if found is None:
            return None
        return replace(found[0], delay_seconds=max(0.0, found[1] - time.monotonic()))

    def quiet_seconds(self, session: str) -> int | None:
        """Return for how long nothing has come in a chat, None if that is not worth telling."""
        return self._quiet.get(session)

    def state(self, session: str) -> TurnState | None:
        """Return what a chat is doing, None if nothing was heard of it."""
        return self._states.get(session)

    def questions(self, session: str) -> tuple[ApprovalAsked, ...]:
        """Return what waits for the person's answer in a chat, in the order it was asked."""
        return tuple(self._questions.get(session, {}).values())

    def streaming(self) -> list[str]:
        """Return the chats in which a turn is running."""
        return [session for session, state in self._states.items() if state.is_active]

    def _note_question(self, event: ApprovalAsked | ApprovalEnded) -> None:
        questions = self._questions.setdefault(event.session, {})
        if isinstance(event, ApprovalAsked):
            questions[event.call_id] = event
        else:
            questions.pop(event.call_id, None)

    def _add(self, event: ReplyDelta | ToolStarted | ToolEnded | ApprovalAsked | ApprovalEnded) -> None:
        self._quiet.pop(event.session, None)
        reply = self._replies.get(event.session)
        if reply is None or reply.row_id != event.row_id:
            return
        match event:
            case ReplyDelta():
                reply.add(event.kind, event.text)
            case ToolStarted():
                reply.start_call(event)
            case ToolEnded():
                reply.end_call(event)
            case ApprovalAsked():
                reply.ask(event)
            case ApprovalEnded():
                reply.end_question(event)

    def _forget(self, session: str, row_id: str) -> None:
        reply = self._replies.get(session)
        if reply is not None and reply.row_id == row_id:
            del self._replies[session]
