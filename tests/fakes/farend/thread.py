"""The far end on a thread and loop of its own, for tests that run no loop."""

import ssl
from collections.abc import Sequence
from typing import Self

from tests.fakes.farend.models import DEFAULT_MODELS, Look, Model
from tests.fakes.farend.script import Answer
from tests.fakes.farend.server import Received


class FarEndThread:
    """As `FarEnd`, for synchronous tests: `with FarEndThread() as far: …`. Everything is thread-safe."""

    def __init__(
        self,
        *,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        models: Sequence[Model] = DEFAULT_MODELS,
        look: Look = "plain",
        words_per_second: float | None = None,
    ) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        raise NotImplementedError

    def __exit__(self, *_: object) -> None:
        raise NotImplementedError

    @property
    def url(self) -> str:
        """See `FarEnd.url`."""
        raise NotImplementedError

    @property
    def requests(self) -> list[Received]:
        """See `FarEnd.requests`."""
        raise NotImplementedError

    @property
    def stalled(self) -> int:
        """See `FarEnd.stalled`."""
        raise NotImplementedError

    def play(self, *answers: Answer, path: str | None = None) -> None:
        """See `FarEnd.play`."""
        raise NotImplementedError

    def release(self) -> None:
        """See `FarEnd.release`."""
        raise NotImplementedError
