"""A process that calls tools for ever and is killed in the midst of it.

Each run of a tool is one line of `ran.txt`, written before it does anything else; each call has a number of its own.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random

from app.aio import SystemClock, TaskSet
from app.domain.events import Event, StateChanged
from app.domain.ids import new_id
from app.domain.models import ModelCard
from app.domain.request import ModelRequest, ToolSpec
from app.domain.rows import ToolPart
from app.history.library import Library
from app.providers.base import Piece, StopPiece, StopReason, TextPiece, ToolEndPiece, ToolStartPiece
from app.providers.registry import Registry
from app.session.env import SessionEnv
from app.session.inputs import ResumeTurn, UserInput
from app.session.manager import SessionManager
from app.tools.base import ToolContext, ToolOutcome
from tests.fakes.connections import make_manager

MODEL = "calling/model"
RAN = "ran.txt"
_ANSWER_EVERY = 4
"""One reply in so many makes no calls."""


class CallingProvider:
    """Makes one to three calls a reply, each with a new number; now and then it answers in words."""

    name = "calling"

    def __init__(self, random: Random) -> None:
        self._random = random
        self.requests = 0

    def models(self) -> tuple[ModelCard, ...]:
        return (ModelCard(id="model", provider="calling", name="Calling", limit=None, max_output=None),)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        self.requests += 1
        assert all(
            part.state != "pending" and part.output is not None
            for row in request.rows
            for part in row.parts
            if isinstance(part, ToolPart)
        )
        yield TextPiece("See: ")
        if not request.tools or self._random.randrange(_ANSWER_EVERY) == 0:
            yield StopPiece(StopReason.END)
            return
        for number in range(self._random.randint(1, 3)):
            yield ToolStartPiece(f"c{number}", "mark")
            yield ToolEndPiece(f"c{number}", {"token": new_id()})
        yield StopPiece(StopReason.TOOL_USE)


class MarkingTool:
    """Leaves a mark that outlives the process, then takes its time."""

    spec = ToolSpec("mark", "Leaves a mark.", {"type": "object", "properties": {}})

    def __init__(self, root: Path, random: Random) -> None:
        self._path = root / RAN
        self._random = random

    def reads_only(self, arguments: Mapping[str, object]) -> bool:
        return False

    async def question(self, arguments: Mapping[str, object], context: ToolContext) -> None:
        return None

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{arguments['token']}\n".encode())
        os.close(descriptor)
        await asyncio.sleep(self._random.random() / 50)
        return ToolOutcome(f"marked {arguments['token']} in {context.session}")


class Caller:
    """One chat that goes on with its turn, or begins a new one, whenever it is idle."""

    def __init__(self, root: Path, random: Random, *, has_tools: bool = True) -> None:
        self._idle = asyncio.Event()
        self._tasks = TaskSet(_report)
        self.provider = CallingProvider(random)
        env = SessionEnv(
            providers=Registry(),
            emit=self._hear,
            clock=SystemClock(),
            new_id=new_id,
            tasks=self._tasks,
            random=random.random,
            make_tools=lambda _files, _session: (MarkingTool(root, random),) if has_tools else (),
        )
        self._library = Library(root)
        self.manager: SessionManager = make_manager(env, self._library, [self.provider])

    async def open(self) -> str:
        """Open the chat there is, or make it; return its id."""
        chats = await self.manager.list_chats()
        session = chats[0].id if chats else (await self.manager.create_chat(MODEL)).id
        await self.manager.open_chat(session)
        return session

    async def run(self) -> None:
        """Work until the process is killed."""
        session = await self.open()
        os.write(1, b"working\n")
        while True:
            self._idle.clear()
            await self.manager.send(session, ResumeTurn())
            await self._idle.wait()
            self._idle.clear()
            await self.manager.send(session, UserInput(new_id(), "mark something"))
            await self._idle.wait()

    def _hear(self, event: Event) -> None:
        if isinstance(event, StateChanged) and not event.state.is_active:
            self._idle.set()


def _report(name: str, error: BaseException) -> None:
    os.write(2, f"{name}: {error!r}\n".encode())
    os._exit(3)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(Caller(Path(sys.argv[1]), Random(int(sys.argv[2]))).run())
