"""Replies in the dialect of Anthropic's Messages."""

import json
from collections.abc import Mapping

from tests.fakes.farend.bodies import anthropic_error
from tests.fakes.farend.rendering import Rendering, sse
from tests.fakes.farend.script import Reasoning, Refusal, Stop, StreamError, Text, ToolCall

STOP_REASONS: Mapping[Stop, str] = {
    "end": "end_turn",
    "max_tokens": "max_tokens",
    "tool": "tool_use",
    "stop_sequence": "stop_sequence",
    "refusal": "refusal",
    "content_filter": "refusal",
    "context_full": "model_context_window_exceeded",
    "pause": "pause_turn",
}


class AnthropicRendering(Rendering):
    """`message_start`, blocks, `message_delta`, `message_stop`."""

    _index = -1
    _open: Text | Reasoning | Refusal | None = None
    _signature = ""

    def begin(self) -> None:
        message = self._message([], None)
        if self.reply.usage is not None:
            message["usage"] = {**self._usage(), "output_tokens": 1}
        self._event({"type": "message_start", "message": message})

    def begin_block(self, part: Text | Reasoning | Refusal) -> None:
        self._index += 1
        self._signature = ""
        block: dict[str, object]
        match part:
            case Reasoning(is_redacted=True):
                block = {"type": "redacted_thinking", "data": part.signature}
            case Reasoning():
                block = {"type": "thinking", "thinking": "", "signature": ""}
            case _:
                block = {"type": "text", "text": ""}
        self._event({"type": "content_block_start", "index": self._index, "content_block": block})

    def delta(self, part: Text | Reasoning | Refusal) -> None:
        match part:
            case Reasoning(is_redacted=True):
                return
            case Reasoning():
                self._signature = part.signature
                self._delta({"type": "thinking_delta", "thinking": part.text})
            case _:
                self._delta({"type": "text_delta", "text": part.text})

    def end_block(self) -> None:
        if self._signature:
            self._delta({"type": "signature_delta", "signature": self._signature})
            self._signature = ""
        self._event({"type": "content_block_stop", "index": self._index})

    def begin_call(self, call: ToolCall) -> None:
        self._index += 1
        block = {"type": "tool_use", "id": call.call_id, "name": call.name, "input": {}}
        self._event({"type": "content_block_start", "index": self._index, "content_block": block})
        self._delta({"type": "input_json_delta", "partial_json": ""})

    def call_delta(self, call: ToolCall, piece: str) -> None:
        self._delta({"type": "input_json_delta", "partial_json": piece})

    def end_call(self, call: ToolCall) -> None:
        self._event({"type": "content_block_stop", "index": self._index})

    def finish(self) -> None:
        end: dict[str, object] = {
            "type": "message_delta",
            "delta": {"stop_reason": self._stop_reason(), "stop_sequence": self._stop_sequence()},
        }
        if self._stop_reason() == "refusal":
            details = {"type": "refusal", "category": None, "explanation": None}
            end["delta"] = {**self._ending(), "stop_details": details}
        if self.reply.usage is not None:
            end["usage"] = self._usage()
        for _ in range(max(1, self.reply.usage_times)):
            self._event(end)
        self._event({"type": "message_stop"})

    def ping(self) -> bytes:
        return sse({"type": "ping"}, "ping")

    def malformed(self, data: str) -> bytes:
        return sse(data, "content_block_delta")

    def error(self, error: StreamError) -> bytes:
        return sse(anthropic_error(error.kind, error.message, model=self.model), "error")

    def whole(self) -> object:
        content: list[object] = []
        if thoughts := self.said(Reasoning):
            signature = next((p.signature for p in self.reply.parts if isinstance(p, Reasoning) and p.signature), "")
            content.append({"type": "thinking", "thinking": thoughts, "signature": signature})
        if text := self.said(Text) + self.said(Refusal):
            content.append({"type": "text", "text": text})
        content.extend(
            {"type": "tool_use", "id": call.call_id, "name": call.name, "input": json.loads(call.arguments or "{}")}
            for call in self.calls
        )
        message = {**self._message(content, None), **self._ending()}
        if self.reply.usage is not None:
            message["usage"] = self._usage()
        return message

    def _message(self, content: list[object], stop_reason: str | None) -> dict[str, object]:
        return {
            "id": f"msg_far{self.asked.number:04}",
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
        }

    def _ending(self) -> dict[str, object]:
        return {"stop_reason": self._stop_reason(), "stop_sequence": self._stop_sequence()}

    def _stop_reason(self) -> str | None:
        return STOP_REASONS[self.reply.stop] if self.reply.stop else None

    def _stop_sequence(self) -> str | None:
        return "\n\nHuman:" if self.reply.stop == "stop_sequence" else None

    def _usage(self) -> dict[str, object]:
        usage = self.reply.usage
        assert usage is not None
        counts: dict[str, object] = {
            "input_tokens": usage.input - usage.cached - usage.cache_written,
            "cache_creation_input_tokens": usage.cache_written,
            "cache_read_input_tokens": usage.cached,
            "output_tokens": usage.output,
        }
        if usage.reasoning:
            counts["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
        return counts

    def _delta(self, delta: Mapping[str, object]) -> None:
        self._event({"type": "content_block_delta", "index": self._index, "delta": delta})

    def _event(self, data: Mapping[str, object]) -> None:
        self.ops.append(sse(data, str(data["type"])))
