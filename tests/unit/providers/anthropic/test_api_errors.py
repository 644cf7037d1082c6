"""Every way the far end fails, as the kind and the words a person gets."""

from pathlib import Path

import pytest

from app.domain.errors import ErrorKind
from app.providers.http import TimeLimits
from app.settings.schema import Network
from tests.fakes.farend import (
    Answer,
    Cut,
    FarEnd,
    Malformed,
    RawEvent,
    Reasoning,
    Stall,
    StreamError,
    ToolCall,
    context_too_long,
    error,
    html_page,
    http_date,
    json_answer,
    model_not_found,
    raw,
    reply,
    self_signed,
)
from tests.unit.providers.anthropic.connect import KEY, ask, fail, provider, text_of

CALL = ToolCall("toolu_1", "look_up", '{"place":', StreamError("overloaded"))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (error(400), ErrorKind.INVALID_REQUEST),
        (error(401), ErrorKind.AUTHENTICATION),
        (error(402), ErrorKind.QUOTA),
        (error(400, kind="insufficient_quota"), ErrorKind.QUOTA),
        (error(403), ErrorKind.AUTHENTICATION),
        (model_not_found(), ErrorKind.MODEL_NOT_FOUND),
        (model_not_found(flavour="ollama"), ErrorKind.MODEL_NOT_FOUND),
        (model_not_found(flavour="lmstudio"), ErrorKind.MODEL_NOT_FOUND),
        (model_not_found(flavour="llamacpp"), ErrorKind.MODEL_NOT_FOUND),
        (error(413), ErrorKind.INVALID_REQUEST),
        (error(429), ErrorKind.RATE_LIMIT),
        (error(500), ErrorKind.SERVER),
        (error(502), ErrorKind.SERVER),
        (error(503), ErrorKind.OVERLOADED),
        (error(504), ErrorKind.SERVER),
        (error(529), ErrorKind.OVERLOADED),
        (context_too_long(), ErrorKind.CONTEXT_EXCEEDED),
        (context_too_long(flavour="llamacpp"), ErrorKind.CONTEXT_EXCEEDED),
        (context_too_long(flavour="lmstudio"), ErrorKind.CONTEXT_EXCEEDED),
        (context_too_long(flavour="ollama"), ErrorKind.CONTEXT_EXCEEDED),
        (context_too_long(flavour="vllm"), ErrorKind.CONTEXT_EXCEEDED),
        (html_page(), ErrorKind.INVALID_REQUEST),
        (html_page(status=404), ErrorKind.INVALID_REQUEST),
        (html_page(status=503), ErrorKind.OVERLOADED),
        (json_answer({"error": {"type": "overloaded_error", "message": "x"}}), ErrorKind.OVERLOADED),
        (json_answer({"hello": "world"}), ErrorKind.SERVER),
        (raw("not json", content_type="application/json"), ErrorKind.SERVER),
        (reply("Hi").but(Cut("reset", before_headers=True)), ErrorKind.NETWORK),
        (reply("Hi").but(Cut("fin", before_headers=True)), ErrorKind.NETWORK),
        (reply("Hi").but(Cut("fin", in_headers=20)), ErrorKind.NETWORK),
        (reply(StreamError("overloaded")), ErrorKind.OVERLOADED),
        (reply(StreamError("rate_limit")), ErrorKind.RATE_LIMIT),
        (reply(StreamError("api_error")), ErrorKind.SERVER),
        (reply(Malformed()), ErrorKind.SERVER),
    ],
)
async def test_before_the_first_word(far: FarEnd, answer: Answer, kind: ErrorKind) -> None:
    far.play(answer)

    async with provider(far) as asked:
        text, failure = await fail(asked)

    assert (text, failure.kind) == ("", kind)
    assert failure.detail
    assert KEY not in failure.detail
    assert failure.__cause__ is None
    # No retry but the session's own.
    assert len(far.requests) == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply("Hi", StreamError("overloaded")), ErrorKind.OVERLOADED),
        (reply("Hi", StreamError("context_too_long")), ErrorKind.CONTEXT_EXCEEDED),
        (reply("Hi", StreamError("api_error", "Sorry")), ErrorKind.SERVER),
        (reply("Hi", Malformed()), ErrorKind.SERVER),
        (reply("Hi", RawEvent(b"event: content_block_delta\ndata: \xff\xfe\n\n")), ErrorKind.SERVER),
        (reply("Hi", RawEvent(b"event: message_delta\ndata: " + b"[" * 100_000 + b"\n\n")), ErrorKind.SERVER),
        (reply("Hi", RawEvent(b"event: message_delta\ndata: " + b"1" * 5_000 + b"\n\n")), ErrorKind.SERVER),
        (reply("Hi", Cut("fin")), ErrorKind.NETWORK),
        (reply("Hi", Cut("reset")), ErrorKind.NETWORK),
        (reply("Hi", tool=CALL), ErrorKind.OVERLOADED),
        (reply("Hi", tool=ToolCall("toolu_1", "look_up", '{"a":', Cut("fin"))), ErrorKind.NETWORK),
        (reply("Hi", stop="pause"), ErrorKind.TRUNCATED),
        (reply("Hi", stop="context_full"), ErrorKind.TRUNCATED),
    ],
)
async def test_after_the_first_words(far: FarEnd, answer: Answer, kind: ErrorKind) -> None:
    far.play(answer)

    async with provider(far) as asked:
        text, failure = await fail(asked)

    assert (text, failure.kind) == ("Hi", kind)


@pytest.mark.parametrize("data", [b"[1]", b'{"type": [1], "delta": 3}', b'{"type": "message_delta", "usage": "none"}'])
async def test_events_of_an_odd_form_are_passed_over(far: FarEnd, data: bytes) -> None:
    far.play(reply("Hi", RawEvent(b"event: message_delta\ndata: " + data + b"\n\n"), " you"))

    async with provider(far) as asked:
        assert text_of(await ask(asked)) == "Hi you"


async def test_a_connection_that_breaks_after_the_reply_is_no_failure(far: FarEnd) -> None:
    far.play(reply("Hi").but(Stall(after_events=6)))

    async with provider(far) as asked:
        pieces = await ask(asked)

    assert text_of(pieces) == "Hi"


@pytest.mark.parametrize(
    ("wait", "least", "most"), [("7", 7, 7), ("0.5", 0.5, 0.5), ("in an hour", 3000, 3600), (None, None, None)]
)
async def test_the_wait_that_is_asked_for(
    far: FarEnd, wait: str | None, least: float | None, most: float | None
) -> None:
    # A date that is made while tests are collected would name this test differently in each process.
    far.play(error(429, retry_after=http_date(3600) if wait == "in an hour" else wait))

    async with provider(far) as asked:
        _, failure = await fail(asked)

    seconds = failure.retry_after_seconds
    if least is None or most is None:
        assert seconds is None
    else:
        assert seconds is not None
        assert least <= seconds <= most


@pytest.mark.parametrize("flavour", ["vendor", "vllm"])
async def test_an_answer_that_would_not_fit_says_what_would(far: FarEnd, flavour: str) -> None:
    far.play(context_too_long(prompt_tokens=190_000, limit_tokens=200_000, max_tokens=64_000, flavour=flavour))  # type: ignore[arg-type]

    async with provider(far) as asked:
        _, failure = await fail(asked)

    assert (failure.kind, failure.allowed_output) == (ErrorKind.CONTEXT_EXCEEDED, 10_000)


async def test_the_key_is_not_echoed(far: FarEnd) -> None:
    far.play(error(401, message=f"no such key: {KEY}"), reply("Hi", StreamError("api_error", f"lost {KEY}")))

    async with provider(far) as asked:
        failures = [(await fail(asked))[1] for _ in range(2)]

    assert [failure.detail for failure in failures] == ["no such key: [key]", "lost [key]"]


async def test_nobody_answers() -> None:
    async with FarEnd() as far:
        url = far.url

    async with provider(url) as asked:
        _, failure = await fail(asked)

    assert failure.kind is ErrorKind.NETWORK
    assert failure.detail == f"Nothing answers at {url.removeprefix('http://')}: is the server running?"


async def test_no_byte_for_too_long(far: FarEnd) -> None:
    far.play(reply(Reasoning("Hm."), Stall()))

    async with provider(far, limits=TimeLimits(read_seconds=0.1)) as asked:
        _, failure = await fail(asked)

    assert (failure.kind, failure.detail) == (ErrorKind.NETWORK, "No byte for 0.1 s.")


async def test_a_certificate_nobody_knows(tmp_path: Path) -> None:
    certificate = self_signed(tmp_path)
    assert certificate is not None, "the openssl program makes the certificate"
    async with FarEnd(tls=certificate.context) as far:
        far.play(reply("Hi"), reply("Hi"))
        async with provider(far) as asked:
            _, failure = await fail(asked)
        async with provider(far, verify=False) as asked:
            unverified = await ask(asked)
        async with provider(far, network=Network(ca_file=str(certificate.file))) as asked:
            trusted = await ask(asked)

    place = far.url.removeprefix("https://")
    assert failure.kind is ErrorKind.NETWORK
    assert failure.detail == f"The certificate of {place} is not trusted: it is signed by itself."
    assert text_of(unverified) == text_of(trusted) == "Hi"


async def test_plain_http_behind_an_https_address(far: FarEnd) -> None:
    async with provider(far.url.replace("http:", "https:")) as asked:
        _, failure = await fail(asked)

    assert "does not seem to speak https" in failure.detail


async def test_settings_that_can_not_be_used_are_said_before_anything_is_sent(far: FarEnd, tmp_path: Path) -> None:
    async with provider(far, network=Network(ca_file=str(tmp_path / "none.pem"))) as asked:
        _, failure = await fail(asked)

    assert failure.kind is ErrorKind.NETWORK
    assert "none.pem can't be read" in failure.detail
    assert not far.connections
