"""What comes of writing a part of a chat to a file for other programs."""

from dataclasses import dataclass
from typing import Literal

ExportKind = Literal["markdown", "json"]


@dataclass(frozen=True, slots=True)
class ExportReport:
    """How many messages were written, and what could not be. A file with something left out says so itself."""

    rows: int = 0
    damaged: int = 0
    """Entries that can't be read."""
    oversized: int = 0
    """Entries too long to be read."""
    missing: int = 0
    """Long texts that are kept apart and were gone; their begin and end were written."""
    hidden: int = 0
    """Rows that Muntin wrote for the model alone, and repetitions of rows."""

    @property
    def is_whole(self) -> bool:
        """Whether all that was said is in the file."""
        return not (self.damaged or self.oversized or self.missing)
