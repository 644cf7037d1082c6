"""What names of files mean on every system, whichever one this is. Pure."""

import unicodedata
from typing import Final

_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"}
)


def name_key(name: str) -> str:
    """Return what names share that are one name on some system: case folded, in composed form (NFC)."""
    folded = unicodedata.normalize("NFD", name).casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", folded).casefold())


def is_device(name: str) -> bool:
    """Whether Windows takes `name`, whatever its ending, for a device: `con`, `nul.txt`."""
    return name_key(name).split(".", 1)[0].rstrip() in _DEVICES
