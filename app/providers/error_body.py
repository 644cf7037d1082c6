"""What the body of an error says, whichever server wrote it. No I/O."""

import json
import re
from dataclasses import dataclass, replace
from typing import Final

_DELAY: Final = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")
_DEEPEST: Final = 4
"""So many wrappings are looked into."""


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What a body says of an error, whoever wrote it."""

    message: str = ""
    names: tuple[str, ...] = ()
    """Codes, types, statuses and reasons, the most precise first."""
    status: int | None = None
    """HTTP status told within the body, as OpenRouter does in mid-stream."""
    retry_after_seconds: float | None = None
    """How long Gemini asks to be left alone; it has no header for that."""
    is_moderated: bool = False
    """OpenRouter's answer to an input it won't hand on."""


def parse_json(text: str) -> object | None:
    """Return what `text` says, None if it is no JSON that could say anything."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list | str) else None


def read_error(body: object) -> ErrorBody:
    """Find message and names in the forms that servers wrap them in."""
    if isinstance(body, list):  # Gemini's compatible API wraps the object in a list
        body = body[0] if body else {}
    if isinstance(body, str):
        return ErrorBody(message=body)
    if not isinstance(body, dict):
        return ErrorBody()
    for _ in range(_DEEPEST):
        inner = body.get("error") or body.get("response")
        if isinstance(inner, str):  # LM Studio, Ollama
            return _read_message(inner, ())
        if not isinstance(inner, dict):
            break
        body = inner
    message = body.get("message") or body.get("detail") or ""
    if not isinstance(message, str):  # FastAPI's list of what is wrong with the fields
        message = json.dumps(message, ensure_ascii=False)
    details = body.get("details")
    reasons = [entry.get("reason") for entry in details if isinstance(entry, dict)] if isinstance(details, list) else []
    names = tuple(
        name for name in (body.get("code"), *reasons, body.get("type"), body.get("status")) if isinstance(name, str)
    )
    code = body.get("code")
    metadata = body.get("metadata")
    words = _read_message(message, names)
    return ErrorBody(
        _original(metadata) or words.message,
        words.names,
        status=words.status or (code if isinstance(code, int) and 400 <= code < 600 else None),
        retry_after_seconds=_retry_delay_seconds(details) or words.retry_after_seconds,
        is_moderated=words.is_moderated or (isinstance(metadata, dict) and "flagged_input" in metadata),
    )


def _original(metadata: object) -> str:
    """Return the message of the server that OpenRouter passed the request on to; its own says nothing of the matter."""
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    body = parse_json(raw) if isinstance(raw, str) else raw
    return read_error(body).message if isinstance(body, dict | list) else ""


def _retry_delay_seconds(details: object) -> float | None:
    for entry in details if isinstance(details, list) else ():
        delay = entry.get("retryDelay") if isinstance(entry, dict) else None
        if isinstance(delay, str) and (found := _DELAY.fullmatch(delay)):
            return float(found[1])
    return None


def _read_message(message: str, names: tuple[str, ...]) -> ErrorBody:
    """Look into a message that is itself the JSON of another server's error, as Ollama hands it on."""
    if message.startswith("{"):
        inner = parse_json(message)
        if isinstance(inner, dict) and "error" in inner:
            words = read_error(inner)
            return replace(words, names=(*words.names, *names))
    return ErrorBody(message, names)
