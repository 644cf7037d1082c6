"""A provider that plays what a test wrote down. It stands for the far end of the wire."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.approvals import Question
from app.domain.models import Abilities, ModelCard
from app.domain.request import ModelRequest, ToolSpec
from app.domain.rows import Usage
from app.providers.base import (
    Piece,
    ReasoningPiece,
    StopPiece,
    StopReason,
    TextPiece,
    ToolEndPiece,
    ToolInputPiece,
    ToolStartPiece,
    UsagePiece,
)
from app.tools.base import ToolContext, ToolOutcome


class Hold:
    """A place in a script where the stream waits until the test, on whatever thread, lets it go."""

    def __init__(self) -> None:
        self.is_reached = False
        self._reached = asyncio.Event()
        self._released = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def wait(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._reached.set()
        self.is_reached = True
        await self._released.wait()

    async def reached(self) -> None:
        await asyncio.wait_for(self._reached.wait(), 5)

    def release(self) -> None:
        if self._loop is None:
            self._released.set()
        else:
            self._loop.call_soon_threadsafe(self._released.set)


Step = Piece | Exception | Hold
Script = Sequence[Step]


def reply(*texts: str, reasoning: str = "", input_tokens: int = 10) -> Script:
    """A whole reply in pieces."""
    thoughts: list[Step] = [ReasoningPiece(reasoning)] if reasoning else []
    usage = UsagePiece(Usage(input=input_tokens, output=len(texts)))
    return [*thoughts, *(TextPiece(text) for text in texts), usage, StopPiece(StopReason.END)]


def calls(*made: "tuple[str, dict[str, object]]", text: str = "", input_tokens: int = 10) -> Script:
    """A whole reply that calls tools: names and inputs; their ids are `c1`, `c2` and so on."""
    pieces: list[Step] = [TextPiece(text)] if text else []
    for number, (name, value) in enumerate(made, start=1):
        call_id = f"c{number}"
        pieces += [
            ToolStartPiece(call_id, name),
            ToolInputPiece(call_id, json.dumps(value)),
            ToolEndPiece(call_id, value),
        ]
    return [*pieces, UsagePiece(Usage(input=input_tokens, output=5)), StopPiece(StopReason.TOOL_USE)]


ToolStep = ToolOutcome | BaseException | Hold


@dataclass
class ScriptedTool:
    """A tool that gives what a test wrote down, one outcome a call; remembers its calls and which were cancelled.

    A `Hold` stands before the outcome behind it. Without a script it gives `seen`.
    """

    name: str = "look"
    script: list[ToolStep] = field(default_factory=list)
    asked: list[Mapping[str, object]] = field(default_factory=list)
    contexts: list[ToolContext] = field(default_factory=list)
    cancelled: int = 0
    reads: bool = False
    """Whether its calls change nothing, so that they may run side by side."""
    asks: Question | None = None
    """What it asks the person first."""

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "Looks something up.", {"type": "object", "properties": {}})

    def reads_only(self, arguments: Mapping[str, object]) -> bool:
        return self.reads

    async def question(self, arguments: Mapping[str, object], context: ToolContext) -> Question | None:
        return self.asks

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        self.asked.append(arguments)
        self.contexts.append(context)
        try:
            while self.script:
                match self.script.pop(0):
                    case Hold() as hold:
                        await hold.wait()
                    case ToolOutcome() as outcome:
                        return outcome
                    case BaseException() as error:
                        raise error
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return ToolOutcome("seen")


@dataclass
class ScriptedProvider:
    """Plays one script a request, in order; remembers what it was asked and what was closed early."""

    scripts: list[Script] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    closed_early: int = 0
    name: str = "scripted"
    abilities: Abilities = field(default_factory=Abilities)
    more: Sequence[ModelCard] = ()
    """Models on offer beside the first one."""

    def play(self, *scripts: Script) -> None:
        self.scripts.extend(scripts)

    def models(self) -> tuple[ModelCard, ...]:
        return (
            ModelCard(
                id="model",
                provider="scripted",
                name="Scripted model",
                limit=100_000,
                max_output=1_000,
                encoding="o200k_base",
                factor=1.0,
                abilities=self.abilities,
            ),
            *self.more,
        )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        self.requests.append(request)
        script = self.scripts.pop(0)
        finished = False
        try:
            for step in script:
                match step:
                    case Hold():
                        await step.wait()
                    case Exception():
                        finished = True
                        raise step
                    case _:
                        yield step
            finished = True
        finally:
            self.closed_early += not finished
