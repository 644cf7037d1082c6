"""A virtual X screen of our own, and keys typed into the window that is on it."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator

TOOLS = ("Xvfb", "xdotool")
WINDOW_SECONDS = 20.0


def missing_tools() -> list[str]:
    """Return which programs the kills of the real window lack here."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


@contextlib.contextmanager
def virtual_screen() -> Iterator[str]:
    """Start Xvfb on a free number; yield its name for `DISPLAY`."""
    reading, writing = os.pipe()
    options = ["-screen", "0", "1280x1024x24", "-nolisten", "tcp", "-noreset", "-displayfd", str(writing)]
    server = subprocess.Popen(["Xvfb", *options], pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as numbers:
            number = numbers.readline().strip()
        if not number:
            raise OSError("Xvfb does not start")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


class Keyboard:
    """Types into the window of one process."""

    def __init__(self, display: str, pid: int) -> None:
        self._env = {**os.environ, "DISPLAY": display}
        self._window = self._find(pid)
        # There is no window manager that would do it.
        self._run("windowfocus", "--sync", self._window)

    def type_line(self, text: str) -> None:
        """Type `text` and press Return."""
        self._run("type", "--delay", "5", text)
        self.press("Return")

    def press(self, keys: str) -> None:
        """Press a key or a combination, named as X names them."""
        self._run("key", keys)

    def _find(self, pid: int) -> str:
        until = time.monotonic() + WINDOW_SECONDS
        while time.monotonic() < until:
            found = self._run("search", "--onlyvisible", "--pid", str(pid), "--name", "Muntin", is_needed=False).split()
            if found:
                return found[0]
            time.sleep(0.05)
        raise TimeoutError("the window does not appear")

    def _run(self, *arguments: str, is_needed: bool = True) -> str:
        done = subprocess.run(["xdotool", *arguments], env=self._env, capture_output=True, text=True, check=is_needed)
        return done.stdout
