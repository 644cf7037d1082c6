"""What the three dialects share: walking through the parts of a reply, with faults between them."""

import json
from abc import ABC, abstractmethod
from typing import NamedTuple

from tests.fakes.farend.script import (
    Comment,
    Cut,
    DialectName,
    Fault,
    Malformed,
    Pause,
    Ping,
    RawEvent,
    Reasoning,
    Refusal,
    Reply,
    Stall,
    StreamError,
    Text,
    ToolCall,
)

Op = bytes | Stall | Cut | Pause
"""One thing the server does: send an event, wait, or cut the connection."""

CREATED = 1_790_000_000
"""When everything was made, in Unix time: an answer is the same at every run."""


class Asked(NamedTuple):
    """What an answer needs to know of the request."""

    dialect: DialectName
    model: str = "far-large"
    wants_stream: bool = False
    wants_usage: bool = False
    """Chat Completions: `stream_options.include_usage`."""
    number: int = 1
    """Counts the requests, for ids."""


def sse(data: object, event: str | None = None) -> bytes:
    """One server-sent event; characters outside ASCII stay as they are, so that they can be split."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {text}\n\n".encode()


class Rendering(ABC):
    """Turns one reply into what is sent. A subclass knows one dialect and is used once."""

    def __init__(self, reply: Reply, asked: Asked) -> None:
        self.reply = reply
        self.asked = asked
        self.model = reply.model or asked.model
        self.ops: list[Op] = []
        self._block: type | None = None

    def stream(self) -> list[Op]:
        """Render the reply as a stream of events."""
        self.begin()
        for part in self.reply.parts:
            match part:
                case Text() | Reasoning() | Refusal():
                    self._enter(part)
                    self.delta(part)
                    if isinstance(part, Reasoning) and part.signature:
                        self._leave()
                case ToolCall():
                    self._leave()
                    self.begin_call(part)
                    for piece in part.pieces:
                        if isinstance(piece, str):
                            self.call_delta(part, piece)
                        elif self._is_last(piece):
                            return self.ops
                    self.end_call(part)
                case _:
                    if self._is_last(part):
                        return self.ops
        if self.reply.stop is not None:
            self._leave()
            self.finish()
        return self.ops

    def _enter(self, part: Text | Reasoning | Refusal) -> None:
        if self._block is not type(part):
            self._leave()
            self.begin_block(part)
            self._block = type(part)

    def _leave(self) -> None:
        if self._block is not None:
            self.end_block()
            self._block = None

    def _is_last(self, fault: Fault) -> bool:
        match fault:
            case Stall() | Pause():
                self.ops.append(fault)
            case Cut():
                self.ops.append(fault)
                return True
            case Comment(text):
                self.ops.append(f": {text}\n\n".encode())
            case Ping():
                self.ops.append(self.ping())
            case Malformed(data):
                self.ops.append(self.malformed(data))
            case RawEvent(data):
                self.ops.append(data)
            case StreamError():
                self.ops.append(self.error(fault))
                return True
        return False

    def said(self, kind: type[Text | Reasoning | Refusal]) -> str:
        """All deltas of one kind, joined."""
        return "".join(part.text for part in self.reply.parts if isinstance(part, kind))

    @property
    def calls(self) -> list[ToolCall]:
        return [part for part in self.reply.parts if isinstance(part, ToolCall)]

    @property
    def has_refusal(self) -> bool:
        return any(isinstance(part, Refusal) for part in self.reply.parts)

    @abstractmethod
    def begin(self) -> None:
        """What comes before the first part."""

    @abstractmethod
    def begin_block(self, part: Text | Reasoning | Refusal) -> None:
        """What comes before the first of several deltas of a kind."""

    @abstractmethod
    def delta(self, part: Text | Reasoning | Refusal) -> None: ...

    @abstractmethod
    def end_block(self) -> None: ...

    @abstractmethod
    def begin_call(self, call: ToolCall) -> None: ...

    @abstractmethod
    def call_delta(self, call: ToolCall, piece: str) -> None: ...

    @abstractmethod
    def end_call(self, call: ToolCall) -> None: ...

    @abstractmethod
    def finish(self) -> None:
        """Stop reason, usage and the closing events."""

    @abstractmethod
    def ping(self) -> bytes: ...

    @abstractmethod
    def malformed(self, data: str) -> bytes: ...

    @abstractmethod
    def error(self, error: StreamError) -> bytes: ...

    @abstractmethod
    def whole(self) -> object:
        """The reply as one JSON body."""
