"""`edit_file`: a passage of a text file in a chat's folder, exactly found and replaced."""

import re
from collections.abc import Callable
from itertools import islice
from typing import Final

from app.history.folding import fold
from app.tools.folder_access import Folder
from app.tools.folder_arguments import EditFile
from app.tools.folder_change import Change, FolderChanger, NoChange, known_text, path_to_change
from app.tools.folder_names import FolderFault, Names, asked_about, shown
from app.tools.folder_schema import EDIT_SPEC, MAX_EDITED_BYTES
from app.tools.folder_text import FileText, Lines, Span, count_words, lines_of
from app.tools.folder_tool import Job, Shared
from app.tools.folder_write import check_content
from app.tools.text_diff import Change as TextChange

MOST_PLACES: Final = 50_000
"""That one call changes."""
_MOST_NAMED: Final = 5


class EditFileTool(FolderChanger[EditFile]):
    """Replaces what was found once, or everywhere if that is asked for."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(EDIT_SPEC, EditFile, shared)

    def plan(self, folder: Folder, job: Job[EditFile]) -> Change | NoChange:
        call = job.call
        names = path_to_change(call.path, folder, job)
        check_content(call.new_text, "new_text")
        known = known_text(folder, names, job)
        if known is None:
            raise FolderFault(f"There is no “{shown(names)}” in the folder of this chat. write_file makes a file.")
        lines = Lines(known.text.text)
        old, new = call.old_text.replace("\r\n", "\n"), call.new_text.replace("\r\n", "\n")
        if old == new:
            raise FolderFault("old_text and new_text are the same; there is nothing to change.")
        spans = _places(lines.text, old, names, is_for_all=call.replace_all)
        # No character takes less than a byte: what would be far too large is never put together.
        _check_size(len(lines.text) + len(spans) * (len(new) - len(old)), names)
        text = lines.replaced(spans, new)
        change = TextChange.of(lines.text, _with_new(lines.text, spans, new))
        data = _encoded(text, known.text, names)
        summary = _summary(change, len(spans), asked_about(names))
        size = count_words(len(lines_of(_with_new(lines.text, spans, new))))
        places = "1 place" if len(spans) == 1 else f"{len(spans):,} places"
        return Change(
            names,
            data,
            known.version,
            change,
            summary,
            f"Changed {places} in “{shown(names)}”; it has {size} now.",
        )


def _places(text: str, old: str, names: Names, *, is_for_all: bool) -> list[Span]:
    """Return where `old` stands. Raises FolderFault if that is nowhere, or in several places and not all are meant."""
    count = text.count(old)
    if not count:
        raise FolderFault(f"old_text was not found in “{shown(names)}”. {_hint(text, old)}")
    found = (Span(each.start(), each.end()) for each in re.finditer(re.escape(old), text))
    if count > 1 and not is_for_all:
        lines = [str(text.count("\n", 0, span.start) + 1) for span in islice(found, _MOST_NAMED)]
        more = "" if count <= _MOST_NAMED else " and more"
        raise FolderFault(
            f"old_text was found {count:,} times in “{shown(names)}”: in lines {', '.join(lines)}{more}. Take in"
            " more of the text around the one you mean, or set replace_all to change every one."
        )
    if count > MOST_PLACES:
        raise FolderFault(
            f"old_text was found {count:,} times in “{shown(names)}”; one call changes at most {MOST_PLACES:,} places."
            " Take in more of the text around those you mean."
        )
    return list(found)


def _hint(text: str, old: str) -> str:
    """Say where something like `old` stands, if anything does. Takes as long as reading the text, whatever is in it."""
    wanted, words = " ".join(old.split()), " ".join(text.split())
    ways: tuple[tuple[Callable[[str], str], str], ...] = (
        (str, "spaces or line breaks"),
        (fold, "upper and lower case, spaces or line breaks"),
    )
    for folded, differs in ways:
        at = folded(words).find(folded(wanted)) if wanted else -1
        if at >= 0:
            word = next(islice(re.finditer(r"\S+", text), words.count(" ", 0, at), None))
            line = text.count("\n", 0, word.start()) + 1
            return f"From line {line} on it stands with other {differs}: copy it exactly as read_file gives it."
    return "Read the file again with read_file and copy the passage exactly, without what read_file says above it."


def _with_new(text: str, spans: list[Span], new: str) -> str:
    pieces: list[str] = []
    done = 0
    for span in spans:
        pieces += (text[done : span.start], new)
        done = span.end
    return "".join((*pieces, text[done:]))


def _encoded(text: str, as_in: FileText, names: Names) -> bytes:
    try:
        data = as_in.encoded(text)
    except UnicodeEncodeError as error:
        raise FolderFault(
            f"“{shown(names)}” is written in {as_in.coding.name}, which has no “{text[error.start]}”. Do without it,"
            " or replace the whole file with write_file."
        ) from error
    _check_size(len(data), names)
    return data


def _check_size(size: int, names: Names) -> None:
    if size > MAX_EDITED_BYTES:
        raise FolderFault(f"“{shown(names)}” would be larger than {MAX_EDITED_BYTES // 10**6} MB.")


def _summary(change: TextChange, places: int, name: str) -> str:
    if places > 1:
        return f"Change {places:,} places in {name}"
    if not change.removed:
        return f"Add {count_words(change.added)} to {name}"
    if not change.added:
        return f"Remove {count_words(change.removed)} from {name}"
    return f"Change {count_words(max(change.removed, change.added))} of {name}"
