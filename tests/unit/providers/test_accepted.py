"""Whatever became of a chat's turns, what goes out is what its vendor takes: rules of the three dialects.

Replies that were stopped anywhere, calls without a result, thoughts and calls of other models, names and ids that
models make up. The rules are those of the vendors' documentation.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.models import Abilities, ModelCard, ThinkingLevel
from app.domain.rows import Flag, Part, ReasoningPart, RequestInfo, Row, TextPart, ToolPart
from app.providers.anthropic.wire import build
from app.providers.openai import chat_wire, responses_wire
from app.session.assemble import assemble
from tests.fakes.scripted import ScriptedTool

CARD = ModelCard("m", "p", "M", limit=None, max_output=None, abilities=Abilities(reasons=True))
REPLAYS: Sequence[dict[str, object] | None] = (
    None,
    {"type": "thinking", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "eA=="},
    {"id": "rs_1", "encrypted_content": "gAAA", "summary": []},
    {"field": "reasoning_content"},
)

texts = st.sampled_from(["Hello", "", " \n", "half \ud83d", "日本"])
thoughts = st.builds(ReasoningPart, text=texts, replay=st.sampled_from(REPLAYS))
calls = st.builds(
    ToolPart,
    call_id=st.sampled_from(["c1", "c1", "call 2", "", "x" * 90]),
    name=st.sampled_from(["look", "look.at/it", "", "n" * 200]),
    input=st.sampled_from([{}, {"q": "half \ud83d"}, '{"q": "to']),
    state=st.sampled_from(["pending", "interrupted", "done", "failed", "denied"]),
    output=st.sampled_from([None, "", " ", "half \ud83d", {"n": [1]}]),
)
parts = st.one_of(st.builds(TextPart, text=texts), thoughts, calls)


def person(text: str) -> Row:
    return Row(id="u", session="s", role="user", turn="u", parts=(TextPart(text=text),))


def reply(said: Sequence[Part], provider: str, flags: tuple[str, ...]) -> Row:
    info = RequestInfo(provider=provider, model="m")
    return Row(id="a", session="s", role="assistant", turn="u", request=info, flags=flags, parts=tuple(said))


people = st.builds(person, st.sampled_from(["Hi", "And now?"]))
replies = st.builds(
    reply,
    st.lists(parts, max_size=4),
    st.sampled_from(["p", "q"]),
    st.sampled_from([(), (Flag.INTERRUPTED,), (Flag.FAILED,)]),
)
LOOKED = ToolPart(call_id="c9", name="look", input={}, state="done", output="Rain")
ends = st.one_of(people, st.builds(reply, st.just((LOOKED,)), st.sampled_from(["p", "q"]), st.just(())))
windows = st.builds(
    lambda first, rest, end: [first, *rest, end], people, st.lists(st.one_of(people, replies), max_size=6), ends
)
tools = st.sampled_from([(), (ScriptedTool("look"),)])
levels = st.one_of(st.none(), st.sampled_from(ThinkingLevel))


@settings(max_examples=80, deadline=None)
@given(window=windows, offered=tools, level=levels, max_tokens=st.sampled_from([None, 100, 2_047, 2_048, 64_000]))
def test_anthropic_takes_it(
    window: list[Row], offered: tuple[ScriptedTool, ...], level: ThinkingLevel | None, max_tokens: int | None
) -> None:
    card = ModelCard("m", "p", "M", limit=None, max_output=max_tokens)
    sent: Any = _json(build(assemble(window, card, level=level, tools=offered), card))

    roles = [message["role"] for message in sent["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    waiting: list[str] = []
    seen: set[str] = set()
    for message in sent["messages"]:
        content = message["content"]
        assert content
        given_results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        assert given_results == waiting
        assert all(block["type"] == "tool_result" for block in content[: len(waiting)]), "results come first"
        waiting = [block["id"] for block in content if block["type"] == "tool_use"]
        assert seen.isdisjoint(waiting)
        assert len(waiting) == len(set(waiting))
        seen.update(waiting)
        assert content[-1]["type"] not in ("thinking", "redacted_thinking")
        for block in content:
            match block["type"]:
                case "text":
                    assert block["text"].strip()
                case "tool_use":
                    assert re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"])
                    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", block["name"])
                    assert isinstance(block["input"], dict)
                case "tool_result":
                    assert block.get("content", "x").strip()
    assert not seen or sent["tools"]
    thinking = sent.get("thinking", {})
    if thinking.get("type") == "enabled":
        assert 1024 <= thinking["budget_tokens"] <= sent["max_tokens"] // 2


@settings(max_examples=80, deadline=None)
@given(window=windows, offered=tools, level=levels, model=st.sampled_from(["m", "mistral-large"]))
def test_chat_completions_takes_it(
    window: list[Row], offered: tuple[ScriptedTool, ...], level: ThinkingLevel | None, model: str
) -> None:
    request = assemble(window, ModelCard(model, "p", "M", limit=None, max_output=None), level=level, tools=offered)
    sent: Any = _json(chat_wire.arguments(request, is_openai=False))

    waiting: list[str] = []
    before = ""
    for message in sent["messages"]:
        role = message["role"]
        if role == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            assert message["content"].strip()
        else:
            assert not waiting, "every call is followed by its result"
            assert (before, role) != ("tool", "user") or model == "m"
            waiting = [call["id"] for call in message.get("tool_calls", ())]
            assert waiting or message["content"]
        for call in message.get("tool_calls", ()):
            assert re.fullmatch(r"[a-zA-Z0-9]{9}" if model != "m" else r"[!-~]{1,40}", call["id"])
            assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"])
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
        before = role
    assert not waiting
    assert before in ("user", "tool")


@settings(max_examples=80, deadline=None)
@given(window=windows, offered=tools, level=levels, is_openai=st.booleans())
def test_responses_takes_it(
    window: list[Row], offered: tuple[ScriptedTool, ...], level: ThinkingLevel | None, is_openai: bool
) -> None:
    request = assemble(window, CARD, level=level, tools=offered)
    sent: Any = _json(responses_wire.arguments(request, CARD.abilities, is_openai=is_openai))

    items = sent["input"]
    called = [item["call_id"] for item in items if item["type"] == "function_call"]
    assert len(called) == len(set(called))
    assert [item["call_id"] for item in items if item["type"] == "function_call_output"] == called
    for item, following in zip(items, [*items[1:], {"type": "end"}], strict=True):
        match item["type"]:
            case "reasoning":
                assert following["type"] in ("reasoning", "function_call") or following.get("role") == "assistant"
            case "message":
                assert all(part.get("text", "x") for part in item["content"])
            case "function_call":
                assert re.fullmatch(r"[!-~]{1,64}", item["call_id"])
                assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", item["name"])
            case "function_call_output":
                assert item["output"].strip()
    assert items[-1]["type"] == "function_call_output" or items[-1]["role"] == "user"


def _json(body: object) -> object:
    """Return a body as it arrives; half a character fails here."""
    data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    return json.loads(data)
