"""Which lines differ between two texts, found in time that grows with them and not with their square. Pure."""

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

MOST_COMPARED_LINES: Final = 1_000
"""Of both texts together: line by line that takes time by the square of them."""

Opcode = tuple[str, int, int, int, int]
"""As of difflib: “equal”, “replace”, “delete” or “insert”, and the stretches of both texts."""


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Return how `new` comes from `old`, right for texts of any size.

    Lines that stand once in each text divide a large change into small ones; a stretch that stays large without any
    such line counts as replaced as a whole.
    """
    if len(old) + len(new) <= MOST_COMPARED_LINES:
        return _compared(old, new)
    found: list[Opcode] = []
    at, other = 0, 0
    for anchor in (*_anchors(old, new), (len(old), len(new))):
        for tag, *ends in _gap(old[at : anchor[0]], new[other : anchor[1]]):
            found.append((tag, ends[0] + at, ends[1] + at, ends[2] + other, ends[3] + other))
        at, other = anchor[0] + 1, anchor[1] + 1
        found.append(("equal", anchor[0], at, anchor[1], other))
    # Behind the last stretch there is no line.
    found.pop()
    return list(_joined(found))


def _gap(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Return how one stretch comes from another without looking for lines that divide it."""
    if not old and not new:
        return []
    if not old or not new:
        return [("delete" if old else "insert", 0, len(old), 0, len(new))]
    if len(old) + len(new) <= MOST_COMPARED_LINES:
        return _compared(old, new)
    return [("replace", 0, len(old), 0, len(new))]


def grouped(found: Sequence[Opcode], context_lines: int) -> Iterator[list[Opcode]]:
    """Yield what stands close together, with some of the lines around it that are alike."""
    group: list[Opcode] = []
    for at, (tag, old_start, old_end, new_start, new_end) in enumerate(found):
        if tag != "equal":
            group.append((tag, old_start, old_end, new_start, new_end))
            continue
        before, behind = (context_lines if at else 0), (context_lines if at < len(found) - 1 else 0)
        if old_end - old_start <= before + behind:
            group.append((tag, old_start, old_end, new_start, new_end))
            continue
        if before:
            yield [*group, (tag, old_start, old_start + before, new_start, new_start + before)]
        group = [(tag, old_end - behind, old_end, new_end - behind, new_end)] if behind else []
    if group:
        yield group


def _compared(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    return list(difflib.SequenceMatcher(None, old, new).get_opcodes())


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return where lines stand that are in each text once, as many as stand in the same order in both."""
    once = {line for line, count in Counter(old).items() if count == 1}
    once &= {line for line, count in Counter(new).items() if count == 1}
    places = {line: at for at, line in enumerate(new) if line in once}
    pairs = [(at, places[line]) for at, line in enumerate(old) if line in once]
    # The longest row of pairs that only rises: the last of each length, and what stands before each pair.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _joined(found: Sequence[Opcode]) -> Iterator[Opcode]:
    """Yield neighbours that are alike as one."""
    held: Opcode | None = None
    for each in found:
        if held is not None and held[0] == each[0] == "equal":
            held = (each[0], held[1], each[2], held[3], each[4])
            continue
        if held is not None:
            yield held
        held = each
    if held is not None:
        yield held
