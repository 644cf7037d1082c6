"""How much of an answer is read, and in which form: a server that never ends must not fill the memory."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import httpx2

MEBIBYTE: Final = 1024 * 1024
ACCEPTED: Final = {"Accept-Encoding": "identity"}
"""Header that asks for answers as they are: one that is compressed could unfold to a thousand times its size."""

_BLANK_LINES: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")
_TAIL_BYTES: Final = 3


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """How long answers may be."""

    error_bytes: int = MEBIBYTE
    """Of an answer that is an error; what comes behind is not read."""
    whole_bytes: int = 64 * MEBIBYTE
    """Of an answer in one piece."""
    stream_bytes: int = 512 * MEBIBYTE
    """Of a stream of events; the longest reply of today needs a tenth of it."""
    event_bytes: int = 32 * MEBIBYTE
    """Of one event; the last one of Responses holds the whole reply."""


def keep_within(response: "httpx2.Response", limits: AnswerLimits) -> None:
    """Have no more of `response` read than `limits` allow.

    An error is cut there; reading anything else raises httpx2.DecodingError. So does this function if the answer
    is compressed, which was not asked for.
    """
    import httpx2

    # JSON is in no other, and some names are of no encoding of text.
    response.encoding = "utf-8"
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)
    is_plain = response.headers.get("content-encoding", "").strip().lower() in ("", "identity")
    if not response.is_success:
        response.headers.pop("content-encoding", None)
        response.stream = _replaced(stream, _cut(stream, limits.error_bytes if is_plain else 0))
    elif not is_plain:
        raise httpx2.DecodingError("compressed unasked")
    elif response.headers.get("content-type", "").startswith("text/event-stream"):
        response.stream = _replaced(stream, _checked(stream, limits.stream_bytes, limits.event_bytes))
    else:
        response.stream = _replaced(stream, _checked(stream, limits.whole_bytes, limits.whole_bytes))


async def _cut(chunks: "httpx2.AsyncByteStream", most_bytes: int) -> AsyncIterator[bytes]:
    left = most_bytes
    async for chunk in chunks:
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            return


async def _checked(chunks: "httpx2.AsyncByteStream", most_bytes: int, most_event_bytes: int) -> AsyncIterator[bytes]:
    import httpx2

    total = event = 0
    tail = b""
    async for chunk in chunks:
        total += len(chunk)
        seen = tail + chunk
        ended = max(seen.rfind(blank) for blank in _BLANK_LINES)
        event = event + len(chunk) if ended < 0 else len(seen) - ended
        tail = seen[-_TAIL_BYTES:]
        if total > most_bytes or event > most_event_bytes:
            raise httpx2.DecodingError("too long")
        yield chunk


def _replaced(stream: "httpx2.AsyncByteStream", chunks: AsyncIterator[bytes]) -> "httpx2.AsyncByteStream":
    """Return `stream` with other content; closing it closes the connection as before."""
    import httpx2

    class Replaced(httpx2.AsyncByteStream):
        def __aiter__(self) -> AsyncIterator[bytes]:
            return chunks

        async def aclose(self) -> None:
            await stream.aclose()

    return Replaced()
