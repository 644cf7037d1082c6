"""What a text says, apart from what it is made of."""

import unicodedata


def is_blank(text: str) -> bool:
    """Whether nothing in `text` can be seen: white space, control and format characters only."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf") for char in text)
