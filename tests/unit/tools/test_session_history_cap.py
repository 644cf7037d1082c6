"""A result of `session_history` is at most min(16,384 bytes, an eighth of the window). See context-windows.md, 7."""

import pytest

from app.domain.errors import BugError
from app.tools.base import ToolContext
from app.tools.cap import Cap, rendered


class OneTokenAByte:
    """Counts as one does who can't count."""

    def count_text(self, text: str, encoding: str) -> int:
        return len(text.encode("utf-8"))


class HalfATokenAByte:
    """As most texts are."""

    def count_text(self, text: str, encoding: str) -> int:
        return len(text.encode("utf-8")) // 2


class NoneAtAll:
    """Must not be asked."""

    def count_text(self, text: str, encoding: str) -> int:
        raise BugError("asked for tokens though nobody knows the limit")


def of_bytes(size: int, char: str) -> dict[str, str]:
    """An answer that takes exactly `size` bytes as the model gets it."""
    frame = len(rendered({"text": ""}).encode())
    wide = (size - frame) // len(char.encode())
    text = char * wide
    return {"text": text + "x" * (size - frame - len(text.encode()))}


@pytest.mark.parametrize("char", ["a", "é", "狐", "🦊"])
def test_16384_bytes_of_utf_8_fit_and_not_one_more(char: str) -> None:
    cap = Cap.of(ToolContext("s1", limit=None), NoneAtAll())
    assert len(rendered(of_bytes(16_384, char)).encode()) == 16_384
    assert cap.holds(of_bytes(16_384, char))
    assert not cap.holds(of_bytes(16_385, char))


def test_an_eighth_of_the_window_fits_and_not_one_token_more() -> None:
    cap = Cap.of(ToolContext("s1", limit=8_007, factor=1.0), OneTokenAByte())
    assert cap.holds(of_bytes(1_000, "a"))
    assert not cap.holds(of_bytes(1_001, "a"))
    cap = Cap.of(ToolContext("s1", limit=8_000, factor=2.0), OneTokenAByte())
    assert cap.holds(of_bytes(500, "a"))
    assert not cap.holds(of_bytes(501, "a"))
    cap = Cap.of(ToolContext("s1", limit=8_000, factor=1.0), HalfATokenAByte())
    assert cap.holds(of_bytes(2_001, "a"))
    assert not cap.holds(of_bytes(2_002, "a"))
