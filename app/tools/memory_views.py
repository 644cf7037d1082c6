"""What a model is shown of its memory: folders as lists, files with line numbers, cut where the answer is full."""

from collections.abc import Sequence

from app.domain.memories import MemoryEntry
from app.memory.edits import lines_of
from app.memory.faults import MemoryFault
from app.memory.paths import MemoryPath
from app.tools.cap import Cap, most_that_fits


def folder_view(title: str, entries: Sequence[MemoryEntry], cap: Cap) -> str:
    """Return a list of memories, as many as fit."""
    if not entries:
        return f"There is nothing in {title} yet."
    lines = [f"{_size(entry.size_bytes)}\t{entry.path}" for entry in entries]

    def shown(count: int) -> str:
        head = f"Memories in {title}: {len(lines):,}."
        rest = (
            "" if count == len(lines) else f"\n… {len(lines) - count:,} more. View a folder in it to see fewer at once."
        )
        return "\n".join([head, *lines[:count]]) + rest

    return shown(max(0, most_that_fits(len(lines), lambda count: cap.holds(shown(count)))))


def file_view(path: MemoryPath, text: str, wanted: tuple[int, int] | None, cap: Cap) -> str:
    """Return lines of a file with their numbers, as many as fit. Raises MemoryFault if there are no such lines."""
    lines = lines_of(text)
    if not lines:
        return f"{path} is empty."
    first, last = wanted or (1, -1)
    last = len(lines) if last < 0 else min(last, len(lines))
    first = max(first, 1)
    if not first <= last:
        raise MemoryFault(
            f"{path} has {len(lines)} lines, so there are no lines {first} to {last}. Correct view_range."
        )
    numbered = [f"{number:6}\t{lines[number - 1]}" for number in range(first, last + 1)]

    def shown(count: int) -> str:
        end = first + count - 1
        head = f"{path}, lines {first} to {end} of {len(lines)}:"
        rest = "" if end == last else f"\n… The answer is full. Go on with view_range [{end + 1}, {last}]."
        return "\n".join([head, *numbered[:count]]) + rest

    count = most_that_fits(len(numbered), lambda count: cap.holds(shown(count)))
    return shown(count) if count > 0 else _cut_line(path, first, lines[first - 1], cap)


def _cut_line(path: MemoryPath, number: int, line: str, cap: Cap) -> str:
    """Return the beginning of a line that is longer than an answer may be."""

    def shown(count: int) -> str:
        return (
            f"{path}, the beginning of line {number}, which is too long to be shown whole:\n{number:6}\t{line[:count]}"
        )

    return shown(max(0, most_that_fits(len(line), lambda count: cap.holds(shown(count)))))


def _size(size_bytes: int) -> str:
    return f"{size_bytes} B" if size_bytes < 1_024 else f"{size_bytes / 1_024:.1f} KiB"
