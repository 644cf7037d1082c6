from typing import Any

import pytest

from app.domain.errors import BugError
from app.domain.models import Abilities
from app.domain.rows import Row, ToolState
from app.providers.openai.responses_wire import arguments
from tests.unit.providers.openai.build import LOOK, PDF, PNG, call, media, model, request, thought, user

REPLAY = {"id": "rs_1", "encrypted_content": "ENC", "summary": [{"type": "summary_text", "text": "Hm."}]}
REASONING = {"type": "reasoning", **REPLAY}


def items(*rows: Row) -> Any:
    return arguments(request(*rows), Abilities(), is_openai=True)["input"]


def said(text: str) -> dict[str, object]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


def asked(*texts: str) -> dict[str, object]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text} for text in texts]}


def test_a_request_leaves_nothing_behind_at_the_provider() -> None:
    body = arguments(request(user("Hi"), system="Be kind.", max_tokens=900), Abilities(), is_openai=True)

    assert body == {
        "model": "m",
        "instructions": "Be kind.",
        "input": [asked("Hi")],
        "stream": True,
        "store": False,
        "truncation": "disabled",
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 900,
    }


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        (True, {"include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"}}),
        (None, {"include": ["reasoning.encrypted_content"]}),
        (False, {}),
    ],
)
def test_only_models_that_may_reason_are_asked_for_it(reasons: bool | None, expected: dict[str, object]) -> None:
    body = arguments(request(user("Hi")), Abilities(reasons=reasons), is_openai=True)

    assert {name: body[name] for name in ("include", "reasoning") if name in body} == expected


def test_tools_are_advertised_without_strictness() -> None:
    body = arguments(request(user("Hi"), tools=(LOOK,)), Abilities(), is_openai=True)

    assert body["tools"] == [
        {
            "type": "function",
            "name": "look",
            "description": "Looks it up.",
            "parameters": LOOK.input_schema,
            "strict": False,
        }
    ]


def test_pictures_and_pdf_go_as_data_urls() -> None:
    sent = items(user("See", media(PNG, "image/png"), media(PDF, "application/pdf", "a.pdf")))

    assert sent == [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "See"},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0K", "detail": "auto"},
                {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjc="},
            ],
        }
    ]


def test_a_file_without_its_content_is_a_bug() -> None:
    with pytest.raises(BugError):
        items(user(media(b"other", "image/png")))


def test_calls_keep_their_order_and_their_outputs_follow() -> None:
    sent = items(user("Go"), model(thought("Hm.", **REPLAY), "Looking.", call("c1", "one"), call("c2", {"n": 2})))

    assert sent == [
        asked("Go"),
        REASONING,
        said("Looking."),
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"q":"c1"}'},
        {"type": "function_call", "call_id": "c2", "name": "look", "arguments": '{"q":"c2"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {"type": "function_call_output", "call_id": "c2", "output": '{"n":2}'},
    ]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("interrupted", "This call was interrupted. Whether it had an effect is unknown."),
        ("pending", "This call was interrupted. Whether it had an effect is unknown."),
        ("denied", "The user did not allow this call. It was not run."),
        ("failed", "The tool failed without saying why."),
        ("done", "(no output)"),
    ],
)
@pytest.mark.parametrize("output", [None, "", " \n"])
def test_a_call_without_output_says_how_it_ended(state: ToolState, words: str, output: object) -> None:
    sent = items(model(call("c1", output, state)))

    assert isinstance(sent, list)
    assert sent[-1] == {"type": "function_call_output", "call_id": "c1", "output": words}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        # Before each of the items it belongs to.
        (
            model(thought("", **REPLAY), "A", thought("", **{**REPLAY, "id": "rs_2"}), "B"),
            [REASONING, said("A"), {**REASONING, "id": "rs_2"}, said("B")],
        ),
        # Interrupted right after it: refused if it stands alone.
        (model("A", thought("Hm.", **REPLAY)), [said("A")]),
        # Of another dialect, or never encrypted.
        (model(thought("Hm.", signature="c2ln"), "A"), [said("A")]),
        (model(thought("Hm."), "A"), [said("A")]),
    ],
)
def test_reasoning_goes_back_only_before_what_followed_it(row: Row, expected: object) -> None:
    assert items(row) == expected


@pytest.mark.parametrize(("asked", "sent"), [(1, 16), (16, 16), (17, 17)])
def test_no_reply_is_asked_for_that_is_shorter_than_what_is_taken(asked: int, sent: int) -> None:
    assert arguments(request(user("Hi"), max_tokens=asked), Abilities(), is_openai=True)["max_output_tokens"] == sent


def test_rows_without_anything_to_send_are_left_out() -> None:
    assert items(user(""), model(""), user("Hi", "there")) == [asked("Hi", "there")]


def test_servers_that_want_whole_items_get_them() -> None:
    rows = (user("Hi"), model("A", call("c1", "one")), user("Go"), model("B"))

    sent: Any = arguments(request(*rows), Abilities(), is_openai=False)["input"]
    longer: Any = arguments(request(*rows, user("On")), Abilities(), is_openai=False)["input"]

    assert [item for item in sent if item.get("role") == "assistant"] == [
        {"id": "msg_1", "status": "completed", **said("A")},
        {"id": "msg_5", "status": "completed", **said("B")},
    ]
    assert [item for item in sent if item.get("role") != "assistant"] == [
        item for item in items(*rows) if item.get("role") != "assistant"
    ]
    assert longer[: len(sent)] == sent


def test_ids_and_names_of_calls_are_made_fit() -> None:
    odd = call("x" * 65, "one").model_copy(update={"name": "functions.look"})

    made, again, *results = items(model(odd, odd))

    assert made["name"] == "functions_look"
    assert len(made["call_id"]) <= 64
    assert made["call_id"] != again["call_id"]
    assert [result["call_id"] for result in results] == [made["call_id"], again["call_id"]]


def test_half_a_surrogate_pair_does_not_stop_a_request() -> None:
    assert items(user("a\ud83d"), model("b\ude00")) == [asked("a\ufffd"), said("b\ufffd")]
