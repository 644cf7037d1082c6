"""Figures as people type them: "128k", "200 000", "$3.50"."""

import re
from typing import Final

_NUMBER: Final = re.compile(r"(\d+(?:\.\d+)?)([kKmM]?)")
_GROUPED: Final = re.compile(r"\d{1,3}([,.])\d{3}(?:\1\d{3})*")
_SPACES: Final = re.compile(r"[\s_'’]")
_FACTORS: Final = {"": 1, "k": 1_000, "m": 1_000_000}


def read_tokens(text: str) -> int | None:
    """Return a number of tokens. Raises ValueError; None for an empty text."""
    text = _SPACES.sub("", text)
    if not text:
        return None
    grouped = _GROUPED.fullmatch(text)
    if grouped is not None:
        text = text.replace(grouped[1], "")
    found = _NUMBER.fullmatch(text.replace(",", "."))
    if found is None:
        raise ValueError(f"no number: {text}")
    value = float(found[1]) * _FACTORS[found[2].lower()]
    if value != int(value):
        raise ValueError(f"no number: {text}")
    return int(value)


def read_price(text: str) -> float | None:
    """Return a price in dollars. Raises ValueError; None for an empty text."""
    text = _SPACES.sub("", text).removeprefix("$")
    if not text:
        return None
    found = _NUMBER.fullmatch(text.replace(",", "."))
    if found is None or found[2]:
        raise ValueError(f"no number: {text}")
    return float(found[1])
