"""Size and place of the window, and what was open: `window.json` of the data folder.

Not Qt's own settings: everything of Muntin lies in one folder, which moves as a whole.
"""

import base64
import contextlib
import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path


@dataclass(slots=True)
class WindowState:
    """`geometry` is Qt's own form of size, place and screen; widths are in pixels, without the zoom."""

    geometry: str = ""
    panel_width: int = 260
    panel_is_shown: bool = True
    history_width: int = 340
    history_is_shown: bool = False
    memory_width: int = 340
    memory_is_shown: bool = False
    chat: str = ""


def load_window_state(path: Path) -> WindowState:
    """Return what is kept, defaults for what is missing or broken."""
    state = WindowState()
    try:
        raw = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return state
    if isinstance(raw, dict):
        for field in fields(WindowState):
            value = raw.get(field.name)
            if type(value) is type(getattr(state, field.name)):
                setattr(state, field.name, value)
    return state


def save_window_state(path: Path, state: WindowState) -> None:
    """Keep `state`; what another version keeps there stays. A disk that refuses costs comfort only."""
    with contextlib.suppress(OSError):
        raw: dict[str, object] = {}
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(path.read_bytes())
            raw = found if isinstance(found, dict) else {}
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(raw | asdict(state), file)
        temporary.replace(path)


def encode_geometry(data: bytes) -> str:
    """Return Qt's bytes as text."""
    return base64.b64encode(data).decode("ascii")


def decode_geometry(text: str) -> bytes:
    """Return Qt's bytes; empty if `text` is none."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""
