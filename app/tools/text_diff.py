"""What a change of a text looks like: a unified diff for a person, never large and never slow to make.

A person decides by it: nothing in a text may look like something else, and no part of a change hides another.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.text import with_unseen_named
from app.tools.text_compare import Opcode, grouped, opcodes

MAX_DIFF_BYTES: Final = 32 * 1024
_CONTEXT_LINES: Final = 3
_MOST_GONE_LINES: Final = 100
_MOST_GONE_CHARS: Final = 4_000
"""Of what is replaced: what takes its place is to be seen too."""
_LONG_LINE_CHARS: Final = 2_000
_AROUND_CHARS: Final = 300
"""What is shown of a long line on both sides of what changes in it."""
_ROOM_FOR_REST: Final = 100
_NO_END: Final = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class Change:
    """Two texts, lines ended by line feeds, by what differs: everything before `start` and behind is alike."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    start: int
    removed: int
    added: int
    """Lines of `old` and of `new` from `start` on that differ."""

    @classmethod
    def of(cls, old: str, new: str) -> "Change":
        """Compare two texts from both ends."""
        before, after = _with_ends(old), _with_ends(new)
        most = min(len(before), len(after))
        start = next((at for at in range(most) if before[at] != after[at]), most)
        most -= start
        tail = next((at for at in range(most) if before[-1 - at] != after[-1 - at]), most)
        return cls(before, after, start, len(before) - start - tail, len(after) - start - tail)


def unified(change: Change, name: str) -> str:
    """Return a change as a unified diff of at most `MAX_DIFF_BYTES`; what is left out is said."""
    shown: list[str] = []
    room = MAX_DIFF_BYTES - _ROOM_FOR_REST
    lines = _diff_lines(change, name)
    for line in lines:
        size = len(line.encode()) + 1
        if size > room:
            # A line that is cut still tells how it begins.
            shown += [line.encode()[: max(0, room - 4)].decode(errors="ignore") + "…"] if room > 80 else []
            more = 1 + sum(line[0] in "+-…" for line in lines)
            shown.append(f"… the rest of the change is not shown: {more:,} {'line' if more == 1 else 'lines'}")
            break
        room -= size
        shown.append(line)
    return "".join(f"{line}\n" for line in shown)


def _diff_lines(change: Change, name: str) -> Iterator[str]:
    first = max(0, change.start - _CONTEXT_LINES)
    old = change.old[first : change.start + change.removed + _CONTEXT_LINES]
    new = change.new[first : change.start + change.added + _CONTEXT_LINES]
    yield f"--- {name if change.old else '/dev/null'}"
    yield f"+++ {name if change.new else '/dev/null'}"
    if not change.removed and not change.added:
        return
    for group in grouped(opcodes(old, new), _CONTEXT_LINES):
        yield _header(group, first)
        for opcode in group:
            yield from _lines_of(opcode, old, new)


def _header(group: Sequence[Opcode], first: int) -> str:
    _, old_start, _, new_start, _ = group[0]
    _, _, old_end, _, new_end = group[-1]
    return f"@@ -{_range(old_start, old_end, first)} +{_range(new_start, new_end, first)} @@"


def _range(start: int, end: int, first: int) -> str:
    # An empty range is named by the line before it.
    return f"{first + start + (end > start)},{end - start}"


def _lines_of(opcode: Opcode, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    tag, old_start, old_end, new_start, new_end = opcode
    gone, come = old[old_start:old_end], new[new_start:new_end]
    if tag == "equal":
        yield from _signed(" ", gone)
        return
    if len(gone) == len(come) == 1 and max(len(gone[0]), len(come[0])) > _LONG_LINE_CHARS:
        was, now = _around_change(gone[0], come[0])
        gone, come = (was,), (now,)
    kept = _most_gone(gone) if come else len(gone)
    yield from _signed("-", gone[:kept])
    if kept < len(gone):
        yield f"… {len(gone) - kept:,} more {'line is' if len(gone) - kept == 1 else 'lines are'} replaced"
    yield from _signed("+", come)


def _most_gone(lines: Sequence[str]) -> int:
    """Return how many of the lines that are replaced are shown."""
    room = _MOST_GONE_CHARS
    for count, line in enumerate(lines[:_MOST_GONE_LINES]):
        room -= len(line)
        if room < 0:
            return count
    return min(len(lines), _MOST_GONE_LINES)


def _signed(sign: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield sign + with_unseen_named(line.removesuffix("\n"))
        if not line.endswith("\n"):
            yield _NO_END


def _around_change(was: str, now: str) -> tuple[str, str]:
    """Return two long lines from a little before to a little behind what differs."""
    start = _alike(was, now)
    most = min(len(was), len(now)) - start
    tail = _alike(was[len(was) - most :][::-1], now[len(now) - most :][::-1])
    first, last = max(0, start - _AROUND_CHARS), max(0, tail - _AROUND_CHARS)

    def part(line: str) -> str:
        end = len(line) - last
        return ("…" if first else "") + line[first:end] + ("…\n" if last else "")

    return part(was), part(now)


def _alike(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike. By halves: a line may have millions."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _with_ends(text: str) -> tuple[str, ...]:
    lines = text.split("\n")
    return (*(f"{line}\n" for line in lines[:-1]), *([lines[-1]] if lines[-1] else []))
