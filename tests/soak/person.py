"""A process in which a person does to one chat whatever can be done to it, until it is killed.

Tells what is asked and what is acknowledged, a line of JSON each, written with one system call; see `ledger.py`.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final, TypeVar

from app.aio import SystemClock, TaskSet
from app.domain.approvals import Verdict
from app.domain.events import ApprovalAsked, Event, QueueChanged, RowsAppended
from app.domain.ids import new_id
from app.domain.queue import QueuedMessage, When
from app.domain.request import ModelRequest
from app.domain.rows import Row, ToolPart
from app.history.files import ChatFiles
from app.history.library import Library
from app.providers.registry import Registry
from app.session.env import SessionEnv
from app.session.inputs import (
    Accepted,
    DraftContent,
    EditMessage,
    EditQueued,
    GoOnWithQueue,
    MoveQueued,
    Outcome,
    QueueChange,
    Regenerate,
    RemoveQueued,
    ResetContext,
    ResumeTurn,
    SendQueuedNow,
    SwitchVersion,
    UserInput,
)
from app.session.manager import SessionManager
from app.session.state import rows_of
from tests.fakes.connections import make_manager
from tests.fakes.told import texts_of, told_on_disk
from tests.soak.calling import CallingProvider, make_marking_tools

T = TypeVar("T")
AT_ONCE: Final = 3
"""Things that are under way at the same time at most: a person is quicker than a disk."""


def tell(**what: object) -> None:
    """Put one line on standard output, whole or not at all."""
    os.write(1, json.dumps(what).encode() + b"\n")


class Person:
    """Someone in a hurry. Nothing is asked twice, and what is under way is not touched."""

    def __init__(self, root: Path, random: Random) -> None:
        self._random = random
        self._tasks = TaskSet(lambda name, error: tell(wrong=f"{name} failed: {error!r}"))
        self._touched: set[str] = set()
        self._files: ChatFiles
        self._session = ""
        self._library = Library(root)
        env = SessionEnv(
            providers=Registry(),
            emit=self._hear,
            clock=SystemClock(),
            new_id=new_id,
            tasks=self._tasks,
            random=random.random,
            make_tools=lambda _files, _session: make_marking_tools(root, random),
        )
        self._manager: SessionManager = make_manager(env, self._library, [CallingProvider(random, self._check)])

    async def live(self) -> None:
        """Open the chat and work in it until the process is killed."""
        (self._session,) = (chat.id for chat in await self._manager.list_chats())
        self._files = self._library.files(self._session)
        await self._manager.open_chat(self._session)
        tell(reached="working")
        deeds: list[tuple[Callable[[], Awaitable[object]], int]] = [
            (self._send, 8),
            (self._queue, 5),
            (self._change_queue, 6),
            (self._stop, 3),
            (lambda: self._manager.change_queue(self._session, GoOnWithQueue()), 7),
            (lambda: self._manager.send(self._session, ResumeTurn()), 4),
            (self._edit, 4),
            (self._regenerate, 3),
            (self._switch, 4),
            (self._draft, 3),
            (lambda: self._manager.revoke_grants(self._session), 2),
            (lambda: self._manager.send(self._session, ResetContext()), 1),
        ]
        under_way: set[asyncio.Task[object]] = set()
        while True:
            (deed,) = self._random.choices([deed for deed, _ in deeds], [weight for _, weight in deeds])
            under_way.add(self._tasks.spawn(_await(deed()), name="deed"))
            await asyncio.sleep(self._random.choice((0, 0.003, 0.01, 0.03)))
            while len(under_way) >= AT_ONCE:
                _, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)

    # What is heard

    def _hear(self, event: Event) -> None:
        match event:
            case RowsAppended(rows=rows):
                tell(rows=[row.id for row in rows])
            case QueueChanged(queue=queue):
                tell(queue=[message.id for message in queue.messages])
            case ApprovalAsked():
                tell(question=event.arguments["token"])
                self._tasks.spawn(self._answer(event), name="answer")
            case _:
                pass

    def _check(self, request: ModelRequest) -> None:
        """Look whether a model is sent what the disk holds, all of it, and no call without its result."""
        if texts_of(request.rows) != told_on_disk(self._files):
            tell(wrong="a model was sent something else than the history says")
        for part in (part for row in request.rows for part in row.parts if isinstance(part, ToolPart)):
            if part.state == "pending" or part.output is None:
                tell(wrong=f"a model was sent a call without a result: {part.state}")

    async def _answer(self, asked: ApprovalAsked) -> None:
        await asyncio.sleep(self._random.choice((0, 0.005, 0.02)))
        verdict = self._random.choice((Verdict.ALLOW, Verdict.ALLOW, Verdict.ALWAYS, Verdict.DENY, None))
        if verdict is not None:
            if verdict is not Verdict.DENY:
                tell(allows=asked.arguments["token"], always=verdict is Verdict.ALWAYS)
            await self._manager.answer(asked, verdict)

    # What is done

    async def _send(self) -> None:
        await self._say(lambda message: self._manager.send(self._session, message))

    async def _queue(self) -> None:
        when = self._random.choice(list(When))
        await self._say(lambda message: self._manager.enqueue(self._session, message, when))

    async def _say(self, ask: Callable[[UserInput], Awaitable[Outcome]]) -> None:
        message = UserInput(new_id(), self._text())
        self._touched.add(message.id)
        tell(asks=message.id, text=message.text)
        outcome = await ask(message)
        if isinstance(outcome, Accepted):
            tell(accepted=message.id)
        else:
            tell(refused=message.id, reason=outcome.reason)
        self._touched.discard(message.id)

    async def _change_queue(self) -> None:
        opened = await self._manager.open_chat(self._session)
        message = self._pick([each for each in opened.queue.messages if each.id not in self._touched])
        if message is None:
            return
        change = self._change_of(message)
        self._touched.add(message.id)
        tell(changes=message.id, how=type(change).__name__, text=getattr(change, "text", None))
        found = await self._manager.change_queue(self._session, change)
        tell(changed=message.id, done=found is not None)
        self._touched.discard(message.id)

    def _change_of(self, message: QueuedMessage) -> QueueChange:
        match self._random.randrange(4):
            case 0:
                return RemoveQueued(message.id)
            case 1:
                return EditQueued(message.id, text=self._text(), when=self._random.choice(list(When)))
            case 2:
                return MoveQueued(message.id, self._random.randrange(4))
            case _:
                return SendQueuedNow(message.id)

    async def _stop(self) -> None:
        await self._manager.stop(self._session)

    async def _edit(self) -> None:
        if row := self._pick(await self._rows("user")):
            await self._say(lambda message: self._manager.send(self._session, EditMessage(row.id, message)))

    async def _regenerate(self) -> None:
        if row := self._pick(await self._rows("assistant")):
            await self._manager.send(self._session, Regenerate(row.id))

    async def _switch(self) -> None:
        opened = await self._manager.open_chat(self._session)
        if versions := self._pick(opened.versions):
            branch = self._random.choice([branch for branch in versions.ids if branch])
            await self._manager.send(self._session, SwitchVersion(versions.after, branch))

    async def _draft(self) -> None:
        text = self._text()
        tell(drafts=text)
        await self._manager.save_draft(self._session, DraftContent(text))
        tell(drafted=text)

    async def _rows(self, role: str) -> list[Row]:
        """Return the newest rows of a role: editing far back would keep the chat short."""
        opened = await self._manager.open_chat(self._session)
        return [row for row in rows_of(opened.page.entries) if row.role == role][-3:]

    def _pick(self, values: Sequence[T]) -> T | None:
        return self._random.choice(values) if values else None

    def _text(self) -> str:
        return f"{self._random.choice(('mark', 'look', 'wait'))} {new_id()}"


async def _await(deed: Awaitable[object]) -> object:
    return await deed


def main() -> None:
    with suppress(KeyboardInterrupt):
        asyncio.run(Person(Path(sys.argv[1]), Random(int(sys.argv[2]))).live())


if __name__ == "__main__":
    main()
