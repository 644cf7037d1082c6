"""Tooltips for texts of others: Qt would read them as rich text, and load what they name."""

import html


def plain_tooltip(text: str) -> str:
    """Return a tooltip that shows `text` as it is, wrapped where it is long; empty for an empty one."""
    return f"<qt>{html.escape(text).replace(chr(10), '<br>')}</qt>" if text else ""
