"""What a tool asks the person before it changes anything, and what may be answered."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Question:
    """What a call is about to do, to be allowed or not."""

    summary: str
    """One plain sentence: “Write 12 lines to notes.txt”."""
    diff: str = ""
    """The change as a unified diff, capped; empty where there is none to show."""
    scope: str = ""
    """What “always in this chat” would allow from now on, as policy and `session.json` name it: a tool's name."""
    version: str = ""
    """What the answer is about: a call whose target has another version by then fails instead of changing it."""


class Verdict(StrEnum):
    """What the person says to a question."""

    ALLOW = "allow"
    ALWAYS = "always"
    """From now on without asking, in this chat."""
    DENY = "deny"
