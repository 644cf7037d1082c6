"""What every tool is: what a model is told of it, what it asks the person, and how it is run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from app.domain.approvals import Question
from app.domain.models import DEFAULT_ENCODING, UNKNOWN_FACTOR
from app.domain.request import ToolSpec


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call may know of the request it belongs to."""

    session: str
    limit: int | None
    """Of the model's context window, in tokens; None if nobody knows."""
    encoding: str = DEFAULT_ENCODING
    """Of the model's card: the vocabulary its texts are counted with."""
    factor: float = UNKNOWN_FACTOR
    """Of the model's card: its tokens over tokens of `encoding`."""
    folder: Path | None = None
    """The folder that the person has attached to the chat."""
    window: str = ""
    """Names the active context window: another one after a reset or a rollover."""
    approved: Question | None = None
    """What the person has allowed this very call to do, now or for the whole chat; None if it asked nothing."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call gave: a text or a JSON value, capped by the tool itself. `is_error`: it says what was wrong."""

    output: object
    is_error: bool = False
    diff: str = ""
    """What was changed, as a unified diff for the person; no model is sent it."""


class Tool(Protocol):
    """Something a model may call by name."""

    @property
    def spec(self) -> ToolSpec:
        """What a model is told of it."""
        ...

    def reads_only(self, arguments: Mapping[str, object]) -> bool:
        """Whether a call changes nothing, so that it may run beside others and under a policy of reading only."""
        ...

    async def question(self, arguments: Mapping[str, object], context: ToolContext) -> Question | None:
        """Return what the person must allow before `run`, None if nothing.

        Changes nothing. A call that can't succeed asks nothing: `run` says what is wrong.
        """
        ...

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """Do it. What is wrong with `arguments` or with the world is an outcome in words the model can act on.

        Cancellation leaves nothing half done.
        """
        ...


class ReadingTool:
    """Base of the tools that change nothing and so never ask."""

    def reads_only(self, _arguments: Mapping[str, object]) -> bool:
        """See `Tool.reads_only`."""
        return True

    async def question(self, _arguments: Mapping[str, object], _context: ToolContext) -> Question | None:
        """See `Tool.question`."""
        return None


class LateTool:
    """A tool that is made at its first call; until then only what a model is told of it is loaded."""

    def __init__(self, spec: ToolSpec, make: Callable[[], Tool]) -> None:
        self.spec: Final = spec
        self._make = make
        self._made: Tool | None = None

    def reads_only(self, arguments: Mapping[str, object]) -> bool:
        """See `Tool.reads_only`."""
        return self._tool().reads_only(arguments)

    async def question(self, arguments: Mapping[str, object], context: ToolContext) -> Question | None:
        """See `Tool.question`."""
        return await self._tool().question(arguments, context)

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """See `Tool.run`."""
        return await self._tool().run(arguments, context)

    def _tool(self) -> Tool:
        self._made = self._made or self._make()
        return self._made
