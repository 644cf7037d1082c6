"""A request in the form of Anthropic's Messages. No I/O.

The same rows give the same bytes in every request, but for the marks of the cache: they stand on the end of the system
prompt and on the last user row, so that the next request finds everything before it in the cache.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from typing import Final, cast

from app.domain.errors import BugError
from app.domain.models import ModelCard, ThinkingLevel
from app.domain.request import ModelRequest
from app.domain.rows import MediaPart, ReasoningPart, Row, TextPart, ToolPart
from app.domain.text import clean_text
from app.providers.anthropic.thinking import BETWEEN_TOOLS_ONLY, may_think, thinking_fields
from app.providers.calls import CallIds, fit_name

FALLBACK_MAX_TOKENS: Final = 8192
"""The API wants a figure; this one is for models nobody knows the longest answer of."""

Block = dict[str, object]

_CACHE: Final[Mapping[str, str]] = {"type": "ephemeral"}
_REPLAYED: Final[Mapping[str, str]] = {"thinking": "signature", "redacted_thinking": "data"}
"""Types of blocks that go back as they came, and the field each of them can't do without."""
_GONE: Final[Mapping[str, object]] = {
    "description": "Not available any more.",
    "input_schema": {"type": "object", "properties": {}},
}
_CALL_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_WITHOUT_A_RESULT: Final[Mapping[str, str]] = {
    "denied": "The person did not allow this call.",
    "interrupted": "The call was interrupted before it had a result.",
    "pending": "The call was interrupted before it had a result.",
    "failed": "The call failed.",
}


def build(request: ModelRequest, card: ModelCard | None) -> dict[str, object]:
    """Return the arguments of `messages.create` for `request`. Raises BugError if a file of it is missing."""
    max_tokens = request.max_tokens or (card.max_output if card else None) or FALLBACK_MAX_TOKENS
    arguments: dict[str, object] = {"model": request.model, "max_tokens": max_tokens}
    if request.system.strip():
        arguments["system"] = [{"type": "text", "text": clean_text(request.system), "cache_control": dict(_CACHE)}]
    messages = _messages(request)
    arguments["messages"] = messages
    arguments |= thinking_fields(request.model, request.level, messages, max_tokens=max_tokens)
    if request.tools:
        arguments["tools"] = [
            {"name": tool.name, "description": clean_text(tool.description), "input_schema": dict(tool.input_schema)}
            for tool in request.tools
        ]
    elif names := _called(request.rows):
        # Calls of the past may be refused in a request that defines no tools; none of these can be called.
        arguments["tools"] = [{"name": name, **_GONE} for name in names]
        arguments["tool_choice"] = {"type": "none"}
    return arguments


def _called(rows: Iterable[Row]) -> list[str]:
    """Return the names of all calls, each once, in the order they were first made."""
    return list(dict.fromkeys(fit_name(part.name) for row in rows for part in row.parts if isinstance(part, ToolPart)))


def without_thinking(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a request without the thinking of earlier replies. No message is empty then."""
    messages = cast("list[dict[str, list[Block]]]", arguments["messages"])
    kept = [
        {**message, "content": [block for block in message["content"] if block["type"] not in _REPLAYED]}
        for message in messages
    ]
    rest = {**arguments, "messages": kept}
    thinking = rest.get("thinking")
    if isinstance(thinking, dict) and thinking.get("type") == "enabled" and not may_think(kept):
        del rest["thinking"]
    return rest


def with_thinking(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a request with thinking in every reply that makes calls: empty where there is none."""
    messages = cast("list[dict[str, list[Block]]]", arguments["messages"])
    return {**arguments, "messages": [_with_thinking(message) for message in messages]}


def _with_thinking(message: dict[str, list[Block]]) -> dict[str, list[Block]]:
    types = {block["type"] for block in message["content"]}
    if "tool_use" not in types or not types.isdisjoint(_REPLAYED):
        return message
    return {**message, "content": [{"type": "thinking", "thinking": "", "signature": ""}, *message["content"]]}


def _messages(request: ModelRequest) -> list[dict[str, object]]:
    """Return rows as messages of alternating roles; results of tools lead the user's message after the call."""
    ids = CallIds(_CALL_ID)
    thinks = request.level is not ThinkingLevel.OFF or BETWEEN_TOOLS_ONLY.match(request.model) is not None
    messages: list[tuple[str, list[Block]]] = []
    for row in request.rows:
        if row.role == "user":
            _add(messages, "user", _user_blocks(row, request.files))
            continue
        calls = {id(part): ids.next(part.call_id) for part in row.parts if isinstance(part, ToolPart)}
        _add(messages, "assistant", _assistant_blocks(row, calls, thinks=thinks))
        _add(messages, "user", [_result(part, calls[id(part)]) for part in row.parts if isinstance(part, ToolPart)])
    _mark_last_user(messages)
    return [{"role": role, "content": blocks} for role, blocks in messages]


def _add(messages: list[tuple[str, list[Block]]], role: str, blocks: list[Block]) -> None:
    if not blocks:
        return
    if messages and messages[-1][0] == role:
        messages[-1][1].extend(blocks)
    else:
        messages.append((role, blocks))


def _mark_last_user(messages: list[tuple[str, list[Block]]]) -> None:
    last = next((blocks for role, blocks in reversed(messages) if role == "user"), None)
    if last:
        last[-1] = {**last[-1], "cache_control": dict(_CACHE)}


def _user_blocks(row: Row, files: Mapping[str, bytes]) -> list[Block]:
    blocks: list[Block] = []
    for part in row.parts:
        match part:
            case TextPart(text=text) if text.strip():
                blocks.append({"type": "text", "text": clean_text(text)})
            case MediaPart():
                blocks.append(_media(part, files))
            case _:
                pass
    return blocks


def _media(part: MediaPart, files: Mapping[str, bytes]) -> Block:
    content = files.get(part.blob.sha256)
    if content is None:
        raise BugError(f"the request lacks the file {part.blob.sha256}")
    source = {"type": "base64", "media_type": part.media_type, "data": base64.b64encode(content).decode("ascii")}
    if part.media_type != "application/pdf":
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, **({"title": clean_text(part.name)} if part.name else {})}


def _assistant_blocks(row: Row, calls: Mapping[int, str], *, thinks: bool) -> list[Block]:
    """Return a reply; without its thoughts if thinking is turned off: they are no use then, and may be refused."""
    blocks: list[Block] = []
    for part in row.parts:
        match part:
            case TextPart(text=text) if text.strip():
                blocks.append({"type": "text", "text": clean_text(text)})
            case ReasoningPart() if thinks:
                blocks.extend(_thinking(part))
            case ToolPart():
                arguments = _clean(part.input) if isinstance(part.input, dict) else {}
                blocks.append(
                    {"type": "tool_use", "id": calls[id(part)], "name": fit_name(part.name), "input": arguments}
                )
            case _:
                pass
    # A message may not end with thinking: such a reply was cut before it said anything more.
    while blocks and blocks[-1]["type"] in _REPLAYED:
        blocks.pop()
    return blocks


def _thinking(part: ReasoningPart) -> Iterable[Block]:
    """Give a block of thinking back as it came; its text is kept once, in the part. Other dialects' are dropped."""
    replay = part.replay or {}
    kind = replay.get("type")
    needed = _REPLAYED.get(kind) if isinstance(kind, str) else None
    if needed is None or not isinstance(replay.get(needed), str):
        return ()
    block: Block = {"type": kind, needed: replay[needed]}
    if kind == "thinking":
        block = {"type": kind, "thinking": clean_text(part.text), needed: replay[needed]}
    return (block,)


def _result(part: ToolPart, call_id: str) -> Block:
    output = part.output
    text = output if isinstance(output, str) else "" if output is None else _compact_json(output)
    text = clean_text(text)
    block: Block = {"type": "tool_result", "tool_use_id": call_id}
    if text.strip() or part.state != "done":
        block["content"] = text if text.strip() else _WITHOUT_A_RESULT[part.state]
    if part.state != "done":
        block["is_error"] = True
    return block


def _compact_json(value: object) -> str:
    """Return what a tool gave as it measured it: tools cap their results in this form."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _clean(value: object) -> object:
    """Return the input of a call without lone surrogates, wherever in it they stand."""
    text = json.dumps(value, ensure_ascii=False)
    cleaned = clean_text(text)
    return value if cleaned == text else json.loads(cleaned)
