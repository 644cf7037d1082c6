"""The far end of the wire for the soak test: fast words, now and then a huge reply or a failure."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from random import Random

from app.domain.errors import ErrorKind, ProviderError
from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Usage
from app.providers.base import Piece, ReasoningPiece, StopPiece, StopReason, TextPiece, UsagePiece

MODEL = "soak/model"
HUGE_CHARS = 1_200_000
"""More than fits into a row, so that the text goes to a blob."""


class SoakProvider:
    """Writes replies of random length; tells `on_request` of every request before its first piece."""

    def __init__(self, random: Random, on_request: Callable[[ModelRequest], None], *, is_steady: bool = False) -> None:
        """A steady one answers with a few words at once and never fails."""
        self._random = random
        self._on_request = on_request
        self._is_steady = is_steady

    @property
    def name(self) -> str:
        return "soak"

    def models(self) -> tuple[ModelCard, ...]:
        return (ModelCard("model", "soak", "Soak model", None, None, "o200k_base", 1.0),)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Yield a reply to `request`. Raises ProviderError after some text, never before any."""
        self._on_request(request)
        pieces = ["still ", "here"] if self._is_steady else self._words()
        if not self._is_steady and self._random.random() < 0.2:
            yield ReasoningPiece("Let me think about that. ")
        for at, piece in enumerate(pieces):
            if at % 8 == 0 and not self._is_steady:
                await asyncio.sleep(self._random.uniform(0.0005, 0.012))
            yield TextPiece(piece)
        if not self._is_steady and self._random.random() < 0.1:
            raise ProviderError(ErrorKind.SERVER, "The soak test wanted a failure here.")
        yield UsagePiece(Usage(input=len(request.rows), output=len(pieces)))
        yield StopPiece(StopReason.END)

    def _words(self) -> list[str]:
        if self._random.random() < 0.08:
            return ["0123456789abcdef " * 4096] * (HUGE_CHARS // (17 * 4096))
        return [f"word{number} " for number in range(self._random.choice((3, 30, 300, 2_000)))]
