"""Arguments of calls, read with patience: what can be understood is, the rest is said."""

from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

_MOST_DIGITS: Final = 15


class BadArguments(Exception):
    """`str()` is a sentence that tells the model what to send instead."""


class Arguments(BaseModel):
    """What is asked of a tool; what it does not know is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def as_number(value: object) -> object:
    """Take `"10"` and `10.0` for 10."""
    if isinstance(value, str):
        value = value.strip()
        return int(value) if value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS else value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    # True and false are no numbers.
    return str(value) if isinstance(value, bool) else value


def within(least: int, most: int) -> AfterValidator:
    """Refuse less than `least`; more than `most` counts as `most`."""

    def limited(number: int) -> int:
        if number < least:
            raise ValueError("too small")
        return min(number, most)

    return AfterValidator(limited)


Count = Annotated[int, BeforeValidator(as_number)]
"""A number, however it is written."""
