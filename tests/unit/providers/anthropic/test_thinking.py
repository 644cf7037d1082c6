"""How long a model is asked to think: what Anthropic's library sends for each level."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from app.domain.models import ThinkingLevel
from app.domain.request import ModelRequest
from app.domain.rows import Part, ReasoningPart, Row, TextPart, ToolPart
from app.providers.anthropic.wire import build
from tests.fakes.farend import FarEnd, Model, error, reply
from tests.unit.providers.anthropic.connect import HELLO, ask, provider, text_of

OFF, LOW, MEDIUM, HIGH, MAX = ThinkingLevel
THOUGHT = ReasoningPart(text="Hm.", replay={"type": "thinking", "signature": "c2ln"})
CALL = ToolPart(call_id="c1", name="look", input={}, state="done", output="Rainy")


def adaptive(effort: str) -> dict[str, object]:
    return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": effort}}


def budget(tokens: int) -> dict[str, object]:
    return {"thinking": {"type": "enabled", "budget_tokens": tokens}}


@pytest.mark.parametrize(
    ("model", "level", "expected"),
    [
        ("claude-opus-5-5", None, {}),
        ("claude-opus-5-5", LOW, adaptive("low")),
        ("claude-opus-5-5-20260901", MAX, adaptive("max")),
        ("claude-haiku-5-5", OFF, {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-5-5", OFF, {"thinking": {"type": "between_tools"}}),
        ("claude-sonnet-5", OFF, {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-4-6", MEDIUM, adaptive("medium")),
        ("claude-opus-4-5", HIGH, budget(32_768)),
        ("claude-opus-4-5-20251101", LOW, budget(4096)),
        ("claude-haiku-4-5", OFF, {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-4-20250514", LOW, budget(4096)),
        ("claude-3-7-sonnet-20250219", MEDIUM, budget(16_384)),
        # Of another maker: budgets are what all of them know.
        ("k3-thinking", HIGH, budget(32_768)),
    ],
)
async def test_each_level_in_the_words_of_the_model(
    far: FarEnd, model: str, level: ThinkingLevel | None, expected: dict[str, object]
) -> None:
    async with provider(far) as asked:
        await ask(asked, replace(HELLO, model=model, level=level, max_tokens=128_000))

    sent = far.requests[0].json
    assert {name: sent[name] for name in ("thinking", "output_config") if name in sent} == expected
    assert "temperature" not in sent


@pytest.mark.parametrize(
    ("max_tokens", "expected"), [(128_000, budget(32_768)), (40_000, budget(20_000)), (2048, budget(1024)), (2047, {})]
)
def test_a_budget_leaves_room_for_the_answer(max_tokens: int, expected: dict[str, object]) -> None:
    sent = built(row("user", "Hi"), level=HIGH, max_tokens=max_tokens)

    assert {name: sent[name] for name in ("thinking",) if name in sent} == expected


def test_thoughts_go_back_with_the_calls_they_led_to() -> None:
    sent = built(row("user", "Hi"), row("assistant", THOUGHT, CALL), level=LOW)

    assert sent["thinking"] == {"type": "enabled", "budget_tokens": 4096}
    assert types_of(sent) == [["text"], ["thinking", "tool_use"], ["tool_result"]]


@pytest.mark.parametrize(
    ("rows", "may_think"),
    [
        ((("assistant", CALL),), False),
        # The whole turn counts as one reply, which begins with thinking.
        ((("assistant", THOUGHT, CALL), ("assistant", CALL)), True),
        ((("assistant", CALL), ("assistant", THOUGHT, CALL)), False),
        # What was before the person spoke again is over.
        ((("assistant", CALL), ("user", "And now?")), True),
        ((("assistant", "Hello"), ("user", "And now?")), True),
    ],
)
def test_amid_calls_made_without_thinking_no_budget_can_be_given(
    rows: tuple[tuple[Any, ...], ...], may_think: bool
) -> None:
    window = (row("user", "Hi"), *(row(*each) for each in rows))

    assert ("thinking" in built(*window, level=LOW)) == may_think
    # Models that decide for themselves don't mind.
    assert "thinking" in built(*window, level=LOW, model="claude-opus-5")


def test_with_thinking_off_no_thoughts_go_back() -> None:
    window = (row("user", "Hi"), row("assistant", THOUGHT, "Hello"), row("user", "Bye"))

    assert types_of(built(*window, level=OFF)) == [["text"], ["text"], ["text"]]
    assert types_of(built(*window, level=OFF, model="claude-sonnet-5-5")) == [["text"], ["thinking", "text"], ["text"]]


async def test_thoughts_that_are_not_taken_back_amid_calls_take_the_budget_with_them(far: FarEnd) -> None:
    far.play(error(400, message="messages.1.content.0: Invalid `signature` in `thinking` block"), reply("Hi"))
    window = (row("user", "Hi"), row("assistant", THOUGHT, CALL))

    async with provider(far) as asked:
        heard = await ask(asked, ModelRequest(model="claude-haiku-4-5", system="", rows=window, level=LOW))

    assert text_of(heard) == "Hi"
    first, second = (request.json for request in far.requests)
    assert "thinking" in first
    assert "thinking" not in second


async def test_a_server_that_wants_thinking_before_every_call_gets_empty_ones(far: FarEnd) -> None:
    # DeepSeek, of calls that another model made, or that it made without a thought.
    words = "The `content[].thinking` in the thinking mode must be passed back to the API."
    far.play(error(400, message=words), reply("Hi"))
    calls = (row("user", "Hi"), row("assistant", CALL), row("assistant", THOUGHT, CALL), row("assistant", "So."))
    window = (*calls, row("user", "And now?"), row("assistant", "Rain."), row("user", "Bye"))

    async with provider(far) as asked:
        heard = await ask(asked, ModelRequest(model="deepseek-flash", system="", rows=window))

    assert text_of(heard) == "Hi"
    sent: list[Any] = [request.json for request in far.requests]
    first, second = sent
    assert types_of(first)[1:5:2] == [["tool_use"], ["thinking", "tool_use"]]
    assert types_of(second)[1] == ["thinking", "tool_use"]
    assert second["messages"][1]["content"][0] == {"type": "thinking", "thinking": "", "signature": ""}
    assert second["messages"][2:] == first["messages"][2:]


YES, NO = {"supported": True}, {"supported": False}


@pytest.mark.parametrize(
    ("model", "effort", "types", "expected"),
    [
        ("claude-new", "low medium high max", "adaptive disabled", (OFF, LOW, MEDIUM, HIGH, MAX)),
        ("claude-new", "low medium high", "adaptive", (LOW, MEDIUM, HIGH)),
        ("claude-sonnet-5-5", "low medium high max", "adaptive between_tools", (OFF, LOW, MEDIUM, HIGH, MAX)),
        ("claude-old", "", "enabled disabled", (OFF, LOW, MEDIUM, HIGH)),
    ],
)
async def test_the_list_tells_the_levels(
    model: str, effort: str, types: str, expected: tuple[ThinkingLevel, ...]
) -> None:
    levels = {name: YES if name in effort.split() else NO for name in ("low", "medium", "high", "xhigh", "max")}
    known = {
        name: YES if name in types.split() else NO for name in ("adaptive", "enabled", "disabled", "between_tools")
    }
    capabilities = {
        "effort": {"supported": bool(effort), **levels},
        "thinking": {"supported": True, "types": known},
    }

    async with FarEnd(models=[Model(model, extra={"capabilities": capabilities})]) as far, provider(far) as asked:
        (listed,) = await asked.list_models()

    assert listed.levels == expected


def row(role: Any, *parts: Part | str) -> Row:
    said = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    return Row(id="r", session="s", role=role, parts=said)


def built(
    *rows: Row, level: ThinkingLevel, model: str = "claude-haiku-4-5", max_tokens: int = 64_000
) -> dict[str, Any]:
    return build(ModelRequest(model=model, system="", rows=rows, level=level, max_tokens=max_tokens), None)


def types_of(sent: dict[str, Any]) -> list[list[str]]:
    return [list(_types(message["content"])) for message in sent["messages"]]


def _types(blocks: list[dict[str, str]]) -> Iterator[str]:
    return (block["type"] for block in blocks)
