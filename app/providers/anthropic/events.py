"""The events of a Messages stream as pieces. No I/O.

Events may be the library's objects or the plain data of the wire. Whatever this version does not know is passed over.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from app.domain.errors import ErrorKind, ProviderError
from app.domain.rows import Usage
from app.providers.base import (
    Piece,
    ReasoningPiece,
    ReplayPiece,
    StopPiece,
    StopReason,
    TextPiece,
    ToolEndPiece,
    ToolInputPiece,
    ToolStartPiece,
    UsagePiece,
)
from app.providers.faults import fault_of_event
from app.providers.redaction import quote

_REASONS: Final[Mapping[str, StopReason]] = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "max_tokens": StopReason.MAX_TOKENS,
    "tool_use": StopReason.TOOL_USE,
    "refusal": StopReason.REFUSAL,
}
_BROKEN_OFF: Final[Mapping[str, str]] = {
    "pause_turn": "The model paused in the middle of its reply and can go on.",
    "model_context_window_exceeded": "The reply filled the model's context window to its end.",
}
"""Reasons that say the reply is not whole, in words that `StopReason` has none for."""
_CUT: Final = frozenset({"max_tokens", *_BROKEN_OFF})
_USAGE_FIELDS: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


@dataclass(slots=True)
class _Block:
    """One block of content, by its index. `kind` is empty until its start has come."""

    kind: str = ""
    call_id: str = ""
    name: str = ""
    given_input: object = None
    """The input that came with the start, of servers that send it whole."""
    json_chunks: list[str] = field(default_factory=list)
    signature: str = ""
    has_stopped: bool = False
    is_done: bool = False

    @property
    def is_bare(self) -> bool:
        """Whether nothing of an input has come."""
        return not self.given_input and not "".join(self.json_chunks).strip()


class EventReader:
    """Reads the events of one stream, in whatever order they come, until `stop` is there.

    A block whose start is missing or late still gives its text. `pieces` raises ProviderError for an error event,
    and where the reply ends early for a reason that no `StopReason` names.
    """

    def __init__(self, *, keys: tuple[str, ...] = ()) -> None:
        """`keys` are kept out of the texts of errors."""
        self._keys = keys
        self._blocks: dict[int, _Block] = {}
        self._counts: dict[str, int] = {}
        self._model: str | None = None
        self._reason: str | None = None
        self._refusal = ""
        self.is_finished = False
        """The stop has been yielded; nothing of the reply can follow."""

    def pieces(self, event: object) -> Iterator[Piece]:
        """Yield what one event means."""
        match _get(event, "type"):
            case "content_block_delta":
                yield from self._delta(_index(event), _get(event, "delta"))
            case "content_block_start":
                yield from self._start(_index(event), _get(event, "content_block"))
            case "content_block_stop":
                block = self._block(_index(event))
                block.has_stopped = True
                yield from self._end(block)
            case "message_start":
                message = _get(event, "message")
                self._model = _text(message, "model") or None
                self._note_reason(message)
                yield from self._usage(_get(message, "usage"), is_first=True)
            case "message_delta":
                self._note_reason(_get(event, "delta"))
                yield from self._end_bare_calls()
                yield from self._usage(_get(event, "usage"), is_first=False)
            case "message_stop":
                yield from self.finish()
            case "error":
                raise fault_of_event(event, keys=self._keys)
            case _:
                pass

    def finish(self) -> Iterator[Piece]:
        """Yield what is left at the end of the stream: nothing, and no stop, if no reason for it was given."""
        if self.is_finished or self._reason is None:
            return
        for block in self._blocks.values():
            yield from self._end(block)
        self.is_finished = True
        if words := _BROKEN_OFF.get(self._reason):
            raise ProviderError(ErrorKind.TRUNCATED, words)
        reason = _REASONS.get(self._reason, StopReason.END)
        if reason is StopReason.REFUSAL and self._refusal:
            raise ProviderError(ErrorKind.REFUSAL, quote(self._refusal, self._keys), is_quote=True)
        yield StopPiece(reason, resolved_model=self._model)

    def pieces_of_message(self, message: object) -> Iterator[Piece]:
        """Yield the pieces of a whole message, of a server that was asked for a stream and gave none."""
        yield from self.pieces({"type": "message_start", "message": message})
        content = _get(message, "content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            yield from self.pieces({"type": "content_block_start", "index": index, "content_block": block})
            yield from self.pieces({"type": "content_block_stop", "index": index})
        yield from self.pieces({"type": "message_delta", "delta": message, "usage": _get(message, "usage")})
        yield from self.finish()

    def _block(self, index: int) -> _Block:
        return self._blocks.setdefault(index, _Block())

    def _start(self, index: int, content: object) -> Iterator[Piece]:
        block = self._block(index)
        for other in self._blocks.values():
            if other is not block:
                yield from _replay(other)
        if block.kind:  # sent twice
            return
        block.kind = _text(content, "type") or "unknown"
        match block.kind:
            case "text":
                yield from _said(TextPiece, _text(content, "text"))
            case "thinking":
                block.signature = block.signature or _text(content, "signature")
                yield from _said(ReasoningPiece, _text(content, "thinking"))
            case "redacted_thinking":
                yield ReplayPiece({"type": "redacted_thinking", "data": _text(content, "data")})
            case "tool_use":
                block.call_id, block.name = _text(content, "id"), _text(content, "name")
                block.given_input = _get(content, "input")
                yield ToolStartPiece(block.call_id, block.name)
                for chunk in block.json_chunks:
                    yield ToolInputPiece(block.call_id, chunk)
            case _:
                pass

    def _delta(self, index: int, delta: object) -> Iterator[Piece]:
        block = self._block(index)
        match _get(delta, "type"):
            case "text_delta":
                yield from _said(TextPiece, _text(delta, "text"))
            case "thinking_delta":
                yield from _said(ReasoningPiece, _text(delta, "thinking"))
            case "signature_delta":
                block.signature += _text(delta, "signature")
            case "input_json_delta" if chunk := _text(delta, "partial_json"):
                block.json_chunks.append(chunk)
                if block.kind == "tool_use":
                    yield ToolInputPiece(block.call_id, chunk)
            case _:
                pass

    def _end(self, block: _Block) -> Iterator[Piece]:
        """End a block as far as it can be; deltas that come late are looked at again at the end of the message."""
        yield from _replay(block)
        if block.kind != "tool_use" or block.is_done or (block.is_bare and self._may_be_cut(block)):
            return
        arguments = _arguments(block)
        if arguments is not None:
            block.is_done = True
            yield ToolEndPiece(block.call_id, arguments)

    def _end_bare_calls(self) -> Iterator[Piece]:
        for block in self._blocks.values():
            if block.has_stopped:
                yield from self._end(block)

    def _may_be_cut(self, block: _Block) -> bool:
        """Whether the reply may have ended before the input of this call: then it is no call without any."""
        is_last = next(reversed(self._blocks.values())) is block
        return self._reason is None or (is_last and self._reason in _CUT)

    def _note_reason(self, source: object) -> None:
        self._reason = _text(source, "stop_reason") or self._reason
        self._refusal = _text(_get(source, "stop_details"), "explanation") or self._refusal

    def _usage(self, usage: object, *, is_first: bool) -> Iterator[Piece]:
        """Yield the counts so far, normalised (context-windows.md, 2), if `usage` tells any.

        `message_start` and `message_delta` report them; the latter's are cumulative and win.

        - `input`: `input_tokens`, which leaves the cache out, plus `cache_creation_input_tokens` plus
          `cache_read_input_tokens`. A `message_delta` of some servers has 0 for what it does not count again.
        - `cache_write`: `cache_creation_input_tokens`; `cache_read`: `cache_read_input_tokens`.
        - `output`: `output_tokens` of `message_delta`, thinking included. That of `message_start` counts only what
          had been written by then.
        - `reasoning`: `output_tokens_details.thinking_tokens`.
        """
        before = dict(self._counts)
        for name in _USAGE_FIELDS:
            count = _count(usage, name)
            if count is None or (is_first and name == "output_tokens") or (count == 0 and before.get(name)):
                continue
            self._counts[name] = count
        thinking = _count(_get(usage, "output_tokens_details"), "thinking_tokens")
        if thinking is not None and not is_first:
            self._counts["thinking_tokens"] = thinking
        if self._counts != before:
            yield UsagePiece(self._normalised())

    def _normalised(self) -> Usage:
        counts = self._counts
        read, written = counts.get("cache_read_input_tokens"), counts.get("cache_creation_input_tokens")
        plain = counts.get("input_tokens")
        return Usage(
            input=None if plain is None else plain + (read or 0) + (written or 0),
            cache_read=read,
            cache_write=written,
            output=counts.get("output_tokens"),
            reasoning=counts.get("thinking_tokens"),
        )


def _replay(block: _Block) -> Iterator[Piece]:
    """Yield the signature of a block of thinking, once; its text is in the pieces before."""
    if block.signature and not block.is_done and block.kind in ("", "thinking"):
        block.is_done = True
        yield ReplayPiece({"type": "thinking", "signature": block.signature})


def _said(piece: type[TextPiece] | type[ReasoningPiece], text: str) -> Iterator[Piece]:
    if text:
        yield piece(text)


def _arguments(block: _Block) -> dict[str, object] | None:
    """Return the input of a call: an empty one if none was sent, None if what was sent is no object."""
    text = "".join(block.json_chunks)
    if not text.strip():
        return dict(block.given_input) if isinstance(block.given_input, Mapping) else {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _get(thing: object, name: str) -> object:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _text(thing: object, name: str) -> str:
    value = _get(thing, name)
    return value if isinstance(value, str) else ""


def _count(thing: object, name: str) -> int | None:
    value = _get(thing, name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _index(event: object) -> int:
    value = _get(event, "index")
    return value if isinstance(value, int) else -1
