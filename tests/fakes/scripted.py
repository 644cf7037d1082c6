"""A provider that plays what a test wrote down. It stands for the far end of the wire."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from app.domain.models import Abilities, ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Usage
from app.providers.base import Piece, ReasoningPiece, StopPiece, StopReason, TextPiece, UsagePiece


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
