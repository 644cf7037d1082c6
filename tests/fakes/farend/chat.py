"""Replies in the dialect of OpenAI's Chat Completions, which most other servers speak too."""

from collections.abc import Mapping

from tests.fakes.farend.bodies import openai_error
from tests.fakes.farend.rendering import CREATED, Rendering, sse
from tests.fakes.farend.script import Reasoning, Refusal, Stop, StreamError, Text, ToolCall

FINISH_REASONS: Mapping[Stop, str] = {
    "end": "stop",
    "max_tokens": "length",
    "tool": "tool_calls",
    "stop_sequence": "stop",
    "refusal": "stop",
    "content_filter": "content_filter",
    "context_full": "length",
    "pause": "stop",
}


class ChatRendering(Rendering):
    """Chunks, then the one with the reason, then usage if it was asked for, then `[DONE]`."""

    _call_index = -1

    def begin(self) -> None:
        self._chunk({"role": "assistant", "content": "", "refusal": None})

    def begin_block(self, part: Text | Reasoning | Refusal) -> None:
        """Chat Completions has no blocks."""

    def delta(self, part: Text | Reasoning | Refusal) -> None:
        match part:
            case Text():
                self._chunk({"content": part.text})
            case Refusal():
                self._chunk({"refusal": part.text})
            case Reasoning():
                self._chunk({part.chat_field: part.text})

    def end_block(self) -> None:
        """Chat Completions has no blocks."""

    def begin_call(self, call: ToolCall) -> None:
        self._call_index += 1
        self._call_chunk({"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": ""}})

    def call_delta(self, call: ToolCall, piece: str) -> None:
        self._call_chunk({"function": {"arguments": piece}})

    def end_call(self, call: ToolCall) -> None:
        """The next index or the end says it."""

    def finish(self) -> None:
        self._chunk({}, self._finish_reason())
        if self.asked.wants_usage and self.reply.usage is not None:
            for _ in range(self.reply.usage_times):
                self.ops.append(sse({**self._frame("chat.completion.chunk"), "choices": [], "usage": self._usage()}))
        self.ops.append(sse("[DONE]"))

    def ping(self) -> bytes:
        return b": ping\n\n"

    def malformed(self, data: str) -> bytes:
        return sse(data)

    def error(self, error: StreamError) -> bytes:
        return sse({"error": openai_error(error.kind, error.message, "chat", model=self.model)})

    def whole(self) -> object:
        message: dict[str, object] = {
            "role": "assistant",
            "content": self.said(Text) or None,
            "refusal": self.said(Refusal) or None,
            "annotations": [],
        }
        for part in self.reply.parts:
            if isinstance(part, Reasoning):
                message[part.chat_field] = self.said(Reasoning)
        if self.calls:
            message["tool_calls"] = [
                {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._finish_reason()}
        body = {**self._frame("chat.completion"), "choices": [choice]}
        return body | ({"usage": self._usage()} if self.reply.usage is not None else {})

    def _finish_reason(self) -> str | None:
        stop = self.reply.stop
        if stop == "refusal" and not self.has_refusal:
            return "content_filter"
        return FINISH_REASONS[stop] if stop else None

    def _call_chunk(self, call: Mapping[str, object]) -> None:
        self._chunk({"tool_calls": [{"index": self._call_index, **call}]})

    def _chunk(self, delta: Mapping[str, object], finish_reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        chunk = {**self._frame("chat.completion.chunk"), "choices": [choice]}
        if self.asked.wants_usage:
            chunk["usage"] = None
        self.ops.append(sse(chunk))

    def _frame(self, kind: str) -> dict[str, object]:
        return {
            "id": f"chatcmpl-far{self.asked.number:04}",
            "object": kind,
            "created": CREATED,
            "model": self.model,
            "service_tier": "default",
            "system_fingerprint": "fp_far",
        }

    def _usage(self) -> dict[str, object]:
        usage = self.reply.usage
        assert usage is not None
        return {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        }
