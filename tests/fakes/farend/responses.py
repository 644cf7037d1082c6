"""Replies in the dialect of OpenAI's Responses."""

from collections.abc import Mapping

from tests.fakes.farend.bodies import openai_error
from tests.fakes.farend.rendering import CREATED, Rendering, sse
from tests.fakes.farend.script import Reasoning, Refusal, StreamError, Text, ToolCall

INCOMPLETE = {
    "max_tokens": "max_output_tokens",
    "context_full": "max_output_tokens",
    "content_filter": "content_filter",
}
STREAM_CODES = {
    "api_error": "server_error",
    "rate_limit": "rate_limit_exceeded",
    "overloaded": "server_is_overloaded",
    "invalid_request": "invalid_prompt",
}
"""Codes that differ within a stream from those of an HTTP error."""


class ResponsesRendering(Rendering):
    """`response.created`, output items, `response.completed` or its like; every event is numbered."""

    _number = 0
    _item: dict[str, object]
    _text = ""
    _signature = ""

    def begin(self) -> None:
        self._items: list[dict[str, object]] = []
        response = self._response("in_progress")
        self._event("response.created", response=response)
        self._event("response.in_progress", response=response)

    def begin_block(self, part: Text | Reasoning | Refusal) -> None:
        self._text = ""
        self._signature = ""
        self._add(self._item_of(part, "", "in_progress"))
        match part:
            case Reasoning():
                self._in_item(
                    "response.reasoning_summary_part.added", summary_index=0, part={"type": "summary_text", "text": ""}
                )
            case _:
                self._in_item("response.content_part.added", content_index=0, part=self._content_of(part, ""))

    def delta(self, part: Text | Reasoning | Refusal) -> None:
        self._text += part.text
        match part:
            case Text():
                self._in_item("response.output_text.delta", content_index=0, delta=part.text, logprobs=[])
            case Refusal():
                self._in_item("response.refusal.delta", content_index=0, delta=part.text)
            case Reasoning():
                self._signature = part.signature
                self._in_item("response.reasoning_summary_text.delta", summary_index=0, delta=part.text)

    def end_block(self) -> None:
        text = self._text
        part: Text | Reasoning | Refusal
        if self._block is Reasoning:
            part = Reasoning(text, self._signature)
            self._in_item("response.reasoning_summary_text.done", summary_index=0, text=text)
            self._in_item(
                "response.reasoning_summary_part.done", summary_index=0, part={"type": "summary_text", "text": text}
            )
        elif self._block is Refusal:
            part = Refusal(text)
            self._in_item("response.refusal.done", content_index=0, refusal=text)
            self._in_item("response.content_part.done", content_index=0, part=self._content_of(part, text))
        else:
            part = Text(text)
            self._in_item("response.output_text.done", content_index=0, text=text, logprobs=[])
            self._in_item("response.content_part.done", content_index=0, part=self._content_of(part, text))
        self._done(self._item_of(part, text, "completed"))

    def begin_call(self, call: ToolCall) -> None:
        self._add(self._call_item(call, "", "in_progress"))

    def call_delta(self, call: ToolCall, piece: str) -> None:
        self._in_item("response.function_call_arguments.delta", delta=piece)

    def end_call(self, call: ToolCall) -> None:
        self._in_item("response.function_call_arguments.done", arguments=call.arguments)
        self._done(self._call_item(call, call.arguments, "completed"))

    def finish(self) -> None:
        response = self._ended()
        for _ in range(max(1, self.reply.usage_times)):
            self._event(f"response.{response['status']}", response=response)

    def ping(self) -> bytes:
        return self._numbered("keepalive", {})

    def malformed(self, data: str) -> bytes:
        return sse(data, "response.output_text.delta")

    def error(self, error: StreamError) -> bytes:
        body = openai_error(error.kind, error.message, "responses", model=self.model)
        code = STREAM_CODES.get(error.kind, body["code"])
        if error.form == "failed":
            response = self._response("failed") | {"error": {"code": code, "message": body["message"]}}
            return self._numbered("response.failed", {"response": response})
        if error.form == "flat":
            flat = {"code": code, "message": body["message"], "param": body["param"]}
            return self._numbered("error", flat)
        return self._numbered("error", {"error": {**body, "code": code}})

    def whole(self) -> object:
        self.stream()
        return self._ended()

    def _ended(self) -> dict[str, object]:
        stop = self.reply.stop
        reason = INCOMPLETE.get(stop or "end")
        if stop == "refusal" and not self.has_refusal:
            reason = "content_filter"
        response = self._response("incomplete" if reason else "completed", self.reply.usage is not None)
        if reason:
            response["incomplete_details"] = {"reason": reason}
        else:
            response["completed_at"] = CREATED + 1
        return response

    def _add(self, item: dict[str, object]) -> None:
        self._item = item
        self._items.append(item)
        self._event("response.output_item.added", output_index=len(self._items) - 1, item=item)

    def _done(self, item: dict[str, object]) -> None:
        self._items[-1] = item
        self._event("response.output_item.done", output_index=len(self._items) - 1, item=item)

    def _in_item(self, name: str, **more: object) -> None:
        self._event(name, item_id=self._item["id"], output_index=len(self._items) - 1, **more)

    def _event(self, name: str, **more: object) -> None:
        self.ops.append(self._numbered(name, more))

    def _numbered(self, name: str, more: Mapping[str, object]) -> bytes:
        data = {"type": name, "sequence_number": self._number, **more}
        self._number += 1
        return sse(data, name)

    def _content_of(self, part: Text | Refusal, text: str) -> dict[str, object]:
        if isinstance(part, Refusal):
            return {"type": "refusal", "refusal": text}
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}

    def _item_of(self, part: Text | Reasoning | Refusal, text: str, status: str) -> dict[str, object]:
        number = len(self._items) + (status == "in_progress")
        if isinstance(part, Reasoning):
            item: dict[str, object] = {
                "id": f"rs_far{self.asked.number:04}{number:02}",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": text}] if text else [],
            }
            return item | ({"encrypted_content": part.signature} if part.signature else {})
        return {
            "id": f"msg_far{self.asked.number:04}{number:02}",
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": [self._content_of(part, text)] if status == "completed" else [],
        }

    def _call_item(self, call: ToolCall, arguments: str, status: str) -> dict[str, object]:
        number = len(self._items) + (status == "in_progress")
        return {
            "id": f"fc_far{self.asked.number:04}{number:02}",
            "type": "function_call",
            "status": status,
            "call_id": call.call_id,
            "name": call.name,
            "arguments": arguments,
        }

    def _response(self, status: str, with_usage: bool = False) -> dict[str, object]:
        return {
            "id": f"resp_far{self.asked.number:04}",
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "max_output_tokens": None,
            "metadata": {},
            "model": self.model,
            "output": list(self._items) if status != "in_progress" else [],
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "service_tier": "default",
            "store": False,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": self._usage() if with_usage else None,
        }

    def _usage(self) -> dict[str, object]:
        usage = self.reply.usage
        assert usage is not None
        return {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input + usage.output,
        }
