"""`list_files`: what is in a chat's folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.tools.base import ToolOutcome
from app.tools.cap import most_that_fits
from app.tools.folder_access import Folder
from app.tools.folder_arguments import ListFiles
from app.tools.folder_entries import EntryKind
from app.tools.folder_glob import Glob
from app.tools.folder_names import Names, shown
from app.tools.folder_schema import LIST_SPEC
from app.tools.folder_tool import ANSWER_SECONDS, FolderReader, Job, Shared, json_text, path_of, text_outcome
from app.tools.folder_walk import Found, Walk

MOST_ENTRIES: Final = 500


class ListFilesTool(FolderReader[ListFiles]):
    """Lists a folder, or everything below it."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(LIST_SPEC, ListFiles, shared)

    def answer(self, folder: Folder, job: Job[ListFiles]) -> ToolOutcome:
        call = job.call
        start = path_of(call.path, folder, job)
        after = path_of(call.cursor, folder, job) if call.cursor else start
        # A pattern with folders in it asks for what is inside of them.
        walk = Walk(folder, start, call.recursive or "/" in call.pattern, after)
        listing = _listed(walk, Glob(call.pattern), job)
        count = most_that_fits(len(listing.found), lambda count: job.cap.holds(listing.text(count)))
        is_room = count > 0 or (count == 0 and not listing.found)
        return text_outcome(listing.text(count) if is_room else None)


@dataclass(frozen=True, slots=True)
class _Listing:
    call: ListFiles
    start: Names
    found: Sequence[Found]
    goes_on_behind: Names
    """None if all was looked at."""
    left_out: Sequence[str]

    def text(self, count: int) -> str:
        """Return the answer with its first `count` entries."""
        lines = [_line(each) for each in self.found[:count]]
        behind = self.found[count - 1].names if 0 < count < len(self.found) else self.goes_on_behind
        if behind or count < len(self.found):
            end = f"There is more: make the same call with cursor={json_text('/'.join(behind))}."
        elif not lines:
            nothing = "Nothing in it fits the pattern" if self.call.pattern else "It is empty"
            end = f"“{shown(self.start)}”: {nothing}{', behind the cursor' if self.call.cursor else ''}."
        else:
            end = "That is all."
        note = f" Left out: {', '.join(self.left_out)}." if self.left_out else ""
        return "\n".join((*lines, *([""] if lines else []), end + note))


def _listed(walk: Walk, glob: Glob, job: Job[ListFiles]) -> _Listing:
    deadline = 0.0
    found: list[Found] = []
    last: Names = ()
    for each in walk.found():
        job.stop.check()
        now = job.clock.monotonic()
        # However long it took to look into a large folder: each answer gets further.
        deadline = deadline if last else now + ANSWER_SECONDS
        if last and (len(found) >= MOST_ENTRIES or now >= deadline):
            return _Listing(job.call, walk.start, found, last, walk.left_out())
        last = each.names
        if glob.fits(each.names, walk.start):
            found.append(each)
    return _Listing(job.call, walk.start, found, (), walk.left_out())


def _line(found: Found) -> str:
    path = "/".join(found.names)
    match found.entry.kind:
        case EntryKind.FOLDER:
            return f"{path}/"
        case EntryKind.FILE:
            return f"{path} ({found.entry.bytes:,} bytes)"
        case EntryKind.LINK:
            return f"{path} (a link, not followed)"
        case EntryKind.SPECIAL:
            return f"{path} (neither file nor folder)"
