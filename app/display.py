"""Whether there is a screen to draw on, told before Qt would end the program without a word."""

import os
import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

NO_DISPLAY: Final = "Muntin needs a display. Start it from a desktop session, or try: xvfb-run -a make run"
_LOCAL_X: Final = re.compile(r"(?:unix)?:(\d+)(?:\.\d+)?")


def has_display(env: Mapping[str, str] = os.environ) -> bool:
    """Whether Qt will find a screen, or was told which platform to use."""
    if sys.platform in ("win32", "darwin") or env.get("QT_QPA_PLATFORM"):
        return True
    wayland = env.get("WAYLAND_DISPLAY")
    if wayland and Path(env.get("XDG_RUNTIME_DIR", "/nonexistent"), wayland).exists():
        return True
    display = env.get("DISPLAY")
    return bool(display) and _answers(str(display))


def _answers(display: str) -> bool:
    local = _LOCAL_X.fullmatch(display)
    if local is None:
        # On another machine: Qt says itself what is wrong with it.
        return True
    path = f"/tmp/.X11-unix/X{local[1]}"  # noqa: S108 - where X servers listen
    for address in (path, f"\0{path}"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            try:
                connection.connect(address)
            except OSError:
                continue
            return True
    return False
