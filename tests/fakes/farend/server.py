"""The far end itself: HTTP/1.1 on loopback, one answer a request, everything received kept."""

import asyncio
import contextlib
import ssl
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Self

import h11

from app.aio import TaskSet
from tests.fakes.farend.answers import error, json_answer
from tests.fakes.farend.dialects import Rendered, asked_by, body_of, dialect_of, friendly_reply, render
from tests.fakes.farend.exchange import ConnectionCut, Exchange
from tests.fakes.farend.hold import Hold
from tests.fakes.farend.models import DEFAULT_MODELS, Look, Model, listing
from tests.fakes.farend.received import Received
from tests.fakes.farend.script import Answer, Stall

HOST = "127.0.0.1"


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
        report: Callable[[str], None] | None = None,
    ) -> None:
        """`words_per_second` paces the answer that is given when no script is left; `report` gets a line a request."""
        self.models = tuple(models)
        self.look = look
        self.requests: list[Received] = []
        self.connections = 0
        """How many connections were made; with TLS, those whose handshake went well."""
        self.open_connections = 0
        """How many of them there are now."""
        self._port = port
        self._tls = tls
        self._words_per_second = words_per_second
        self._report = report or (lambda _: None)
        self._answers: deque[Answer] = deque()
        self._answers_by_path: list[tuple[str, Answer]] = []
        self._holds: list[Hold] = []
        self._failures: list[BaseException] = []
        self._tasks = TaskSet(lambda _, error: self._failures.append(error))
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, HOST, self._port, ssl=self._tls)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        # Not wait_closed of the server: it would wait for a client that has not ended its TLS handshake.
        await self._tasks.close()
        if self._failures:
            raise self._failures[0]

    @property
    def url(self) -> str:
        """`http://127.0.0.1:<port>`: the base of Anthropic's SDK; OpenAI's needs `/v1` after it."""
        return f"{'https' if self._tls else 'http'}://{HOST}:{self._port}"

    @property
    def port(self) -> int:
        return self._port

    @property
    def stalled(self) -> int:
        """How many answers stand in a stall now."""
        return len(self._holds)

    @property
    def left(self) -> int:
        """How many queued answers nobody has asked for yet."""
        return len(self._answers) + len(self._answers_by_path)

    def play(self, *answers: Answer, path: str | None = None) -> None:
        """Queue answers for the requests to come; thread-safe.

        Without `path` they are for requests for a reply (messages, responses, chat/completions), whatever the
        dialect. With `path` they are for requests whose path ends with it, as `/models`.
        """
        if path is None:
            self._answers.extend(answers)
        else:
            self._answers_by_path.extend((path, answer) for answer in answers)

    def release(self) -> None:
        """Let go every answer that stalls now; thread-safe."""
        for hold in tuple(self._holds):
            hold.release()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._tasks.spawn(self._serve(reader, writer), name=f"far end, connection {self.connections}")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER)
        self.open_connections += 1
        try:
            while (received := await _receive(connection, reader)) is not None:
                self.requests.append(received)
                await self._answer(received, connection, reader, writer)
                if received.is_disconnected or connection.our_state is not h11.DONE:
                    break
                connection.start_next_cycle()
        except asyncio.CancelledError:
            writer.transport.abort()
            raise
        except (ConnectionCut, h11.RemoteProtocolError, OSError):
            pass
        finally:
            self.open_connections -= 1
            if not writer.is_closing():
                writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _answer(
        self,
        received: Received,
        connection: h11.Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        asked = asked_by(received, len(self.requests))
        answer = self._answer_to(received)
        self._report(_line(received, asked.wants_stream))
        rendered: Rendered = render(answer, asked)
        exchange = Exchange(connection, writer, received, stall=self._stall)
        sending = self._tasks.spawn(exchange.send(rendered, answer.faults), name="far end, sending", watched=False)
        watching = self._tasks.spawn(
            _until_the_client_leaves(connection, reader), name="far end, watching", watched=False
        )
        try:
            await asyncio.wait({sending, watching}, return_when=asyncio.FIRST_COMPLETED)
            # Either side may notice first: reading ends, or writing fails.
            has_left = watching.done() or (sending.done() and isinstance(sending.exception(), OSError))
            if has_left and not received.is_answered:
                received.disconnected_at = time.monotonic()
                self._report(f"  the client went away after {received.sent_bytes} bytes of the answer")
                writer.transport.abort()
        finally:
            for task in (sending, watching):
                task.cancel()
            outcomes = await asyncio.gather(sending, watching, return_exceptions=True)
        if isinstance(failure := outcomes[0], Exception) and not received.is_disconnected:
            raise failure

    def _answer_to(self, received: Received) -> Answer:
        path = received.path.split("?", 1)[0]
        for place, (ending, answer) in enumerate(self._answers_by_path):
            if path.endswith(ending):
                del self._answers_by_path[place]
                return answer
        if received.method == "POST" and dialect_of(path) is not None:
            return self._answers.popleft() if self._answers else friendly_reply(received, self._words_per_second)
        if received.method == "POST" and path.endswith(("/count_tokens", "/input_tokens")):
            return json_answer({"object": "response.input_tokens", "input_tokens": max(1, len(received.body) // 4)})
        offered = listing(
            received.method,
            path,
            body_of(received),
            models=self.models,
            look=self.look,
            is_anthropic=received.header("anthropic-version") is not None,
        )
        return offered or error(404, message=f"Invalid URL ({received.method} {path})")

    async def _stall(self, stall: Stall) -> None:
        hold = stall.hold or Hold()
        self._holds.append(hold)
        try:
            await hold.wait()
        finally:
            self._holds.remove(hold)


async def _receive(connection: h11.Connection, reader: asyncio.StreamReader) -> Received | None:
    """Read one request whole; None if the client is done."""
    request: h11.Request | None = None
    body = bytearray()
    while True:
        match connection.next_event():
            case h11.NEED_DATA:
                connection.receive_data(await reader.read(65_536))
            case h11.Request() as head:
                request = head
            case h11.Data(data=data):
                body += data
            case h11.EndOfMessage():
                assert request is not None
                headers = [(name.decode("ascii").lower(), value.decode("latin-1")) for name, value in request.headers]
                return Received(request.method.decode(), request.target.decode(), headers, bytes(body))
            case _:
                return None


async def _until_the_client_leaves(connection: h11.Connection, reader: asyncio.StreamReader) -> None:
    """Read on while the answer is sent, so that the client's going is noticed at every moment."""
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            connection.receive_data(data)


def _line(received: Received, wants_stream: bool) -> str:
    model = body_of(received).get("model", "-")
    key = "yes" if received.has_key else "no"
    stream = "yes" if wants_stream else "no"
    return f"{received.method} {received.path}  model: {model}  stream: {stream}  key: {key}"
