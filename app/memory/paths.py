"""Which paths a memory may have, and when two of them are the same. Pure. See context-windows.md, 13.

Stricter than any one system: a data folder moves between systems, and no name may mean another file on one of them.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from app.domain.file_names import is_device, name_key
from app.domain.memories import MemoryScope
from app.domain.text import with_unseen_named
from app.memory.faults import BadPath

MAX_PATH_CHARS: Final = 400
MAX_NAME_BYTES: Final = 200
"""Leaves room for what a temporary file adds."""
MAX_DEPTH: Final = 8

_ROOT: Final = "memories"
_EXAMPLE: Final = "/memories/workspace/plan.md"
_ENCODED: Final = re.compile(r"%(?:25)*(?:2f|5c|2e|00)", re.IGNORECASE)
"""A separator, a dot or the end of a text, percent-encoded once or more often."""
_FORBIDDEN: Final = frozenset('~:\\<>"|?*')
_UNSEEN: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_MARKS: Final = frozenset("\u200e\u200f")
"""Make a name read otherwise than it is, as do those that `with_unseen_named` names."""


@dataclass(frozen=True, slots=True)
class MemoryPath:
    """A path that keeps all rules. No `names`: the folder of the whole scope."""

    scope: MemoryScope
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "/".join(("", _ROOT, self.scope, *self.names))

    @property
    def key(self) -> str:
        """What two paths have in common that are the same on some system."""
        return "/".join(map(name_key, self.names))

    def child(self, name: str) -> "MemoryPath":
        """Return the path of an entry of this folder."""
        return MemoryPath(self.scope, (*self.names, name))


def parse_path(text: str) -> MemoryPath:
    """Return the path that `text` writes: `/memories/<scope>/…`. Raises BadPath."""
    if len(text) > MAX_PATH_CHARS:
        raise BadPath(f"This path is longer than {MAX_PATH_CHARS} characters. Use a shorter one.")
    found = [name_key(piece) for piece in text.split("/", 3)]
    if len(found) < 3 or found[:2] != ["", _ROOT] or found[2] not in tuple(MemoryScope):
        raise BadPath(
            "A path begins with /memories/workspace/ for this chat or /memories/global/ for all chats,"
            f" for example {_EXAMPLE}."
        )
    scope, rest = MemoryScope(found[2]), text.split("/")[3:]
    if rest == [""]:
        # A folder may be written with a slash at its end.
        rest = []
    if len(rest) > MAX_DEPTH:
        raise BadPath(f"A path has at most {MAX_DEPTH} names below {scope}. Use fewer folders.")
    for name in rest:
        if reason := fault_of(name):
            raise BadPath(f"{reason} Use a path such as {_EXAMPLE}.")
    return MemoryPath(scope, tuple(unicodedata.normalize("NFC", name) for name in rest))


def parse_file_path(text: str) -> MemoryPath:
    """Return the path of a file; a scope alone is none. Raises BadPath."""
    path = parse_path(text)
    if not path.names:
        raise BadPath(f"{path} is the folder of all memories. Name a file in it, for example {path}/plan.md.")
    return path


def fault_of(name: str) -> str:
    """Return in a sentence why no file or folder may be called `name`; empty if it may."""
    if not name:
        return "A name in the path is empty."
    if name in (".", ".."):
        return "A path may not contain . or .. as a name."
    is_unseen = any(unicodedata.category(char) in _UNSEEN or char in _MARKS for char in name)
    if is_unseen or with_unseen_named(name) != name:
        return "A name contains a character that can't be seen."
    if _ENCODED.search(name):
        return "A name contains a percent-encoded separator."
    if found := next((char for char in name if char in _FORBIDDEN or char == "/"), ""):
        return f"A name may not contain {found} ."
    return _fault_of_whole(name)


def _fault_of_whole(name: str) -> str:
    if name.startswith("."):
        return "A name may not begin with a dot."
    if name[-1] == "." or name[0].isspace() or name[-1].isspace():
        return "A name may not end with a dot, nor begin or end with a space."
    if is_device(name):
        return "A name is that of a device on some systems, such as con or nul."
    if len(unicodedata.normalize("NFC", name).encode()) > MAX_NAME_BYTES:
        return f"A name is longer than {MAX_NAME_BYTES} bytes."
    return ""
