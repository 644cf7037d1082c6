"""Streams of Chat Completions in the forms in which servers were seen to send them, shortened."""

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
from app.providers.openai.chat_reader import ChatReader

Chunk = Mapping[str, object]
END = StopPiece(StopReason.END, "m-1")
TOOL_USE = StopPiece(StopReason.TOOL_USE, "m-1")


def pieces(*chunks: object) -> list[Piece]:
    reader = ChatReader()
    return [piece for chunk in chunks for piece in reader.read(chunk)] + list(reader.end())


def delta(**fields: object) -> Chunk:
    choice = {"index": 0, "delta": fields, "finish_reason": None}
    return {"id": "chatcmpl-7", "model": "m-1", "choices": [choice], "usage": None}


def finish(reason: object = "stop", **more: object) -> Chunk:
    return {"model": "m-1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], **more}


def tool(index: int | None = 0, call_id: str | None = None, name: str | None = None, given: object = None) -> Chunk:
    call: dict[str, object] = {"function": {"name": name, "arguments": given}}
    if index is not None:
        call["index"] = index
    if call_id is not None:
        call["id"] = call_id
    return delta(tool_calls=[call])


def usage(given: int = 10, written: int = 5, **more: object) -> dict[str, object]:
    return {"prompt_tokens": given, "completion_tokens": written, "total_tokens": given + written, **more}


def test_text_of_openai_with_usage_at_the_end() -> None:
    counted = usage(
        100,
        30,
        prompt_tokens_details={"cached_tokens": 64, "cache_write_tokens": 8, "audio_tokens": 0},
        completion_tokens_details={"reasoning_tokens": 12},
    )

    heard = pieces(
        delta(role="assistant", content="", refusal=None),
        delta(content="Hello"),
        delta(content=" world"),
        finish(),
        {"model": "m-1", "choices": [], "usage": counted},
    )

    assert heard == [
        TextPiece("Hello"),
        TextPiece(" world"),
        UsagePiece(Usage(input=100, cache_read=64, cache_write=8, output=30, reasoning=12)),
        END,
    ]


@pytest.mark.parametrize(
    ("chunks", "field"),
    [
        ([delta(reasoning_content="Hm."), delta(reasoning_content=None, content="Hi")], "reasoning_content"),
        ([delta(reasoning="Hm.", content=""), delta(content="Hi", reasoning="")], "reasoning"),
        # The same under both names.
        ([delta(reasoning="Hm.", reasoning_content="Hm."), delta(content="Hi")], "reasoning_content"),
        # Mistral's parts.
        (
            [
                delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]),
                delta(content=[{"type": "text", "text": "Hi"}]),
            ],
            "",
        ),
        ([delta(content=[{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Hi"}])], ""),
        # Tags in the text of a local model.
        ([delta(content="<think>\nHm."), delta(content="</think>\n\nHi")], ""),
    ],
)
def test_thoughts_of_many_servers(chunks: list[Chunk], field: str) -> None:
    replay = [ReplayPiece({"field": field})] if field else []
    assert pieces(*chunks, finish()) == [ReasoningPiece("Hm."), *replay, TextPiece("Hi"), END]


def test_a_list_of_thoughts_is_put_together_from_what_is_streamed_of_it() -> None:
    def part(text: str, **more: object) -> dict[str, object]:
        return {"type": "reasoning.text", "index": 0, "text": text, "format": "f1", **more}

    encrypted = {"type": "reasoning.encrypted", "index": 1, "id": "c1", "data": "ENC"}

    heard = pieces(
        delta(reasoning="Hm, ", reasoning_details=[part("Hm, ")]),
        delta(reasoning_details=[part("Köln.")]),
        delta(reasoning_details=[part("", signature="c2ln")], content=""),
        tool(call_id="c1", name="look", given="{}"),
        delta(reasoning_details=[encrypted, "strange"]),
        finish("tool_calls"),
    )

    assert heard == [
        ReasoningPiece("Hm, "),
        ReasoningPiece("Köln."),
        ToolStartPiece("c1", "look"),
        ToolInputPiece("c1", "{}"),
        ReplayPiece({"reasoning_details": [part("Hm, Köln.", signature="c2ln"), encrypted]}),
        ToolEndPiece("c1", {}),
        TOOL_USE,
    ]


def test_what_a_server_puts_beside_a_call_goes_with_it() -> None:
    # Gemini
    signed = {"google": {"thought_signature": "c2ln"}}
    call = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": "{}"}, "extra_content": signed}

    heard = pieces(delta(tool_calls=[call]), finish())

    assert heard[2] == ToolEndPiece("c1", {}, {"extra_content": signed})


def test_a_refusal_is_text_and_the_reason_to_stop() -> None:
    assert pieces(delta(refusal="I "), delta(refusal="can't."), finish()) == [
        TextPiece("I "),
        TextPiece("can't."),
        StopPiece(StopReason.REFUSAL, "m-1"),
    ]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("stop", StopReason.END),
        ("eos", StopReason.END),
        ("end_turn", StopReason.END),
        ("tool_calls", StopReason.END),
        ("length", StopReason.MAX_TOKENS),
        ("model_length", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.REFUSAL),
        ("SAFETY", StopReason.REFUSAL),
    ],
)
def test_finish_reasons(reason: str, expected: StopReason) -> None:
    assert pieces(delta(content="A"), finish(reason)) == [TextPiece("A"), StopPiece(expected, "m-1")]


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("error", ErrorKind.SERVER),
        ("network_error", ErrorKind.SERVER),
        ("insufficient_system_resource", ErrorKind.OVERLOADED),
    ],
)
def test_a_server_that_gave_up_is_an_error(reason: str, kind: ErrorKind) -> None:
    with pytest.raises(ProviderError) as raised:
        pieces(delta(content="A"), finish(reason))

    assert raised.value.kind is kind


@pytest.mark.parametrize("reason", [None, ""])
def test_without_a_finish_reason_the_stream_was_cut(reason: str | None) -> None:
    assert pieces(delta(content="A"), tool(0, "c1", "look", "{}"), finish(reason)) == [
        TextPiece("A"),
        ToolStartPiece("c1", "look"),
        ToolInputPiece("c1", "{}"),
    ]


@pytest.mark.parametrize(
    "chunks",
    [
        # OpenAI: id and name once, then pieces.
        [tool(0, "c1", "look", ""), tool(0, None, None, '{"q":'), tool(0, None, None, '"a"}')],
        # Id and name with every piece.
        [tool(0, "c1", "look", '{"q":'), tool(0, "c1", "look", '"a"}')],
        # No index at all.
        [tool(None, "c1", "look", '{"q":'), tool(None, None, None, '"a"}')],
        # The empty id and name with every piece.
        [tool(0, "c1", "look", '{"q":'), tool(0, "", "", '"a"}')],
    ],
)
def test_arguments_in_pieces(chunks: list[Chunk]) -> None:
    assert pieces(*chunks, finish("tool_calls")) == [
        ToolStartPiece("c1", "look"),
        ToolInputPiece("c1", '{"q":'),
        ToolInputPiece("c1", '"a"}'),
        ToolEndPiece("c1", {"q": "a"}),
        TOOL_USE,
    ]


@pytest.mark.parametrize("given", ['{"q":"a"}', {"q": "a"}])
@pytest.mark.parametrize("reason", ["tool_calls", "function_call", "stop"])
def test_a_call_whole_in_one_chunk(given: object, reason: str) -> None:
    # Ollama; some servers give the arguments as an object, and "stop" as the reason.
    assert pieces(tool(0, "c1", "look", given), finish(reason)) == [
        ToolStartPiece("c1", "look"),
        ToolInputPiece("c1", '{"q":"a"}'),
        ToolEndPiece("c1", {"q": "a"}),
        TOOL_USE,
    ]


@pytest.mark.parametrize("given", [None, "", "{}", " "])
def test_no_arguments_are_an_empty_object(given: object) -> None:
    assert pieces(tool(0, "c1", "look", given), finish("tool_calls"))[-2:] == [ToolEndPiece("c1", {}), TOOL_USE]


@pytest.mark.parametrize(
    "chunks",
    [
        [tool(0, "c1", "look", '{"q":1}'), tool(1, "c2", "look", '{"q":2}')],
        # All at index 0, as Gemini and older Ollama do.
        [tool(0, "c1", "look", '{"q":1}'), tool(0, "c2", "look", '{"q":2}')],
        [tool(None, "c1", "look", '{"q":1}'), tool(None, "c2", "look", '{"q":2}')],
        # Pieces of both in turn.
        [
            tool(0, "c1", "look", '{"q"'),
            tool(1, "c2", "look", '{"q"'),
            tool(0, None, None, ":1}"),
            tool(1, None, None, ":2}"),
        ],
    ],
)
def test_two_calls_are_told_apart(chunks: list[Chunk]) -> None:
    heard = pieces(*chunks, finish("tool_calls"))

    assert heard[-3:] == [ToolEndPiece("c1", {"q": 1}), ToolEndPiece("c2", {"q": 2}), TOOL_USE]


def test_two_calls_in_one_chunk_without_index() -> None:
    calls = [{"id": f"c{n}", "function": {"name": "look", "arguments": f'{{"q":{n}}}'}} for n in (1, 2)]

    heard = pieces(delta(tool_calls=calls), finish("tool_calls"))

    assert heard[-3:] == [ToolEndPiece("c1", {"q": 1}), ToolEndPiece("c2", {"q": 2}), TOOL_USE]


@pytest.mark.parametrize("call_id", [None, ""])
def test_calls_in_one_place_without_ids_are_told_apart(call_id: str | None) -> None:
    # Gemini, and older versions of Ollama
    heard = pieces(tool(0, call_id, "look", '{"q":1}'), tool(0, call_id, "look", '{"q":2}'), finish())

    assert [piece.input for piece in heard if isinstance(piece, ToolEndPiece)] == [{"q": 1}, {"q": 2}]


def test_a_name_that_is_repeated_with_every_piece_is_one_call() -> None:
    heard = pieces(tool(0, None, "look", '{"q"'), tool(0, None, "look", ":1}"), tool(0, None, "look", ""), finish())

    assert [piece.input for piece in heard if isinstance(piece, ToolEndPiece)] == [{"q": 1}]


def test_calls_without_an_id_of_their_own_get_one() -> None:
    heard = pieces(tool(0, None, "look", "{}"), tool(1, "c1", "look", "{}"), tool(2, "c1", "look", "{}"), finish())

    started = [piece.call_id for piece in heard if isinstance(piece, ToolStartPiece)]
    assert started == ["call_0_chatcmpl7", "c1", "call_2_chatcmpl7"]


@pytest.mark.parametrize("given", ['{"q":', "[1]", "null"])
def test_a_call_whose_arguments_are_no_object_is_never_ended(given: str) -> None:
    assert pieces(tool(0, "c1", "look", given), finish("tool_calls")) == [
        ToolStartPiece("c1", "look"),
        ToolInputPiece("c1", given),
        TOOL_USE,
    ]


def test_a_call_cut_before_its_arguments_is_not_ended() -> None:
    heard = pieces(tool(0, "c1", "look", "{}"), tool(1, "c2", "look", ""), finish("length"))

    assert heard[-2:] == [ToolEndPiece("c1", {}), StopPiece(StopReason.MAX_TOKENS, "m-1")]


@pytest.mark.parametrize(
    "chunks",
    [
        [finish(), {"choices": [], "usage": usage()}],
        [finish(usage=usage())],
        # On every chunk, and the last one twice.
        [finish(usage=usage()), {"choices": [], "usage": usage()}],
    ],
)
def test_usage_is_told_once_wherever_it_comes(chunks: list[Chunk]) -> None:
    assert pieces(delta(content="A"), *chunks) == [TextPiece("A"), UsagePiece(Usage(input=10, output=5)), END]


def test_usage_that_grows_is_told_again() -> None:
    one, two = {"choices": [], "usage": usage(10, 1)}, {"choices": [], "usage": usage(10, 2)}

    assert pieces(one, two) == [UsagePiece(Usage(input=10, output=1)), UsagePiece(Usage(input=10, output=2))]


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        # DeepSeek
        (
            usage(10, 5, prompt_cache_hit_tokens=8, prompt_cache_miss_tokens=2),
            Usage(input=10, cache_read=8, output=5),
        ),
        # xAI counts reasoning beside the completion; the total shows it.
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 35,
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
            Usage(input=10, output=25, reasoning=20),
        ),
        # OpenAI within it.
        (
            usage(10, 25, completion_tokens_details={"reasoning_tokens": 20}),
            Usage(input=10, output=25, reasoning=20),
        ),
        (usage(10, 5, prompt_tokens_details=None), Usage(input=10, output=5)),
        ({"prompt_tokens": -1, "completion_tokens": "5"}, Usage()),
    ],
)
def test_what_was_counted(counted: object, expected: Usage) -> None:
    assert pieces({"choices": [], "usage": counted}) == [UsagePiece(expected)]


@pytest.mark.parametrize("counted", [None, {}, [], "many"])
def test_no_usage_is_none(counted: object) -> None:
    assert pieces(finish(usage=counted)) == [END]


def test_a_reply_in_one_piece_is_heard_whole() -> None:
    call = {"id": "c1", "function": {"name": "look", "arguments": "{}"}}
    message = {"role": "assistant", "reasoning": "Hm.", "content": "Hi", "tool_calls": [call]}

    heard = pieces({"model": "m-1", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage()})

    assert heard == [
        ReasoningPiece("Hm."),
        ReplayPiece({"field": "reasoning"}),
        TextPiece("Hi"),
        ToolStartPiece("c1", "look"),
        ToolInputPiece("c1", "{}"),
        UsagePiece(Usage(input=10, output=5)),
        ToolEndPiece("c1", {}),
        TOOL_USE,
    ]


def test_a_stream_that_ends_with_the_whole_message_says_it_once() -> None:
    # MiniMax
    whole = {"message": {"role": "assistant", "content": "Hi you", "reasoning_content": "Hm."}, "finish_reason": "stop"}

    heard = pieces(
        delta(reasoning_content="Hm."),
        delta(content="Hi"),
        delta(content=" you"),
        {"object": "chat.completion", "model": "m-1", "choices": [whole], "usage": usage()},
    )

    said = [ReasoningPiece("Hm."), ReplayPiece({"field": "reasoning_content"}), TextPiece("Hi"), TextPiece(" you")]
    assert heard == [*said, UsagePiece(Usage(input=10, output=5)), END]


def test_strange_forms_say_nothing() -> None:
    strange: list[object] = [
        "text",
        None,
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"delta": None}]},
        delta(content=7, tool_calls={"index": 0}, reasoning=["x"]),
        delta(content=[None, "x", {"type": "image"}], tool_calls=[None, {"index": 0}]),
    ]

    assert pieces(*strange, finish()) == [END]


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        ({"message": "Sorry.", "type": "server_error", "code": None}, ErrorKind.SERVER, "Sorry."),
        # OpenRouter tells the status as a number.
        ({"message": "Slow.", "code": 429}, ErrorKind.RATE_LIMIT, "Slow."),
        # llama.cpp
        ({"code": 400, "message": "Long.", "type": "exceed_context_size_error"}, ErrorKind.CONTEXT_EXCEEDED, "Long."),
        ("Broken.", ErrorKind.SERVER, "Broken."),
    ],
)
def test_a_failure_in_the_stream_has_its_kind(error: object, kind: ErrorKind, words: str) -> None:
    with pytest.raises(ProviderError) as raised:
        pieces(delta(content="Half"), {"error": error})

    assert raised.value.kind is kind
    assert raised.value.detail == words
