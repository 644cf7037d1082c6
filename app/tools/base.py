"""What every tool is: what a model is told of it, and how it is run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

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


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call gave: a text or a JSON value, capped by the tool itself. `is_error`: it says what was wrong."""

    output: object
    is_error: bool = False


class Tool(Protocol):
    """Something a model may call by name."""

    @property
    def spec(self) -> ToolSpec:
        """What a model is told of it."""
        ...

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """Do it. What is wrong with `arguments` or with the world is an outcome in words the model can act on.

        Cancellation leaves nothing half done.
        """
        ...


class LateTool:
    """A tool that is made at its first call; until then only what a model is told of it is loaded."""

    def __init__(self, spec: ToolSpec, make: Callable[[], Tool]) -> None:
        self.spec: Final = spec
        self._make = make
        self._made: Tool | None = None

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """See `Tool.run`."""
        self._made = self._made or self._make()
        return await self._made.run(arguments, context)
