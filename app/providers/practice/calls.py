"""What the Practice model does about tools: the call a person types out, and a plain word on what came of one."""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from app.domain.request import ToolSpec
from app.domain.rows import ToolPart

SHOWN_CHARS: Final = 400
"""How much of a result the Practice model repeats."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call to make: its input as the person typed it, and what that says."""

    name: str
    text: str
    input: dict[str, object]


def plan_call(message: str, tools: Collection[str]) -> PlannedCall | str | None:
    """Return the call that `message` asks for, why it can't be made, or None if it asks for none."""
    asked = _CALL.fullmatch(message)
    if asked is None:
        return None
    name, text = asked["name"], asked["arguments"] or "{}"
    value = _object_in(text)
    reasons = [] if name in tools else [_no_such_tool(name, tools)]
    if value is None:
        reasons.append('What follows the name isn\'t a JSON object; one looks like this: `{"text": "temple"}`.')
    if reasons or value is None:
        return " ".join(["Nothing was called.", *reasons])
    return PlannedCall(name, text, value)


def report_on(call: ToolPart) -> str:
    """Return what there is to say of a call that was made, with the beginning of its result."""
    match call.state:
        case "done" if call.output is not None:
            return f"I called `{call.name}`, and this is what came back. {quoted(call.output)}"
        case "failed" if call.output is not None:
            return f"I called `{call.name}`, but it failed. {quoted(call.output)}"
        case "denied" if call.output is not None:
            return f"I asked for `{call.name}`, but it was not done. {quoted(call.output)}"
        case "denied":
            return f"I asked for `{call.name}`, but there is no such tool in this chat, or it was not allowed."
        case "done" | "failed":
            return f"I called `{call.name}`, and nothing came back."
        case _:
            return f"The call of `{call.name}` was interrupted, so there is no result. It was not made again."


def quoted(output: object) -> str:
    """Return the beginning of a result as a block of code, and how long the whole is."""
    text = text_of(output)
    size = f"It has {len(text):,} characters" + (", beginning with:" if len(text) > SHOWN_CHARS else ":")
    return f"{size}\n\n{fenced(text)}"


def text_of(output: object) -> str:
    """Return a result as it can be read."""
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, indent=2)


def fenced(text: str) -> str:
    """Return the beginning of a text as a block of code."""
    shown = text[:SHOWN_CHARS]
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall(r"`+", shown)), default=0))
    return f"{fence}\n{shown}\n{fence}"


def shown_tool(tool: ToolSpec) -> str:
    """Return what is counted of a tool on offer."""
    return json.dumps([tool.name, tool.description, dict(tool.input_schema)], ensure_ascii=False)


def shown_call(call: ToolPart) -> str:
    """Return what is counted of a call and its result."""
    return json.dumps([call.call_id, call.name, call.input, call.output], ensure_ascii=False, default=str)


_CALL: Final = re.compile(r"call\s+(?P<name>[\w.-]+)(?:\s*(?P<arguments>\{.*))?", re.IGNORECASE | re.DOTALL)


def _no_such_tool(name: str, tools: Collection[str]) -> str:
    if not tools:
        return f"You asked for the tool `{name}`, and there are no tools in this chat."
    listed = ", ".join(f"`{tool}`" for tool in sorted(tools))
    return f"There is no tool `{name}` in this chat. What there is: {listed}."


def _object_in(text: str) -> dict[str, object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
