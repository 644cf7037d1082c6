"""`search_files`: where a text stands in the files of a chat's folder."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from app.history.folding import fold
from app.tools.base import ToolOutcome
from app.tools.cap import most_that_fits
from app.tools.folder_access import Folder
from app.tools.folder_arguments import SearchFiles
from app.tools.folder_entries import Entry, EntryKind, TooLarge
from app.tools.folder_glob import Glob
from app.tools.folder_names import FolderFault, Names
from app.tools.folder_schema import MAX_READ_BYTES, SEARCH_SPEC
from app.tools.folder_text import Lines, count_words, decode, is_pdf
from app.tools.folder_tool import ANSWER_SECONDS, FolderReader, Job, Shared, json_text, path_of, text_outcome
from app.tools.folder_walk import Found, Walk

MOST_HITS: Final = 50
MOST_BYTES_A_SEARCH: Final = 100_000_000
_SHOWN_CHARS: Final = 240
"""Of a line with a hit."""
_FOLDED_AT_ONCE: Final = 1 << 20
"""Characters: Stop is heard between two pieces of a large text."""
_MOST_MB: Final = MAX_READ_BYTES // 10**6
_PASSED: Final = {
    "link": "links",
    "entry that is no file": "entries that are no files",
    "PDF file": "PDF files",
    "file that is no text": "files that are no text",
    f"file over {_MOST_MB} MB": f"files over {_MOST_MB} MB",
    "file that can't be read": "files that can't be read",
}
"""What is not searched, one and many."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that holds the text."""

    names: Names
    line: int
    shown: str


class SearchFilesTool(FolderReader[SearchFiles]):
    """Searches file after file, for so long as a model waits."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(SEARCH_SPEC, SearchFiles, shared)

    def answer(self, folder: Folder, job: Job[SearchFiles]) -> ToolOutcome:
        search = _Search(folder, job)
        search.run()
        count = most_that_fits(len(search.hits), lambda count: job.cap.holds(search.text(count)))
        is_room = count > 0 or (count == 0 and not search.hits)
        return text_outcome(search.text(count) if is_room else None)


@dataclass(slots=True)
class _Search:
    """One call: hits, what was passed over, and where it goes on."""

    folder: Folder
    job: Job[SearchFiles]
    hits: list[Hit] = field(default_factory=list)
    passed: "Counter[str]" = field(default_factory=Counter)
    left_out: Sequence[str] = ()
    bytes: int = 0
    goes_on: str = ""
    """A cursor; empty if all was searched."""

    def run(self) -> None:
        """Search until there are enough hits, or enough was read. Raises FolderFault."""
        call = self.job.call
        start = path_of(call.path, self.folder, self.job)
        after, line = self._place_of(call.cursor) if call.cursor else (start, None)
        wanted = self._folded(call.query)
        glob = Glob(call.glob)
        deadline = 0.0
        walk = Walk(self.folder, start, True, after, includes_after=line is not None)
        last: Names = ()
        for found in self._entries(walk):
            self.job.stop.check()
            now = self.job.clock.monotonic()
            # However long it took to look into a large folder: each answer gets further.
            deadline = deadline if last else now + ANSWER_SECONDS
            is_over = self.bytes >= MOST_BYTES_A_SEARCH or now >= deadline
            if last and (len(self.hits) >= MOST_HITS or is_over):
                self.goes_on = _cursor(last)
                break
            last = found.names
            if not glob.fits(found.names, start):
                continue
            text = self._text_of(found)
            if text is not None and not self._look(found.names, text, wanted, behind=_behind(found, after, line)):
                break
        self.left_out = walk.left_out()

    def text(self, count: int) -> str:
        """Return the answer with the first `count` hits."""
        hits = self.hits[:count]
        lines = [f"{'/'.join(hit.names)}:{hit.line}: {hit.shown}" for hit in hits]
        cursor = _cursor(hits[-1].names, hits[-1].line) if 0 < count < len(self.hits) else self.goes_on
        what = (
            f"{count_words(len(hits), 'hit')} in {count_words(len({hit.names for hit in hits}), 'file')}"
            if hits
            else "Nothing found"
        )
        if cursor or count < len(self.hits):
            end = f"{what} so far. Not all was searched: make the same call with cursor={json_text(cursor)}."
        else:
            end = f"{what}{' behind the cursor' if self.job.call.cursor else ''}. All was searched."
        passed = (f"{number:,} {name if number == 1 else _PASSED[name]}" for name, number in self.passed.items())
        left_out = [*passed, *self.left_out]
        note = f" Passed over: {', '.join(left_out)}." if left_out else ""
        return "\n".join((*lines, *([""] if lines else []), end + note))

    def _entries(self, walk: Walk) -> Iterator[Found]:
        kind = self.folder.kind(walk.start)
        if kind is not EntryKind.FILE:
            return walk.found()
        if walk.after[: len(walk.start)] != walk.start:
            raise FolderFault("cursor must be copied from an earlier answer, with the same path. Or leave it out.")
        return iter([Found(walk.start, Entry(walk.start[-1], kind, 0))])

    def _place_of(self, cursor: str) -> tuple[Names, int | None]:
        path, _, line = cursor.rpartition(":")
        if path and line.isascii() and line.isdigit() and len(line) < 16:
            return path_of(path, self.folder, self.job), int(line)
        return path_of(cursor, self.folder, self.job), None

    def _text_of(self, found: Found) -> str | None:
        """Return what there is to search, None if the entry is passed over."""
        match found.entry.kind:
            case EntryKind.FOLDER:
                return None
            case EntryKind.LINK:
                self.passed["link"] += 1
                return None
            case EntryKind.SPECIAL:
                self.passed["entry that is no file"] += 1
                return None
            case EntryKind.FILE:
                return self._text_of_file(found.names)

    def _text_of_file(self, names: Names) -> str | None:
        try:
            data = self.folder.read(names, most_bytes=MAX_READ_BYTES)
        except TooLarge:
            self.passed[f"file over {_MOST_MB} MB"] += 1
            return None
        except FolderFault:
            self.passed["file that can't be read"] += 1
            return None
        self.bytes += len(data)
        if is_pdf(data):
            self.passed["PDF file"] += 1
            return None
        found = decode(data)
        if found is None:
            self.passed["file that is no text"] += 1
            return None
        return Lines(found.text).text

    def _look(self, names: Names, text: str, wanted: str, *, behind: int) -> bool:
        """Add the lines behind one that hold the text; return False if there are more than an answer takes."""
        # No pattern: with one, a long query in a text that begins like it everywhere takes minutes.
        folded = self._folded(text)
        line, counted = 1, 0
        found = folded.find(wanted)
        while found >= 0:
            self.job.stop.check()
            line += text.count("\n", counted, found)
            counted = found
            end = text.find("\n", found + len(wanted))
            end = len(text) if end < 0 else end
            if line > behind:
                if len(self.hits) >= MOST_HITS:
                    # No file is begun with so many: the last one is in this file.
                    self.goes_on = _cursor(names, self.hits[-1].line)
                    return False
                start = text.rfind("\n", 0, found) + 1
                self.hits.append(Hit(names, line, _around(text[start:end], found - start, len(wanted))))
            found = folded.find(wanted, end)
        return True

    def _folded(self, text: str) -> str:
        """Return what is compared: as long as `text`, its upper and lower case alike unless they differ here."""
        if self.job.call.case_sensitive:
            return text
        pieces: list[str] = []
        for start in range(0, len(text), _FOLDED_AT_ONCE):
            self.job.stop.check()
            pieces.append(fold(text[start : start + _FOLDED_AT_ONCE]))
        return "".join(pieces)


def _around(line: str, start: int, length: int) -> str:
    """Return a line, of a long one what stands around the hit and where that is."""
    if len(line) <= _SHOWN_CHARS:
        return line
    begin = max(0, min(start - max(0, _SHOWN_CHARS - length) // 2, len(line) - _SHOWN_CHARS))
    part = line[begin : begin + _SHOWN_CHARS]
    front, back = "…" if begin else "", "…" if begin + _SHOWN_CHARS < len(line) else ""
    return f"(at character {start}) {front}{part}{back}"


def _cursor(names: Names, line: int | None = None) -> str:
    """Return where a search goes on: behind a file, or behind a line of it. No name holds a colon."""
    return "/".join(names) if line is None else f"{'/'.join(names)}:{line}"


def _behind(found: Found, after: Names, line: int | None) -> int:
    return line if line is not None and found.names == after else 0
