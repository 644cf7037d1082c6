"""When a failed step is tried again by itself, and after how long. See context-windows.md, 12."""

from collections.abc import Callable
from typing import Final

from app.domain.errors import ErrorKind, ProviderError

RETRIED_KINDS: Final = frozenset({ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED, ErrorKind.SERVER, ErrorKind.NETWORK})
FIRST_DELAY_SECONDS: Final = 2.0
MAX_DELAY_SECONDS: Final = 60.0
MAX_TRIES: Final = 6
MAX_TOTAL_SECONDS: Final = 600.0
MAX_RETRY_AFTER_SECONDS: Final = 300.0
"""A provider that asks for a longer wait ends the turn; the person is told when to come back."""


def retry_delay(
    error: ProviderError, *, tries: int, elapsed_seconds: float, random: Callable[[], float]
) -> float | None:
    """Return seconds to wait before the next try, None if there is to be none.

    `tries` have been made, the first `elapsed_seconds` ago. The delay doubles from 2 s to 60 s, of
    which up to half is taken off at random; `retry-after` is honoured as a lower bound.
    """
    if error.kind not in RETRIED_KINDS or tries >= MAX_TRIES:
        return None
    wanted = error.retry_after_seconds or 0.0
    if wanted > MAX_RETRY_AFTER_SECONDS:
        return None
    doubled = min(FIRST_DELAY_SECONDS * 2.0 ** (tries - 1), MAX_DELAY_SECONDS)
    delay = max(doubled * (1 - random() / 2), wanted)
    return delay if elapsed_seconds + delay <= MAX_TOTAL_SECONDS else None
