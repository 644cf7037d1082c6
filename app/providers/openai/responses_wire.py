"""OpenAI Responses on the wire: a request as its arguments. No I/O.

Stateless: nothing is stored there and no earlier response is referred to. Reasoning goes back encrypted.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from app.domain.models import Abilities, ThinkingLevel
from app.domain.request import ModelRequest
from app.domain.rows import MediaPart, ReasoningPart, Row, TextPart, ToolPart
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
)

PATH: Final = "/responses"
LEAST_MAX_TOKENS: Final = 16
"""OpenAI refuses less, before it looks at whether the input fits."""

_CALL_ID: Final = re.compile(r"[!-~]{1,64}")


def arguments(request: ModelRequest, abilities: Abilities, *, is_openai: bool) -> Json:
    """Return the body of the request; `is_openai` if it goes to OpenAI itself.

    The system text is `instructions`: it stands before all input, so the prefix of two requests of one chat
    is the same. Without `store` and `truncation` a server could keep the chat, or cut it unseen.
    """
    ids = CallIds(_CALL_ID)
    items = [item for row in request.rows for item in _items(row, request, ids)]
    body: Json = {
        "model": request.model,
        "input": items if is_openai else [_whole_item(place, item) for place, item in enumerate(items)],
        "stream": True,
        "store": False,
        "truncation": "disabled",
    }
    if request.system:
        body["instructions"] = clean_text(request.system)
    if abilities.reasons is not False:
        # Models that don't reason refuse it; those nobody knows of may reason.
        body["include"] = ["reasoning.encrypted_content"]
    if reasoning := _reasoning(request, abilities):
        body["reasoning"] = reasoning
    if request.max_tokens is not None:
        body["max_output_tokens"] = max(request.max_tokens, LEAST_MAX_TOKENS)
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": clean_text(tool.description),
                "parameters": dict(tool.input_schema),
                "strict": False,
            }
            for tool in request.tools
        ]
    return body


def _reasoning(request: ModelRequest, abilities: Abilities) -> Json:
    """Return how long the model is to think, and that its thoughts are to be told in short."""
    if request.level is None:
        return {"summary": "auto"} if abilities.reasons else {}
    effort: Json = {"effort": effort_of(request.model, request.level)}
    return effort if request.level is ThinkingLevel.OFF else {**effort, "summary": "auto"}


def _items(row: Row, request: ModelRequest, ids: CallIds) -> Iterator[Json]:
    if row.role == "user":
        content = [part for part in (_input_content(part, request) for part in row.parts) if part is not None]
        if content:
            yield {"type": "message", "role": "user", "content": content}
        return
    yield from _reply_items(row.parts, ids)


def _whole_item(place: int, item: Json) -> Json:
    """Return an item with what OpenAI leaves to choice, and OpenRouter and vLLM want of what the model said."""
    if item.get("role") != "assistant":
        return item
    return {"id": f"msg_{place}", "status": "completed", **item}


def _input_content(part: object, request: ModelRequest) -> Json | None:
    match part:
        case TextPart(text=text) if text:
            return {"type": "input_text", "text": clean_text(text)}
        case MediaPart() if is_picture(part):
            return {"type": "input_image", "image_url": data_url(part, request), "detail": "auto"}
        case MediaPart():
            return {"type": "input_file", "filename": file_name(part), "file_data": data_url(part, request)}
        case _:
            return None


def _reply_items(parts: Sequence[object], ids: CallIds) -> Iterator[Json]:
    """Yield what the model wrote, in its order, then what its calls gave.

    A reasoning item goes only before what followed it: alone at the end it would be refused.
    """
    waiting: list[Json] = []
    outputs: list[Json] = []
    for part in parts:
        match part:
            case ReasoningPart(replay=dict() as replay):
                waiting.extend(_reasoning_item(replay))
                continue
            case TextPart(text=text) if text:
                content = [{"type": "output_text", "text": clean_text(text), "annotations": []}]
                item: Json = {"type": "message", "role": "assistant", "content": content}
            case ToolPart():
                call_id = ids.next(part.call_id)
                call = {"call_id": call_id, "name": fit_name(part.name), "arguments": arguments_of(part)}
                item = {"type": "function_call", **call}
                outputs.append({"type": "function_call_output", "call_id": call_id, "output": output_of(part)})
            case _:
                continue
        yield from waiting
        waiting.clear()
        yield item
    yield from outputs


def _reasoning_item(replay: Mapping[str, object]) -> Iterator[Json]:
    encrypted = replay.get("encrypted_content")
    item_id = replay.get("id")
    if isinstance(encrypted, str) and isinstance(item_id, str):
        summary = replay.get("summary")
        yield {
            "type": "reasoning",
            "id": item_id,
            "summary": summary if isinstance(summary, list) else [],
            "encrypted_content": encrypted,
        }
