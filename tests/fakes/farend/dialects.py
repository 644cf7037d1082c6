"""Which dialect a path speaks, and how an answer is rendered in it."""

import json
from collections.abc import Mapping
from typing import NamedTuple, assert_never

from tests.fakes.farend.answers import html_page, reply
from tests.fakes.farend.anthropic import AnthropicRendering
from tests.fakes.farend.bodies import REQUEST_ID, error_body
from tests.fakes.farend.chat import ChatRendering
from tests.fakes.farend.received import Received
from tests.fakes.farend.rendering import Asked, Op, Rendering
from tests.fakes.farend.responses import ResponsesRendering
from tests.fakes.farend.script import Answer, DialectName, ErrorAnswer, Pause, RawAnswer, Reply, Text

ENDINGS: Mapping[str, DialectName] = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/messages": "anthropic",
}
RENDERINGS: Mapping[DialectName, type[Rendering]] = {
    "anthropic": AnthropicRendering,
    "responses": ResponsesRendering,
    "chat": ChatRendering,
}


class Rendered(NamedTuple):
    """An answer as it goes over the wire, before faults."""

    status: int
    headers: list[tuple[str, str]]
    ops: list[Op]
    is_stream: bool
    """Sent in chunks of unknown length."""


def dialect_of(path: str) -> DialectName | None:
    """The dialect of a request for a reply, by the end of its path; None if it asks for something else."""
    return next((name for ending, name in ENDINGS.items() if path.endswith(ending)), None)


def asked_by(received: Received, number: int) -> Asked:
    """What an answer needs to know of the request."""
    path = received.path.split("?", 1)[0]
    dialect = dialect_of(path) or ("anthropic" if received.header("anthropic-version") else "chat")
    body = body_of(received)
    options = body.get("stream_options")
    return Asked(
        dialect=dialect,
        model=str(body.get("model", "far-large")),
        wants_stream=body.get("stream") is True,
        wants_usage=isinstance(options, dict) and options.get("include_usage") is True,
        number=number,
    )


def body_of(received: Received) -> dict[str, object]:
    """The body as an object, an empty one if it is none."""
    try:
        return received.json
    except ValueError:
        return {}


def render(answer: Answer, asked: Asked) -> Rendered:
    """Render an answer in the dialect of the request."""
    if not isinstance(answer, Reply | ErrorAnswer | RawAnswer):
        raise TypeError(f"no answer: {answer!r}")
    match answer:
        case Reply():
            rendering = RENDERINGS[asked.dialect](answer, asked)
            if asked.wants_stream and not answer.always_whole:
                rendered = Rendered(
                    200, [("content-type", "text/event-stream; charset=utf-8")], rendering.stream(), True
                )
            else:
                rendered = _whole(200, rendering.whole())
        case ErrorAnswer(is_html=True):
            page = html_page(f"{answer.status} Bad Gateway", status=answer.status)
            rendered = Rendered(page.status, [("content-type", page.content_type)], [*page.events], False)
        case ErrorAnswer():
            rendered = _whole(answer.status, error_body(answer, asked.dialect, asked.model))
            if answer.retry_after is not None:
                rendered.headers.append(("retry-after", answer.retry_after))
        case RawAnswer():
            is_stream = answer.content_type.startswith("text/event-stream")
            rendered = Rendered(answer.status, [("content-type", answer.content_type)], [*answer.events], is_stream)
        case _:
            assert_never(answer)
    usual = [*rendered.headers, ("request-id", REQUEST_ID), ("x-request-id", REQUEST_ID), ("cache-control", "no-cache")]
    own = {name.lower() for name, _ in answer.headers}
    headers = [pair for pair in usual if pair[0] not in own]
    return rendered._replace(headers=[*headers, *answer.headers])


def _whole(status: int, body: object) -> Rendered:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Rendered(status, [("content-type", "application/json")], [text.encode()], False)


def friendly_reply(received: Received, words_per_second: float | None) -> Reply:
    """What is answered when no script is left: an echo with a greeting, word by word."""
    said = " ".join(_last_text(body_of(received)).split())
    quoted = f"You said: “{said[:200]}”. " if said else ""
    words = f"Hello from the far end. {quoted}Nothing was scripted, so this is the usual answer — naïve, but ☕ warm."
    parts: list[Text | Pause] = []
    for word in words.split(" "):
        parts.append(Text(f"{word} "))
        if words_per_second:
            parts.append(Pause(1 / words_per_second))
    return reply(*parts)


def _last_text(body: Mapping[str, object]) -> str:
    messages = body.get("messages", body.get("input"))
    if isinstance(messages, str):
        return messages
    last = messages[-1] if isinstance(messages, list) and messages else None
    content = last.get("content") if isinstance(last, dict) else None
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return " ".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""
