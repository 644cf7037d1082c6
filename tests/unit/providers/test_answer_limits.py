"""What a server that means no good, or has gone mad, can make the program read and keep."""

import asyncio
import contextlib
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest

from app.providers.answer_limits import AnswerLimits, keep_within
from app.providers.http import make_client
from app.settings.schema import Endpoint, Network

LIMITS = AnswerLimits(error_bytes=10, whole_bytes=20, stream_bytes=60, event_bytes=30)
EVENT = b"data: 1\n\n"


class Chunks(httpx2.AsyncByteStream):
    def __init__(self, chunks: tuple[bytes, ...]) -> None:
        self.chunks = chunks
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            yield chunk

    async def aclose(self) -> None:
        self.is_closed = True


async def read(*chunks: bytes, status: int = 200, content_type: str = "application/json") -> bytes:
    stream = Chunks(chunks)
    response = httpx2.Response(status, headers={"content-type": content_type}, stream=stream)
    keep_within(response, LIMITS)
    try:
        return await response.aread()
    finally:
        await response.aclose()
        assert stream.is_closed


@pytest.mark.parametrize(
    ("chunks", "kind"),
    [
        ((b"x" * 20,), "application/json"),
        ((b"x" * 30,), "text/event-stream"),
        ((EVENT,) * 6, "text/event-stream; charset=utf-8"),
        ((b"x" * 28 + b"\n", b"\n" + b"y" * 27), "text/event-stream"),
        ((b"x" * 26 + b"\r\n\r", b"\n" + b"y" * 26), "text/event-stream"),
    ],
)
async def test_what_is_short_enough_comes_whole(chunks: tuple[bytes, ...], kind: str) -> None:
    assert await read(*chunks, content_type=kind) == b"".join(chunks)


@pytest.mark.parametrize(
    ("chunks", "kind"),
    [
        ((b"x" * 21,), "application/json"),
        ((b"x" * 10, b"x" * 11), "text/plain"),
        ((b"x" * 31,), "text/event-stream"),
        ((b"x\n" * 8, b"x\n" * 8), "text/event-stream"),
        ((EVENT,) * 7, "text/event-stream"),
    ],
)
async def test_what_is_too_long_is_no_answer(chunks: tuple[bytes, ...], kind: str) -> None:
    with pytest.raises(httpx2.DecodingError):
        await read(*chunks, content_type=kind)


async def test_a_long_error_is_cut() -> None:
    assert await read(b"12345", b"67890", b"more", status=500) == b"1234567890"
    assert await read(b"1234567", b"890more", status=400, content_type="text/event-stream") == b"1234567890"


@asynccontextmanager
async def server(answer: bytes, heads: list[bytes]) -> AsyncIterator[str]:
    """Serve the same bytes to every request and note what was asked."""

    serving: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.append(asyncio.current_task())
        with contextlib.suppress(ConnectionError):
            while head := await reader.read(65536):
                heads.append(head)
                writer.write(answer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        await asyncio.gather(*filter(None, serving))


def http(status: int, body: bytes, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status} Told", f"content-length: {len(body)}", *headers, "", ""]).encode() + body


def client_for(url: str) -> httpx2.AsyncClient:
    return make_client(Endpoint(id="far", name="Far", base_url=url), Network())


async def test_answers_are_asked_for_as_they_are() -> None:
    heads: list[bytes] = []
    async with server(http(200, b"{}"), heads) as url, client_for(url) as client:
        assert (await client.get(url)).json() == {}
    assert b"accept-encoding: identity\r\n" in heads[0].lower()


async def test_a_compressed_answer_is_not_unfolded() -> None:
    bomb = gzip.compress(bytes(10_000_000))
    async with server(http(200, bomb, "content-encoding: gzip"), []) as url, client_for(url) as client:
        with pytest.raises(httpx2.DecodingError):
            await client.get(url)


async def test_a_compressed_error_keeps_its_status() -> None:
    bomb = gzip.compress(bytes(10_000_000))
    async with server(http(503, bomb, "content-encoding: gzip"), []) as url, client_for(url) as client:
        answer = await client.get(url)
    assert (answer.status_code, answer.text) == (503, "")


@pytest.mark.parametrize("charset", ["base64", "utf-7777", "idna"])
async def test_an_answer_is_read_as_utf8_whatever_it_says_it_is(charset: str) -> None:
    body = "naïve".encode()
    said = f"content-type: text/plain; charset={charset}"
    async with server(http(400, body, said), []) as url, client_for(url) as client:
        assert (await client.get(url)).text == "naïve"


async def test_no_cookie_goes_back() -> None:
    heads: list[bytes] = []
    told = http(200, b"{}", "set-cookie: who=42; Path=/; Max-Age=99999")
    async with server(told, heads) as url, client_for(url) as client:
        await client.get(url)
        await client.get(url)
    assert len(heads) == 2
    assert b"cookie" not in heads[1].lower()
