"""Rows and requests for the tests of OpenAI's dialects."""

import hashlib
from itertools import count

from app.domain.request import ModelRequest, ToolSpec
from app.domain.rows import Blob, MediaPart, Part, ReasoningPart, Row, TextPart, ToolPart, ToolState

PNG = b"\x89PNG\r\n"
PDF = b"%PDF-1.7"
LOOK = ToolSpec("look", "Looks it up.", {"type": "object", "properties": {"q": {"type": "string"}}})

_ids = count()


def user(*parts: str | Part) -> Row:
    return Row(id=str(next(_ids)), session="s", role="user", parts=_parts(parts))


def model(*parts: str | Part) -> Row:
    return Row(id=str(next(_ids)), session="s", role="assistant", parts=_parts(parts))


def thought(text: str, **replay: object) -> ReasoningPart:
    return ReasoningPart(text=text, replay=replay or None)


def call(call_id: str, output: object, state: ToolState = "done", arguments: object = None) -> ToolPart:
    return ToolPart(call_id=call_id, name="look", input=arguments or {"q": call_id}, state=state, output=output)


def media(content: bytes, media_type: str, name: str = "") -> MediaPart:
    sha256 = hashlib.sha256(content).hexdigest()
    blob = Blob(sha256=sha256, bytes=len(content))
    return MediaPart(media_type=media_type, name=name, bytes=len(content), blob=blob)


def request(
    *rows: Row, system: str = "", max_tokens: int | None = None, tools: tuple[ToolSpec, ...] = ()
) -> ModelRequest:
    files = {hashlib.sha256(content).hexdigest(): content for content in (PNG, PDF)}
    return ModelRequest(model="m", system=system, rows=rows, max_tokens=max_tokens, tools=tools, files=files)


def _parts(parts: tuple[str | Part, ...]) -> tuple[Part, ...]:
    return tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
