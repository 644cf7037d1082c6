"""What a model is shown of its memory: folders as lists, files with line numbers, cut where the answer is full."""

from collections.abc import Sequence

from app.domain.memories import MemoryEntry
from app.memory.edits import lines_of
from app.memory.faults import MemoryFault
from app.memory.paths import MemoryPath
from app.tools.cap import Cap, most_that_fits


def folder_view(title: str, entries: Sequence[MemoryEntry], wanted: tuple[int, int] | None, cap: Cap) -> str:
    """Return a list of memories, as many as fit. Raises MemoryFault if there are none where it is to begin."""
    if not entries:
        return f"There is nothing in {title} yet."
    first, last = _stretch(wanted, len(entries), title, "memories")
    lines = [f"{_size(entry.size_bytes)}\t{entry.path}" for entry in entries[first - 1 : last]]

    def shown(count: int) -> str:
        end = first + count - 1
        which = "" if count == len(entries) else f", {first} to {end} of them"
        rest = "" if end >= last else f"\n… The answer is full. Go on with view_range [{end + 1}, {last}]."
        return "\n".join([f"Memories in {title}: {len(entries):,}{which}.", *lines[:count]]) + rest

    return shown(max(0, most_that_fits(len(lines), lambda count: cap.holds(shown(count)))))


def file_view(path: MemoryPath, text: str, wanted: tuple[int, int] | None, start_char: int, cap: Cap) -> str:
    """Return lines of a file with their numbers, as many as fit, from a character of the first one on.

    Raises MemoryFault if there is nothing where they begin.
    """
    lines = lines_of(text)
    if not lines:
        return f"{path} is empty."
    first, last = _stretch(wanted, len(lines), str(path), "lines")
    line = lines[first - 1]
    if start_char > len(line):
        raise MemoryFault(
            f"Line {first} of {path} has {len(line)} characters; start_char={start_char} is behind its end."
        )
    since = f", from character {start_char} on" if start_char else ""
    numbered = [f"{first:6}\t{line[start_char:]}"]
    numbered += [f"{number:6}\t{lines[number - 1]}" for number in range(first + 1, last + 1)]

    def shown(count: int) -> str:
        end = first + count - 1
        head = f"{path}, lines {first} to {end} of {len(lines)}{since}:"
        rest = "" if end == last else f"\n… The answer is full. Go on with view_range [{end + 1}, {last}]."
        return "\n".join([head, *numbered[:count]]) + rest

    count = most_that_fits(len(numbered), lambda count: cap.holds(shown(count)))
    return shown(count) if count > 0 else _part_of_line(path, first, line, start_char, cap)


def _part_of_line(path: MemoryPath, number: int, line: str, begin: int, cap: Cap) -> str:
    """Return as much as fits of a line that is longer than an answer may be."""

    def shown(count: int) -> str:
        end = begin + count
        return (
            f"{path}, line {number}, characters {begin} to {end} of {len(line)}. Go on with view_range [{number}, -1]"
            f" and start_char {end}.\n{number:6}\t{line[begin:end]}"
        )

    return shown(max(0, most_that_fits(len(line) - begin, lambda count: cap.holds(shown(count)))))


def _stretch(wanted: tuple[int, int] | None, total: int, title: str, what: str) -> tuple[int, int]:
    """Return the first and last that are shown, from 1. Raises MemoryFault if there are none."""
    first, last = wanted or (1, -1)
    last = total if last < 0 else min(last, total)
    first = max(first, 1)
    if first > last:
        raise MemoryFault(f"{title} has {total} {what}, so there are no {what} {first} to {last}. Correct view_range.")
    return first, last


def _size(size_bytes: int) -> str:
    return f"{size_bytes} B" if size_bytes < 1_024 else f"{size_bytes / 1_024:.1f} KiB"
