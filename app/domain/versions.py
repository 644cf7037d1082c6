"""Versions of what follows a message: made by editing and by asking again. See context-windows.md, 3."""

from dataclasses import dataclass
from typing import Literal

CutReason = Literal["edit", "regenerate", "switch"]
"""Why what followed a row was cut off."""


@dataclass(frozen=True, slots=True)
class Versions:
    """All there are behind one row, oldest first."""

    after: str
    """Id of the row they follow; empty if they begin the history."""
    ids: tuple[str, ...]
    """Of the branch each lies in, empty for the one that is the chat now. At least two."""

    @property
    def current(self) -> int:
        """Place of the one that is the chat now."""
        return self.ids.index("")
