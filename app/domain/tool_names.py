"""The tools there are, by the names that models call and policies grant, and what each may do."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.domain.windows import SESSION_HISTORY

MEMORY: Final = "memory"
LIST_FILES: Final = "list_files"
READ_FILE: Final = "read_file"
SEARCH_FILES: Final = "search_files"
WRITE_FILE: Final = "write_file"
EDIT_FILE: Final = "edit_file"


class ToolKind(StrEnum):
    """What calls of a tool can do."""

    READS = "reads"
    """Nothing but read: never asks."""
    ASKS = "asks"
    """Every call changes something, and asks first."""
    MIXED = "mixed"
    """Some calls read, others change something; of those some ask first."""


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool that is built in."""

    name: str
    kind: ToolKind


TOOLS: Final = (
    KnownTool(SESSION_HISTORY, ToolKind.READS),
    KnownTool(MEMORY, ToolKind.MIXED),
    KnownTool(LIST_FILES, ToolKind.READS),
    KnownTool(READ_FILE, ToolKind.READS),
    KnownTool(SEARCH_FILES, ToolKind.READS),
    KnownTool(WRITE_FILE, ToolKind.ASKS),
    KnownTool(EDIT_FILE, ToolKind.ASKS),
)
"""In the order they are listed for people."""
