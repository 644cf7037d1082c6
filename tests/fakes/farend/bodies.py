"""The bodies of errors, as each vendor words them."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime


def http_date(seconds_from_now: float) -> str:
    """A moment as `Retry-After` may give it."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds_from_now), usegmt=True)
