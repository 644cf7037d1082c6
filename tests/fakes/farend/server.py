"""The far end itself: HTTP/1.1 on loopback, one answer a request, everything received kept."""

import ssl
from collections.abc import Sequence
from typing import Self

from tests.fakes.farend.models import DEFAULT_MODELS, Look, Model
from tests.fakes.farend.script import Answer


class Received:
    """One request as it came in, and what became of its answer."""

    method: str
    path: str
    """With the query."""
    headers: list[tuple[str, str]]
    """All, in order, names in lower case."""
    body: bytes
    moment: float
    """When it was received whole, as `time.monotonic` counts."""
    is_answered: bool
    """The last byte of the answer was handed to the system."""
    sent_bytes: int
    """Bytes of the answer's body that were sent so far."""
    sent_headers: bool
    disconnected_at: float | None
    """When the client went away before the answer was complete."""

    @property
    def json(self) -> dict[str, object]:
        """The body as an object."""
        raise NotImplementedError

    @property
    def is_disconnected(self) -> bool:
        raise NotImplementedError

    def header(self, name: str) -> str | None:
        """The first value of a header, or None."""
        raise NotImplementedError


class FarEnd:
    """A model provider on loopback that plays what a test wrote down. `async with FarEnd() as far: …`."""

    def __init__(
        self,
        *,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        models: Sequence[Model] = DEFAULT_MODELS,
        look: Look = "plain",
        words_per_second: float | None = None,
    ) -> None:
        """`words_per_second` paces the answer that is given when no script is left."""
        self.models = tuple(models)
        self.look = look
        self.requests: list[Received] = []

    async def __aenter__(self) -> Self:
        raise NotImplementedError

    async def __aexit__(self, *_: object) -> None:
        raise NotImplementedError

    @property
    def url(self) -> str:
        """`http://127.0.0.1:<port>`: the base of Anthropic's SDK; OpenAI's needs `/v1` after it."""
        raise NotImplementedError

    @property
    def stalled(self) -> int:
        """How many answers stand in a stall now."""
        raise NotImplementedError

    def play(self, *answers: Answer, path: str | None = None) -> None:
        """Queue answers for the requests to come; thread-safe.

        Without `path` they are for requests for a reply (messages, responses, chat/completions), whatever the
        dialect. With `path` they are for requests whose path ends with it, as `/models`.
        """
        raise NotImplementedError

    def release(self) -> None:
        """Let go every answer that stalls now; thread-safe."""
        raise NotImplementedError
