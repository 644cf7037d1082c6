"""Patterns for paths as models write them: `*.md`, `chapters/**/*.{md,txt}`. Pure."""

import fnmatch
import re
from collections.abc import Iterator
from typing import Final

from app.tools.folder_names import FolderFault, Names

_MOST_ALTERNATIVES: Final = 32
_ANY_FOLDERS: Final = "**"
_BRACES: Final = re.compile(r"\{([^{}]*)\}")


class Glob:
    """Tells which paths a pattern fits. Raises FolderFault if it means too much at once."""

    def __init__(self, pattern: str) -> None:
        """An empty pattern fits everything."""
        self._alternatives: Final = [_parts(each) for each in _expanded(pattern.casefold())] if pattern else []

    def fits(self, names: Names, start: Names = ()) -> bool:
        """Whether it fits a path seen from the attached folder, or from the folder at `start`."""
        if not self._alternatives:
            return True
        folded = [name.casefold() for name in names]
        inside = folded[len(start) :]
        return any(
            _fits(parts, folded[-1:]) if len(parts) == 1 else _fits(parts, folded) or _fits(parts, inside)
            for parts in self._alternatives
        )


_Part = re.Pattern[str] | None
"""Of a pattern: fits one name; None fits any number of them."""


def _expanded(pattern: str) -> list[str]:
    """Return the patterns that one with braces stands for."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        if len(done) + len(waiting) > _MOST_ALTERNATIVES:
            raise FolderFault(f"This pattern stands for more than {_MOST_ALTERNATIVES} others. Use a simpler one.")
        each = waiting.pop()
        braces = _BRACES.search(each)
        if braces is None:
            done.append(each)
        else:
            waiting += [each[: braces.start()] + choice + each[braces.end() :] for choice in braces[1].split(",")]
    return done


def _parts(pattern: str) -> list[_Part]:
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    if names and names[-1] == _ANY_FOLDERS:
        # All that is inside, but not the folder itself.
        names.append("*")
    return [None if name == _ANY_FOLDERS else re.compile(fnmatch.translate(name)) for name in names]


def _fits(parts: list[_Part], names: list[str]) -> bool:
    reached = set(_onward(parts, {0}))
    for name in names:
        following = set()
        for at in reached:
            if at == len(parts):
                continue
            part = parts[at]
            if part is None:
                following.add(at)
            elif part.match(name):
                following.add(at + 1)
        reached = set(_onward(parts, following))
    return len(parts) in reached


def _onward(parts: list[_Part], reached: set[int]) -> Iterator[int]:
    """Yield where a match may stand, those places included that are reached because `**` fits no folder at all."""
    for start in reached:
        at = start
        yield at
        while at < len(parts) and parts[at] is None:
            at += 1
            yield at
