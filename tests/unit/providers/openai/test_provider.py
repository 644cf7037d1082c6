"""The real library against the far end, in both dialects."""

import json
from dataclasses import replace

import pytest

from app.domain.errors import ErrorKind, ProviderError
from app.domain.models import ThinkingLevel
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
from app.settings.schema import Dialect
from tests.fakes import farend
from tests.fakes.farend import FarEnd, ToolCall, error, json_answer, reply, whole
from tests.unit.providers.openai.build import PNG, media, request, user
from tests.unit.providers.openai.connect import DIALECTS, HELLO, KEY, ask, closing, fail, provider, read

COUNTED = farend.Usage(input=100, output=30, cached=64, cache_written=8, reasoning=12)
END = StopPiece(StopReason.END, "m")
both = pytest.mark.parametrize("dialect", DIALECTS)


def said(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


@pytest.mark.parametrize("is_whole", [False, True])
@both
async def test_a_reply_with_everything(far: FarEnd, dialect: Dialect, is_whole: bool) -> None:
    answer = reply("Hello ", "world", reasoning="Hm.", tool=ToolCall("c1", "look", '{"q":', "1}"), usage=COUNTED)
    far.play(whole(answer) if is_whole else answer)

    heard = await read(provider(far, dialect))

    usage = Usage(input=100, cache_read=64, cache_write=8, output=30, reasoning=12)
    assert heard[0] == ReasoningPiece("Hm.")
    assert said(heard) == "Hello world"
    assert ToolStartPiece("c1", "look") in heard
    assert "".join(piece.text for piece in heard if isinstance(piece, ToolInputPiece)) == '{"q":1}'
    assert ToolEndPiece("c1", {"q": 1}) in heard
    assert [piece for piece in heard if isinstance(piece, UsagePiece)] == [UsagePiece(usage)]
    assert heard[-1] == StopPiece(StopReason.TOOL_USE, "m")
    if dialect == "responses":
        assert isinstance(heard[1], ReplayPiece)


@both
async def test_a_reply_without_usage_has_none(far: FarEnd, dialect: Dialect) -> None:
    far.play(reply("Hi", usage=None))

    assert await read(provider(far, dialect)) == [TextPiece("Hi"), END]


@both
async def test_usage_that_is_sent_twice_is_told_once(far: FarEnd, dialect: Dialect) -> None:
    far.play(reply("Hi", usage_times=2))

    heard = await read(provider(far, dialect))

    assert sum(isinstance(piece, UsagePiece) for piece in heard) == 1
    assert heard[-1] == END


@both
async def test_characters_are_whole_however_the_bytes_are_split(far: FarEnd, dialect: Dialect) -> None:
    far.play(reply("Grüße, 世界 😀").but(farend.Split(every=1)))

    assert said(await read(provider(far, dialect))) == "Grüße, 世界 😀"


@both
async def test_comments_and_pings_say_nothing(far: FarEnd, dialect: Dialect) -> None:
    far.play(reply(farend.Comment("OPENROUTER PROCESSING"), "A", farend.Ping(), farend.Comment(""), "B"))

    assert said(await read(provider(far, dialect))) == "AB"


@both
async def test_a_refusal(far: FarEnd, dialect: Dialect) -> None:
    far.play(reply(farend.Refusal("I can't.")))

    heard = await read(provider(far, dialect))

    assert said(heard) == "I can't."
    assert heard[-1] == StopPiece(StopReason.REFUSAL, "m")


async def test_events_out_of_order_make_the_same_reply(far: FarEnd) -> None:
    # The call's item is added after the first piece of its arguments.
    far.play(reply(tool=ToolCall("c1", "look", '{"q":', "1}")).but(farend.Swap(2, 3)))

    heard = await read(provider(far, "responses"))

    assert ToolEndPiece("c1", {"q": 1}) in heard
    assert heard[-1] == StopPiece(StopReason.TOOL_USE, "m")


@both
async def test_one_connection_serves_many_requests(far: FarEnd, dialect: Dialect) -> None:
    async with closing(provider(far, dialect, base_url="http://models.example/v1")) as asked:
        for _ in range(3):
            assert (await ask(asked))[-1] == END
        await asked.list_models()

    assert far.connections == 1


@both
async def test_a_local_server_gets_a_connection_for_each_request(far: FarEnd, dialect: Dialect) -> None:
    async with closing(provider(far, dialect)) as asked:
        for _ in range(3):
            assert (await ask(asked))[-1] == END
        await asked.list_models()

    assert far.connections == 4


async def test_openai_itself_is_asked_in_its_own_words(far: FarEnd) -> None:
    async with closing(provider(far, "chat", base_url="http://api.openai.com/v1")) as asked:
        await ask(asked, request(user("Hi"), max_tokens=9))

    body = far.requests[-1].json
    assert body["store"] is False
    assert body["max_completion_tokens"] == 9


@both
async def test_files_arrive_with_the_request(far: FarEnd, dialect: Dialect) -> None:
    await read(provider(far, dialect), request(user("See", media(PNG, "image/png"))))

    assert "data:image/png;base64,iVBORw0K" in far.requests[0].body.decode()


@both
async def test_the_key_and_whom_it_is_paid_for_are_sent(far: FarEnd, dialect: Dialect) -> None:
    await read(provider(far, dialect, organization="org-1", project="proj-1"))

    received = far.requests[0]
    assert received.path == {"responses": "/v1/responses", "chat": "/v1/chat/completions"}[dialect]
    assert received.header("authorization") == f"Bearer {KEY}"
    assert received.header("content-type") == "application/json"
    assert received.header("openai-organization") == "org-1"
    assert received.header("openai-project") == "proj-1"


@both
async def test_a_server_without_a_key_gets_none(far: FarEnd, dialect: Dialect) -> None:
    async with closing(provider(far, dialect, key=None, needs_key=False)) as asked:
        await ask(asked)
        await asked.list_models()

    for received in far.requests:
        assert not received.has_key
        assert received.header("openai-organization") is None
        assert received.header("openai-project") is None


@pytest.mark.parametrize("key", [None, "sk-line\nbreak", "sk-ключ"])
@both
async def test_a_key_that_is_missing_or_none_is_said_before_anything_is_sent(
    far: FarEnd, dialect: Dialect, key: str | None
) -> None:
    _, failure = await fail(provider(far, dialect, key=key))

    assert failure.kind is ErrorKind.AUTHENTICATION
    assert far.requests == []


async def test_a_server_that_takes_no_stream_options_is_asked_without(far: FarEnd) -> None:
    words = "Unrecognized request argument supplied: stream_options"
    far.play(error(400, message=words), reply("A"), reply("B"))

    async with closing(provider(far, "chat")) as asked:
        assert said(await ask(asked)) == "A"
        assert said(await ask(asked)) == "B"

    # Told once, remembered from then on.
    assert ["stream_options" in received.json for received in far.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("level", "effort"), [(None, None), (ThinkingLevel.HIGH, {"effort": "high"})], ids=["no level", "high"]
)
async def test_an_organization_that_is_not_verified_goes_without_summaries(
    far: FarEnd, level: ThinkingLevel | None, effort: dict[str, str] | None
) -> None:
    refused = {
        "error": {
            "message": "Your organization must be verified to generate reasoning summaries.",
            "type": "invalid_request_error",
            "param": "reasoning.summary",
            "code": "unsupported_value",
        }
    }
    far.play(json_answer(refused, status=400), reply("A"))

    assert said(await read(provider(far, "responses", reasons=True), replace(HELLO, level=level))) == "A"

    first, second = (received.json for received in far.requests)
    assert second.get("reasoning") == effort
    assert first == {**second, "reasoning": {**(effort or {}), "summary": "auto"}}


@both
async def test_an_organization_that_is_not_verified_gets_its_replies_in_one_piece(
    far: FarEnd, dialect: Dialect
) -> None:
    refused = {
        "error": {
            "message": "Your organization must be verified to stream this model.",
            "type": "invalid_request_error",
            "param": "stream",
            "code": "unsupported_value",
        }
    }
    far.play(json_answer(refused, status=400), whole(reply("A")))

    assert said(await read(provider(far, dialect))) == "A"

    assert "stream" not in far.requests[1].json
    assert "stream_options" not in far.requests[1].json


async def test_a_new_name_for_max_tokens_is_taken(far: FarEnd) -> None:
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    far.play(error(400, message=words), reply("A"))

    await read(provider(far, "chat"), request(user("Hi"), max_tokens=9))

    assert "max_tokens" not in far.requests[1].json
    assert far.requests[1].json["max_completion_tokens"] == 9


async def test_a_server_that_takes_nothing_is_not_asked_for_ever(far: FarEnd) -> None:
    far.play(*[error(400, message="Not permitted: 'include', 'truncation', 'store', 'reasoning'")] * 9)

    _, failure = await fail(provider(far, "responses", reasons=True))

    assert failure.kind is ErrorKind.INVALID_REQUEST
    assert len(far.requests) == 5


async def test_a_request_that_is_too_long_is_sent_once(far: FarEnd) -> None:
    far.play(farend.context_too_long(prompt_tokens=5_000, limit_tokens=8_192, max_tokens=4_000, flavour="vllm"))

    _, failure = await fail(provider(far, "chat"), request(user("Hi"), max_tokens=4_000))

    assert failure.kind is ErrorKind.CONTEXT_EXCEEDED
    assert failure.allowed_output == 3_192
    assert len(far.requests) == 1


@both
async def test_models_are_listed_in_their_order(far: FarEnd, dialect: Dialect) -> None:
    async with closing(provider(far, dialect)) as asked:
        listed = await asked.list_models()

    assert [model.id for model in listed] == ["far-large", "far-small", "far-tiny"]
    assert far.requests[0].path == "/v1/models"
    assert far.requests[0].header("authorization") == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (farend.html_page(), ErrorKind.INVALID_REQUEST),
        (json_answer({"detail": "x"}), ErrorKind.SERVER),
        (farend.raw("{", content_type="application/json"), ErrorKind.SERVER),
        (error(401), ErrorKind.AUTHENTICATION),
        (farend.redirect("http://127.0.0.1:9/v1/models"), ErrorKind.INVALID_REQUEST),
        (json_answer({}).but(farend.Cut(before_headers=True)), ErrorKind.NETWORK),
    ],
)
async def test_a_list_that_is_none_is_an_error(far: FarEnd, answer: farend.Answer, kind: ErrorKind) -> None:
    far.play(answer, path="/models")

    async with closing(provider(far, "chat")) as asked:
        with pytest.raises(ProviderError) as raised:
            await asked.list_models()

    assert raised.value.kind is kind


def test_requests_read_back_as_json() -> None:
    """What the wire modules make is nothing but JSON."""
    from app.domain.models import Abilities
    from app.providers.openai import chat_wire, responses_wire

    for body in (
        responses_wire.arguments(HELLO, Abilities(), is_openai=True),
        chat_wire.arguments(HELLO, is_openai=True),
    ):
        assert json.loads(json.dumps(body)) == body
