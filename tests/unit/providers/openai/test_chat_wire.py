from dataclasses import replace
from typing import Any

import pytest

from app.domain.rows import Row
from app.providers.openai.chat_wire import arguments
from tests.unit.providers.openai.build import LOOK, PDF, PNG, call, media, model, request, thought, user


def messages(*rows: Row, system: str = "") -> Any:
    return arguments(request(*rows, system=system), is_openai=False)["messages"]


def asked(content: object) -> dict[str, object]:
    return {"role": "user", "content": content}


def said(content: object, **more: object) -> dict[str, object]:
    return {"role": "assistant", "content": content, **more}


def called(call_id: str) -> dict[str, object]:
    return {"id": call_id, "type": "function", "function": {"name": "look", "arguments": f'{{"q":"{call_id}"}}'}}


def test_other_servers_get_only_what_all_of_them_take() -> None:
    body = arguments(request(user("Hi"), system="Be kind.", max_tokens=900), is_openai=False)

    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be kind."}, asked("Hi")],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 900,
    }


def test_openai_itself_is_told_to_store_nothing() -> None:
    body = arguments(request(user("Hi"), max_tokens=900), is_openai=True)

    assert body["store"] is False
    assert body["max_completion_tokens"] == 900
    assert "max_tokens" not in body


def test_tools_are_advertised() -> None:
    body = arguments(request(user("Hi"), tools=(LOOK,)), is_openai=False)

    function = {"name": "look", "description": "Looks it up.", "parameters": LOOK.input_schema}
    assert body["tools"] == [{"type": "function", "function": function}]


def test_text_alone_is_a_plain_string() -> None:
    assert messages(user("One", "Two")) == [asked("One\n\nTwo")]


def test_pictures_and_pdf_go_as_parts() -> None:
    sent = messages(user("See", media(PNG, "image/png"), media(PDF, "application/pdf")))

    assert sent == [
        asked(
            [
                {"type": "text", "text": "See"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0K"}},
                {
                    "type": "file",
                    "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjc="},
                },
            ]
        )
    ]


def test_calls_are_followed_by_their_outputs() -> None:
    sent = messages(
        user("Go"), model("Looking.", call("c1", "one"), call("c2", None, "denied")), model("Done."), user("Thanks")
    )

    assert sent == [
        asked("Go"),
        said("Looking.", tool_calls=[called("c1"), called("c2")]),
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": "The user did not allow this call. It was not run."},
        said("Done."),
        asked("Thanks"),
    ]


def test_a_call_without_words_has_no_content() -> None:
    sent = messages(model(call("c1", {"n": 1})))

    assert sent == [
        said(None, tool_calls=[called("c1")]),
        {"role": "tool", "tool_call_id": "c1", "content": '{"n":1}'},
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([user("A"), user("B")], [asked("A\n\nB")]),
        ([user("A"), model("B"), model("C")], [asked("A"), said("B\n\nC")]),
        ([user("A"), model(""), user("B")], [asked("A\n\nB")]),
        (
            [user("A"), user(media(PNG, "image/png"))],
            [
                asked(
                    [
                        {"type": "text", "text": "A"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0K"}},
                    ]
                )
            ],
        ),
    ],
)
def test_person_and_model_alternate(rows: list[Row], expected: object) -> None:
    assert messages(*rows) == expected


def test_ids_and_names_of_calls_are_made_fit() -> None:
    odd = call("x" * 41, "one").model_copy(update={"name": "functions.look"})

    said_one, result, *_ = messages(model(odd, call("functions.look:0", "two")))

    sent = said_one["tool_calls"]
    assert len(sent[0]["id"]) == 9
    assert result["tool_call_id"] == sent[0]["id"]
    assert sent[0]["function"]["name"] == "functions_look"
    assert sent[1]["id"] == "functions.look:0"


def test_mistral_gets_ids_of_nine_characters_and_a_reply_after_every_result() -> None:
    rows = (user("Go"), model(call("call_1", "one"), call("aBcDeFgH9", "two")), user("Stop"), model("Yes."))

    body = arguments(replace(request(*rows), model="mistralai/Devstral-Small"), is_openai=False)

    sent: Any = body["messages"]
    ids = [made["id"] for made in sent[1]["tool_calls"]]
    assert ids == [message["tool_call_id"] for message in sent if message["role"] == "tool"]
    assert ids[1] == "aBcDeFgH9"
    assert len(ids[0]) == 9
    assert ids[0].isalnum()
    assert [message["role"] for message in sent] == [
        *("user", "assistant", "tool", "tool", "assistant", "user", "assistant"),
    ]
    assert [message["role"] for message in messages(*rows)] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
        "assistant",
    ]


def test_reasoning_never_goes_back() -> None:
    assert messages(model(thought("Hm.", id="rs_1", encrypted_content="E"), "A")) == [said("A")]


def test_half_a_surrogate_pair_does_not_stop_a_request() -> None:
    assert messages(user("a\ud83d"), system="\ude00") == [{"role": "system", "content": "\ufffd"}, asked("a\ufffd")]
