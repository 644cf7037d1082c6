"""Streams of Responses in the order and form in which servers were seen to send them, shortened."""

from collections.abc import Mapping

import pytest

from app.domain.errors import ErrorKind, ProviderError
from app.domain.rows import Usage
from app.providers.base import (
    Piece,
    ReasoningPiece,
    ReplayPiece,
    StopPiece,
    StopReason,
    TextPiece,
    ToolEndPiece,
    ToolInputPiece,
    ToolStartPiece,
    UsagePiece,
)
from app.providers.openai.responses_reader import ResponsesReader

Event = Mapping[str, object]
END = StopPiece(StopReason.END, "gpt-x-2026")
FLAGGED = "Invalid prompt: your prompt was flagged as potentially violating our usage policy."
LONG = "This endpoint's maximum context length is 8192 tokens."
TOOL_USE = StopPiece(StopReason.TOOL_USE, "gpt-x-2026")


def pieces(*events: Event) -> list[Piece]:
    reader = ResponsesReader()
    return [piece for event in events for piece in reader.read(event)] + list(reader.end())


def text(delta: str, item: str = "msg_1", place: int = 0) -> Event:
    return {
        "type": "response.output_text.delta",
        "item_id": item,
        "output_index": place,
        "content_index": 0,
        "delta": delta,
    }


def summary(delta: str, part: int = 0, item: str = "rs_1", place: int = 0) -> Event:
    name = "response.reasoning_summary_text.delta"
    return {"type": name, "item_id": item, "output_index": place, "summary_index": part, "delta": delta}


def added(item: Event, place: int) -> Event:
    return {"type": "response.output_item.added", "output_index": place, "item": item}


def done(item: Event, place: int) -> Event:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def function(call_id: str = "call_1", given: str = "", item: str = "fc_1") -> Event:
    return {"type": "function_call", "id": item, "call_id": call_id, "name": "look", "arguments": given}


def arguments(delta: str, item: str = "fc_1", place: int = 0) -> Event:
    return {
        "type": "response.function_call_arguments.delta",
        "item_id": item,
        "output_index": place,
        "delta": delta,
    }


def message(*content: Event, item: str = "msg_1") -> Event:
    return {"type": "message", "id": item, "role": "assistant", "content": list(content)}


def output_text(words: str) -> Event:
    return {"type": "output_text", "text": words, "annotations": []}


def ended(status: str = "completed", **more: object) -> Event:
    response = {"status": status, "model": "gpt-x-2026", "output": [], "usage": None, **more}
    return {"type": f"response.{status}", "response": response}


def test_reasoning_text_and_usage_of_a_whole_stream() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 20},
        "output_tokens": 30,
        "output_tokens_details": {"reasoning_tokens": 12},
        "total_tokens": 130,
    }
    reasoning = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "**Plan**"}],
        "encrypted_content": "ENC",
    }

    heard = pieces(
        {"type": "response.created", "response": {"status": "in_progress"}},
        added({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "half"}, 0),
        summary("**Plan"),
        summary("**"),
        summary("Then", 1),
        {"type": "response.reasoning_summary_text.done", "item_id": "rs_1", "output_index": 0, "text": "Then"},
        done(reasoning, 0),
        added(message(), 1),
        text("Hello", place=1),
        {"type": "response.output_text.annotation.added", "item_id": "msg_1", "annotation": {}},
        text(" world", place=1),
        {"type": "response.output_text.done", "item_id": "msg_1", "output_index": 1, "text": "Hello world"},
        done(message(output_text("Hello world")), 1),
        ended(usage=usage, output=[reasoning, message(output_text("Hello world"))]),
    )

    assert heard == [
        ReasoningPiece("**Plan"),
        ReasoningPiece("**"),
        ReasoningPiece("\n\nThen"),
        ReplayPiece({"id": "rs_1", "encrypted_content": "ENC", "summary": reasoning["summary"]}),
        TextPiece("Hello"),
        TextPiece(" world"),
        UsagePiece(Usage(input=100, cache_read=64, cache_write=20, output=30, reasoning=12)),
        END,
    ]


def test_open_reasoning_is_shown_and_not_sent_back() -> None:
    # gpt-oss on a server of one's own: nothing is encrypted.
    heard = pieces(
        {"type": "response.reasoning_text.delta", "item_id": "rs_1", "output_index": 0, "delta": "Hm."},
        done({"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"text": "Hm."}]}, 0),
        ended(),
    )

    assert heard == [ReasoningPiece("Hm."), END]


def test_redacted_reasoning_goes_back_without_a_word() -> None:
    heard = pieces(done({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}, 0), ended())

    assert heard == [ReplayPiece({"id": "rs_1", "encrypted_content": "E", "summary": []}), END]


def test_messages_that_follow_each_other_are_paragraphs() -> None:
    heard = pieces(text("One."), text("Two.", "msg_2", 1), text(" More.", "msg_2", 1), ended())

    assert heard == [TextPiece("One."), TextPiece("\n\nTwo."), TextPiece(" More."), END]


def test_a_refusal_is_text_and_the_reason_to_stop() -> None:
    refused = {"type": "response.refusal.delta", "item_id": "msg_1", "output_index": 0, "delta": "I can't."}

    assert pieces(refused, ended()) == [TextPiece("I can't."), StopPiece(StopReason.REFUSAL, "gpt-x-2026")]


@pytest.mark.parametrize(
    "events",
    [
        # As documented.
        [
            added(function(), 0),
            arguments('{"q":'),
            arguments('"a"}'),
            {
                "type": "response.function_call_arguments.done",
                "item_id": "fc_1",
                "output_index": 0,
                "arguments": '{"q":"a"}',
            },
            done(function(given='{"q":"a"}'), 0),
        ],
        # Deltas before the item they belong to.
        [arguments('{"q":'), added(function(), 0), arguments('"a"}'), done(function(given='{"q":"a"}'), 0)],
        # Without places.
        [
            {"type": "response.output_item.added", "item": function()},
            {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": '{"q":'},
            {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": '"a"}'},
            {"type": "response.output_item.done", "item": function(given='{"q":"a"}')},
        ],
        # With an id that changes from event to event.
        [added(function(), 0), arguments('{"q":', "x"), arguments('"a"}', "y"), done(function(given="", item="z"), 0)],
    ],
)
def test_arguments_in_pieces(events: list[Event]) -> None:
    assert pieces(*events, ended()) == [
        ToolStartPiece("call_1", "look"),
        ToolInputPiece("call_1", '{"q":'),
        ToolInputPiece("call_1", '"a"}'),
        ToolEndPiece("call_1", {"q": "a"}),
        TOOL_USE,
    ]


WHOLE_ARGUMENTS = {
    "type": "response.function_call_arguments.done",
    "item_id": "fc_1",
    "output_index": 0,
    "arguments": '{"q":"a"}',
}


@pytest.mark.parametrize(
    "events",
    [
        [added(function(), 0), WHOLE_ARGUMENTS, done(function(given='{"q":"a"}'), 0)],
        [added(function(), 0), done(function(given='{"q":"a"}'), 0)],
        [done(function(given='{"q":"a"}'), 0)],
        [WHOLE_ARGUMENTS, added(function(), 0), done(function(), 0)],
        [added(function(), 0)],
    ],
)
def test_arguments_that_come_whole_and_late(events: list[Event]) -> None:
    assert pieces(*events, ended(output=[function(given='{"q":"a"}')])) == [
        ToolStartPiece("call_1", "look"),
        ToolInputPiece("call_1", '{"q":"a"}'),
        ToolEndPiece("call_1", {"q": "a"}),
        TOOL_USE,
    ]


def test_calls_that_overlap_are_told_apart() -> None:
    heard = pieces(
        added(function("c1", item="fc_1"), 0),
        added(function("c2", item="fc_2"), 1),
        arguments('{"q":2}', "fc_2", 1),
        arguments('{"q":1}', "fc_1", 0),
        done(function("c2", '{"q":2}', "fc_2"), 1),
        done(function("c1", '{"q":1}', "fc_1"), 0),
        ended(),
    )

    assert heard[-3:] == [ToolEndPiece("c2", {"q": 2}), ToolEndPiece("c1", {"q": 1}), TOOL_USE]


def test_a_server_that_gives_every_item_the_same_place_has_two_calls() -> None:
    one, two = function("c1", "{}", ""), function("c2", '{"q":1}', "")

    heard = pieces(added(one, 0), done(one, 0), added(two, 0), done(two, 0), ended())

    assert [piece for piece in heard if isinstance(piece, ToolEndPiece)] == [
        ToolEndPiece("c1", {}),
        ToolEndPiece("c2", {"q": 1}),
    ]


def test_no_arguments_are_an_empty_object() -> None:
    assert pieces(added(function(), 0), done(function(), 0), ended()) == [
        ToolStartPiece("call_1", "look"),
        ToolEndPiece("call_1", {}),
        TOOL_USE,
    ]


@pytest.mark.parametrize("given", ['{"q":', '"a"', "[1]", "[" * 5_000])
def test_a_call_whose_arguments_are_no_object_is_never_ended(given: str) -> None:
    heard = pieces(added(function(), 0), done(function(given=given), 0), ended())

    assert heard == [ToolStartPiece("call_1", "look"), ToolInputPiece("call_1", given), TOOL_USE]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("max_output_tokens", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.REFUSAL),
        ("something new", StopReason.MAX_TOKENS),
    ],
)
def test_an_incomplete_response_says_why(reason: str, expected: StopReason) -> None:
    heard = pieces(text("Half"), ended("incomplete", incomplete_details={"reason": reason}))

    assert heard == [TextPiece("Half"), StopPiece(expected, "gpt-x-2026")]


def test_a_call_that_was_cut_short_is_not_ended() -> None:
    heard = pieces(
        added(function(), 0),
        arguments('{"q":'),
        ended("incomplete", incomplete_details={"reason": "max_output_tokens"}, output=[function(given='{"q":')]),
    )

    assert not any(isinstance(piece, ToolEndPiece) for piece in heard)


def test_a_call_cut_before_its_arguments_is_not_ended() -> None:
    cut = {**function(), "status": "incomplete"}
    whole = {"type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 0, "arguments": ""}
    end = ended("incomplete", incomplete_details={"reason": "max_output_tokens"}, output=[cut])

    for heard in (pieces(added(cut, 0), whole, done(cut, 0), end), pieces(end)):
        assert not any(isinstance(piece, ToolEndPiece) for piece in heard)
        assert heard[-1] == StopPiece(StopReason.MAX_TOKENS, "gpt-x-2026")


def test_an_incomplete_response_of_a_server_that_does_not_stream_is_heard() -> None:
    end = ended("incomplete", incomplete_details={"reason": "max_output_tokens"}, output=[message(output_text("Half"))])

    assert pieces(end) == [TextPiece("Half"), StopPiece(StopReason.MAX_TOKENS, "gpt-x-2026")]


def test_a_stream_without_its_last_event_has_no_end() -> None:
    assert pieces(text("Half")) == [TextPiece("Half")]


def test_what_comes_after_the_end_is_not_heard() -> None:
    assert pieces(text("All"), ended(), ended(), text("more")) == [TextPiece("All"), END]


def test_unknown_events_and_strange_forms_say_nothing() -> None:
    strange: list[Event] = [
        {"type": "response.brand_new.delta", "delta": "x"},
        {"type": "keepalive"},
        {"type": 7},
        {"type": "response.output_item.done", "item": None},
        {"type": "response.output_item.done", "output_index": 3, "item": {"type": "web_search_call", "id": "ws_1"}},
        {"type": "response.output_text.delta", "delta": None},
        {},
    ]

    assert pieces(*strange, ended()) == [END]
    assert list(ResponsesReader().read(["no", "object"])) == []


def test_a_response_that_only_ends_is_heard_whole() -> None:
    # A server that doesn't stream, and one that leaves out the deltas.
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [{"text": "A"}, {"text": "B"}], "encrypted_content": "E"}
    output = [reasoning, message(output_text("Hi")), function(given='{"q":1}')]

    expected = [
        ReasoningPiece("A"),
        ReasoningPiece("\n\nB"),
        ReplayPiece({"id": "rs_1", "encrypted_content": "E", "summary": reasoning["summary"]}),
        TextPiece("Hi"),
        ToolStartPiece("call_1", "look"),
        ToolInputPiece("call_1", '{"q":1}'),
        ToolEndPiece("call_1", {"q": 1}),
        TOOL_USE,
    ]
    assert pieces(ended(output=output)) == expected
    assert pieces(*(done(item, place) for place, item in enumerate(output)), ended(output=output)) == expected


def test_a_refusal_that_comes_whole_is_one() -> None:
    refused = message({"type": "refusal", "refusal": "No."})

    assert pieces(done(refused, 0), ended()) == [TextPiece("No."), StopPiece(StopReason.REFUSAL, "gpt-x-2026")]


@pytest.mark.parametrize(
    ("event", "kind", "words"),
    [
        (ended("failed", error={"code": "server_error", "message": "Sorry."}), ErrorKind.SERVER, "Sorry."),
        (ended("failed", error={"code": "rate_limit_exceeded", "message": "Slow."}), ErrorKind.RATE_LIMIT, "Slow."),
        (ended("failed", error={"code": "invalid_prompt", "message": FLAGGED}), ErrorKind.REFUSAL, FLAGGED),
        # OpenRouter
        (ended("failed", error={"code": "invalid_prompt", "message": "No."}), ErrorKind.INVALID_REQUEST, "No."),
        (ended("failed", error={"code": "invalid_prompt", "message": LONG}), ErrorKind.CONTEXT_EXCEEDED, LONG),
        (ended("failed", error={"code": "image_too_large", "message": "Big."}), ErrorKind.INVALID_REQUEST, "Big."),
        (
            {"type": "error", "code": "context_length_exceeded", "message": "Long.", "param": None},
            ErrorKind.CONTEXT_EXCEEDED,
            "Long.",
        ),
        (
            {"type": "error", "error": {"type": "insufficient_quota", "code": "insufficient_quota", "message": "Pay."}},
            ErrorKind.QUOTA,
            "Pay.",
        ),
        ({"error": {"message": "Loading.", "type": "unavailable_error"}}, ErrorKind.OVERLOADED, "Loading."),
    ],
)
def test_a_failure_in_the_stream_has_its_kind(event: Event, kind: ErrorKind, words: str) -> None:
    reader = ResponsesReader()
    list(reader.read(text("Half")))

    with pytest.raises(ProviderError) as raised:
        list(reader.read(event))

    assert raised.value.kind is kind
    assert raised.value.detail == words


def test_a_failure_never_tells_the_key() -> None:
    reader = ResponsesReader(keys=("opensesame",))

    with pytest.raises(ProviderError, match=r"^Bad \[key\]\.$"):
        list(reader.read({"type": "error", "code": "x", "message": "Bad opensesame."}))


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, []),
        ({"input_tokens": 5, "output_tokens": 2}, [UsagePiece(Usage(input=5, output=2))]),
        ({"input_tokens": -1, "output_tokens": True}, [UsagePiece(Usage())]),
        (
            {"input_tokens": 5, "input_tokens_details": None, "output_tokens_details": {"reasoning_tokens": 0}},
            [UsagePiece(Usage(input=5, reasoning=0))],
        ),
    ],
)
def test_what_was_not_counted_is_absent(usage: object, expected: list[Piece]) -> None:
    assert pieces(ended(usage=usage)) == [*expected, END]
