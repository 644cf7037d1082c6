"""Anthropic's real library against the far end: replies, keys, lists of models."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from app.domain.errors import ErrorKind, ProviderError
from app.domain.rows import ReasoningPart, Row, TextPart, Usage
from app.providers.base import (
    ReasoningPiece,
    RemoteProvider,
    ReplayPiece,
    StopPiece,
    StopReason,
    TextPiece,
    ToolEndPiece,
    ToolInputPiece,
    ToolStartPiece,
    UsagePiece,
)
from app.settings.schema import ListedModel, Network
from tests.fakes.farend import (
    Answer,
    Comment,
    Cut,
    FarEnd,
    Model,
    Ping,
    Reasoning,
    Split,
    ToolCall,
    html_page,
    json_answer,
    raw,
    reply,
    whole,
)
from tests.fakes.farend import Usage as FarUsage
from tests.unit.providers.anthropic.connect import CARD, HELLO, KEY, ask, fail, provider, text_of


def end(reason: StopReason = StopReason.END) -> StopPiece:
    return StopPiece(reason, resolved_model="far-large")


async def test_it_is_a_remote_provider(far: FarEnd) -> None:
    async with provider(far) as asked:
        remote: RemoteProvider = asked

        assert (remote.name, remote.models()) == ("far", (CARD,))


async def test_a_reply_with_everything(far: FarEnd) -> None:
    usage = FarUsage(input=120, output=40, cached=100, cache_written=15, reasoning=12)
    far.play(
        reply(
            Reasoning("Hm, ", signature=""),
            Reasoning("Köln.", signature="c2ln"),
            Reasoning("", signature="b3BhcXVl", is_redacted=True),
            "Let me ",
            "look.",
            tool=(ToolCall("toolu_1", "look_up", '{"pla', 'ce": "Köln"}'), ToolCall("toolu_2", "now")),
            usage=usage,
        )
    )

    async with provider(far) as asked:
        pieces = await ask(asked)

    assert pieces == [
        UsagePiece(Usage(input=120, cache_read=100, cache_write=15)),
        ReasoningPiece("Hm, "),
        ReasoningPiece("Köln."),
        ReplayPiece({"type": "thinking", "signature": "c2ln"}),
        ReplayPiece({"type": "redacted_thinking", "data": "b3BhcXVl"}),
        TextPiece("Let me "),
        TextPiece("look."),
        ToolStartPiece("toolu_1", "look_up"),
        ToolInputPiece("toolu_1", '{"pla'),
        ToolInputPiece("toolu_1", 'ce": "Köln"}'),
        ToolEndPiece("toolu_1", {"place": "Köln"}),
        ToolStartPiece("toolu_2", "now"),
        ToolEndPiece("toolu_2", {}),
        UsagePiece(Usage(input=120, cache_read=100, cache_write=15, output=40, reasoning=12)),
        end(StopReason.TOOL_USE),
    ]


async def test_what_is_sent(far: FarEnd) -> None:
    far.play(reply("Hi"))

    async with provider(far) as asked:
        await ask(asked)

    received = far.requests[0]
    assert received.path == "/v1/messages"
    assert received.header("authorization") == f"Bearer {KEY}"
    assert received.header("content-type") == "application/json"
    assert received.json == {
        "model": "far-large",
        "max_tokens": 8_000,
        "stream": True,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}
        ],
    }


RECORDED = """event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-far-2026",\
"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":88,"cache_creation_input_tokens":0,\
"cache_read_input_tokens":12,"output_tokens":3,"service_tier":"standard"}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"They ask for the time."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"RXJhc2VkIQ=="}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"UmVkYWN0ZWQh"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"tool_1","name":"now","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":41}}

event: message_stop
data: {"type":"message_stop"}

"""
"""As the vendor's service sends it, with words of our own."""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
async def test_a_recorded_stream(far: FarEnd, line_end: str) -> None:
    far.play(raw(RECORDED.replace("\n", line_end)))

    async with provider(far) as asked:
        pieces = await ask(asked)

    assert pieces == [
        UsagePiece(Usage(input=100, cache_read=12, cache_write=0)),
        ReasoningPiece("They ask for the time."),
        ReplayPiece({"type": "thinking", "signature": "RXJhc2VkIQ=="}),
        ReplayPiece({"type": "redacted_thinking", "data": "UmVkYWN0ZWQh"}),
        ToolStartPiece("tool_1", "now"),
        ToolEndPiece("tool_1", {}),
        UsagePiece(Usage(input=100, cache_read=12, cache_write=0, output=41)),
        StopPiece(StopReason.TOOL_USE, resolved_model="claude-far-2026"),
    ]


@pytest.mark.parametrize("every", [1, 2, 3, 7, 64])
async def test_a_reply_split_anywhere(far: FarEnd, every: int) -> None:
    words = ("Grüß ", "Gott, ", "日本語 ", "🧵\u2028", "\U0001f469\u200d\U0001f4bb")
    far.play(reply(*words).but(Split(every=every)))

    async with provider(far) as asked:
        assert text_of(await ask(asked)) == "".join(words)


@pytest.mark.parametrize("parts", [("Hi", Comment(), " you"), ("Hi", Ping(), " you")])
async def test_what_only_keeps_a_connection_open_is_passed_over(far: FarEnd, parts: Sequence[str | Ping]) -> None:
    far.play(reply(*parts, usage=None))

    async with provider(far) as asked:
        assert await ask(asked) == [TextPiece("Hi"), TextPiece(" you"), end()]


async def test_a_reply_that_came_whole(far: FarEnd) -> None:
    far.play(whole(reply("Hi", usage=FarUsage(input=3, output=1))))

    async with provider(far) as asked:
        pieces = await ask(asked)

    assert pieces == [
        UsagePiece(Usage(input=3, cache_read=0, cache_write=0)),
        TextPiece("Hi"),
        UsagePiece(Usage(input=3, cache_read=0, cache_write=0, output=1)),
        end(),
    ]


@pytest.mark.parametrize(
    "answer",
    [reply("Hi", usage=None, stop=None), reply("Hi", Cut("clean"), usage=None)],
)
async def test_a_stream_that_just_ends_has_no_stop(far: FarEnd, answer: Answer) -> None:
    far.play(answer)

    async with provider(far) as asked:
        assert await ask(asked) == [TextPiece("Hi")]


@pytest.mark.parametrize(
    "words",
    [
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "messages.1.content.0: Invalid signature in thinking block",
        "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
    ],
)
async def test_thinking_that_is_not_taken_back_is_left_out(far: FarEnd, words: str) -> None:
    thought = ReasoningPart(text="Hm.", replay={"type": "thinking", "signature": "c2ln"})
    reply_row = Row(id="r2", session="s", role="assistant", parts=(thought, TextPart(text="Yes.")))
    refused = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
    far.play(json_answer(refused, status=400), reply("Again."), json_answer(refused, status=400))

    async with provider(far) as asked:
        pieces = await ask(asked, replace(HELLO, rows=(*HELLO.rows, reply_row, *HELLO.rows)))
        _, failure = await fail(asked)

    assert text_of(pieces) == "Again."
    sent: list[Any] = [received.json["messages"] for received in far.requests]
    first, second, *others = ([message["content"] for message in messages] for messages in sent)
    assert [block["type"] for block in first[1]] == ["thinking", "text"]
    assert second[1] == [{"type": "text", "text": "Yes."}]
    # Without any thinking there is nothing to leave out.
    assert (failure.kind, len(others)) == (ErrorKind.INVALID_REQUEST, 1)


async def test_one_connection_serves_many_requests(far: FarEnd) -> None:
    far.play(reply("one"), reply("two"), reply("three"))
    # The far end plays the proxy before an address that is not local.
    network = Network(proxy="custom", proxy_url=far.url)

    async with provider("http://models.example", network=network) as asked:
        texts = [text_of(await ask(asked)) for _ in range(3)]

    assert texts == ["one", "two", "three"]
    assert far.connections == 1


async def test_a_local_server_gets_a_connection_for_each_request(far: FarEnd) -> None:
    far.play(reply("one"), reply("two"))

    async with provider(far) as asked:
        texts = [text_of(await ask(asked)) for _ in range(2)]

    assert texts == ["one", "two"]
    assert far.connections == 2


async def test_a_closed_provider_can_be_asked_again(far: FarEnd) -> None:
    far.play(reply("one"), reply("two"))

    async with provider(far) as asked:
        assert text_of(await ask(asked)) == "one"
        await asked.close()
        assert text_of(await ask(asked)) == "two"


async def test_a_missing_key_asks_nothing(far: FarEnd) -> None:
    async with provider(far, key=None) as asked:
        _, failure = await fail(asked)
        with pytest.raises(ProviderError, match="no key for Far yet"):
            await asked.list_models()

    assert (failure.kind, failure.detail) == (ErrorKind.AUTHENTICATION, "There is no key for Far yet.")
    assert not far.connections


@pytest.mark.parametrize("key", ["sk-ü-abcdefgh", "sk-abcdefgh\n", "sk-“abcdefgh”"])
async def test_a_key_that_is_none_asks_nothing(far: FarEnd, key: str) -> None:
    async with provider(far, key=key) as asked:
        _, failure = await fail(asked)

    assert failure.kind is ErrorKind.AUTHENTICATION
    assert not far.connections


@pytest.mark.parametrize("key", [None, ""])
async def test_a_server_that_needs_no_key_gets_none(far: FarEnd, key: str | None) -> None:
    far.play(reply("Hi"))

    async with provider(far, key=key, needs_key=False) as asked:
        await ask(asked)
        await asked.list_models()

    assert len(far.requests) == 2
    assert not any(received.has_key for received in far.requests)


async def test_a_new_key_holds_from_the_next_request_on(far: FarEnd) -> None:
    keys = iter(["first-key", "second-key"])

    async def get_key() -> str | None:
        return next(keys)

    async with provider(far) as asked:
        asked._get_key = get_key
        await ask(asked)
        await ask(asked)

    assert [received.header("authorization") for received in far.requests] == ["Bearer first-key", "Bearer second-key"]


async def test_the_list_of_models(far: FarEnd) -> None:
    async with provider(far) as asked:
        listed = await asked.list_models()

    assert listed[0] == ListedModel(id="far-large", name="Far Large", limit=200_000, max_output=8_192)
    assert [model.id for model in listed] == ["far-large", "far-small", "far-tiny"]


async def test_the_list_tells_what_models_can() -> None:
    yes, no = {"supported": True}, {"supported": False}
    model = Model("far-large", extra={"capabilities": {"image_input": yes, "pdf_input": yes, "thinking": no}})

    async with FarEnd(models=[model]) as far, provider(far) as asked:
        (listed,) = await asked.list_models()

    assert (listed.sees_pictures, listed.reads_pdf) == (True, True)
    assert (listed.reasons, listed.calls_tools) == (False, None)


async def test_the_list_is_read_to_its_last_page(far: FarEnd) -> None:
    pages = [
        {"data": [{"id": "a"}, {"id": "b"}], "has_more": True, "first_id": "a", "last_id": "b"},
        {"data": [{"id": "c", "max_input_tokens": 0}], "has_more": False, "first_id": "c", "last_id": "c"},
    ]
    far.play(*(json_answer(page) for page in pages), path="/models")

    async with provider(far) as asked:
        listed = await asked.list_models()

    assert listed == (ListedModel(id="a"), ListedModel(id="b"), ListedModel(id="c"))
    assert "after_id=b" in far.requests[1].path


async def test_a_list_of_another_server(far: FarEnd) -> None:
    far.play(json_answer({"object": "list", "data": [{"id": "a"}, {"name": "nameless"}, 3]}), path="/models")
    far.play(json_answer({"data": None}), path="/models")

    async with provider(far) as asked:
        assert await asked.list_models() == (ListedModel(id="a"),)
        assert await asked.list_models() == ()


async def test_a_page_for_people_is_no_list(far: FarEnd) -> None:
    far.play(html_page(), path="/models")

    async with provider(far) as asked:
        with pytest.raises(ProviderError, match="is not a model API"):
            await asked.list_models()


@pytest.mark.parametrize(
    "body",
    [{"data": "none"}, {}, "words", [1, 2]],
)
async def test_a_list_that_is_none_is_said(far: FarEnd, body: object) -> None:
    far.play(json_answer(body), path="/models")

    async with provider(far) as asked:
        with pytest.raises(ProviderError) as failure:
            await asked.list_models()
    assert failure.value.kind is ErrorKind.SERVER
