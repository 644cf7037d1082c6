"""`memory`: short files that a model keeps for its later self, and for other chats. See context-windows.md, 13.

Changes of what all chats share ask the person first. A model never writes over a text it has not seen.
"""

from collections.abc import Callable, Mapping
from typing import Final

from app.aio import Clock, run_blocking
from app.budget.requests import TextCounter
from app.domain.approvals import Question
from app.domain.errors import KnownError
from app.domain.memories import MemoryEntry, MemoryScope
from app.domain.request import ToolSpec
from app.memory.faults import MemoryChanged, MemoryFault, NoSuchMemory
from app.memory.memories import Memories
from app.memory.paths import MemoryPath, parse_path
from app.tools.arguments import BadArguments
from app.tools.base import ToolContext, ToolOutcome
from app.tools.cap import Cap
from app.tools.memory_arguments import StrReplace, View, Write, command_of, parse
from app.tools.memory_changes import Change, plan_change
from app.tools.memory_schema import SPEC
from app.tools.memory_seen import SeenVersions
from app.tools.memory_views import file_view, folder_view

_TRIES: Final = 3
_TOP: Final = "/memories"
_NOT_ASKED: Final = "The user has to allow this change first and was not asked. Make the same call again."
_CHANGED_MEANWHILE: Final = (
    "The memory was changed while the user was asked, so nothing was done. View it again, then repeat the change."
)

Told = Callable[[MemoryScope], None]
"""Hears, on any thread, that memories of a scope were changed."""


class MemoryTool:
    """Serves one chat's model. One instance a chat; calls may overlap."""

    def __init__(self, memories: Memories, *, counter: TextCounter, clock: Clock, told: Told) -> None:
        self._memories = memories
        self._counter = counter
        self._clock = clock
        self._told = told
        self._seen = SeenVersions()

    @property
    def spec(self) -> ToolSpec:
        return SPEC

    def reads_only(self, arguments: Mapping[str, object]) -> bool:
        """See `Tool.reads_only`."""
        return command_of(arguments) == "view"

    async def question(self, arguments: Mapping[str, object], context: ToolContext) -> Question | None:
        """See `Tool.question`."""
        self._seen.enter(context.window)
        try:
            call = parse(arguments)
            if isinstance(call, View):
                return None
            change = await run_blocking(plan_change, call, self._memories, self._seen)
        except (BadArguments, KnownError):
            # `run` says what is wrong.
            return None
        return change.question

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """See `Tool.run`."""
        self._seen.enter(context.window)
        try:
            call = parse(arguments)
            if isinstance(call, View):
                return await run_blocking(self._view, call, Cap.of(context, self._counter))
            return await run_blocking(self._write, call, context.approved)
        except (BadArguments, KnownError) as fault:
            return ToolOutcome(str(fault), is_error=True)

    # On a thread

    def _view(self, call: View, cap: Cap) -> ToolOutcome:
        if call.path.rstrip("/") in (_TOP, ""):
            return ToolOutcome(folder_view(_TOP, self._memories.entries(), call.view_range, cap))
        path = parse_path(call.path)
        store = self._memories.store_of(path)
        place = store.find(path)
        if place.is_file:
            memory = store.read(path)
            answer = file_view(place.path, memory.text, call.view_range, call.start_char, cap)
            self._seen.note(path, memory.version)
            store.note_use(path, self._clock.now())
            return ToolOutcome(answer)
        if place.status is None and path.names:
            raise NoSuchMemory(f"There is nothing at {path}. View {MemoryPath(path.scope)} to see what there is.")
        entries = _within(place.path, store.listing().entries)
        return ToolOutcome(folder_view(str(place.path), entries, call.view_range, cap))

    def _write(self, call: Write, approved: Question | None) -> ToolOutcome:
        for attempt in range(_TRIES):
            change = plan_change(call, self._memories, self._seen)
            self._check_allowed(change, approved)
            try:
                made = change.apply()
            except MemoryChanged as fault:
                if approved is not None:
                    raise MemoryFault(_CHANGED_MEANWHILE) from fault
                # What stands in the file once, still may.
                if not isinstance(call, StrReplace) or attempt == _TRIES - 1:
                    raise
            else:
                self._note(change, made.version)
                return ToolOutcome(made.answer, diff=change.diff)
        raise MemoryFault(_CHANGED_MEANWHILE)

    def _check_allowed(self, change: Change, approved: Question | None) -> None:
        question = change.question
        if question is None:
            return
        if approved is None:
            raise MemoryFault(_NOT_ASKED)
        if (approved.version, approved.summary) != (question.version, question.summary):
            raise MemoryFault(_CHANGED_MEANWHILE)

    def _note(self, change: Change, version: str | None) -> None:
        """Keep what the model knows now, count the use, and tell."""
        self._seen.note(change.path, version)
        if version is not None:
            self._memories.store_of(change.path).note_use(change.path, self._clock.now())
        self._told(change.path.scope)


def _within(folder: MemoryPath, entries: tuple[MemoryEntry, ...]) -> list[MemoryEntry]:
    return [entry for entry in entries if entry.path.startswith(f"{folder}/")]
