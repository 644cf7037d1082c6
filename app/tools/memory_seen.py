"""Which version of each memory a model has seen in its context window, so that it changes none it doesn't know."""

import threading

from app.memory.paths import MemoryPath


class SeenVersions:
    """What was viewed or written in one window. May be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._window = ""
        self._versions: dict[str, str] = {}

    def enter(self, window: str) -> None:
        """Forget everything if this is another window."""
        with self._lock:
            if window != self._window:
                self._window, self._versions = window, {}

    def note(self, path: MemoryPath, version: str | None) -> None:
        """Keep which version of a memory is known now; None for none."""
        with self._lock:
            if version is None:
                self._versions.pop(_key(path), None)
            else:
                self._versions[_key(path)] = version

    def version_of(self, path: MemoryPath) -> str | None:
        """Return the version that was seen last, None if none was."""
        with self._lock:
            return self._versions.get(_key(path))


def _key(path: MemoryPath) -> str:
    return f"{path.scope}/{path.key}"
