"""What the tools that change a file have in common: they plan, ask with a diff, and do exactly what was allowed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.domain.approvals import Question
from app.tools.arguments import BadArguments
from app.tools.base import ToolContext, ToolOutcome
from app.tools.folder_access import Folder
from app.tools.folder_entries import version_of
from app.tools.folder_names import FolderFault, Names, look_key, shown
from app.tools.folder_schema import MAX_EDITED_BYTES
from app.tools.folder_text import FileText, decode
from app.tools.folder_tool import C, FolderTool, Job, file_path_of
from app.tools.folder_walk import is_git
from app.tools.text_diff import Change as TextChange
from app.tools.text_diff import unified

HIDDEN: Final = "It is hidden, and programs may act on it."
"""Added to what the person is asked about a name that begins with a dot."""
_NOT_ALLOWED: Final = "The user was not asked about this change, so nothing was written. Make the same call again."
_OTHER: Final = "“{name}” was changed after the user was asked, so nothing was written. Read it again with read_file."


@dataclass(frozen=True, slots=True)
class Change:
    """What a call would do to a file of one version."""

    names: Names
    data: bytes
    version: str
    """Of what is there now."""
    text: TextChange
    summary: str
    done: str
    """What the model is told of it afterwards."""


@dataclass(frozen=True, slots=True)
class NoChange:
    """The file is already as it would be; `said` tells the model."""

    said: str


class FolderChanger(FolderTool[C]):
    """A folder tool that changes one file, after asking."""

    def reads_only(self, _arguments: Mapping[str, object]) -> bool:
        """See `Tool.reads_only`."""
        return False

    async def question(self, arguments: Mapping[str, object], context: ToolContext) -> Question | None:
        """See `Tool.question`."""
        try:
            return await self._do(self._asked, arguments, context)
        except (FolderFault, BadArguments):
            return None

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """See `Tool.run`."""
        try:
            return await self._do(self._changed, arguments, context, is_change=True)
        except (FolderFault, BadArguments) as fault:
            return ToolOutcome(str(fault), is_error=True)

    def plan(self, folder: Folder, job: Job[C]) -> Change | NoChange:
        """Return what a call would do; changes nothing. Raises FolderFault. Blocks."""
        raise NotImplementedError

    def _asked(self, folder: Folder, job: Job[C]) -> Question | None:
        change = self.plan(folder, job)
        if isinstance(change, NoChange):
            return None
        diff = unified(change.text, "/".join(change.names))
        if any(look_key(name).startswith(".") for name in change.names):
            # “Always” was said of what a person sees in their folder, not of .vscode/tasks.json.
            return Question(f"{change.summary}. {HIDDEN}", diff=diff, version=change.version)
        return Question(change.summary, diff=diff, scope=self.spec.name, version=change.version)

    def _changed(self, folder: Folder, job: Job[C]) -> ToolOutcome:
        change = self.plan(folder, job)
        if isinstance(change, NoChange):
            return ToolOutcome(change.said)
        allowed = job.context.approved
        if allowed is None:
            raise FolderFault(_NOT_ALLOWED)
        if allowed.version != change.version:
            raise FolderFault(_OTHER.format(name=shown(change.names)))
        diff = unified(change.text, "/".join(change.names))
        folder.write(change.names, change.data, expected=change.version, most_bytes=MAX_EDITED_BYTES)
        job.seen.note(change.names, version_of(change.data), job.context)
        return ToolOutcome(change.done, diff=diff)


@dataclass(frozen=True, slots=True)
class Known:
    """A text file whose present version the model has read."""

    text: FileText
    version: str


def path_to_change(path: str, folder: Folder, job: Job[C]) -> Names:
    """Return the names of a file that a tool may change. Raises FolderFault."""
    names = file_path_of(path, folder, job)
    if any(map(is_git, names)):
        raise FolderFault("What is inside .git is not changed by tools.")
    return names


def known_text(folder: Folder, names: Names, job: Job[C]) -> Known | None:
    """Return the file that a call changes, None if there is none. Raises FolderFault if it may not be changed."""
    data = folder.read_if_there(names, most_bytes=MAX_EDITED_BYTES)
    if data is None:
        return None
    text = decode(data)
    if text is None or data.startswith(b"%PDF-"):
        raise FolderFault(f"“{shown(names)}” is no text file; only those can be changed.")
    version = version_of(data)
    job.seen.check(names, version, job.context)
    return Known(text, version)
