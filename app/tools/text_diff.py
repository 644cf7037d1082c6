"""What a change of a text looks like: a unified diff for a person, never large and never slow to make."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

MAX_DIFF_BYTES: Final = 32 * 1024
MOST_COMPARED_LINES: Final = 1_000
"""Comparing takes time by the square of them; of a longer change the head is shown."""
_CONTEXT_LINES: Final = 3
_LONG_LINE_CHARS: Final = 2_000
_AROUND_CHARS: Final = 300
"""What is shown of a long line on both sides of what changes in it."""
_REST: Final = "… the rest of the change is not shown"
_NO_END: Final = "\\ No newline at end of file"

_Opcode = tuple[str, int, int, int, int]


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
    room = MAX_DIFF_BYTES - len(f"{_REST}\n".encode())
    for line in _diff_lines(change, name):
        size = len(line.encode()) + 1
        if size > room:
            # A line that is cut still tells how it begins.
            shown += [line.encode()[: max(0, room - 4)].decode(errors="ignore") + "…"] if room > 80 else []
            shown.append(_REST)
            break
        room -= size
        shown.append(line)
    return "".join(f"{line}\n" for line in shown)


def _diff_lines(change: Change, name: str) -> Iterator[str]:
    first = max(0, change.start - _CONTEXT_LINES)
    is_whole = change.removed + change.added <= MOST_COMPARED_LINES
    behind = _CONTEXT_LINES if is_whole else 0
    most = MOST_COMPARED_LINES // 2
    old = change.old[first : change.start + (change.removed if is_whole else min(most, change.removed)) + behind]
    new = change.new[first : change.start + (change.added if is_whole else min(most, change.added)) + behind]
    yield f"--- {name if change.old else '/dev/null'}"
    yield f"+++ {name if change.new else '/dev/null'}"
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT_LINES):
        yield _header(group, first)
        for opcode in group:
            yield from _lines_of(opcode, old, new)
    if not is_whole:
        yield _REST


def _header(group: Sequence[_Opcode], first: int) -> str:
    _, old_start, _, new_start, _ = group[0]
    _, _, old_end, _, new_end = group[-1]
    return f"@@ -{_range(old_start, old_end, first)} +{_range(new_start, new_end, first)} @@"


def _range(start: int, end: int, first: int) -> str:
    # An empty range is named by the line before it.
    return f"{first + start + (end > start)},{end - start}"


def _lines_of(opcode: _Opcode, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    tag, old_start, old_end, new_start, new_end = opcode
    gone, come = old[old_start:old_end], new[new_start:new_end]
    if tag == "equal":
        yield from _signed(" ", gone)
        return
    if len(gone) == len(come) == 1 and max(len(gone[0]), len(come[0])) > _LONG_LINE_CHARS:
        was, now = _around_change(gone[0], come[0])
        gone, come = (was,), (now,)
    yield from _signed("-", gone)
    yield from _signed("+", come)


def _signed(sign: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
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
