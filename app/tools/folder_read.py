"""`read_file`: a text file or a PDF file of a chat's folder, as many lines as fit."""

from dataclasses import dataclass
from typing import Final

from app.domain.errors import KnownError
from app.domain.text import clean_text
from app.tools.base import ToolOutcome
from app.tools.cap import Cap, most_that_fits
from app.tools.folder_access import Folder
from app.tools.folder_arguments import ReadFile
from app.tools.folder_entries import version_of
from app.tools.folder_names import FolderFault, Names, shown
from app.tools.folder_schema import MAX_READ_BYTES, MOST_LINES, READ_SPEC
from app.tools.folder_text import UTF_8, Lines, decode, is_pdf, lines_of
from app.tools.folder_tool import FolderReader, Job, Shared, file_path_of, text_outcome

MOST_PAGES: Final = 100
"""Of a PDF file that are looked at for one answer: scans have thousands without a word."""
_BINARY: Final = "“{name}” is no text and no PDF file, so it can't be read here."


class ReadFileTool(FolderReader[ReadFile]):
    """Reads a file, and remembers which version of it the model knows."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(READ_SPEC, ReadFile, shared)

    def answer(self, folder: Folder, job: Job[ReadFile]) -> ToolOutcome:
        names = file_path_of(job.call.path, folder, job)
        data = folder.read(names, most_bytes=MAX_READ_BYTES)
        if is_pdf(data):
            return text_outcome(_pdf_answer(data, names, job))
        found = decode(data)
        if found is None:
            raise FolderFault(_BINARY.format(name=shown(names)))
        coding = "" if found.coding.name == UTF_8.name else f" ({found.coding.name})"
        stretch = Stretch(shown(names), lines_of(Lines(found.text).text), job.call, coding)
        job.stop.check()
        answer = stretch.fitted(job.cap)
        if answer is not None:
            job.seen.note(names, version_of(data), job.context)
        return text_outcome(answer)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines of a text from where a call begins. `going_on`: what the next call names beside the line."""

    title: str
    lines: list[str]
    call: ReadFile
    coding: str = ""
    going_on: str = ""

    def fitted(self, cap: Cap) -> str | None:
        """Return as many lines as fit below a line that says which they are; None if there is no room.

        Raises FolderFault if there is nothing where the call begins.
        """
        if not self.lines:
            return f"{self.title} is empty.{self.coding}"
        shown_lines = self._from_start(most_chars=cap.max_bytes)
        count = most_that_fits(len(shown_lines), lambda count: cap.holds(self._whole_lines(shown_lines, count)))
        if count > 0:
            return self._whole_lines(shown_lines, count)
        line = shown_lines[0][: cap.max_bytes]
        chars = most_that_fits(len(line), lambda chars: cap.holds(self._part_of_line(line[:chars])))
        return self._part_of_line(line[:chars]) if chars > 0 else None

    def _from_start(self, *, most_chars: int) -> list[str]:
        first, total = self.call.start_line - 1, len(self.lines)
        if first >= total:
            raise FolderFault(f"{self.title} has {_lines(total)}; start_line={first + 1} is behind its end.")
        found: list[str] = []
        for line in self.lines[first : first + self.call.max_lines]:
            # A line more than fits, so that it is seen that it doesn't.
            found.append(line)
            most_chars -= len(line) + 1
            if most_chars < 0:
                break
        if self.call.start_char > len(found[0]):
            raise FolderFault(
                f"Line {first + 1} of {self.title} has {len(found[0])} characters;"
                f" start_char={self.call.start_char} is behind its end."
            )
        found[0] = found[0][self.call.start_char :]
        return found

    def _whole_lines(self, lines: list[str], count: int) -> str:
        first, total = self.call.start_line, len(self.lines)
        last = first + count - 1
        begin = self.call.start_char
        if count == total and not begin:
            which = f"all {_lines(total)}" if total > 1 else "its only line"
        else:
            which = f"lines {first} to {last} of {total}" if count > 1 else f"line {first} of {total}"
        since = f", from character {begin} on" if begin else ""
        more = f" Go on with {self.going_on}start_line={last + 1}." if last < total else ""
        return "\n".join((f"{self.title}: {which}{since}.{self.coding}{more}", "", *lines[:count]))

    def _part_of_line(self, part: str) -> str:
        line, begin = self.call.start_line, self.call.start_char
        end, total = begin + len(part), len(self.lines[line - 1])
        return (
            f"{self.title}: line {line} of {len(self.lines)}, characters {begin} to {end} of {total}.{self.coding}"
            f" Go on with {self.going_on}start_line={line}, start_char={end}.\n\n{part}"
        )


def _lines(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"


def _pdf_answer(data: bytes, names: Names, job: Job[ReadFile]) -> str | None:
    from app.pdf import read_pages

    call, title = job.call, shown(names)
    try:
        pages = read_pages(
            data,
            first=call.page,
            most_chars=job.cap.max_bytes,
            most_pages=MOST_PAGES,
            go_on=job.stop.check,
        )
    except KnownError as error:
        raise FolderFault(f"“{title}” can't be read. {error}") from error
    job.stop.check()
    if call.page > pages.total:
        raise FolderFault(f"“{title}” has {_pages(pages.total)}; page={call.page} is behind its end.")
    texts = [clean_text(text) for text in pages.texts]
    if call.start_line == 1 and not call.start_char and call.max_lines == MOST_LINES:
        count = most_that_fits(
            len(texts), lambda count: job.cap.holds(_whole_pages(title, texts[:count], call.page, pages.total))
        )
        if count > 0:
            return _whole_pages(title, texts[:count], call.page, pages.total)
    page = f"{title}, page {call.page} of {pages.total}"
    return Stretch(page, lines_of(texts[0]), call, going_on=f"page={call.page}, ").fitted(job.cap)


def _whole_pages(title: str, texts: list[str], first: int, total: int) -> str:
    last = first + len(texts) - 1
    which = f"pages {first} to {last}" if last > first else f"page {first}"
    more = f" Go on with page={last + 1}." if last < total else ""
    nothing = "" if any(texts) else " They hold no text: they may be pictures, as scans are."
    shown_pages = (
        f"[page {number}]\n{text}" if text else f"[page {number}: no text]" for number, text in enumerate(texts, first)
    )
    return "\n\n".join((f"{title}: {which} of {total}.{nothing}{more}", *shown_pages))


def _pages(count: int) -> str:
    return f"{count} page" if count == 1 else f"{count} pages"
