import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from app.aio import TaskSet
from app.domain.chats import TurnState
from app.domain.events import (
    Event,
    QueueChanged,
    ReplyDelta,
    RowsAppended,
    SessionEvent,
    StateChanged,
    VersionsChanged,
)
from app.domain.queue import Pause, QueuedMessage, When
from app.domain.rows import Row
from app.domain.versions import Versions
from app.history.files import ChatFiles
from app.history.library import Library
from app.history.reader import HistoryReader, RowEntry
from app.history.sidecars import Queue, read_sidecar
from app.providers.registry import Registry
from app.session.env import SessionEnv
from app.session.inputs import (
    Accepted,
    EditMessage,
    Outcome,
    QueueChange,
    Regenerate,
    ResetContext,
    ResumeTurn,
    SwitchVersion,
    UserInput,
)
from app.settings.schema import Settings
from app.tools.base import Tool
from tests.fakes.clock import FakeClock, counting_ids
from tests.fakes.connections import make_manager
from tests.fakes.scripted import ScriptedProvider

MODEL = "scripted/model"
E = TypeVar("E", bound=SessionEvent)


@dataclass
class Program:
    """Everything below the interface, on real files."""

    root: Path
    provider: ScriptedProvider = field(default_factory=ScriptedProvider)
    clock: FakeClock = field(default_factory=FakeClock)
    events: list[Event] = field(default_factory=list)
    failures: list[tuple[str, BaseException]] = field(default_factory=list)
    new_id: Callable[[], str] = field(default_factory=counting_ids)
    settings: Settings = field(default_factory=Settings)
    tools: list[Tool] = field(default_factory=list)
    """Those of every chat that is opened from now on."""

    def __post_init__(self) -> None:
        self.tasks = TaskSet(lambda name, error: self.failures.append((name, error)))
        self.library = Library(self.root, new_id=self.new_id)
        self.manager = make_manager(self.env(), self.library, [self.provider])

    def env(self) -> SessionEnv:
        return SessionEnv(
            providers=Registry(),
            emit=self.events.append,
            clock=self.clock,
            new_id=self.new_id,
            tasks=self.tasks,
            random=lambda: 0.0,
            make_tools=lambda _files, _session: tuple(self.tools),
            settings=lambda: self.settings,
        )

    async def new_chat(self) -> "Chat":
        summary = await self.manager.create_chat(MODEL)
        await self.manager.open_chat(summary.id)
        return Chat(self, summary.id)

    async def restart(self) -> None:
        """Close as quitting does, and start again."""
        await self.manager.close()
        self.manager = make_manager(self.env(), self.library, [self.provider])


@dataclass
class Chat:
    """One chat as a person uses it."""

    program: Program
    session: str

    @property
    def files(self) -> ChatFiles:
        return ChatFiles(self.program.root / "sessions" / self.session)

    async def send(self, text: str) -> Outcome:
        return await self.program.manager.send(self.session, UserInput(self.program.new_id(), text))

    async def resume(self) -> Outcome:
        return await self.program.manager.send(self.session, ResumeTurn())

    async def reset(self) -> Outcome:
        outcome = await self.program.manager.send(self.session, ResetContext())
        await self.idle()
        return outcome

    async def queue(self, text: str, when: When = When.AFTER_TURN) -> str:
        """Let a message wait, or send it; return its id."""
        message = UserInput(self.program.new_id(), text)
        assert isinstance(await self.program.manager.enqueue(self.session, message, when), Accepted)
        return message.id

    async def change_queue(self, change: QueueChange) -> QueuedMessage | None:
        return await self.program.manager.change_queue(self.session, change)

    @property
    def waiting(self) -> list[str]:
        """The texts that wait, as they were told last."""
        views = [event.queue for event in self.events(QueueChanged)]
        return [message.text for message in views[-1].messages] if views else []

    @property
    def pause(self) -> Pause | None:
        views = [event.queue for event in self.events(QueueChanged)]
        return views[-1].pause if views else None

    def queued_on_disk(self) -> list[str]:
        found = read_sidecar(self.files.queue, Queue, may_repair=False)
        return [entry.text for entry in found.messages] if found is not None else []

    async def edit(self, row_id: str, text: str) -> Outcome:
        outcome = await self.program.manager.send(
            self.session, EditMessage(row_id, UserInput(self.program.new_id(), text))
        )
        await self.idle()
        return outcome

    async def regenerate(self, row_id: str) -> Outcome:
        outcome = await self.program.manager.send(self.session, Regenerate(row_id))
        await self.idle()
        return outcome

    async def switch(self, after: str, branch: str) -> Outcome:
        outcome = await self.program.manager.send(self.session, SwitchVersion(after, branch))
        await self.idle()
        return outcome

    @property
    def versions(self) -> tuple[Versions, ...]:
        told = self.events(VersionsChanged)
        return told[-1].versions if told else ()

    async def say(self, text: str) -> Outcome:
        outcome = await self.send(text)
        await self.idle()
        return outcome

    async def stop(self) -> None:
        await self.program.manager.stop(self.session)
        await self.idle()

    async def idle(self) -> None:
        """Wait for the end of the turn, and of what moves to the archive behind it."""
        await until(lambda: self.state is TurnState.IDLE)
        await until(lambda: not any(task.get_name().startswith("archive") for task in asyncio.all_tasks()))

    @property
    def state(self) -> TurnState:
        states = [event.state for event in self.events(StateChanged)]
        return states[-1] if states else TurnState.IDLE

    def events(self, kind: type[E]) -> list[E]:
        return [event for event in self.program.events if isinstance(event, kind) and event.session == self.session]

    def rows(self) -> list[Row]:
        entries = HistoryReader(self.files).entries_forward()
        return [entry.row for entry in entries if isinstance(entry, RowEntry)]

    def texts(self) -> list[str]:
        return [row.text for row in self.rows()]

    def streamed(self) -> str:
        return "".join(event.text for event in self.events(ReplyDelta))

    def told_rows(self) -> list[Row]:
        return [row for event in self.events(RowsAppended) for row in event.rows]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, at most 20 s: a vendor's library loads slowly on a busy machine."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - the condition may be a file
            await asyncio.sleep(0.001)


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    made = Program(tmp_path / "data")
    yield made
    await made.manager.close()
    await until(lambda: len(made.tasks) == 0)
    assert made.failures == []
