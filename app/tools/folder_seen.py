"""Which files a model has read in its context window, and which version of each. In memory only.

What a model hasn't seen it would change blindly: after a rollover, a reset or a restart it reads again.
"""

import threading
from pathlib import Path

from app.tools.base import ToolContext
from app.tools.folder_names import FolderFault, Names, shown


class Seen:
    """What was read in the newest window of one chat. Calls may come from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._window = ""
        self._versions: dict[tuple[Path | None, Names], str] = {}

    def note(self, names: Names, version: str, context: ToolContext) -> None:
        """Remember a file as the model knows it now."""
        with self._lock:
            self._turn_to(context.window)
            self._versions[context.folder, names] = version

    def check(self, names: Names, version: str, context: ToolContext) -> None:
        """Raise FolderFault unless the model has read this version in this window."""
        with self._lock:
            self._turn_to(context.window)
            known = self._versions.get((context.folder, names))
        if known is None:
            raise FolderFault(
                f"Read “{shown(names)}” with read_file first: you have not read it in this context window."
            )
        if known != version:
            raise FolderFault(
                f"“{shown(names)}” was changed since you read it. Read it again with read_file before you change it."
            )

    def _turn_to(self, window: str) -> None:
        if window != self._window:
            self._window = window
            self._versions.clear()
