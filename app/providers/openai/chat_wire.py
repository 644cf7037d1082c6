"""Chat Completions on the wire: a request as its arguments. No I/O.

Spoken by OpenAI and, with their own habits, by Ollama, LM Studio, llama.cpp, vLLM, OpenRouter, Mistral, DeepSeek,
Groq and many more: only what all of them take is sent.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from app.domain.request import ModelRequest
from app.domain.rows import MediaPart, Row, TextPart, ToolPart
from app.domain.text import clean_text
from app.providers.calls import CallIds, fit_name
from app.providers.openai.efforts import effort_of
from app.providers.openai.parts import (
    Json,
    arguments_of,
    data_url,
    file_name,
    is_picture,
    output_of,
    text_in,
)
from app.providers.openai.thoughts import EXTRA, rows_with_thoughts, thoughts_of

PATH: Final = "/chat/completions"

_CALL_ID: Final = re.compile(r"[!-~]{1,40}")
"""OpenAI refuses longer ids; models that go on with their own are sent them as they were."""
_MISTRALS_CALL_ID: Final = re.compile(r"[a-zA-Z0-9]{9}")
_MISTRALS: Final = re.compile(r"mistral|mixtral|ministral|codestral|devstral|magistral|pixtral|voxtral", re.IGNORECASE)
"""Names of models whose server and templates are stricter than others, wherever they are served."""
_NO_REPLY: Final = "(no reply)"


def arguments(request: ModelRequest, *, is_openai: bool) -> Json:
    """Return the body of the request; `is_openai` if it goes to OpenAI itself, which has names of its own."""
    body: Json = {
        "model": request.model,
        "messages": _messages(request),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if is_openai:
        body["store"] = False
    if request.max_tokens is not None:
        body["max_completion_tokens" if is_openai else "max_tokens"] = request.max_tokens
    if request.level is not None:
        body["reasoning_effort"] = effort_of(request.model, request.level)
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": clean_text(tool.description),
                    "parameters": dict(tool.input_schema),
                },
            }
            for tool in request.tools
        ]
    return body


def _messages(request: ModelRequest) -> list[Json]:
    messages: list[Json] = [{"role": "system", "content": clean_text(request.system)}] if request.system else []
    is_mistral = _MISTRALS.search(request.model) is not None
    ids = CallIds(_MISTRALS_CALL_ID if is_mistral else _CALL_ID)
    thinking = rows_with_thoughts(request.rows)
    for place, row in enumerate(request.rows):
        thoughts = thoughts_of(row) if place in thinking else {}
        for message in _from_person(row, request) if row.role == "user" else _from_model(row, ids, thoughts):
            if is_mistral and message["role"] == "user" and messages and messages[-1]["role"] == "tool":
                # A person who speaks right after a tool, before the model has, is refused there.
                messages.append({"role": "assistant", "content": _NO_REPLY})
            if messages and _may_join(messages[-1], message):
                messages[-1] = {**messages[-1], "content": _joined(messages[-1]["content"], message["content"])}
            else:
                messages.append(message)
    return messages


def _from_person(row: Row, request: ModelRequest) -> Iterator[Json]:
    content = [part for part in (_content(part, request) for part in row.parts) if part is not None]
    if content:
        is_text = all(part["type"] == "text" for part in content)
        yield {"role": "user", "content": _joined_texts(content) if is_text else content}


def _content(part: object, request: ModelRequest) -> Json | None:
    match part:
        case TextPart(text=text) if text:
            return {"type": "text", "text": clean_text(text)}
        case MediaPart() if is_picture(part):
            return {"type": "image_url", "image_url": {"url": data_url(part, request)}}
        case MediaPart():
            return {"type": "file", "file": {"filename": file_name(part), "file_data": data_url(part, request)}}
        case _:
            return None


def _from_model(row: Row, ids: CallIds, thoughts: Json) -> Iterator[Json]:
    """Yield the reply with its `thoughts`, then what its calls gave: every call is followed by its output."""
    text = clean_text("\n\n".join(part.text for part in row.parts if isinstance(part, TextPart) and part.text))
    calls = [(ids.next(part.call_id), part) for part in row.parts if isinstance(part, ToolPart)]
    if calls:
        yield {
            "role": "assistant",
            "content": text or None,
            "tool_calls": [
                {
                    "id": call_id,
                    "type": "function",
                    "function": {"name": fit_name(call.name), "arguments": arguments_of(call)},
                    **_extra(call),
                }
                for call_id, call in calls
            ],
            **thoughts,
        }
        for call_id, call in calls:
            yield {"role": "tool", "tool_call_id": call_id, "content": output_of(call)}
    elif text:
        yield {"role": "assistant", "content": text, **thoughts}


def _extra(call: ToolPart) -> Json:
    extra = (call.replay or {}).get(EXTRA)
    return {EXTRA: extra} if isinstance(extra, dict) else {}


def _may_join(one: Json, other: Json) -> bool:
    """Whether two messages become one: the templates of many models want person and model to alternate."""
    return one["role"] == other["role"] != "tool" and "tool_calls" not in one and "tool_calls" not in other


def _joined(one: object, other: object) -> object:
    parts = [part for content in (one, other) for part in _as_parts(content)]
    return _joined_texts(parts) if isinstance(one, str) and isinstance(other, str) else parts


def _as_parts(content: object) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(cast("list[Json]", content))


def _joined_texts(parts: Sequence[Mapping[str, object]]) -> str:
    """Many servers take only a plain string."""
    return "\n\n".join(text_in(part, "text") for part in parts)
