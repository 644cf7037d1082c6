"""The tools for a chat's folder, made together: they share what the model has read."""

from collections.abc import Mapping
from pathlib import Path

from app.aio import Clock
from app.budget.requests import TextCounter
from app.tools.base import Tool
from app.tools.folder_edit import EditFileTool
from app.tools.folder_list import ListFilesTool
from app.tools.folder_read import ReadFileTool
from app.tools.folder_search import SearchFilesTool
from app.tools.folder_seen import Seen
from app.tools.folder_tool import Shared
from app.tools.folder_write import WriteFileTool


def make_folder_tools(counter: TextCounter, clock: Clock, data_folder: Path) -> Mapping[str, Tool]:
    """Return those of one chat by name; they never reach into Muntin's own `data_folder`."""
    shared = Shared(counter, clock, Seen(), data_folder)
    tools: tuple[Tool, ...] = (
        ListFilesTool(shared),
        ReadFileTool(shared),
        SearchFilesTool(shared),
        WriteFileTool(shared),
        EditFileTool(shared),
    )
    return {tool.spec.name: tool for tool in tools}
