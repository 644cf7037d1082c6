"""The keys that answer what was asked first."""

import sys
from typing import Final

from PySide6.QtGui import QKeySequence

from app.domain.approvals import Verdict

_MODIFIER: Final = "Ctrl+Alt" if sys.platform == "darwin" else "Alt"
"""Alt alone writes letters on a Mac, and what is written must never allow anything."""
ANSWER_KEYS: Final = {
    Verdict.ALLOW: f"{_MODIFIER}+A",
    Verdict.ALWAYS: f"{_MODIFIER}+Shift+A",
    Verdict.DENY: f"{_MODIFIER}+D",
}


def key_name(verdict: Verdict) -> str:
    """Return the keys of an answer as this system writes them."""
    return QKeySequence(ANSWER_KEYS[verdict]).toString(QKeySequence.SequenceFormat.NativeText)
