"""Identifiers of chats, rows, turns and batches."""

import secrets
import time
from collections.abc import Callable

NewId = Callable[[], str]
"""Makes a fresh identifier; tests hand in a counter."""


def new_id() -> str:
    """Return 24 hexadecimal digits: 12 of the time in milliseconds, 12 random.

    Sorting by id is sorting by time of making, to the millisecond. Short enough that
    an item reference `m:<row id>` stays under 40 characters (context-windows.md, 7).
    """
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(6)}"
