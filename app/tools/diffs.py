"""A change of a text as a unified diff, for the person."""

import difflib
from typing import Final

from app.domain.text import clean_text

MOST_DIFF_BYTES: Final = 32_768
_MOST_COMPARED_LINES: Final = 20_000
"""Beyond, comparing would take seconds; the change is then shown as all old and all new lines."""
_CONTEXT_LINES: Final = 3


def unified_diff(before: str, after: str, *, name: str, most_bytes: int = MOST_DIFF_BYTES) -> str:
    """Return what changes between two texts; what is cut at the end says so. Empty if nothing changes."""
    if before == after:
        return ""
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > _MOST_COMPARED_LINES:
        lines = [f"--- {name}", f"+++ {name}", *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    else:
        lines = list(difflib.unified_diff(old, new, name, name, n=_CONTEXT_LINES, lineterm=""))
    return clean_text(_capped(lines, most_bytes))


def _capped(lines: list[str], most_bytes: int) -> str:
    kept: list[str] = []
    size = 0
    for number, line in enumerate(lines):
        size += len(line.encode("utf-8", "replace")) + 1
        if size > most_bytes:
            return "\n".join([*kept, f"… {len(lines) - number} more lines"])
        kept.append(line)
    return "\n".join(kept)
