"""Keys as people paste them. Pure."""

from typing import Final

from app.domain.errors import KnownError

MAX_KEY_CHARS: Final = 4000
MIN_CHARS_TO_SHOW_ENDING: Final = 12
ENDING_CHARS: Final = 4

_QUOTES: Final = "\"'`‘’“”«»"


def clean_key(text: str) -> str:
    """Return a pasted key without blanks and quotes around it.

    Raises KnownError with a sentence for people, which never holds the text, if it can't be a key.
    """
    key = strip_key(text)
    problem = _problem_of(key)
    if problem:
        raise KnownError(problem)
    return key


def usable_key(text: str, source: str) -> str:
    """Return a key that somebody else put where it is. Raises KnownError that begins with `source`."""
    try:
        return clean_key(text)
    except KnownError as error:
        raise KnownError(f"{source} can't be used as a key. {error}") from None


def strip_key(text: str) -> str:
    """Return `text` without what comes along when a key is copied."""
    return text.strip().strip(_QUOTES).strip()


def _problem_of(key: str) -> str:
    if not key:
        return "There is no key in it."
    if key.lower().startswith(("http://", "https://")):
        return "This is an address, not a key."
    if len(key) > MAX_KEY_CHARS:
        return f"This is too long for a key: {len(key):,} characters."
    if any(character.isspace() for character in key):
        return "A key has no spaces or line breaks in it. Copy it again, alone."
    if not key.isascii():
        return "A key has only plain letters, digits and signs. Copy it again; something else came with it."
    if not key.isprintable():
        return "A key has no invisible characters. Copy it again; something else came with it."
    return ""


def ending_of(key: str) -> str:
    """Return the last characters of a key, empty if it is so short that they would give it away."""
    return key[-ENDING_CHARS:] if len(key) >= MIN_CHARS_TO_SHOW_ENDING else ""
