"""A folder that a model works in, in short words: files, calls, and a person who allows everything."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from app.aio import Clock
from app.domain.approvals import Question
from app.tools.base import Tool, ToolContext, ToolOutcome
from app.tools.folder_places import CREATE, DescriptorPlace, Place
from app.tools.folder_tools import make_folder_tools
from tests.fakes.clock import FakeClock
from tests.unit.tools.history_chat import COUNTER


@dataclass
class FolderDesk:
    """The folder `root`, something secret and Muntin's `own` data beside it, and the tools of one chat."""

    base: Path
    clock: Clock = field(default_factory=FakeClock)
    window: str = "w1"
    limit: int | None = 100_000

    def __post_init__(self) -> None:
        self.base = self.base.resolve()
        self.root = self.base / "work"
        self.root.mkdir()
        self.own = self.base / "own data"
        self.own.mkdir()
        self.secret = self.base / "secret.txt"
        self.secret.write_text("zanzibarquokka")
        self.restart()

    def restart(self) -> None:
        """Forget what was read, as a start of the program does."""
        self.tools: Mapping[str, Tool] = make_folder_tools(COUNTER, self.clock, self.own)

    def put(self, path: str, content: str | bytes = "") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def fill(self, path: str, content: str) -> None:
        """Do what somebody else does meanwhile."""
        self.put(path, content)

    def data(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def names(self) -> list[str]:
        """All that is in the folder, temporary files included."""
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*"))

    @property
    def context(self) -> ToolContext:
        return ToolContext("s1", self.limit, folder=self.root, window=self.window)

    async def asked(self, tool: str, **arguments: object) -> Question | None:
        return await self.tools[tool].question(arguments, self.context)

    async def call(self, tool: str, **arguments: object) -> ToolOutcome:
        """Call a tool; what it asks is allowed."""
        question = await self.asked(tool, **arguments)
        return await self.tools[tool].run(arguments, replace(self.context, approved=question))

    async def text(self, tool: str, **arguments: object) -> str:
        """Return what a call gave that went well."""
        outcome = await self.call(tool, **arguments)
        assert not outcome.is_error, outcome.output
        assert isinstance(outcome.output, str)
        return outcome.output

    async def fault(self, tool: str, **arguments: object) -> str:
        """Return what was wrong with a call."""
        outcome = await self.call(tool, **arguments)
        assert outcome.is_error, outcome.output
        assert isinstance(outcome.output, str)
        return outcome.output


def nothing(_name: str) -> None:
    """Let a step go on."""


@dataclass
class UneasyPlace:
    """A real directory in which something happens just before a step, or whose disk is full."""

    real: Place
    before_child: Callable[[str], None] = nothing
    before_open: Callable[[str], None] = nothing
    before_making: Callable[[str], None] = nothing
    before_moving: Callable[[str], None] = nothing
    is_full: bool = False
    has_links: bool = True

    @classmethod
    def at(cls, root: Path) -> Self:
        return cls(DescriptorPlace(os.open(root, os.O_RDONLY | os.O_DIRECTORY)))

    def child(self, name: str) -> Place:
        self.before_child(name)
        return replace(self, real=self.real.child(name))

    def stat(self, name: str) -> os.stat_result:
        return self.real.stat(name)

    def entries(self) -> Iterator[tuple[str, os.stat_result]]:
        return self.real.entries()

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        self.before_open(name)
        descriptor = self.real.open(name, flags, mode)
        if self.is_full and flags == CREATE:
            os.close(descriptor)
            return os.open("/dev/full", os.O_WRONLY)
        return descriptor

    def may_write(self, name: str) -> bool:
        return self.real.may_write(name)

    def make(self, name: str) -> None:
        self.before_making(name)
        self.real.make(name)

    def move_over(self, source: str, target: str) -> None:
        self.before_moving(target)
        self.real.move_over(source, target)

    def link(self, source: str, target: str) -> None:
        self.before_moving(target)
        if not self.has_links:
            raise PermissionError(1, "this disk knows no second names")
        self.real.link(source, target)

    def remove(self, name: str) -> None:
        self.real.remove(name)

    def remove_empty(self, name: str) -> None:
        self.real.remove_empty(name)

    def sync(self) -> None:
        self.real.sync()

    def close(self) -> None:
        self.real.close()
