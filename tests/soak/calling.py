"""The far end and the tools of a program that is killed in the midst of its turns.

Each run of a tool is one line of `ran.txt`, written before it does anything else; each call has a token of its own.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from random import Random
from typing import Final

from app.domain.approvals import Question
from app.domain.errors import ErrorKind, ProviderError
from app.domain.ids import new_id
from app.domain.models import ModelCard
from app.domain.request import ModelRequest, ToolSpec
from app.providers.base import Piece, StopPiece, StopReason, TextPiece, ToolEndPiece, ToolStartPiece
from app.tools.base import Tool, ToolContext, ToolOutcome

MODEL: Final = "calling/model"
RAN: Final = "ran.txt"
LOOK: Final = "look"
"""Reads only: such calls run side by side."""
MARK: Final = "mark"
ASK: Final = "ask"
"""Asks the person first."""
_NAMES: Final = (LOOK, LOOK, LOOK, LOOK, MARK, MARK, ASK)
_MOST_CALLS: Final = 6


class CallingProvider:
    """Answers in words, with calls, slowly, or not at all; `on_request` is told of every request first."""

    name = "calling"

    def __init__(self, random: Random, on_request: Callable[[ModelRequest], None]) -> None:
        self._random = random
        self._on_request = on_request

    def models(self) -> tuple[ModelCard, ...]:
        return (ModelCard(id="model", provider="calling", name="Calling", limit=None, max_output=None),)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Yield a reply to `request`. Raises ProviderError before or after some of it."""
        self._on_request(request)
        random = self._random
        kind = random.choices(("calls", "words", "fails", "breaks off"), (12, 6, 1, 1))[0]
        if kind == "fails":
            raise ProviderError(ErrorKind.AUTHENTICATION, "The soak test wanted a failure here.")
        for _ in range(random.choice((1, 1, 3, 8))):
            yield TextPiece(f"said {new_id()} ")
            await asyncio.sleep(random.choice((0, 0, 0.002, 0.01)))
        if kind == "breaks off":
            raise ProviderError(ErrorKind.AUTHENTICATION, "The soak test wanted this to break off.")
        if kind == "words" or not request.tools:
            yield StopPiece(StopReason.END)
            return
        for number in range(random.randint(1, _MOST_CALLS)):
            yield ToolStartPiece(f"c{number}", random.choice(_NAMES))
            yield ToolEndPiece(f"c{number}", {"token": new_id()})
        yield StopPiece(StopReason.TOOL_USE)


class MarkingTool:
    """Leaves a mark that outlives the process, then takes its time."""

    def __init__(self, name: str, root: Path, random: Random) -> None:
        self.spec = ToolSpec(name, "Leaves a mark.", {"type": "object", "properties": {}})
        self._path = root / RAN
        self._random = random

    def reads_only(self, arguments: Mapping[str, object]) -> bool:
        return self.spec.name == LOOK

    async def question(self, arguments: Mapping[str, object], context: ToolContext) -> Question | None:
        return Question("Leave a mark.", scope=ASK) if self.spec.name == ASK else None

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{arguments['token']}\n".encode())
        os.close(descriptor)
        await asyncio.sleep(self._random.choice((0, 0.001, 0.01, 0.02)))
        return ToolOutcome(f"marked {arguments['token']}")


def make_marking_tools(root: Path, random: Random) -> tuple[Tool, ...]:
    """Return one of each kind."""
    return tuple(MarkingTool(name, root, random) for name in (LOOK, MARK, ASK))
