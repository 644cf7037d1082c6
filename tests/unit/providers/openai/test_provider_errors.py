"""What goes wrong on the wire, and the kind it has for a person."""

from typing import Literal

import pytest

from app.domain.errors import MAX_DETAIL_CHARS, ErrorKind
from app.providers.base import StopPiece, StopReason, TextPiece
from app.settings.schema import Dialect
from tests.fakes.farend import (
    Answer,
    Cut,
    FarEnd,
    Malformed,
    RawEvent,
    Reply,
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
    redirect,
    reply,
)
from tests.unit.providers.openai.connect import DIALECTS, KEY, fail, provider, read

FLAGGED = "Invalid prompt: your prompt was flagged as potentially violating our usage policy."

both = pytest.mark.parametrize("dialect", DIALECTS)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (error(400), ErrorKind.INVALID_REQUEST),
        (error(401), ErrorKind.AUTHENTICATION),
        (error(402), ErrorKind.QUOTA),
        # A country that isn't served: another key would not help.
        (error(403), ErrorKind.INVALID_REQUEST),
        (model_not_found("m"), ErrorKind.MODEL_NOT_FOUND),
        (model_not_found("m", flavour="ollama"), ErrorKind.MODEL_NOT_FOUND),
        (model_not_found("m", flavour="lmstudio"), ErrorKind.MODEL_NOT_FOUND),
        (model_not_found("m", flavour="vllm"), ErrorKind.MODEL_NOT_FOUND),
        (error(408), ErrorKind.SERVER),
        (error(413), ErrorKind.INVALID_REQUEST),
        (error(429), ErrorKind.RATE_LIMIT),
        (error(429, kind="insufficient_quota"), ErrorKind.QUOTA),
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
        (json_answer({"error": {"code": "invalid_prompt", "message": FLAGGED}}, status=400), ErrorKind.REFUSAL),
        # Status 200 and yet an error.
        (json_answer({"error": {"code": "rate_limit_exceeded", "message": "Slow."}}), ErrorKind.RATE_LIMIT),
        (json_answer({"detail": "Not Found"}), ErrorKind.SERVER),
        (json_answer([]), ErrorKind.SERVER),
        (raw("{", content_type="application/json"), ErrorKind.SERVER),
        (html_page(), ErrorKind.INVALID_REQUEST),
        (raw(status=500, content_type="text/plain"), ErrorKind.SERVER),
        (redirect("http://127.0.0.1:9/v1"), ErrorKind.INVALID_REQUEST),
        (reply("Hi").but(Cut(before_headers=True)), ErrorKind.NETWORK),
        (reply("Hi").but(Cut("reset", in_headers=20)), ErrorKind.NETWORK),
    ],
)
@both
async def test_an_answer_that_is_no_reply(far: FarEnd, dialect: Dialect, answer: Answer, kind: ErrorKind) -> None:
    far.play(answer)

    text, failure = await fail(provider(far, dialect))

    assert text == ""
    assert failure.kind is kind
    assert failure.detail
    assert len(failure.detail) <= MAX_DETAIL_CHARS
    # Section 12 of the specification is the only retry.
    assert len(far.requests) == 1


@pytest.mark.parametrize(("value", "seconds"), [(3, 3), ("0.5", 0.5), ("soon", None)])
@both
async def test_how_long_to_wait_is_heard(
    far: FarEnd, dialect: Dialect, value: str | float, seconds: float | None
) -> None:
    far.play(error(429, retry_after=value))

    _, failure = await fail(provider(far, dialect))

    assert failure.retry_after_seconds == seconds


@both
async def test_until_when_to_wait_is_heard(far: FarEnd, dialect: Dialect) -> None:
    far.play(error(429, retry_after=http_date(90)))

    _, failure = await fail(provider(far, dialect))

    assert failure.retry_after_seconds == pytest.approx(90, abs=20)


async def test_nobody_at_the_address() -> None:
    async with FarEnd() as gone:
        asked = provider(gone, "chat")

    _, failure = await fail(asked)

    assert failure.kind is ErrorKind.NETWORK


HALF_A_CALL = ToolCall("c1", "look", '{"q":', StreamError("overloaded"))


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (StreamError("overloaded"), ErrorKind.OVERLOADED),
        (StreamError("overloaded", form="flat"), ErrorKind.OVERLOADED),
        (StreamError("overloaded", form="failed"), ErrorKind.OVERLOADED),
        (StreamError("rate_limit"), ErrorKind.RATE_LIMIT),
        (StreamError("insufficient_quota"), ErrorKind.QUOTA),
        (StreamError("api_error"), ErrorKind.SERVER),
        (StreamError("context_too_long"), ErrorKind.CONTEXT_EXCEEDED),
        (HALF_A_CALL, ErrorKind.OVERLOADED),
        (Malformed(), ErrorKind.SERVER),
        (RawEvent(b"data: \xff\xfe\n\n"), ErrorKind.SERVER),
        (RawEvent(b"data: " + b"[" * 100_000 + b"\n\n"), ErrorKind.SERVER),
        (RawEvent(b"data: " + b"1" * 5_000 + b"\n\n"), ErrorKind.SERVER),
        # llama.cpp's error, the same in every dialect.
        (
            RawEvent(b'event: error\ndata: {"code":400,"message":"x","type":"exceed_context_size_error"}\n\n'),
            ErrorKind.CONTEXT_EXCEEDED,
        ),
        (Cut("fin"), ErrorKind.NETWORK),
        (Cut("reset"), ErrorKind.NETWORK),
    ],
)
@both
async def test_a_failure_after_text_keeps_the_text(
    far: FarEnd, dialect: Dialect, fault: ToolCall | StreamError | Malformed | RawEvent | Cut, kind: ErrorKind
) -> None:
    far.play(reply("Half a ", "word", fault))

    text, failure = await fail(provider(far, dialect))

    assert text == "Half a word"
    assert failure.kind is kind
    assert failure.detail


@pytest.mark.parametrize("answer", [reply("Half", Cut("clean")), reply("Half", stop=None)])
@both
async def test_a_stream_that_just_ends_has_no_end(far: FarEnd, dialect: Dialect, answer: Reply) -> None:
    far.play(answer)

    assert await read(provider(far, dialect)) == [TextPiece("Half")]


# After the finish reason: usage and [DONE] are missing, the reply is not.
@pytest.mark.parametrize("how", ["fin", "reset", "clean"])
async def test_a_chat_that_is_cut_after_its_finish_reason_is_whole(
    far: FarEnd, how: Literal["fin", "reset", "clean"]
) -> None:
    far.play(reply("Hi").but(Cut(how, after_events=3)))

    assert await read(provider(far, "chat")) == [TextPiece("Hi"), StopPiece(StopReason.END, "m")]


async def test_a_server_that_keeps_the_stream_open_after_its_end_is_not_waited_for(far: FarEnd) -> None:
    body = b'data: {"type":"response.completed","response":{"model":"m","output":[]}}\n\n'
    far.play(raw(body, b": more\n\n").but(Stall(after_events=1)))

    assert await read(provider(far, "responses")) == [StopPiece(StopReason.END, "m")]


@both
async def test_no_error_tells_the_key(far: FarEnd, dialect: Dialect) -> None:
    words = f"Incorrect API key provided: {KEY}."
    far.play(error(401, message=words), reply("A", StreamError("api_error", message=words)))

    for _ in range(2):
        _, failure = await fail(provider(far, dialect))
        assert KEY not in str(failure)
        assert "[key]" in failure.detail
        assert failure.__cause__ is None
