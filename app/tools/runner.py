"""Runs the calls of a model: finds the tool among those offered and turns whatever comes of it into a result."""

import logging
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Literal

from app.domain.approvals import Question
from app.domain.errors import KnownError
from app.domain.text import clean_text
from app.history.codec import as_kept
from app.tools.base import Tool, ToolContext, ToolOutcome

log = logging.getLogger(__name__)

NO_SUCH_TOOL: Final = "There is no such tool in this chat."
"""The result of a call of a tool that the model was not offered."""
READS_ONLY: Final = (
    "In this chat the tool may only read: the profile that was chosen allows no changes. Nothing was done."
)
BROKEN_TOOL: Final = "This tool failed because of a fault inside Muntin. Nothing can be said of its result."
MAX_DIFF_BYTES: Final = 32 * 1024
"""Of what is kept of a change to show it."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What became of a call: its final state, and its output as any reader of the history will find it."""

    state: Literal["done", "failed", "denied"]
    output: object
    seconds: float | None = None
    """How long it ran; None if it never did."""
    diff: str = ""
    """What was shown of a change, as a unified diff of at most `MAX_DIFF_BYTES`."""


class ToolRunner:
    """The tools of one turn by name; of those in `reading` only calls that change nothing are run."""

    def __init__(self, tools: Sequence[Tool], *, reading: AbstractSet[str] = frozenset()) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._reading = reading

    def offers(self, name: str) -> bool:
        """Whether the model was offered a tool of exactly this name."""
        return name in self._tools

    def refusal(self, name: str, arguments: Mapping[str, object]) -> CallResult | None:
        """Return the result of a call that policy does not let run, None if it does."""
        if name not in self._tools:
            return CallResult("denied", NO_SUCH_TOOL)
        if name in self._reading and not self.reads_only(name, arguments):
            return CallResult("denied", READS_ONLY)
        return None

    def reads_only(self, name: str, arguments: Mapping[str, object]) -> bool:
        """Whether a call changes nothing; one that its tool can't judge may."""
        try:
            return self._tools[name].reads_only(arguments)
        except Exception:
            log.exception("the tool %s broke", name)
            return False

    async def question(
        self, name: str, arguments: Mapping[str, object], context: ToolContext
    ) -> Question | CallResult | None:
        """Return what the person must allow first, None for nothing, or a result if not even that can be told."""
        try:
            question = await self._tools[name].question(arguments, context)
        except KnownError as error:
            return CallResult("failed", str(error))
        except Exception:
            log.exception("the tool %s broke", name)
            return CallResult("failed", BROKEN_TOOL)
        return question

    async def run(self, name: str, arguments: Mapping[str, object], context: ToolContext) -> CallResult:
        """Run one call. Every error of a tool becomes a result in words; only cancellation is raised."""
        if (refusal := self.refusal(name, arguments)) is not None:
            return refusal
        try:
            outcome = await self._tools[name].run(arguments, context)
            state: Literal["done", "failed"] = "failed" if outcome.is_error else "done"
            return CallResult(state, _as_kept(outcome), diff=shown_diff(outcome.diff))
        except KnownError as error:
            return CallResult("failed", str(error))
        except Exception:
            log.exception("the tool %s broke", name)
            return CallResult("failed", BROKEN_TOOL)


def shown_diff(diff: str) -> str:
    """Return as many whole lines of a diff as may be kept, and a line that says how many are not."""
    text = clean_text(diff)
    if len(data := text.encode("utf-8")) <= MAX_DIFF_BYTES:
        return text
    lines = text.splitlines(keepends=True)
    kept = data[: MAX_DIFF_BYTES - _ROOM_FOR_NOTE].decode("utf-8", "ignore").splitlines(keepends=True)[:-1]
    return "".join(kept) + f"… {len(lines) - len(kept):,} more lines\n"


_ROOM_FOR_NOTE: Final = 64


def _as_kept(outcome: ToolOutcome) -> object:
    """Return an output as it reads once it was on disk, so that no later request differs from the first."""
    if isinstance(outcome.output, str):
        return clean_text(outcome.output)
    return as_kept(outcome.output)
