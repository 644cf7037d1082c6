"""What the tools for a chat's folder have in common: off the loop, stopped with their call, every fault in words."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

from app.aio import Clock, run_apart
from app.budget.requests import TextCounter
from app.domain.request import ToolSpec
from app.tools.arguments import Arguments, BadArguments
from app.tools.base import ReadingTool, ToolContext, ToolOutcome
from app.tools.cap import Cap
from app.tools.folder_access import Folder, open_folder
from app.tools.folder_arguments import parse
from app.tools.folder_names import FolderFault, Names, parse_file_path, parse_path
from app.tools.folder_seen import Seen
from app.tools.folder_stop import Stop, Turns

ANSWER_SECONDS: Final = 4.0
"""So long a model waits for a listing or a search, and then gets what was found by then."""
STOP_SECONDS: Final = 5.0
"""How long a change that is stopped waits for its thread: no longer than a disk that answers needs."""
_TURNS: Final = Turns()
"""Of all chats in the program."""
NO_FOLDER: Final = "No folder is attached to this chat. The user can attach one."
NO_ROOM: Final = "Your context window is too small for an answer here. Ask for less, or tell the user."

T = TypeVar("T")
C = TypeVar("C", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Shared:
    """What the folder tools of one chat share."""

    counter: TextCounter
    clock: Clock
    seen: Seen
    data_folder: Path
    """Muntin's own, which no tool reaches."""


@dataclass(frozen=True, slots=True)
class Job(Generic[C]):
    """A call that was understood, on its thread."""

    call: C
    context: ToolContext
    root: Path
    cap: Cap
    clock: Clock
    seen: Seen
    stop: Stop


class FolderTool(Generic[C]):
    """A tool that works in the folder of its call. One instance a chat; calls may overlap."""

    def __init__(self, spec: ToolSpec, model: type[C], shared: Shared) -> None:
        self.spec: Final = spec
        self._model: Final = model
        self._shared: Final = shared

    async def _do(
        self,
        work: Callable[[Folder, Job[C]], T],
        arguments: Mapping[str, object],
        context: ToolContext,
        *,
        is_change: bool = False,
    ) -> T:
        """Run `work` on a thread with the folder open. Raises FolderFault and BadArguments.

        Cancelled, it tells `work`, and waits until a change has ended; what only reads may end when it likes.
        """
        call = parse(self._model, arguments)
        root = context.folder
        if root is None:
            raise FolderFault(NO_FOLDER)
        stop = Stop()
        cap = Cap.of(context, self._shared.counter)
        job = Job(call, context, root, cap, self._shared.clock, self._shared.seen, stop)

        def run() -> T:
            with _TURNS.turn(stop), open_folder(root, stop, apart_from=self._shared.data_folder) as folder:
                return work(folder, job)

        running = run_apart(run, name=self.spec.name)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            stop.set()
            if is_change:
                await asyncio.wait([running], timeout=STOP_SECONDS)
            raise


class FolderReader(ReadingTool, FolderTool[C]):
    """A folder tool that changes nothing."""

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """See `Tool.run`."""
        try:
            return await self._do(self.answer, arguments, context)
        except (FolderFault, BadArguments) as fault:
            return ToolOutcome(str(fault), is_error=True)

    def answer(self, folder: Folder, job: Job[C]) -> ToolOutcome:
        """Answer one call. Raises FolderFault. Blocks."""
        raise NotImplementedError


def path_of(text: str, folder: Folder, job: Job[C]) -> Names:
    """Return what a model names, as it is written in the folder. Raises FolderFault."""
    return folder.as_written(parse_path(text, job.root))


def file_path_of(text: str, folder: Folder, job: Job[C]) -> Names:
    """Return what may be a file. Raises FolderFault."""
    return folder.as_written(parse_file_path(text, job.root))


def json_text(text: str) -> str:
    """Return a text as a model writes it in a call."""
    return json.dumps(text, ensure_ascii=False)


def text_outcome(text: str | None) -> ToolOutcome:
    """Return a text that fits as what a call gave, or that none does."""
    return ToolOutcome(NO_ROOM, is_error=True) if text is None else ToolOutcome(text)
