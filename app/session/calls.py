"""The calls of a reply: asked about, run and settled, each noted on disk before its tool starts.

See context-windows.md, 2, 12 and 14. Calls that only read and stand next to each other run side by side; any other runs
alone, in order.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Final

from app.aio import run_blocking, run_to_end
from app.domain.approvals import Question, Verdict
from app.domain.chats import TurnState
from app.domain.errors import StorageError
from app.domain.events import ToolEnded, ToolStarted
from app.domain.rows import Row
from app.domain.text import one_line
from app.history.blobs import Blobs, move_large_results
from app.history.partial import PartialFile
from app.session.admission import TurnPlan
from app.session.approvals import Asked
from app.session.stream import Call, Reply
from app.session.turn_env import TurnEnv
from app.tools.base import ToolContext
from app.tools.runner import CallResult, ToolRunner, shown_diff

MAX_AT_ONCE: Final = 8
"""Calls of one reply that run side by side."""
NOT_ALLOWED: Final = "The person did not allow this, so it was not done."
"""The result of a call that the person said no to."""
NO_OBJECT: Final = "The arguments of this call were no JSON object that can be read, so it was not run."
"""The result of a call that is torn although the reply is whole."""
_QUOTED_CHARS: Final = 200


async def run_calls(turn: TurnEnv, plan: TurnPlan, reply: Reply) -> None:
    """Settle every call of `reply`, whose stream has ended well.

    On cancellation the tools that run are cancelled; their calls and those behind them stay unsettled. So they do if a
    call can't be noted on disk before its tool starts: raises StorageError.
    """
    await _Run(turn, plan, reply).run()


class _Run:
    def __init__(self, turn: TurnEnv, plan: TurnPlan, reply: Reply) -> None:
        self._turn = turn
        self._plan = plan
        self._reply = reply
        self._runner = ToolRunner(plan.toolset.tools, reading=plan.toolset.reading)
        self._notes = _Notes(turn, reply)
        self._asked: dict[str, Asked] = {}

    async def run(self) -> None:
        for call in self._reply.calls:
            call.result = self._refusal(call)
        refused = [call for call in self._reply.calls if call.result is not None]
        due = [call for call in self._reply.calls if call.result is None]
        if due:
            self._turn.enter(TurnState.CALLING)
        await self._notes.save()
        for call in refused:
            self._tell_end(call)
        try:
            await self._ask_ahead(due)
            for group in self._groups([call for call in due if call.result is None]):
                if self._notes.is_due:
                    # What has come of the calls before is on disk before the next tool starts.
                    await self._notes.save()
                await self._settle(group)
        finally:
            for asked in self._asked.values():
                self._turn.approvals.withdraw(asked)

    def _refusal(self, call: Call) -> CallResult | None:
        """Return the result of a call that is never run, None for any other."""
        if call.input is None and self._runner.offers(call.name):
            came = one_line(call.written, most_chars=_QUOTED_CHARS)
            return CallResult("failed", f"{NO_OBJECT} What came: {came}" if came else NO_OBJECT)
        return self._runner.refusal(call.name, call.input or {})

    def _groups(self, due: Sequence[Call]) -> Iterator[list[Call]]:
        """Yield what runs side by side: neighbours that only read and need not be asked about, any other call alone."""
        for is_free, calls in groupby(due, key=self._is_free):
            if is_free:
                yield list(calls)
            else:
                yield from ([call] for call in calls)

    def _is_free(self, call: Call) -> bool:
        return call.call_id not in self._asked and self._runner.reads_only(call.name, call.input or {})

    async def _settle(self, group: Sequence[Call]) -> None:
        if len(group) == 1:
            await self._settle_one(group[0])
            return
        slots = asyncio.Semaphore(MAX_AT_ONCE)

        async def settle(call: Call) -> None:
            async with slots:
                await self._start(call)

        tasks = self._turn.env.tasks
        running = [tasks.spawn(settle(call), name=f"call of {self._turn.session}", watched=False) for call in group]
        # Waits for all of them, also once it was cancelled itself and they with it.
        for ended in await asyncio.gather(*running, return_exceptions=True):
            if isinstance(ended, BaseException):
                raise ended

    async def _settle_one(self, call: Call) -> None:
        allowed = await self._permission(call)
        if isinstance(allowed, CallResult):
            call.result = allowed
            await self._end(call)
        else:
            await self._start(call, approved=allowed)

    async def _start(self, call: Call, *, approved: Question | None = None) -> None:
        env = self._turn.env
        arguments = call.input or {}
        env.emit(ToolStarted(self._turn.session, self._reply.row_id, call.call_id, call.name, arguments))
        begun = env.clock.monotonic()
        result = await self._runner.run(call.name, arguments, replace(self._context(), approved=approved))
        call.result = replace(result, seconds=env.clock.monotonic() - begun)
        await self._end(call)

    async def _end(self, call: Call) -> None:
        """Put a result on disk, then tell it. A disk that refuses now is met again before the next tool starts."""
        with contextlib.suppress(StorageError):
            await self._notes.save()
        self._tell_end(call)

    def _tell_end(self, call: Call) -> None:
        if call.result is not None:
            result = call.result
            self._turn.env.emit(
                ToolEnded(
                    self._turn.session,
                    self._reply.row_id,
                    call.call_id,
                    call.name,
                    result.state,
                    result.output,
                    seconds=result.seconds,
                    diff=result.diff,
                )
            )

    # Questions

    async def _ask_ahead(self, due: Sequence[Call]) -> None:
        """Ask for all calls at once, so that the person sees what there is to decide."""
        for call in due:
            question = await self._question(call)
            if isinstance(question, CallResult):
                call.result = question
                await self._end(call)
            elif question is not None and not self._turn.approvals.allows(question):
                self._ask(call, question)

    async def _permission(self, call: Call) -> Question | CallResult | None:
        """Return what a call may do now that it is its turn, None if it need not ask, or why it may not.

        Calls before it may have changed what it is about: then the person is asked once more.
        """
        asked = self._asked.get(call.call_id)
        if asked is not None and _is_no(asked):
            return _denied(asked.question)
        question = await self._question(call)
        if not isinstance(question, Question) or self._turn.approvals.allows(question):
            if asked is not None:
                self._turn.approvals.withdraw(asked)
            return question
        if asked is None or asked.question != question:
            asked = self._ask(call, question)
        if not asked.verdict.done():
            self._turn.enter(TurnState.ASKING)
            await asyncio.wait({asked.verdict})
            self._turn.enter(TurnState.CALLING)
        return _denied(asked.question) if _is_no(asked) else asked.question

    async def _question(self, call: Call) -> Question | CallResult | None:
        return await self._runner.question(call.name, call.input or {}, self._context())

    def _ask(self, call: Call, question: Question) -> Asked:
        approvals = self._turn.approvals
        if (before := self._asked.get(call.call_id)) is not None:
            approvals.withdraw(before)
        asked = approvals.ask(self._reply.row_id, call.call_id, call.name, call.input or {}, question)
        self._asked[call.call_id] = asked
        return asked

    def _context(self) -> ToolContext:
        """Return what a call may know as things are now: a folder that is gone from the chat is gone for it too."""
        card, state, folder = self._plan.card, self._turn.state, self._plan.terms.folder
        return ToolContext(
            self._turn.session,
            card.limit,
            encoding=card.encoding,
            factor=card.factor,
            folder=Path(folder) if folder and folder == state.meta.folder else None,
            window=state.window_name,
        )


class _Notes:
    """Puts the reply as it is into `partial.json`, one save at a time, the newest state last."""

    def __init__(self, turn: TurnEnv, reply: Reply) -> None:
        self._turn = turn
        self._reply = reply
        self._saving = asyncio.Lock()
        self._wanted = 0
        self._saved = 0

    @property
    def is_due(self) -> bool:
        """Whether something is not on disk that was to be there."""
        return self._saved < self._wanted

    async def save(self) -> None:
        """Put on disk which calls are settled and which are pending. Raises StorageError."""
        self._wanted += 1
        mine = self._wanted
        async with self._saving:
            if self._saved >= mine:
                # The save that was waited for began when this was known already.
                return
            newest = self._wanted
            turn, row = self._turn, self._reply.unfinished_row()
            saving = run_blocking(_save, turn.partial, turn.store.blobs, row)
            await run_to_end(saving, turn.env.tasks, name=f"calls of {turn.session}")
            self._saved = newest


def _save(partial: PartialFile, blobs: Blobs, row: Row) -> None:
    # Every result that follows saves the row again: what is large goes to its place once.
    partial.save(move_large_results(row, blobs))


def _is_no(asked: Asked) -> bool:
    return asked.verdict.done() and not asked.verdict.cancelled() and asked.verdict.result() is Verdict.DENY


def _denied(question: Question) -> CallResult:
    return CallResult("denied", NOT_ALLOWED, diff=shown_diff(question.diff))
