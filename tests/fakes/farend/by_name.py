"""Answers written down as JSON, for a far end that is started by hand.

The file is a list; each entry is one answer, given to one request after the other:

    [
      {"reply": ["Hello ", {"pause": {"seconds": 1}}, "world"], "reasoning": "Hm.", "usage": {"input": 12}},
      {"reply": [{"tool": {"id": "call_1", "name": "search", "arguments": ["{\\"a\\"", {"cut": {}}, ": 1}"]}}]},
      {"reply": ["Hel"], "but": [{"stall": {"after_events": 3}}], "times": 2},
      {"reply": ["Hello"], "but": [{"cut": {"after_bytes": 40, "how": "reset"}}], "stop": null, "usage": null},
      {"reply": ["Hello"], "but": [{"stall": {"before_headers": true}}]},
      {"reply": ["Hello ", {"stream_error": {"kind": "overloaded"}}]},
      {"error": {"status": 429, "retry_after": 3}},
      {"error": {"status": 429, "kind": "insufficient_quota"}},
      {"context_too_long": {"prompt_tokens": 9000, "limit_tokens": 8192, "flavour": "llamacpp"}},
      {"model_not_found": {"flavour": "ollama"}},
      {"redirect": {"to": "http://127.0.0.1:1/v1", "status": 307}},
      {"html_page": {"text": "Sign in"}},
      {"raw": {"events": ["data: {\\"a\\": 1}\\n\\n"]}}
    ]

The parts of a reply are strings or one of `text`, `reasoning`, `refusal`, `tool`, `stall`, `cut`, `pause`, `comment`,
`ping`, `stream_error`, `malformed`; what stands in `but` is one of `stall`, `cut`, `split`, `drip`, `swap`, `drop`,
`repeat`. Their fields are those of the classes of the same name in `script.py`; those of the other answers are the
arguments in `answers.py`. `"whole": true` beside a reply makes it one plain JSON body, `times` gives an answer again.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from tests.fakes.farend.answers import (
    context_too_long,
    error,
    html_page,
    model_not_found,
    raw,
    redirect,
    reply,
    whole,
)
from tests.fakes.farend.script import (
    Answer,
    Comment,
    Cut,
    Drip,
    Drop,
    Malformed,
    Part,
    Pause,
    Ping,
    Reasoning,
    Refusal,
    Repeat,
    Split,
    Stall,
    StreamError,
    Swap,
    Text,
    ToolCall,
    Usage,
    WireFault,
)

T = TypeVar("T")

PARTS: Mapping[str, Callable[..., Part]] = {
    "text": Text,
    "reasoning": Reasoning,
    "refusal": Refusal,
    "stall": Stall,
    "cut": Cut,
    "pause": Pause,
    "comment": Comment,
    "ping": Ping,
    "stream_error": StreamError,
    "malformed": Malformed,
}
WIRE_FAULTS: Mapping[str, Callable[..., WireFault]] = {
    "stall": Stall,
    "cut": Cut,
    "split": Split,
    "drip": Drip,
    "swap": Swap,
    "drop": Drop,
    "repeat": Repeat,
}
ANSWERS: Mapping[str, Callable[..., Answer]] = {
    "error": error,
    "context_too_long": context_too_long,
    "model_not_found": model_not_found,
    "redirect": redirect,
    "html_page": html_page,
}
BESIDE = {"but", "times"}


class UnknownName(ValueError):
    """The file names something that isn't there."""


def read_script(file: Path) -> list[Answer]:
    """Read the answers of a file. ValueError, TypeError or KeyError if it isn't as described above."""
    entries = json.loads(file.read_text("utf-8"))
    return [answer for entry in entries for answer in [answer_of(entry)] * entry.get("times", 1)]


def answer_of(entry: Mapping[str, Any]) -> Answer:
    """One entry of the file as an answer."""
    if "reply" in entry:
        answer: Answer = _reply(entry)
    elif "raw" in entry:
        given = dict(entry["raw"])
        answer = raw(*given.pop("events"), **given)
    else:
        [(name, fields)] = [(key, value) for key, value in entry.items() if key not in BESIDE]
        if name not in ANSWERS:
            raise UnknownName(f"no answer is called {name!r}; there are reply, raw, {', '.join(ANSWERS)}")
        answer = ANSWERS[name](**fields)
    return answer.but(*(_named(WIRE_FAULTS, fault) for fault in entry.get("but", [])))


def _reply(entry: Mapping[str, Any]) -> Answer:
    more: dict[str, Any] = {key: entry[key] for key in ("reasoning", "stop", "usage_times", "headers") if key in entry}
    if "usage" in entry:
        more["usage"] = None if entry["usage"] is None else Usage(**entry["usage"])
    answer = reply(*(_part(part) for part in entry["reply"]), **more)
    return whole(answer) if entry.get("whole") else answer


def _part(part: str | Mapping[str, Any]) -> str | Part:
    if isinstance(part, str):
        return part
    if "tool" not in part:
        return _named(PARTS, part)
    tool = part["tool"]
    pieces = tool.get("arguments", "{}")
    faults = [piece if isinstance(piece, str) else _named(PARTS, piece) for piece in _listed(pieces)]
    return ToolCall(tool.get("id", "call_1"), tool["name"], *faults)  # type: ignore[arg-type] # text is no fault


def _listed(pieces: object) -> list[Any]:
    return pieces if isinstance(pieces, list) else [pieces]


def _named(known: Mapping[str, Callable[..., T]], one: Mapping[str, Any]) -> T:
    [(name, fields)] = one.items()
    if name not in known:
        raise UnknownName(f"nothing is called {name!r}; there are {', '.join(known)}")
    return known[name](**fields)
