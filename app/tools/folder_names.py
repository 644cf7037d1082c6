"""Which paths a model may name below a chat's folder. Pure.

The rules are those of all systems together, so that a name means the same file everywhere or none.
"""

import unicodedata
from pathlib import Path
from typing import Final

from app.domain.errors import KnownError
from app.domain.file_names import is_device, name_key
from app.domain.text import clean_text, one_line

MAX_PATH_CHARS: Final = 1_000
MAX_DEPTH: Final = 40

_MOST_SHOWN_CHARS: Final = 120
_MOST_ASKED_CHARS: Final = 300
_UNSEEN: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_TURNING: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
"""Makes a name read otherwise than it is."""

Names = tuple[str, ...]
"""A path below the folder, name by name; none: the folder itself."""


class FolderFault(KnownError):
    """It can't be done; `str()` is a sentence a model can act on. Nothing changed."""


def parse_path(text: str, root: Path) -> Names:
    """Return the names of a path below `root`, which may be given absolute. Raises FolderFault. Pure."""
    if len(text) > MAX_PATH_CHARS + len(str(root)):
        raise FolderFault(f"This path is too long: at most {MAX_PATH_CHARS:,} characters.")
    names = tuple(name for name in _below(text, root).split("/") if name not in ("", "."))
    if len(names) > MAX_DEPTH:
        raise FolderFault(f"This path is too deep: at most {MAX_DEPTH} names.")
    for name in names:
        if reason := fault_of(name):
            raise FolderFault(f"{reason} Paths look like notes/plan.md, seen from the folder of this chat.")
    return names


def parse_file_path(text: str, root: Path) -> Names:
    """Return the names of a path that may be a file's. Raises FolderFault."""
    names = parse_path(text, root)
    if not names or text.endswith("/"):
        raise FolderFault(f"“{shown(names)}” is a folder. Name a file, for example notes/plan.md.")
    return names


def fault_of(name: str) -> str:
    """Return in a sentence why `name` is never used; empty if it may be."""
    if name == "..":
        return "“..” leads out of the folder of this chat."
    if any(unicodedata.category(char) in _UNSEEN or char in _TURNING for char in name):
        return "A name contains a character that can't be seen."
    if "\\" in name:
        return "A path may not contain a backslash; write / between names."
    if ":" in name:
        return "A name may not contain a colon."
    if name.startswith("~"):
        return "A name may not begin with ~; home folders can't be reached."
    if name[-1] in ". ":
        return "A name may not end with a dot or a space."
    if is_device(name):
        return "A name is that of a device on some systems, such as con or nul."
    return ""


def look_key(name: str) -> str:
    """Return what names have in common that look alike or are one name on some system."""
    return name_key("".join(char for char in name if unicodedata.category(char) != "Cf"))


def shown(names: Names) -> str:
    """Return a path as sentences say it, on one line; a long one loses its middle."""
    return one_line(clean_text("/".join(names)), most_chars=_MOST_SHOWN_CHARS) or "."


def asked_about(names: Names) -> str:
    """Return a path as a person is asked about it: so much of it that no long name hides where it leads."""
    return one_line(clean_text("/".join(names)), most_chars=_MOST_ASKED_CHARS) or "."


def _below(text: str, root: Path) -> str:
    """Return what of an absolute path lies below `root`; a relative one as it is. Compares texts only."""
    for whole in (str(root), root.as_posix()):
        rest = text.removeprefix(whole)
        if rest != text and (not rest or rest[0] in "/\\"):
            return rest[1:]
    if text.startswith("/"):
        raise FolderFault("Only what is in the folder of this chat can be reached. Give the path as seen from there.")
    return text
