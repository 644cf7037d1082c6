"""Rows as Anthropic's Messages: blocks in their places, results first, the same bytes turn after turn."""

import base64
import copy
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from app.domain.errors import BugError
from app.domain.models import ModelCard
from app.domain.request import ModelRequest, ToolSpec
from app.domain.rows import Blob, MediaPart, Part, ReasoningPart, Role, Row, TextPart, ToolPart, ToolState
from app.providers.anthropic.wire import FALLBACK_MAX_TOKENS, build

CACHE = {"type": "ephemeral"}
CARD = ModelCard(id="far-large", provider="far", name="Far Large", limit=200_000, max_output=64_000)
PICTURE = MediaPart(media_type="image/png", bytes=4, blob=Blob(sha256="aa", bytes=4))
PDF = MediaPart(media_type="application/pdf", name="paper.pdf", bytes=4, blob=Blob(sha256="bb", bytes=4))
FILES = {"aa": b"\x89PNG", "bb": b"%PDF"}
CALL = ToolPart(call_id="call_1", name="look_up", input={"place": "Köln"}, state="done", output="Rainy")


def row(role: Role, *parts: Part | str) -> Row:
    said = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    return Row(id="r", session="s", role=role, parts=said)


def built(*rows: Row, card: ModelCard | None = CARD, **fields: Any) -> dict[str, Any]:
    return build(ModelRequest(model="far-large", system=fields.pop("system", ""), rows=rows, **fields), card)


def messages(*rows: Row, files: Mapping[str, bytes] = FILES) -> list[Any]:
    """Messages without the marks of the cache."""
    sent: list[Any] = without_marks(built(*rows, files=files)["messages"])
    return sent


def without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_marks(inner) for name, inner in value.items() if name != "cache_control"}
    return [without_marks(inner) for inner in value] if isinstance(value, list) else value


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def test_a_plain_request() -> None:
    assert built(row("user", "Hello"), system="Be brief.", max_tokens=1000) == {
        "model": "far-large",
        "max_tokens": 1000,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": CACHE}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello", "cache_control": CACHE}]}],
    }


@pytest.mark.parametrize(
    ("asked", "card", "sent"),
    [(500, CARD, 500), (None, CARD, 64_000), (None, None, FALLBACK_MAX_TOKENS)],
)
def test_the_longest_answer_is_always_told(asked: int | None, card: ModelCard | None, sent: int) -> None:
    assert built(row("user", "Hello"), card=card, max_tokens=asked)["max_tokens"] == sent


def test_an_empty_system_prompt_is_left_out() -> None:
    assert "system" not in built(row("user", "Hello"), system=" \n")


def test_tools_are_advertised() -> None:
    schema = {"type": "object", "properties": {"place": {"type": "string"}}}

    sent = built(row("user", "Hello"), tools=(ToolSpec("look_up", "Looks a place up.", schema),))

    assert sent["tools"] == [{"name": "look_up", "description": "Looks a place up.", "input_schema": schema}]
    assert "tool_choice" not in sent


def test_calls_of_the_past_are_defined_where_no_tool_is_offered() -> None:
    other = ToolPart(call_id="call_2", name="files.read", input={}, state="done", output="x")
    sent = built(row("user", "Hello"), row("assistant", CALL, other, CALL), row("user", "And now?"))
    assert [tool["name"] for tool in sent["tools"]] == ["look_up", "files_read"]
    assert sent["tool_choice"] == {"type": "none"}
    assert "tools" not in built(row("user", "Hello"))


def test_attachments_stand_where_they_were() -> None:
    assert messages(row("user", PICTURE, "What is it?", PDF)) == [
        {
            "role": "user",
            "content": [
                {
                    "type": "image",
                    "source": {
                        "type": "base64",
                        "media_type": "image/png",
                        "data": base64.b64encode(b"\x89PNG").decode(),
                    },
                },
                text("What is it?"),
                {
                    "type": "document",
                    "source": {
                        "type": "base64",
                        "media_type": "application/pdf",
                        "data": base64.b64encode(b"%PDF").decode(),
                    },
                    "title": "paper.pdf",
                },
            ],
        }
    ]


def test_a_file_that_is_not_there_is_our_fault() -> None:
    with pytest.raises(BugError, match="aa"):
        messages(row("user", PICTURE), files={})


def test_thinking_goes_back_in_its_place_with_its_text_from_the_part() -> None:
    signed = ReasoningPart(text="Hm, rain.", replay={"type": "thinking", "signature": "c2ln"})
    redacted = ReasoningPart(text="", replay={"type": "redacted_thinking", "data": "ZGF0YQ=="})

    assert messages(row("user", "Weather?"), row("assistant", signed, redacted, "Let me look.", CALL))[1] == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm, rain.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "ZGF0YQ=="},
            text("Let me look."),
            {"type": "tool_use", "id": "call_1", "name": "look_up", "input": {"place": "Köln"}},
        ],
    }


def test_signed_thinking_whose_text_was_left_out_goes_back_empty() -> None:
    silent = ReasoningPart(text="", replay={"type": "thinking", "signature": "c2ln"})

    assert messages(row("user", "Hi"), row("assistant", silent, "Hello."))[1]["content"] == [
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
        text("Hello."),
    ]


@pytest.mark.parametrize(
    "replay",
    [
        None,
        {},
        {"type": "reasoning", "id": "rs_1", "encrypted_content": "x"},
        {"type": "thinking"},
        {"type": "thinking", "signature": None},
        {"type": ["thinking"]},
    ],
)
def test_thinking_of_other_models_stays_here(replay: dict[str, Any] | None) -> None:
    reply = row("assistant", ReasoningPart(text="Hm.", replay=replay), "Hello.")

    assert messages(row("user", "Hi"), reply)[1]["content"] == [text("Hello.")]


def test_a_message_does_not_end_with_thinking() -> None:
    signed = ReasoningPart(text="Hm.", replay={"type": "thinking", "signature": "c2ln"})

    assert messages(row("user", "Hi"), row("assistant", "Well.", signed), row("user", "Go on"))[1:] == [
        {"role": "assistant", "content": [text("Well.")]},
        {"role": "user", "content": [text("Go on")]},
    ]
    assert messages(row("user", "Hi"), row("assistant", signed), row("user", "Go on")) == [
        {"role": "user", "content": [text("Hi"), text("Go on")]}
    ]


def test_results_lead_the_message_after_the_call() -> None:
    other = CALL.model_copy(update={"call_id": "call_2", "output": {"degrees": 7}})

    sent = messages(row("user", "Weather?"), row("assistant", "Looking.", CALL, other), row("user", "And wind?"))

    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert sent[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "call_1", "content": "Rainy"},
        {"type": "tool_result", "tool_use_id": "call_2", "content": '{"degrees":7}'},
        text("And wind?"),
    ]


def test_steps_of_one_turn_alternate() -> None:
    sent = messages(row("user", "Weather?"), row("assistant", CALL), row("assistant", "It rains."))

    assert [message["role"] for message in sent] == ["user", "assistant", "user", "assistant"]


@pytest.mark.parametrize(
    ("state", "output", "content", "is_error"),
    [
        ("done", "Rainy", "Rainy", None),
        ("done", "", None, None),
        ("done", None, None, None),
        ("done", [1, "ä"], '[1,"ä"]', None),
        ("failed", "No network.", "No network.", True),
        ("failed", "", "The call failed.", True),
        ("interrupted", None, "The call was interrupted before it had a result.", True),
        ("denied", None, "The person did not allow this call.", True),
    ],
)
def test_results_say_how_the_call_ended(
    state: ToolState, output: object, content: str | None, is_error: bool | None
) -> None:
    call = CALL.model_copy(update={"state": state, "output": output})

    result = messages(row("user", "Weather?"), row("assistant", call))[2]["content"][0]

    assert (result.get("content"), result.get("is_error")) == (content, is_error)


def test_ids_of_calls_are_made_fit_and_unique() -> None:
    names = ("call_1", "call:1/ä", "", "call_1", "x" * 65)
    odd = [CALL.model_copy(update={"call_id": name, "name": "functions.look up"}) for name in names]

    sent = messages(row("user", "Weather?"), row("assistant", *odd[:2]), row("assistant", *odd[2:]))

    uses = [block for message in sent for block in message["content"] if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for message in sent for block in message["content"] if "tool_use_id" in block]
    assert [use["id"] for use in uses] == results
    assert results[0] == "call_1"
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", result) for result in results)
    assert len(set(results)) == len(names)
    assert {use["name"] for use in uses} == {"functions_look_up"}


def test_empty_texts_are_never_sent() -> None:
    sent = messages(
        row("user", "", "Hi", "  \n"), row("assistant", " "), row("user", "\t"), row("assistant", "Hello."), row("user")
    )

    assert sent == [
        {"role": "user", "content": [text("Hi")]},
        {"role": "assistant", "content": [text("Hello.")]},
    ]


def test_half_a_surrogate_pair_does_not_stop_a_request() -> None:
    call = CALL.model_copy(update={"input": {"\ud83d": ["\ude00"]}, "output": "b\ud83d"})

    sent = built(row("user", "a\ud83d\ude00\ud83d"), row("assistant", call), system="\ude00")

    json.dumps(sent, ensure_ascii=False).encode()
    assert sent["system"][0]["text"] == "\ufffd"
    assert sent["messages"][0]["content"][0]["text"] == "a\U0001f600\ufffd"
    assert sent["messages"][1]["content"][0]["input"] == {"\ufffd": ["\ufffd"]}
    assert sent["messages"][2]["content"][0]["content"] == "b\ufffd"


def test_rows_of_one_role_become_one_message() -> None:
    assert messages(row("user", "One"), row("user", "Two"), row("assistant", "A"), row("assistant", "B")) == [
        {"role": "user", "content": [text("One"), text("Two")]},
        {"role": "assistant", "content": [text("A"), text("B")]},
    ]


TURNS = (
    row("user", "Weather?", PICTURE),
    row("assistant", ReasoningPart(text="Hm.", replay={"type": "thinking", "signature": "c2ln"}), CALL),
    row("assistant", "It rains."),
    row("user", "And tomorrow?"),
    row("assistant", "Sun."),
    row("user", "Thanks."),
)


@pytest.mark.parametrize("count", [1, 4, 6])
def test_the_cache_is_marked_at_the_end_of_the_last_user_row(count: int) -> None:
    sent = built(*TURNS[:count], system="Be brief.", files=FILES)

    marked = [
        (place, number)
        for place, message in enumerate(sent["messages"])
        for number, block in enumerate(message["content"])
        if "cache_control" in block
    ]
    last = max(place for place, message in enumerate(sent["messages"]) if message["role"] == "user")
    assert marked == [(last, len(sent["messages"][last]["content"]) - 1)]


def test_results_carry_the_mark_while_a_turn_runs() -> None:
    assert built(*TURNS[:2], files=FILES)["messages"][-1]["content"][-1]["cache_control"] == CACHE


def test_every_turn_begins_with_the_bytes_of_the_one_before() -> None:
    def bytes_of(count: int) -> str:
        return json.dumps(without_marks(built(*TURNS[:count], system="Be brief.", files=FILES)["messages"]))

    for count in range(1, len(TURNS)):
        assert bytes_of(count + 1).startswith(bytes_of(count).rstrip("]}"))


def test_building_changes_nothing_of_the_request() -> None:
    request = ModelRequest(model="far-large", system="Be brief.", rows=TURNS, files=FILES)
    before = copy.deepcopy(request)

    assert build(request, CARD) == build(request, CARD)
    assert request == before
