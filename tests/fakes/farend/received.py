"""What the far end remembers of a request."""

import json
import time
from dataclasses import dataclass, field


@dataclass
class Received:
    """One request as it came in, and what became of its answer."""

    method: str
    path: str
    """With the query."""
    headers: list[tuple[str, str]]
    """All, in order, names in lower case."""
    body: bytes
    moment: float = field(default_factory=time.monotonic)
    """When it was received whole, as `time.monotonic` counts."""
    sent_headers: bool = False
    """The answer's headers were sent."""
    sent_bytes: int = 0
    """Bytes of the answer's body that were sent so far."""
    is_answered: bool = False
    """The last byte of the answer was sent, or the connection cut as the script says."""
    disconnected_at: float | None = None
    """When the client went away before that."""

    @property
    def json(self) -> dict[str, object]:
        """The body as an object. ValueError if it is none."""
        body = json.loads(self.body)
        if not isinstance(body, dict):
            raise ValueError("the body is no object")  # noqa: TRY004 - it is about a value
        return body

    @property
    def is_disconnected(self) -> bool:
        """The client went away before the answer was complete."""
        return self.disconnected_at is not None

    def header(self, name: str) -> str | None:
        """The first value of a header, or None."""
        return next((value for key, value in self.headers if key == name.lower()), None)

    @property
    def has_key(self) -> bool:
        """A key of some kind came with it."""
        return any(self.header(name) for name in ("authorization", "x-api-key", "api-key"))
