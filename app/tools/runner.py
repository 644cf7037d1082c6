"""Runs the calls of a model: finds the tool among those offered and turns whatever comes of it into a result."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from app.domain.errors import KnownError
from app.domain.text import clean_text
from app.history.codec import as_kept
from app.tools.base import Tool, ToolContext, ToolOutcome

log = logging.getLogger(__name__)

NO_SUCH_TOOL: Final = "There is no such tool in this chat."
"""The result of a call of a tool that the model was not offered."""
BROKEN_TOOL: Final = "This tool failed because of a fault inside Muntin. Nothing can be said of its result."


@dataclass(frozen=True, slots=True)
class CallResult:
    """What became of a call: its final state, and its output as any reader of the history will find it."""

    state: Literal["done", "failed", "denied"]
    output: object


class ToolRunner:
    """The tools of one turn by name."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}

    def offers(self, name: str) -> bool:
        """Whether the model was offered a tool of exactly this name."""
        return name in self._tools

    async def run(self, name: str, arguments: Mapping[str, object], context: ToolContext) -> CallResult:
        """Run one call. Every error of a tool becomes a result in words; only cancellation is raised."""
        tool = self._tools.get(name)
        if tool is None:
            return CallResult("denied", NO_SUCH_TOOL)
        try:
            outcome = await tool.run(arguments, context)
            return CallResult("failed" if outcome.is_error else "done", _as_kept(outcome))
        except KnownError as error:
            return CallResult("failed", str(error))
        except Exception:
            log.exception("the tool %s broke", name)
            return CallResult("failed", BROKEN_TOOL)


def _as_kept(outcome: ToolOutcome) -> object:
    """Return an output as it reads once it was on disk, so that no later request differs from the first."""
    if isinstance(outcome.output, str):
        return clean_text(outcome.output)
    return as_kept(outcome.output)
