"""Questions that calls put to the person, and what is always allowed in this chat. See context-windows.md, 14."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from app.domain.approvals import Question, Verdict
from app.domain.events import ApprovalAsked, ApprovalEnded, Emit
from app.session.state import SessionState


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was put to the person, and the answer once there is one; cancelled if it was withdrawn."""

    event: ApprovalAsked
    verdict: asyncio.Future[Verdict]

    @property
    def question(self) -> Question:
        return self.event.question


class Approvals:
    """Those of one chat. Lives on the engine's loop.

    Every question that is told has an end that is told: an answer, or that nobody waits for one any more.
    """

    def __init__(
        self, session: str, state: SessionState, *, emit: Emit, save_grants: Callable[[], Awaitable[None]]
    ) -> None:
        """`save_grants` tells and keeps what is always allowed. Raises StorageError."""
        self._session = session
        self._state = state
        self._emit = emit
        self._save_grants = save_grants
        self._waiting: dict[str, Asked] = {}

    def allows(self, question: Question) -> bool:
        """Whether the person has said that this is always allowed here."""
        return bool(question.scope) and question.scope in self._state.meta.grants

    def ask(self, row_id: str, call_id: str, name: str, arguments: Mapping[str, object], question: Question) -> Asked:
        """Put a question to the person; the answer is awaited in what is returned."""
        event = ApprovalAsked(self._session, row_id, call_id, name, arguments, question)
        asked = Asked(event, asyncio.get_running_loop().create_future())
        self._waiting[call_id] = asked
        self._emit(event)
        return asked

    def withdraw(self, asked: Asked) -> None:
        """Wait for no answer any more. Harmless if there is one."""
        if not asked.verdict.done():
            asked.verdict.cancel()
            self._end(asked)

    async def answer(self, event: ApprovalAsked, verdict: Verdict) -> None:
        """Take the person's answer to a question as it was asked; one that comes too late changes nothing.

        What is always allowed answers the other questions about the same too. Raises StorageError if that can't be
        kept beyond this opening of the chat; the call runs all the same.
        """
        asked = self._waiting.get(event.call_id)
        if asked is None or (asked.event.row_id, asked.question) != (event.row_id, event.question):
            # Another question of the same call, or a call of another reply: nobody has seen that one.
            return
        scope = asked.question.scope
        is_grant = verdict is Verdict.ALWAYS and bool(scope)
        if is_grant and scope not in self._state.meta.grants:
            self._state.meta.grants = (*self._state.meta.grants, scope)
        self._settle(asked, verdict)
        if is_grant:
            for other in [each for each in self._waiting.values() if each.question.scope == scope]:
                self._settle(other, Verdict.ALLOW)
            await self._save_grants()

    def _settle(self, asked: Asked, verdict: Verdict) -> None:
        asked.verdict.set_result(verdict)
        self._end(asked)

    def _end(self, asked: Asked) -> None:
        del self._waiting[asked.event.call_id]
        self._emit(ApprovalEnded(self._session, asked.event.row_id, asked.event.call_id))
