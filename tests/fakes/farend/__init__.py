"""The far end of the wire: a model provider on loopback, in three dialects, that can fail at any byte.

A test writes answers down and plays them; the path of each request chooses the dialect (Anthropic Messages, OpenAI
Responses, OpenAI Chat Completions), so one script works for all three. See docs/testing.md.

    async with FarEnd() as far:
        far.play(reply("Hello ", "world"), error(429, retry_after=3), reply("Again").but(Cut(after_bytes=40)))
"""

from tests.fakes.farend.answers import (
    context_too_long,
    error,
    html_page,
    json_answer,
    model_not_found,
    raw,
    redirect,
    reply,
    whole,
)
from tests.fakes.farend.bodies import http_date
from tests.fakes.farend.certificate import Certificate, self_signed
from tests.fakes.farend.hold import Hold
from tests.fakes.farend.models import DEFAULT_MODELS, Look, Model
from tests.fakes.farend.received import Received
from tests.fakes.farend.script import (
    Answer,
    Comment,
    Cut,
    DialectName,
    Drip,
    Drop,
    ErrorAnswer,
    ErrorKind,
    Fault,
    Flavour,
    Malformed,
    Part,
    Pause,
    Ping,
    RawAnswer,
    RawEvent,
    Reasoning,
    Refusal,
    Repeat,
    Reply,
    Split,
    Stall,
    Stop,
    StreamError,
    Swap,
    Text,
    ToolCall,
    Usage,
    WireFault,
)
from tests.fakes.farend.server import FarEnd
from tests.fakes.farend.thread import FarEndThread

__all__ = [
    "DEFAULT_MODELS",
    "Answer",
    "Certificate",
    "Comment",
    "Cut",
    "DialectName",
    "Drip",
    "Drop",
    "ErrorAnswer",
    "ErrorKind",
    "FarEnd",
    "FarEndThread",
    "Fault",
    "Flavour",
    "Hold",
    "Look",
    "Malformed",
    "Model",
    "Part",
    "Pause",
    "Ping",
    "RawAnswer",
    "RawEvent",
    "Reasoning",
    "Received",
    "Refusal",
    "Repeat",
    "Reply",
    "Split",
    "Stall",
    "Stop",
    "StreamError",
    "Swap",
    "Text",
    "ToolCall",
    "Usage",
    "WireFault",
    "context_too_long",
    "error",
    "html_page",
    "http_date",
    "json_answer",
    "model_not_found",
    "raw",
    "redirect",
    "reply",
    "self_signed",
    "whole",
]
