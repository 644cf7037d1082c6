"""Everything a person can do to a chat, in any order, with crashes between: nothing is lost, nothing is said twice.

The far end answers, calls tools, fails, breaks off and stalls. A crash leaves the files as they are between two
operations of the disk; what a kill leaves within one is tested at the store and by `make soak`.
"""

import asyncio
import itertools
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from app.domain.chats import TurnState
from app.domain.errors import ErrorKind, ProviderError
from app.domain.events import QueueChanged, StateChanged
from app.domain.queue import QueuedMessage, When
from app.domain.request import ModelRequest
from app.domain.rows import Flag, Row, ToolPart
from app.history.codec import decode_line
from app.history.reader import HistoryReader, RowEntry
from app.history.sidecars import Queue, read_sidecar
from app.providers.base import Piece, TextPiece
from app.session.inputs import (
    Accepted,
    EditMessage,
    EditQueued,
    GoOnWithQueue,
    Input,
    MoveQueued,
    QueueChange,
    Regenerate,
    RemoveQueued,
    ResetContext,
    ResumeTurn,
    SendQueuedNow,
    SwitchVersion,
    UserInput,
)
from app.tools.base import ToolContext, ToolOutcome
from tests.fakes.frozen import CountingPool, run_a_little
from tests.fakes.scripted import Hold, Script, ScriptedProvider, ScriptedTool, calls, reply
from tests.fakes.told import Told, texts_of, told_on_disk
from tests.unit.session.conftest import MODEL, Program

KINDS: Final = ("reply", "reply", "calls", "calls", "two calls", "fails", "breaks off", "stalls", "tool stalls")
_FEW: Final = st.integers(0, 40)


class Stall(Hold):
    """A place to wait at that knows whether anybody does."""

    def __init__(self) -> None:
        super().__init__()
        self.is_waited_at = False

    async def wait(self) -> None:
        self.is_waited_at = True
        try:
            await super().wait()
        finally:
            self.is_waited_at = False


class World:
    """What outlives a crash: the far end, and what tools have done."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.kinds: list[str] = []
        self.numbers = itertools.count(1)
        self.holds: list[Stall] = []

    def hold(self) -> Stall:
        self.holds.append(Stall())
        return self.holds[-1]

    @property
    def is_held(self) -> bool:
        return any(hold.is_waited_at for hold in self.holds)

    def let_go(self) -> None:
        for hold in self.holds:
            hold.release()
        self.holds.clear()


class FarEnd(ScriptedProvider):
    """Answers each request as it was told to, and looks whether the request is what the disk says."""

    def __init__(self, world: World, told: Callable[[], list[Told]]) -> None:
        super().__init__()
        self._world = world
        self._told = told

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        assert texts_of(request.rows) == self._told(), "a model is sent what the history says, and all of it"
        for row in request.rows:
            for part in row.parts:
                assert not isinstance(part, ToolPart) or part.state != "pending", "each call has a result"
        self.scripts = [self._script()]
        async for piece in super().stream(request):
            yield piece

    def _script(self) -> Script:
        number = next(self._world.numbers)
        kind = self._world.kinds.pop(0) if self._world.kinds else "reply"
        token: dict[str, object] = {"token": f"t{number}"}
        match kind:
            case "calls" | "tool stalls":
                name = "mark" if kind == "calls" else "stall"
                return calls((name, token), text=f"call {number}")
            case "two calls":
                return calls(("mark", token), ("look", {}), ("mark", {"token": f"u{number}"}))
            case "fails":
                return [ProviderError(ErrorKind.AUTHENTICATION)]
            case "breaks off":
                return [TextPiece(f"broken {number}"), ProviderError(ErrorKind.NETWORK)]
            case "stalls":
                return [TextPiece(f"stalled {number}"), self._world.hold(), *reply(" on")]
            case _:
                return reply(f"answer {number}")


class Mark(ScriptedTool):
    """Leaves a mark in the world that no crash takes back."""

    def __init__(self, world: World, name: str) -> None:
        super().__init__(name)
        self._world = world

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        self._world.ran.append(str(arguments["token"]))
        if self.name == "stall":
            await self._world.hold().wait()
        return ToolOutcome(f"marked {arguments['token']}")


class Chatting(RuleBasedStateMachine):
    """One chat, and a person who does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.pool = CountingPool()
        self.loop.set_default_executor(self.pool)
        self.folder = Path(tempfile.mkdtemp(prefix="muntin-machine-"))
        self.lives = itertools.count(1)
        self.ids = (f"m{number}" for number in itertools.count(1))
        self.world = World()
        self.said: dict[str, str] = {}
        self.sent: list[str] = []
        self.program: Program

    @initialize()
    def begin(self) -> None:
        self.program = self._program(self.folder / "life0")
        summary = self._do(self.program.manager.create_chat(MODEL))
        self.session = summary.id
        self._open()

    # What the person does

    @rule(kinds=st.lists(st.sampled_from(KINDS), max_size=3), text=st.sampled_from(["hello", "go on", "wait"]))
    def send(self, kinds: list[str], text: str) -> None:
        self.world.kinds = kinds
        self._say(lambda message: self.program.manager.send(self.session, message), text)

    @rule(when=st.sampled_from(When), kinds=st.lists(st.sampled_from(KINDS), max_size=2))
    def queue(self, when: When, kinds: list[str]) -> None:
        self.world.kinds += kinds
        self._say(lambda message: self.program.manager.enqueue(self.session, message, when), "queued")

    @rule(which=_FEW, place=_FEW)
    def move_queued(self, which: int, place: int) -> None:
        self._change_queue(which, lambda message: MoveQueued(message.id, place % 4))

    @rule(which=_FEW, when=st.sampled_from(When))
    def edit_queued(self, which: int, when: When) -> None:
        if message := self._change_queue(which, lambda message: EditQueued(message.id, text="changed", when=when)):
            self.said[message.id] = "changed"

    @rule(which=_FEW)
    def remove_queued(self, which: int) -> None:
        if message := self._change_queue(which, lambda message: RemoveQueued(message.id)):
            self.said.pop(message.id, None)

    @rule(which=_FEW)
    def send_queued_now(self, which: int) -> None:
        self._change_queue(which, lambda message: SendQueuedNow(message.id))

    @rule()
    def go_on_with_queue(self) -> None:
        self._do(self.program.manager.change_queue(self.session, GoOnWithQueue()))

    @rule()
    def stop(self) -> None:
        self._do(self.program.manager.stop(self.session))

    @rule()
    def let_go(self) -> None:
        self.world.let_go()
        self._settle()

    @rule(kinds=st.lists(st.sampled_from(KINDS), max_size=2))
    def resume(self, kinds: list[str]) -> None:
        self.world.kinds = kinds
        self._ask(ResumeTurn())

    @rule(which=_FEW, kinds=st.lists(st.sampled_from(KINDS), max_size=2))
    def edit(self, which: int, kinds: list[str]) -> None:
        self.world.kinds = kinds
        if row := _pick([row for row in self._rows() if row.role == "user"], which):
            self._say(lambda message: self.program.manager.send(self.session, EditMessage(row.id, message)), "edited")

    @rule(which=_FEW, kinds=st.lists(st.sampled_from(KINDS), max_size=2))
    def regenerate(self, which: int, kinds: list[str]) -> None:
        self.world.kinds = kinds
        if row := _pick([row for row in self._rows() if row.role == "assistant"], which):
            self._ask(Regenerate(row.id))

    @rule(which=_FEW, version=_FEW)
    def switch(self, which: int, version: int) -> None:
        opened = self._do(self.program.manager.open_chat(self.session))
        if versions := _pick(opened.versions, which):
            branch = _pick([branch for branch in versions.ids if branch], version)
            assert branch is not None
            self._ask(SwitchVersion(versions.after, branch))

    @rule()
    def reset(self) -> None:
        self._ask(ResetContext())

    @rule(which=_FEW)
    def fork(self, which: int) -> None:
        before = self._rows()
        if row := _pick([row for row in before if row.boundary is None and Flag.HIDDEN not in row.flags], which):
            forked = self._do(self.program.manager.branch_chat(self.session, f"m:{row.id}"))
            # A fork of what lies above the floor brings a floor of its own.
            texts = [each.text for each in _rows_of(self.program, forked.id) if each.boundary is None]
            assert texts == [each.text for each in before[: before.index(row) + 1] if each.boundary is None]

    @rule()
    def restart(self) -> None:
        self._do(self.program.manager.close(), settles=False)
        self._begin_again(self.program.root)

    @rule(turns=st.integers(0, 60), kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=2), waits=st.booleans())
    def crash(self, turns: int, kinds: list[str], *, waits: bool) -> None:
        """Kill it a little after it was asked something, or once that has come to rest or stalls."""
        self.world.kinds = kinds
        message = UserInput(next(self.ids), "last words")
        asked = self.loop.create_task(self.program.manager.enqueue(self.session, message, When.AFTER_STEP))
        if waits:
            self.loop.run_until_complete(asyncio.wait_for(asyncio.shield(asked), 20))
            self._settle()
        else:
            self.loop.run_until_complete(run_a_little(turns))
        self.pool.wait_until_idle()
        root = self.folder / f"life{next(self.lives)}"
        shutil.copytree(self.program.root, root)
        # What is acknowledged from here on was never shown to anybody.
        if asked.done() and isinstance(asked.result(), Accepted):
            self.said[message.id] = message.text
        self._kill()
        self._begin_again(root)

    # What must hold whenever nothing moves

    @invariant()
    def nothing_is_lost_or_said_twice(self) -> None:
        rows = self._rows()
        ids = [row.id for row in rows]
        assert len(ids) == len(set(ids))
        numbers = [row.seq or 0 for row in rows]
        assert numbers == sorted(set(numbers))
        places = [("chat", row_id) for row_id in ids]
        places += [("branch", row.id) for branch in self._branches() for row in branch]
        places += [("queue", message.id) for message in self._queued()]
        for message_id, text in self.said.items():
            found = [place for place, each in places if each == message_id]
            assert len(found) == 1, f"“{text}” ({message_id}) is in {found or 'no place'}"

    @invariant()
    def no_call_runs_twice_and_each_has_an_end(self) -> None:
        assert max(Counter(self.world.ran).values(), default=1) == 1
        for row in itertools.chain(self._rows(), *self._branches()):
            for part in row.parts:
                if isinstance(part, ToolPart):
                    assert part.state != "pending"
                    if part.state == "done" and isinstance(part.input, dict) and "token" in part.input:
                        assert part.input["token"] in self.world.ran

    @invariant()
    def what_was_told_is_what_is_on_disk(self) -> None:
        views = [event.queue for event in self.program.events if isinstance(event, QueueChanged)]
        told = [message.id for message in views[-1].messages] if views else []
        assert told == [message.id for message in self._queued()]
        moments = [message.when for message in self._queued()]
        assert moments == sorted(moments, key=lambda when: when is not When.AFTER_STEP)

    def teardown(self) -> None:
        if hasattr(self, "program"):
            self._do(self.program.manager.close(), settles=False)
            assert self.program.failures == []
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        shutil.rmtree(self.folder)

    # How it is done

    def _say(self, ask: "Callable[[UserInput], Awaitable[object]]", text: str) -> None:
        message = UserInput(next(self.ids), text)
        if isinstance(self._do(ask(message)), Accepted):
            self.said[message.id] = text

    def _ask(self, item: Input) -> None:
        self._do(self.program.manager.send(self.session, item))

    def _change_queue(self, which: int, change: Callable[[QueuedMessage], QueueChange]) -> QueuedMessage | None:
        opened = self._do(self.program.manager.open_chat(self.session))
        message = _pick(opened.queue.messages, which)
        return None if message is None else self._do(self.program.manager.change_queue(self.session, change(message)))

    def _do(self, work: "Awaitable[Any]", *, settles: bool = True) -> Any:
        async def run() -> Any:
            return await work

        result = self.loop.run_until_complete(asyncio.wait_for(run(), 20))
        if settles:
            self._settle()
        return result

    def _settle(self) -> None:
        """Wait until the chat is idle, or the far end or a tool stalls."""

        async def settled() -> None:
            while not (self._state is TurnState.IDLE or self.world.is_held) or self._is_saving:  # noqa: ASYNC110
                await asyncio.sleep(0.0005)

        self.loop.run_until_complete(asyncio.wait_for(settled(), 20))

    @property
    def _state(self) -> TurnState:
        states = [event.state for event in self.program.events if isinstance(event, StateChanged)]
        return states[-1] if states else TurnState.IDLE

    @property
    def _is_saving(self) -> bool:
        names = [task.get_name() for task in asyncio.all_tasks(self.loop)]
        return any(name.startswith(("archive", "queue of")) for name in names)

    def _program(self, root: Path) -> Program:
        tools = [Mark(self.world, "mark"), Mark(self.world, "stall"), ScriptedTool("look", reads=True)]
        return Program(
            root,
            provider=FarEnd(self.world, self._told_rows),
            new_id=lambda: next(self.ids),
            tools=list(tools),
        )

    def _open(self) -> None:
        self._do(self.program.manager.open_chat(self.session))

    def _begin_again(self, root: Path) -> None:
        self.world.let_go()
        self.program = self._program(root)
        self._open()

    def _kill(self) -> None:
        """End all tasks of this life; what they still write, they write to its own folder."""

        async def end() -> None:
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        self.loop.run_until_complete(end())
        self.loop.run_until_complete(self.program.manager.close())

    def _rows(self) -> list[Row]:
        return _rows_of(self.program, self.session)

    def _told_rows(self) -> list[Told]:
        return told_on_disk(self.program.library.files(self.session))

    def _branches(self) -> list[list[Row]]:
        found = []
        for path in sorted((self.program.root / "sessions" / self.session / "branches").glob("*.jsonl")):
            rows = [decode_line(line) for line in path.read_bytes().splitlines()[1:]]
            found.append([row for row in rows if isinstance(row, Row)])
        return found

    def _queued(self) -> Sequence[Any]:
        found = read_sidecar(self.program.root / "sessions" / self.session / "queue.json", Queue, may_repair=False)
        return found.messages if found is not None else ()


def _rows_of(program: Program, session: str) -> list[Row]:
    entries = HistoryReader(program.library.files(session)).entries_forward()
    return [entry.row for entry in entries if isinstance(entry, RowEntry)]


def _pick(values: "Sequence[Any]", which: int) -> Any:
    return values[which % len(values)] if values else None


TestChatting = Chatting.TestCase
TestChatting.settings = settings(max_examples=25, stateful_step_count=25)
