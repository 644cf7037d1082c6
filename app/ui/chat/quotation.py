"""Texts as quotations, for whoever answers to them."""

from typing import Final

MOST_QUOTED_CHARS: Final = 10_000
"""A longer quotation would be a file rather than a message."""


def quotation(text: str, *, is_cut: bool = False) -> str:
    """Return a text as a quotation in Markdown, with a blank line for what is said to it."""
    if is_cut:
        text += " …"
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines) + "\n\n"


def quotation_of(text: str) -> str:
    """Return the begin of a text as a quotation, all of it if it is not too long for one."""
    return quotation(text[:MOST_QUOTED_CHARS], is_cut=len(text) > MOST_QUOTED_CHARS)
