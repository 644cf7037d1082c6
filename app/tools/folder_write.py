"""`write_file`: a whole file of a chat's folder, new or in the place of another."""

from app.tools.folder_access import Folder
from app.tools.folder_arguments import WriteFile
from app.tools.folder_change import Change, FolderChanger, Known, NoChange, known_text, path_to_change
from app.tools.folder_names import FolderFault, Names, asked_about, shown
from app.tools.folder_put import ABSENT
from app.tools.folder_schema import MAX_WRITTEN_BYTES, WRITE_SPEC
from app.tools.folder_text import FileText, Lines, count_words, lines_of, with_newline
from app.tools.folder_tool import Job, Shared
from app.tools.text_diff import Change as TextChange


class WriteFileTool(FolderChanger[WriteFile]):
    """Makes a file, or replaces all of one that was read."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(WRITE_SPEC, WriteFile, shared)

    def plan(self, folder: Folder, job: Job[WriteFile]) -> Change | NoChange:
        content = job.call.content
        names = path_to_change(job.call.path, folder, job)
        check_content(content, "content")
        if len(content.encode()) > MAX_WRITTEN_BYTES:
            raise FolderFault(f"content is too long: at most {MAX_WRITTEN_BYTES // 10**6} MB.")
        known = known_text(folder, names, job)
        return _creation(names, content) if known is None else _replacement(names, content, known)


def check_content(text: str, field: str) -> None:
    """Raise FolderFault if `text` would make a file that is no text."""
    if "\0" in text:
        raise FolderFault(f"{field} holds a NUL character; only texts can be written.")


def _creation(names: Names, content: str) -> Change:
    size = count_words(len(lines_of(content)))
    change = TextChange.of("", content.replace("\r\n", "\n"))
    name = shown(names)
    summary = f"Create {asked_about(names)} ({size})"
    return Change(names, content.encode(), ABSENT, change, summary, f"Created “{name}” with {size}.")


def _replacement(names: Names, content: str, known: Known) -> Change | NoChange:
    old = Lines(known.text.text)
    data = _encoded(with_newline(content, old.newline), known.text)
    name = shown(names)
    before, after = len(lines_of(old.text)), len(lines_of(content))
    change = TextChange.of(old.text, content.replace("\r\n", "\n"))
    if not change.removed and not change.added:
        return NoChange(f"“{name}” holds exactly this already; nothing was changed.")
    if not before:
        summary = f"Write {count_words(after)} to {asked_about(names)}, which is empty"
    else:
        summary = f"Replace {'the line' if before == 1 else f'all {count_words(before)}'} of {asked_about(names)}"
    return Change(names, data, known.version, change, summary, f"Replaced “{name}”: it has {count_words(after)} now.")


def _encoded(text: str, as_in: FileText) -> bytes:
    try:
        return as_in.encoded(text)
    except UnicodeEncodeError:
        # All of the file is new: nothing in it needs the old way of writing.
        return text.encode()
