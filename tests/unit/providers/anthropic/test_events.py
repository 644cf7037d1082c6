"""Streams of Messages as pieces: whole, odd, out of order, and broken off."""

from typing import Any

import pytest

from app.domain.errors import ErrorKind, ProviderError
from app.domain.rows import Usage
from app.providers.anthropic.events import EventReader
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

Event = dict[str, Any]

STOP: Event = {"type": "message_stop"}
PING: Event = {"type": "ping"}


def begin(**usage: Any) -> Event:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "far-large-2", "content": []}
    return {"type": "message_start", "message": {**message, "stop_reason": None, **({"usage": usage} if usage else {})}}


def start(index: int, **block: Any) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **fields: Any) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": fields}


def said(index: int, text: str) -> Event:
    return delta(index, type="text_delta", text=text)


def thought(index: int, text: str) -> Event:
    return delta(index, type="thinking_delta", thinking=text)


def json_delta(index: int, text: str) -> Event:
    return delta(index, type="input_json_delta", partial_json=text)


def end(index: int) -> Event:
    return {"type": "content_block_stop", "index": index}


def reason(name: str | None, usage: Event | None = None, **more: Any) -> Event:
    event: Event = {"type": "message_delta", "delta": {"stop_reason": name, "stop_sequence": None, **more}}
    return {**event, "usage": usage} if usage else event


def read(*events: Event) -> list[Piece]:
    reader = EventReader()
    pieces = [piece for event in events for piece in reader.pieces(event)]
    return [*pieces, *reader.finish()]


def stop(name: StopReason = StopReason.END, model: str | None = "far-large-2") -> StopPiece:
    return StopPiece(name, resolved_model=model)


TEXT = (start(0, type="text", text=""), said(0, "Grüß "), said(0, "Gott"), end(0))
CALL = (
    start(1, type="tool_use", id="toolu_1", name="look_up", input={}),
    json_delta(1, ""),
    json_delta(1, '{"place": "K'),
    json_delta(1, 'öln"}'),
    end(1),
)
CALL_PIECES = [
    ToolStartPiece("toolu_1", "look_up"),
    ToolInputPiece("toolu_1", '{"place": "K'),
    ToolInputPiece("toolu_1", 'öln"}'),
    ToolEndPiece("toolu_1", {"place": "Köln"}),
]
SAID = [TextPiece("Grüß "), TextPiece("Gott")]
BARE_CALL = start(0, type="tool_use", id="toolu_1", name="now", input={})
BARE_START = ToolStartPiece("toolu_1", "now")


@pytest.mark.parametrize(
    ("events", "pieces"),
    [
        pytest.param((begin(), *TEXT, reason("end_turn"), STOP), [*SAID, stop()], id="text"),
        pytest.param(
            (begin(), PING, *TEXT, PING, *CALL, reason("tool_use"), STOP),
            [*SAID, *CALL_PIECES, stop(StopReason.TOOL_USE)],
            id="text and a call",
        ),
        pytest.param(
            (
                begin(),
                start(0, type="thinking", thinking="", signature=""),
                thought(0, "The question "),
                thought(0, "is short."),
                delta(0, type="signature_delta", signature="c2lnbmF0dXJl"),
                end(0),
                start(1, type="text", text=""),
                said(1, "Yes."),
                end(1),
                reason("end_turn"),
                STOP,
            ),
            [
                ReasoningPiece("The question "),
                ReasoningPiece("is short."),
                ReplayPiece({"type": "thinking", "signature": "c2lnbmF0dXJl"}),
                TextPiece("Yes."),
                stop(),
            ],
            id="thinking with signature",
        ),
        pytest.param(
            (
                begin(),
                start(0, type="thinking", thinking="", signature=""),
                delta(0, type="signature_delta", signature="c2ln"),
                end(0),
                start(1, type="redacted_thinking", data="b3BhcXVl"),
                end(1),
                *CALL[:0],
                start(2, type="text", text="Done."),
                end(2),
                reason("end_turn"),
                STOP,
            ),
            [
                ReplayPiece({"type": "thinking", "signature": "c2ln"}),
                ReplayPiece({"type": "redacted_thinking", "data": "b3BhcXVl"}),
                TextPiece("Done."),
                stop(),
            ],
            id="thinking without words, redacted thinking",
        ),
        pytest.param(
            (begin(), BARE_CALL, end(0), reason("tool_use"), STOP),
            [BARE_START, ToolEndPiece("toolu_1", {}), stop(StopReason.TOOL_USE)],
            id="a call without arguments",
        ),
        pytest.param(
            (begin(), BARE_CALL, json_delta(0, ""), end(0), reason("tool_use"), STOP),
            [BARE_START, ToolEndPiece("toolu_1", {}), stop(StopReason.TOOL_USE)],
            id="a call with an empty delta",
        ),
        pytest.param(
            (
                begin(),
                start(0, type="tool_use", id="toolu_1", name="now", input={"zone": "UTC"}),
                end(0),
                reason("tool_use"),
                STOP,
            ),
            [BARE_START, ToolEndPiece("toolu_1", {"zone": "UTC"}), stop(StopReason.TOOL_USE)],
            id="a call whose input came whole",
        ),
        pytest.param(
            (begin(), BARE_CALL, json_delta(0, '{"zo'), end(0), reason("max_tokens"), STOP),
            [BARE_START, ToolInputPiece("toolu_1", '{"zo'), stop(StopReason.MAX_TOKENS)],
            id="a call cut by the limit is never ended",
        ),
        pytest.param(
            (begin(), BARE_CALL, json_delta(0, "[1]"), end(0), reason("tool_use"), STOP),
            [BARE_START, ToolInputPiece("toolu_1", "[1]"), stop(StopReason.TOOL_USE)],
            id="a call with a list for input is never ended",
        ),
        pytest.param(
            (begin(), said(0, "Hello"), end(0), reason("end_turn"), STOP),
            [TextPiece("Hello"), stop()],
            id="a block without its start",
        ),
        pytest.param(
            (begin(), CALL[2], CALL[0], CALL[3], end(1), reason("tool_use"), STOP),
            [*CALL_PIECES, stop(StopReason.TOOL_USE)],
            id="a start after its first delta",
        ),
        pytest.param(
            (begin(), CALL[0], CALL[2], end(1), CALL[3], reason("tool_use"), STOP),
            [*CALL_PIECES, stop(StopReason.TOOL_USE)],
            id="an end before its last delta",
        ),
        pytest.param(
            (begin(), CALL[0], CALL[2], CALL[3], reason("tool_use"), STOP),
            [*CALL_PIECES, stop(StopReason.TOOL_USE)],
            id="a block without its end",
        ),
        pytest.param(
            (begin(), CALL[0], *CALL, reason("tool_use"), STOP),
            [*CALL_PIECES, stop(StopReason.TOOL_USE)],
            id="a start sent twice",
        ),
        pytest.param(
            (begin(), *TEXT, STOP, reason("end_turn")),
            [*SAID, stop()],
            id="the stop before its reason",
        ),
        pytest.param((begin(), *TEXT, reason("end_turn")), [*SAID, stop()], id="no stop but a reason"),
        pytest.param((begin(), *TEXT, STOP), SAID, id="no reason, so cut"),
        pytest.param((begin(), *TEXT), SAID, id="no end at all, so cut"),
        pytest.param((*TEXT, reason("end_turn"), STOP), [*SAID, stop(model=None)], id="no beginning"),
        pytest.param(
            (
                begin(),
                start(0, type="server_tool_use", id="s_1", name="web_search", input={}),
                json_delta(0, '{"query": "x"}'),
                end(0),
                start(1, type="hologram", light=1),
                delta(1, type="photon_delta", photon=1),
                end(1),
                {"type": "weather_report"},
                {"no": "type"},
                start(2, type="text", text=""),
                delta(2, type="citations_delta", citation={}),
                said(2, "Hi"),
                reason("end_turn"),
                STOP,
            ),
            [TextPiece("Hi"), stop()],
            id="what nobody knows is passed over",
        ),
        pytest.param(
            (begin(), start(0, type="text", text=None), delta(0, type="text_delta"), reason("end_turn"), STOP),
            [stop()],
            id="fields that are missing",
        ),
    ],
)
def test_streams(events: tuple[Event, ...], pieces: list[Piece]) -> None:
    assert read(*events) == pieces


@pytest.mark.parametrize("why", ["max_tokens", "refusal", None])
def test_a_call_cut_before_its_input_is_not_ended(why: str | None) -> None:
    other = start(1, type="tool_use", id="b", name="two", input={})
    ending = (reason(why), STOP) if why else ()

    pieces = read(begin(), BARE_CALL, end(0), other, json_delta(1, ""), end(1), *ending)

    ended = [piece.call_id for piece in pieces if isinstance(piece, ToolEndPiece)]
    assert ended == {"max_tokens": ["toolu_1"], "refusal": ["toolu_1", "b"], None: []}[why]


def test_two_calls_may_overlap() -> None:
    pieces = read(
        begin(),
        start(0, type="tool_use", id="a", name="one", input={}),
        start(1, type="tool_use", id="b", name="two", input={}),
        json_delta(1, '{"x": 1}'),
        json_delta(0, '{"y": 2}'),
        end(1),
        end(0),
        reason("tool_use"),
        STOP,
    )

    assert [piece for piece in pieces if isinstance(piece, ToolEndPiece)] == [
        ToolEndPiece("b", {"x": 1}),
        ToolEndPiece("a", {"y": 2}),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("end_turn", StopReason.END),
        ("stop_sequence", StopReason.END),
        ("max_tokens", StopReason.MAX_TOKENS),
        ("tool_use", StopReason.TOOL_USE),
        ("refusal", StopReason.REFUSAL),
        ("something_new", StopReason.END),
    ],
)
def test_reasons_to_stop(name: str, expected: StopReason) -> None:
    assert read(begin(), *TEXT, reason(name), STOP)[-1] == stop(expected)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("pause_turn", ErrorKind.TRUNCATED, "paused"),
        ("model_context_window_exceeded", ErrorKind.TRUNCATED, "context window"),
    ],
)
def test_reasons_that_leave_the_reply_unfinished(name: str, kind: ErrorKind, words: str) -> None:
    with pytest.raises(ProviderError, match=words) as failure:
        read(begin(), *TEXT, reason(name), STOP)
    assert failure.value.kind is kind


def test_a_refusal_is_told_in_the_providers_words() -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "This may help to make a weapon."}

    with pytest.raises(ProviderError, match="make a weapon") as failure:
        read(begin(), *TEXT, reason("refusal", stop_details=details), STOP)
    assert failure.value.kind is ErrorKind.REFUSAL


FULL = {"input_tokens": 20, "cache_creation_input_tokens": 300, "cache_read_input_tokens": 4000, "output_tokens": 1}


@pytest.mark.parametrize(
    ("first", "last", "usage"),
    [
        (FULL, {"output_tokens": 50}, Usage(input=4320, cache_read=4000, cache_write=300, output=50)),
        ({"input_tokens": 20, "output_tokens": 1}, {"output_tokens": 50}, Usage(input=20, output=50)),
        (
            {"input_tokens": 20, "output_tokens": 1},
            {"input_tokens": 25, "cache_read_input_tokens": 5, "output_tokens": 50},
            Usage(input=30, cache_read=5, output=50),
        ),
        (
            {"input_tokens": 471, "output_tokens": 5},
            {"input_tokens": 0, "output_tokens": 80},
            Usage(input=471, output=80),
        ),
        (
            {"input_tokens": 20, "output_tokens": 1},
            {"output_tokens": 50, "output_tokens_details": {"thinking_tokens": 30}},
            Usage(input=20, output=50, reasoning=30),
        ),
        ({}, {"output_tokens": 50}, Usage(output=50)),
        ({"cache_read_input_tokens": 7}, {}, Usage(cache_read=7)),
        ({"input_tokens": 20, "output_tokens": 1}, {}, Usage(input=20)),
        ({"input_tokens": -1}, {"output_tokens": "many", "input_tokens": 3}, Usage(input=3)),
        ({"input_tokens": 0}, {"output_tokens": 0}, Usage(input=0, output=0)),
    ],
)
def test_usage_is_normalised(first: Event, last: Event, usage: Usage) -> None:
    pieces = read(begin(**first), *TEXT, reason("end_turn", last), STOP)

    assert [piece for piece in pieces if isinstance(piece, UsagePiece)][-1] == UsagePiece(usage)


def test_usage_that_is_not_reported_is_not_made_up() -> None:
    assert not [piece for piece in read(begin(), *TEXT, reason("end_turn"), STOP) if isinstance(piece, UsagePiece)]


def test_the_later_usage_wins() -> None:
    pieces = read(begin(), *TEXT, reason(None, {"output_tokens": 5}), reason("end_turn", {"output_tokens": 9}), STOP)

    assert [piece for piece in pieces if isinstance(piece, UsagePiece)] == [
        UsagePiece(Usage(output=5)),
        UsagePiece(Usage(output=9)),
    ]


def test_an_error_event_ends_the_stream() -> None:
    reader = EventReader(keys=("my-own-key",))
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded for my-own-key"}}

    with pytest.raises(ProviderError) as failure:
        list(reader.pieces(event))
    assert (failure.value.kind, failure.value.detail) == (ErrorKind.OVERLOADED, "Overloaded for [key]")


def test_a_message_that_came_whole() -> None:
    message = {
        "type": "message",
        "model": "far-large-2",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "text", "text": "Yes."},
            {"type": "tool_use", "id": "toolu_1", "name": "now", "input": {"zone": "UTC"}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 9},
    }

    assert list(EventReader().pieces_of_message(message)) == [
        UsagePiece(Usage(input=3)),
        ReasoningPiece("Hm."),
        ReplayPiece({"type": "thinking", "signature": "c2ln"}),
        TextPiece("Yes."),
        BARE_START,
        ToolEndPiece("toolu_1", {"zone": "UTC"}),
        UsagePiece(Usage(input=3, output=9)),
        stop(StopReason.TOOL_USE),
    ]
