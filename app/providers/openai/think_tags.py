"""Thoughts that a local model writes into its text, told apart by their tags."""

from collections.abc import Iterator
from typing import Final

from app.providers.base import Piece, ReasoningPiece, TextPiece


class ThinkTags:
    """Tells thoughts from text where a local model writes `<think>…</think>` at the very beginning of its content.

    Anywhere else the tags are text: a person may ask about them.
    """

    OPEN: Final = "<think>"
    CLOSE: Final = "</think>"

    def __init__(self) -> None:
        self._held = ""
        """What may become a tag, or white space after one."""
        self._state = "start"

    def add(self, text: str) -> Iterator[Piece]:
        """Yield what is certain by now."""
        if self._state == "text":
            if text:
                yield TextPiece(text)
            return
        self._held += text
        if self._state == "start":
            yield from self._begin()
        if self._state == "opened" and self._held.strip():
            self._held, self._state = self._held.lstrip(), "thought"
        if self._state == "thought":
            yield from self._think()
        if self._state == "gap" and self._held.strip():
            said, self._held, self._state = self._held.lstrip(), "", "text"
            yield TextPiece(said)

    def end(self) -> Iterator[Piece]:
        """Yield what was held back."""
        held, self._held = self._held, ""
        if held and self._state == "start":
            yield TextPiece(held)
        if held and self._state == "thought":
            yield ReasoningPiece(held)

    def _begin(self) -> Iterator[Piece]:
        beginning = self._held.lstrip()
        if beginning.startswith(self.OPEN):
            self._held, self._state = beginning.removeprefix(self.OPEN), "opened"
        elif not self.OPEN.startswith(beginning):
            held, self._held, self._state = self._held, "", "text"
            yield TextPiece(held)

    def _think(self) -> Iterator[Piece]:
        thought, tag, rest = self._held.partition(self.CLOSE)
        if tag:
            self._held, self._state = rest, "gap"
        else:
            sure = len(thought) - _overlap(thought, self.CLOSE)
            thought, self._held = thought[:sure], thought[sure:]
        if thought:
            yield ReasoningPiece(thought)


def _overlap(text: str, tag: str) -> int:
    """Return how many characters at the end of `text` may be the beginning of `tag`."""
    return next((size for size in range(min(len(text), len(tag) - 1), 0, -1) if tag.startswith(text[-size:])), 0)
