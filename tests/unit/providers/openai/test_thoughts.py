"""How long a model is asked to think, and which of its thoughts go back."""

from dataclasses import replace
from typing import Any

import pytest

from app.domain.models import ThinkingLevel
from app.domain.rows import ReasoningPart, Row, ToolPart
from app.providers.openai.chat_wire import arguments
from tests.fakes.farend import FarEnd, error, reply
from tests.unit.providers.openai.build import call, model, request, thought, user
from tests.unit.providers.openai.connect import HELLO, ask, closing, provider, read

OFF, LOW, MEDIUM, HIGH, MAX = ThinkingLevel
SIGNED = {"google": {"thought_signature": "c2ln"}}


@pytest.mark.parametrize(
    ("name", "level", "effort"),
    [
        ("gpt-6-sol", OFF, "none"),
        ("gpt-6-sol", LOW, "low"),
        ("gpt-6-sol", MEDIUM, "medium"),
        ("gpt-6-sol", HIGH, "high"),
        ("gpt-6-sol", MAX, "max"),
        ("gpt-5.6-sol", MAX, "max"),
        ("gpt-5.5", MAX, "xhigh"),
        ("gpt-5.4-mini", MAX, "xhigh"),
        ("qwen3:8b", LOW, "low"),
        ("m", None, None),
    ],
)
async def test_each_level_in_both_dialects(
    far: FarEnd, name: str, level: ThinkingLevel | None, effort: str | None
) -> None:
    asked = replace(HELLO, model=name, level=level)

    await read(provider(far, "responses"), asked)
    await read(provider(far, "chat"), asked)

    responses, chat = (received.json for received in far.requests)
    assert chat.get("reasoning_effort") == effort
    assert "reasoning" not in chat
    summary = {} if level is OFF else {"summary": "auto"}
    assert responses.get("reasoning") == ({"effort": effort, **summary} if effort else None)
    assert responses["include"] == ["reasoning.encrypted_content"]


async def test_without_a_level_a_model_that_reasons_is_asked_for_nothing_but_a_summary(far: FarEnd) -> None:
    await read(provider(far, "responses", reasons=True))

    assert far.requests[0].json["reasoning"] == {"summary": "auto"}


@pytest.mark.parametrize(
    "answer",
    [
        error(400, message="Unsupported parameter: 'reasoning_effort' is not supported with this model."),
        error(400, message='"llama3:8b" does not support thinking'),
        error(422, message="reasoning_effort: Extra inputs are not permitted"),
    ],
)
async def test_a_server_that_knows_no_levels_is_asked_without_one(far: FarEnd, answer: Any) -> None:
    far.play(answer, reply("Hi"), reply("Hi"), reply("Hi"))

    async with closing(provider(far, "chat")) as asked:
        await ask(asked, replace(HELLO, level=LOW))
        await ask(asked, replace(HELLO, level=LOW))
        await ask(asked, replace(HELLO, level=HIGH))

    sent = [received.json.get("reasoning_effort") for received in far.requests]
    assert sent == ["low", None, None, "high"]


def assistant(*rows: Row) -> list[Any]:
    """Messages of the model, without the calls' own fields."""
    sent: Any = arguments(request(*rows), is_openai=False)["messages"]
    return [message for message in sent if message["role"] == "assistant"]


def thoughts(*rows: Row) -> list[object]:
    return [message.get("reasoning_content") for message in assistant(*rows)]


def test_thoughts_go_back_in_turns_that_made_calls_and_in_no_other() -> None:
    hm, so = thought("Hm.", field="reasoning_content"), thought("So.", field="reasoning_content")
    rows = (
        user("Hi"),
        model(hm, "Hello"),
        user("Look."),
        model(hm, "I look.", call("c1", "x")),
        model(so, "There."),
        user("Thanks."),
        model(so, "Bye"),
    )

    assert thoughts(*rows) == [None, "Hm.", "So.", None]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thoughts_go_back_under_the_name_they_came_with(field: str) -> None:
    (message,) = assistant(user("Look."), model(thought("Hm.", field=field), call("c1", "x")))

    assert {name: message[name] for name in message if name.startswith("reasoning")} == {field: "Hm."}


def test_a_list_of_thoughts_goes_back_as_it_came() -> None:
    details = [{"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "index": 0}]
    parts = (thought("Hm.", field="reasoning"), call("c1", "x"), thought("", reasoning_details=details))

    (message,) = assistant(user("Look."), model(*parts))

    assert message["reasoning_details"] == details
    assert "reasoning" not in message


def test_thoughts_of_another_dialect_and_from_tags_stay() -> None:
    parts = (ReasoningPart(text="Hm."), thought("So.", type="thinking", signature="c2ln"), call("c1", "x"))

    (message,) = assistant(user("Look."), model(*parts))

    assert not [name for name in message if name.startswith("reasoning")]


def test_what_came_beside_a_call_goes_back_beside_it() -> None:
    signed = ToolPart(call_id="c1", name="look", input={}, state="done", output="x", replay={"extra_content": SIGNED})

    (message,) = assistant(user("Look."), model(signed, call("c2", "y")))

    assert [each.get("extra_content") for each in message["tool_calls"]] == [SIGNED, None]


async def test_a_server_that_wants_thoughts_of_all_replies_gets_empty_ones(far: FarEnd) -> None:
    # DeepSeek, of calls that another model made.
    words = "The `reasoning_content` in the thinking mode must be passed back to the API."
    far.play(error(400, message=words), reply("Hi"), reply("Hi"))
    asked = request(user("Look."), model(call("c1", "x")), model(thought("Hm.", field="reasoning_content"), "So."))

    async with closing(provider(far, "chat")) as far_model:
        await ask(far_model, asked)
        await ask(far_model, asked)

    sent = [
        [message.get("reasoning_content") for message in messages_of(received.json) if message["role"] == "assistant"]
        for received in far.requests
    ]
    assert sent == [[None, "Hm."], ["", "Hm."], ["", "Hm."]]


async def test_calls_of_another_model_say_that_they_are_not_signed_where_they_have_to_be(far: FarEnd) -> None:
    # Gemini, in the middle of a turn that another model began.
    words = "Function call is missing a thought_signature in functionCall parts. Function call `look`, position 2."
    far.play(error(400, message=words), reply("Hi"), reply("Hi"))
    signed = ToolPart(call_id="c3", name="look", input={}, state="done", output="x", replay={"extra_content": SIGNED})
    asked = request(user("Look."), model(call("c1", "x"), call("c2", "y")), model(signed, call("c4", "z")))

    async with closing(provider(far, "chat")) as far_model:
        await ask(far_model, asked)
        await ask(far_model, asked)

    sent = [
        [made.get("extra_content") for message in messages_of(received.json) for made in message.get("tool_calls", ())]
        for received in far.requests
    ]
    said_so = {"google": {"thought_signature": "skip_thought_signature_validator"}}
    assert sent == [[None, None, SIGNED, None], *[[said_so, None, SIGNED, None]] * 2]


async def test_a_server_that_takes_no_thoughts_back_is_asked_without_them(far: FarEnd) -> None:
    words = "'messages.1' : property 'reasoning_content' is unsupported"
    far.play(error(400, message=words), reply("Hi"))
    asked = request(user("Look."), model(thought("Hm.", field="reasoning_content"), call("c1", "x")))

    await read(provider(far, "chat"), asked)

    sent = ["reasoning_content" in messages_of(received.json)[1] for received in far.requests]
    assert sent == [True, False]


def messages_of(body: dict[str, Any]) -> list[Any]:
    messages: list[Any] = body["messages"]
    return messages
