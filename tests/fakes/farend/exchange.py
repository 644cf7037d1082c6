"""Sending one answer, with its faults, over one connection."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable

import h11

from tests.fakes.farend.dialects import Rendered
from tests.fakes.farend.faults import before_headers, in_headers, lay_out
from tests.fakes.farend.received import Received
from tests.fakes.farend.rendering import Op
from tests.fakes.farend.script import Cut, Pause, Stall, WireFault


class ConnectionCut(Exception):
    """The script has ended the connection; nothing more is to be sent."""


class Exchange:
    """Sends one answer. `stall` is awaited for every Stall and returns when it is released."""

    def __init__(
        self,
        connection: h11.Connection,
        writer: asyncio.StreamWriter,
        received: Received,
        *,
        stall: Callable[[Stall], Awaitable[None]],
    ) -> None:
        self._connection = connection
        self._writer = writer
        self._received = received
        self._stall = stall
        self._is_chunked = False

    async def send(self, rendered: Rendered, faults: tuple[WireFault, ...]) -> None:
        """Send the answer whole, or up to where the script cuts it: ConnectionCut."""
        ops = lay_out(rendered.ops, faults)
        for fault in before_headers(faults):
            await self._wait_or_cut(fault)
        head = self._connection.send(self._head(rendered, ops))
        assert head is not None
        if (cut := in_headers(faults)) is not None:
            self._writer.write(head[: cut.in_headers])
            await self._cut(cut)
        if not any(isinstance(op, bytes) for op in ops):
            ops.append(b"")
        self._writer.write(head)
        self._received.sent_headers = True
        self._is_chunked = rendered.is_stream
        for place, op in enumerate(ops):
            if isinstance(op, bytes):
                self._write(op, is_last=place == len(ops) - 1)
                await self._let_the_client_read()
            else:
                await self._wait_or_cut(op)
        if not self._received.is_answered:
            self._end()

    def _head(self, rendered: Rendered, ops: list[Op]) -> h11.Response:
        framing = ("transfer-encoding", "chunked")
        if not rendered.is_stream:
            framing = ("content-length", str(sum(len(op) for op in ops if isinstance(op, bytes))))
        return h11.Response(status_code=rendered.status, headers=[*rendered.headers, framing])

    def _write(self, data: bytes, *, is_last: bool) -> None:
        sent = self._connection.send(h11.Data(data)) or b""
        if is_last:
            # With the last byte in one piece: what the client does after it is no disconnection.
            sent += self._connection.send(h11.EndOfMessage()) or b""
        self._writer.write(sent)
        self._received.sent_bytes += len(data)
        self._received.is_answered = is_last

    def _end(self) -> None:
        self._writer.write(self._connection.send(h11.EndOfMessage()) or b"")
        self._received.is_answered = True

    async def _let_the_client_read(self) -> None:
        if not self._writer.is_closing():
            await self._writer.drain()
        # A client on the same loop gets each piece by itself.
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def _wait_or_cut(self, fault: Stall | Cut | Pause) -> None:
        match fault:
            case Stall():
                await self._stall(fault)
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Cut():
                await self._cut(fault)

    async def _cut(self, cut: Cut) -> None:
        self._received.is_answered = True
        if cut.how == "clean" and self._is_chunked:
            self._writer.write(self._connection.send(h11.EndOfMessage()) or b"")
        if cut.how == "reset":
            # What was sent before should be read before the reset is noticed.
            await asyncio.sleep(0.02)
            connection = self._writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._writer.transport.abort()
        else:
            self._writer.close()
        raise ConnectionCut
