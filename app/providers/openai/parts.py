"""What both dialects of OpenAI share: parts of rows as they are sent, and calls of tools as they are streamed."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from app.domain.errors import BugError
from app.domain.request import ModelRequest
from app.domain.rows import MediaPart, ToolPart
from app.domain.text import clean_text, is_blank
from app.providers.base import Piece, ToolEndPiece, ToolInputPiece, ToolStartPiece

Json = dict[str, object]

UNSAID: Final = {
    "done": "(no output)",
    "failed": "The tool failed without saying why.",
    "denied": "The user did not allow this call. It was not run.",
}
"""What a call without output says, by its state."""
INTERRUPTED: Final = "This call was interrupted. Whether it had an effect is unknown."


def compact_json(value: object) -> str:
    """Return `value` as JSON, the same text for the same value, so that prompt caches keep hitting."""
    return clean_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def arguments_of(part: ToolPart) -> str:
    """Return the arguments of a call as JSON text of an object."""
    return compact_json(part.input if isinstance(part.input, dict) else {})


def output_of(part: ToolPart) -> str:
    """Return what the model is told a call has given."""
    if isinstance(part.output, str) and not is_blank(part.output):
        return clean_text(part.output)
    if part.output is not None and not isinstance(part.output, str):
        return compact_json(part.output)
    # Some servers refuse a message of nothing.
    return UNSAID.get(part.state, INTERRUPTED)


def data_url(part: MediaPart, request: ModelRequest) -> str:
    """Return a file with its content as a `data:` URL."""
    content = request.files.get(part.blob.sha256)
    if content is None:
        raise BugError(f"a request without the content of its {part.media_type}")
    return f"data:{part.media_type};base64,{base64.b64encode(content).decode('ascii')}"


def is_picture(part: MediaPart) -> bool:
    return part.media_type.startswith("image/")


def file_name(part: MediaPart) -> str:
    """Return a name for a PDF; OpenAI wants one."""
    return clean_text(part.name) or "document.pdf"


def count_in(holder: object, name: str) -> int | None:
    """Return a token count of a usage object; None where it was not reported or is none."""
    value = holder.get(name) if isinstance(holder, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_in(holder: object, name: str) -> str:
    """Return a text of an object, empty if there is none."""
    value = holder.get(name) if isinstance(holder, Mapping) else None
    return value if isinstance(value, str) else ""


@dataclass(slots=True)
class StreamedCall:
    """A call of a tool as far as it has come. It is told once its name is known."""

    call_id: str = ""
    name: str = ""
    chunks: list[str] = field(default_factory=list)
    is_started: bool = False
    is_ended: bool = False
    replay: Json = field(default_factory=dict)
    """What its server wants back with it."""

    @property
    def arguments(self) -> str:
        return "".join(self.chunks)

    @property
    def is_object(self) -> bool:
        """Whether what has come of the arguments is all of them."""
        return bool(self.chunks) and _object_of(self.arguments) is not None

    def start(self, call_id: str, name: str) -> Iterator[Piece]:
        """Yield the beginning, and what came before it."""
        if self.is_started or not call_id or not name:
            return
        self.call_id, self.name, self.is_started = call_id, name, True
        yield ToolStartPiece(call_id, name)
        if self.chunks:
            yield ToolInputPiece(call_id, self.arguments)

    def add(self, text: str) -> Iterator[Piece]:
        """Yield more of the arguments."""
        if not text or self.is_ended:
            return
        self.chunks.append(text)
        if self.is_started:
            yield ToolInputPiece(self.call_id, text)

    def end(self, arguments: str | None = None) -> Iterator[Piece]:
        """Yield the end if the arguments are an object; `arguments` is their whole text where it was told.

        No arguments at all are an empty object.
        """
        if not self.chunks and arguments:
            yield from self.add(arguments)
        if not self.is_started or self.is_ended:
            return
        self.is_ended = True
        whole = _object_of(arguments or self.arguments or "{}")
        if whole is not None:
            yield ToolEndPiece(self.call_id, whole, self.replay or None)


def _object_of(text: str) -> Json | None:
    try:
        value: object = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
