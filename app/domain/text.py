"""What a text says, apart from what it is made of."""

import unicodedata


def clean_text(text: str) -> str:
    """Return `text` with every lone surrogate as U+FFFD, and two halves of a character as that character."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # A pair of surrogates is one character; only lone ones are replaced.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def is_blank(text: str) -> bool:
    """Whether nothing in `text` can be seen: white space, control and format characters only."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf") for char in text)
