"""The far end as the real SDKs see it: each dialect parses, each fault arrives as what it plays."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from tests.fakes.farend import (
    Answer,
    Comment,
    Cut,
    DialectName,
    Drip,
    Drop,
    FarEnd,
    Flavour,
    Malformed,
    Ping,
    Reasoning,
    Refusal,
    Reply,
    Split,
    Stall,
    StreamError,
    Swap,
    ToolCall,
    Usage,
    context_too_long,
    error,
    html_page,
    http_date,
    json_answer,
    model_not_found,
    raw,
    redirect,
    reply,
    self_signed,
    whole,
)
from tests.unit.fakes.clients import DIALECTS, Clients, clients_of

CALL = ToolCall("call_1", "look_up", '{"pla', 'ce": "Köln"}')
every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


@pytest.fixture
async def far() -> AsyncIterator[FarEnd]:
    async with FarEnd() as far_end:
        yield far_end


@pytest.fixture
async def clients(far: FarEnd) -> AsyncIterator[Clients]:
    async with clients_of(far) as made:
        yield made


def status_of(failure: Exception | None) -> int:
    assert isinstance(failure, anthropic.APIStatusError | openai.APIStatusError)
    return failure.status_code


def body_of(failure: Exception | None) -> Any:
    """The body as it was sent; OpenAI's SDK takes `error` out of its own copy."""
    assert isinstance(failure, anthropic.APIStatusError | openai.APIStatusError)
    return failure.response.json()


@every_dialect
async def test_one_script_gives_the_same_reply_in_every_dialect(
    far: FarEnd, clients: Clients, dialect: DialectName
) -> None:
    far.play(reply("Grüß ", "Gott ☕", reasoning="Polite.", tool=CALL, usage=Usage(input=20, output=7)))

    heard = await clients.hear(dialect)

    assert heard.failure is None
    assert heard.texts == ["Grüß ", "Gott ☕"]
    assert heard.reasoning == "Polite."
    assert heard.calls == [("call_1", "look_up")]
    assert json.loads(heard.arguments) == {"place": "Köln"}
    assert heard.usages == [(20, 7)]
    assert heard.stop == {"anthropic": "tool_use", "responses": "completed", "chat": "tool_calls"}[dialect]


@every_dialect
async def test_what_came_in_is_kept(far: FarEnd, clients: Clients, dialect: DialectName) -> None:
    await clients.hear(dialect)

    [received] = far.requests
    path = {"anthropic": "/v1/messages", "responses": "/api/v1/responses", "chat": "/api/v1/chat/completions"}[dialect]
    assert (received.method, received.path) == ("POST", path)
    assert received.json["model"] == "far-large"
    assert received.header("Content-Type") == "application/json"
    assert received.has_key
    assert received.is_answered
    assert not received.is_disconnected


@every_dialect
async def test_with_no_script_left_the_answer_quotes_the_question(clients: Clients, dialect: DialectName) -> None:
    assert "Are you there?" in (await clients.hear(dialect)).text


async def test_a_reply_that_is_not_streamed_is_one_object(far: FarEnd, clients: Clients) -> None:
    far.play(*[reply("Hello", tool=CALL)] * 3)
    question: Any = [{"role": "user", "content": "Hi"}]

    message = await clients.anthropic.messages.create(model="m", max_tokens=9, messages=question)
    response = await clients.openai.responses.create(model="m", input="Hi")
    completion = await clients.openai.chat.completions.create(model="m", messages=question)

    assert [block.type for block in message.content] == ["text", "tool_use"]
    assert response.output_text == "Hello"
    assert response.status == "completed"
    assert completion.choices[0].message.content == "Hello"
    assert completion.choices[0].finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("answer", "stops"),
    [
        (reply("So", stop="max_tokens"), ("max_tokens", "max_output_tokens", "length")),
        (reply("So", stop="context_full"), ("model_context_window_exceeded", "max_output_tokens", "length")),
        (reply("So", stop="content_filter"), ("refusal", "content_filter", "content_filter")),
        (reply(Refusal("No.")), ("refusal", "completed", "stop")),
        (reply("So", stop="refusal"), ("refusal", "content_filter", "content_filter")),
        (reply("So", stop=None), (None, None, None)),
    ],
)
async def test_every_end_has_the_word_of_its_dialect(
    far: FarEnd, clients: Clients, answer: Reply, stops: tuple[str | None, ...]
) -> None:
    for dialect, stop in zip(DIALECTS, stops, strict=True):
        far.play(answer)
        heard = await clients.hear(dialect)
        assert (heard.stop, heard.failure) == (stop, None)
        assert heard.text + heard.refusal in {"So", "No."}


@every_dialect
async def test_usage_can_be_missing_or_come_twice(far: FarEnd, clients: Clients, dialect: DialectName) -> None:
    far.play(reply("So", usage=None), reply("So", usage=Usage(3, 4), usage_times=2))

    assert (await clients.hear(dialect)).usages == []
    assert (await clients.hear(dialect)).usages == [(3, 4), (3, 4)]


@every_dialect
async def test_comments_and_pings_are_no_text(far: FarEnd, clients: Clients, dialect: DialectName) -> None:
    far.play(reply("So ", Comment(), Ping(), "so"))

    assert (await clients.hear(dialect)).text == "So so"


@every_dialect
@pytest.mark.parametrize("fault", [Split(every=1), Split(at=(1, 400, 401, 402)), Drip(chunk_bytes=40, seconds=0)])
async def test_pieces_may_end_within_a_character(
    far: FarEnd, clients: Clients, dialect: DialectName, fault: Split | Drip
) -> None:
    far.play(reply("Tee ☕ und ", "𝄞", tool=CALL).but(fault))

    heard = await clients.hear(dialect)

    assert (heard.text, heard.failure) == ("Tee ☕ und 𝄞", None)
    assert json.loads(heard.arguments) == {"place": "Köln"}


HTTP_ERRORS: list[tuple[Answer, tuple[str, str | None]]] = [
    (error(400), ("invalid_request_error", None)),
    (error(401), ("authentication_error", "invalid_api_key")),
    (error(402), ("billing_error", "invalid_request_error")),
    (error(403), ("permission_error", "unsupported_country_region_territory")),
    (error(404), ("not_found_error", "model_not_found")),
    (error(413), ("request_too_large", None)),
    (error(429), ("rate_limit_error", "rate_limit_exceeded")),
    (error(429, kind="insufficient_quota"), ("invalid_request_error", "insufficient_quota")),
    (error(500), ("api_error", "server_error")),
    (error(503), ("overloaded_error", "server_is_overloaded")),
    (error(529), ("overloaded_error", "server_is_overloaded")),
]


@pytest.mark.parametrize(("answer", "names"), HTTP_ERRORS)
async def test_an_http_error_has_the_vendors_own_body(
    far: FarEnd, clients: Clients, answer: Any, names: tuple[str, str | None]
) -> None:
    for dialect in DIALECTS:
        far.play(answer)
        failure = (await clients.hear(dialect)).failure
        assert status_of(failure) == answer.status
        inner = body_of(failure)["error"]
        assert inner["message"]
        assert (inner["type"] == names[0]) if dialect == "anthropic" else (inner["code"] == names[1])


async def test_a_rate_limit_says_when_to_come_again(far: FarEnd, clients: Clients) -> None:
    date = http_date(30)
    far.play(error(429, retry_after=3), error(429, retry_after=date))

    for expected in ("3", date):
        failure = (await clients.hear("chat")).failure
        assert isinstance(failure, openai.RateLimitError)
        assert failure.response.headers["retry-after"] == expected


async def test_a_bad_gateway_is_a_page_and_a_page_can_come_with_200(far: FarEnd, clients: Clients) -> None:
    far.play(error(502), html_page("Sign in"))

    failure = (await clients.hear("anthropic")).failure
    assert status_of(failure) == 502
    heard = await clients.hear("anthropic")
    assert (heard.text, heard.stop) == ("", None)


CONTEXT: list[tuple[DialectName, Flavour, int | None, str]] = [
    ("anthropic", "vendor", None, "prompt is too long: 9000 tokens > 8192 maximum"),
    ("anthropic", "vendor", 500, "input length and `max_tokens` exceed context limit: 9000 + 500 > 8192"),
    ("anthropic", "ollama", None, "request (9000 tokens) exceeds the available context size (8192 tokens)"),
    ("responses", "vendor", None, "context_length_exceeded"),
    ("chat", "vendor", None, "context_length_exceeded"),
    ("chat", "vendor", 500, "you requested 9500 tokens (9000 in the messages, 500 in the completion)"),
    ("chat", "llamacpp", None, "exceed_context_size_error"),
    ("chat", "lmstudio", None, "n_keep: 9000>= n_ctx: 8192"),
    ("chat", "ollama", None, "exceed_context_size_error"),
    ("chat", "vllm", None, "However, your request has 9000 input tokens"),
    ("chat", "vllm", 500, "is too large: 500. This model's maximum context length is 8192 tokens"),
]


@pytest.mark.parametrize(("dialect", "flavour", "max_tokens", "words"), CONTEXT)
async def test_a_context_that_is_too_long_is_said_in_everyones_words(
    far: FarEnd, clients: Clients, dialect: DialectName, flavour: Flavour, max_tokens: int | None, words: str
) -> None:
    far.play(context_too_long(prompt_tokens=9000, limit_tokens=8192, max_tokens=max_tokens, flavour=flavour))

    failure = (await clients.hear(dialect)).failure

    assert status_of(failure) == 400
    assert isinstance(failure, anthropic.BadRequestError | openai.BadRequestError)
    assert words in failure.response.text.replace('\\"', '"')


@pytest.mark.parametrize(
    ("dialect", "flavour", "words"),
    [
        ("anthropic", "vendor", "model: far-large"),
        ("responses", "vendor", "The requested model 'far-large' does not exist."),
        ("chat", "vendor", "The model `far-large` does not exist or you do not have access to it."),
        ("chat", "ollama", "model 'far-large' not found"),
        ("chat", "vllm", "The model `far-large` does not exist."),
    ],
)
async def test_a_model_that_is_not_there_is_named(
    far: FarEnd, clients: Clients, dialect: DialectName, flavour: Flavour, words: str
) -> None:
    far.play(model_not_found(flavour=flavour))

    failure = (await clients.hear(dialect)).failure

    assert status_of(failure) == 404
    assert body_of(failure)["error"]["message"] == words


@every_dialect
@pytest.mark.parametrize("kind", ["overloaded", "rate_limit", "authentication", "invalid_request", "api_error"])
async def test_an_error_can_come_after_text_and_inside_arguments(
    far: FarEnd, clients: Clients, dialect: DialectName, kind: Any
) -> None:
    far.play(reply("So ", StreamError(kind), "never"), reply(ToolCall("c", "look_up", '{"a"', StreamError(kind), "}")))

    after_text, inside = await clients.hear(dialect), await clients.hear(dialect)

    assert after_text.text == "So "
    assert inside.arguments == '{"a"'
    for failure in (after_text.failure, inside.failure):
        assert isinstance(failure, anthropic.APIStatusError | openai.APIError)
        if dialect == "anthropic":
            assert isinstance(failure.body, dict)
            assert failure.body["error"]["type"].startswith(kind)


@pytest.mark.parametrize("form", ["flat", "failed"])
async def test_responses_has_two_more_forms_of_an_error(far: FarEnd, clients: Clients, form: Any) -> None:
    far.play(reply("So", StreamError("rate_limit", form=form)))

    heard = await clients.hear("responses")

    assert str(heard.failure) == "rate_limit_exceeded"


@every_dialect
async def test_an_event_that_is_no_json_breaks_the_stream(far: FarEnd, clients: Clients, dialect: DialectName) -> None:
    far.play(reply("So ", Malformed(), "so"))

    heard = await clients.hear(dialect)

    assert heard.text == "So "
    assert isinstance(heard.failure, ValueError)


@every_dialect
@pytest.mark.parametrize("how", ["fin", "reset"])
@pytest.mark.parametrize("moment", ["before", "in headers", "after text", "in arguments", "in a character"])
async def test_a_cut_is_a_failure_at_every_moment(
    far: FarEnd, clients: Clients, dialect: DialectName, how: Any, moment: str
) -> None:
    answers: dict[str, Reply] = {
        "before": reply("So").but(Cut(how)),
        "in headers": reply("So").but(Cut(how, in_headers=20)),
        "after text": reply("So ", Cut(how), "so"),
        "in arguments": reply("So ", tool=ToolCall("c", "look_up", '{"a"', Cut(how), "}")),
        "in a character": reply("So ").but(Cut(how, after_bytes=7)),
    }
    far.play(answers[moment])

    heard = await clients.hear(dialect)

    assert isinstance(heard.failure, anthropic.APIConnectionError | openai.APIConnectionError | httpx2.TransportError)
    assert heard.text == ("So " if moment in {"after text", "in arguments"} else "")
    assert heard.arguments == ('{"a"' if moment == "in arguments" else "")
    assert not far.requests[0].is_disconnected


@every_dialect
async def test_a_clean_cut_raises_nothing(far: FarEnd, clients: Clients, dialect: DialectName) -> None:
    far.play(reply("So ", Cut("clean"), "so"))

    heard = await clients.hear(dialect)

    assert (heard.text, heard.stop, heard.failure) == ("So ", None, None)


@every_dialect
@pytest.mark.parametrize("answer", [reply("So").but(Stall()), reply("So ", Stall(), "so")], ids=["before", "within"])
async def test_a_client_that_is_cancelled_is_noticed(
    far: FarEnd, clients: Clients, dialect: DialectName, answer: Reply
) -> None:
    far.play(answer)
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        hearing = tasks.create_task(clients.hear(dialect))
        while not far.stalled:  # noqa: ASYNC110 - the far end has no event for it
            await asyncio.sleep(0.002)
        hearing.cancel()
    async with asyncio.timeout(5):
        while not far.requests[0].is_disconnected:  # noqa: ASYNC110
            await asyncio.sleep(0.002)

    assert far.requests[0].sent_headers == (not answer.faults)


async def test_events_can_be_exchanged_or_left_out(far: FarEnd, clients: Clients) -> None:
    far.play(reply("a", "b").but(Swap(1, 2)), reply("a", "b").but(Drop(-1), Drop(-1), Drop(-1)))

    assert (await clients.hear("chat")).texts == ["b", "a"]
    heard = await clients.hear("chat")
    assert (heard.texts, heard.stop) == (["a", "b"], None)


async def test_a_recorded_stream_is_sent_as_it_is(far: FarEnd, clients: Clients) -> None:
    chunk = {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Old"}}]}
    far.play(raw(f"data: {json.dumps(chunk)}\n\n", "data: [DONE]\n\n"))

    assert (await clients.hear("chat")).text == "Old"


async def test_a_whole_body_can_come_where_a_stream_was_asked_for(far: FarEnd, clients: Clients) -> None:
    far.play(whole(reply("Hello")))

    stream = await clients.open("chat")

    assert stream.response.headers["content-type"] == "application/json"
    await stream.close()


async def test_a_redirect_leads_elsewhere(far: FarEnd, clients: Clients) -> None:
    far.play(redirect(f"{far.url}/elsewhere/v1/messages"), reply("Here"))

    assert (await clients.hear("anthropic")).text == "Here"
    assert [received.path for received in far.requests] == ["/v1/messages", "/elsewhere/v1/messages"]


async def test_thoughts_can_be_hidden_or_come_under_another_name(far: FarEnd, clients: Clients) -> None:
    far.play(reply(Reasoning("", "blob", is_redacted=True), "So"), reply(Reasoning("Hm", chat_field="reasoning"), "So"))

    assert (await clients.hear("anthropic")).text == "So"
    seen = [getattr(c.delta, "reasoning", "") async for chunk in await clients.open("chat") for c in chunk.choices]
    assert "".join(seen) == "Hm"


async def test_models_are_listed_for_both_sdks(far: FarEnd, clients: Clients) -> None:
    ids = [model.id for model in far.models]

    assert [model.id async for model in clients.anthropic.models.list()] == ids
    assert [model.id async for model in clients.openai.models.list()] == ids
    assert (await clients.anthropic.models.retrieve("far-tiny")).max_input_tokens == 4_096
    with pytest.raises(openai.NotFoundError):
        await clients.openai.models.retrieve("none")


async def test_a_list_can_be_scripted_by_its_path(far: FarEnd, clients: Clients) -> None:
    far.play(error(401), path="/models")
    far.play(json_answer({"data": []}), path="/models")

    with pytest.raises(openai.AuthenticationError):
        await clients.openai.models.list()
    assert (await clients.openai.models.list()).data == []


async def test_a_certificate_nobody_signed_is_refused_unless_trusted(tmp_path: Path) -> None:
    certificate = self_signed(tmp_path)
    if certificate is None:
        pytest.skip("no openssl program")
    async with FarEnd(tls=certificate.context) as far:
        far.play(reply("Hello"))
        async with anthropic.AsyncAnthropic(base_url=far.url, api_key="key", max_retries=0) as distrustful:
            with pytest.raises(anthropic.APIConnectionError):
                await distrustful.models.list()
        trusting = httpx2.AsyncClient(verify=ssl.create_default_context(cafile=certificate.file))
        async with anthropic.AsyncAnthropic(base_url=far.url, api_key="key", http_client=trusting) as client:
            assert (await client.models.list()).data
