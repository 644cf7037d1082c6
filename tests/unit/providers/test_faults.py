"""Every error of the wire gets its kind from code, known phrase or status, and words that name no key."""

import json
from datetime import UTC, datetime

import pytest

from app.domain.errors import ErrorKind, ProviderError
from app.providers.error_body import read_error
from app.providers.faults import (
    fault_of_answer,
    fault_of_event,
    no_key,
    retry_after_seconds,
)
from app.providers.phrases import output_room

URL = "https://api.example.com/v1/messages"
KEY = "sk-ant-api03-abcdefghijklmnop"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def anthropic(name: str, message: str) -> str:
    return json.dumps({"type": "error", "error": {"type": name, "message": message}, "request_id": "req_1"})


def openai(message: str, *, name: str = "invalid_request_error", code: str | int | None = None) -> str:
    return json.dumps({"error": {"message": message, "type": name, "param": None, "code": code}})


def fault(status: int, text: str, **headers: str) -> ProviderError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return fault_of_answer(status, text, headers=named, url=URL, keys=(KEY,), now=NOW)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        # Anthropic, by type
        (400, anthropic("invalid_request_error", "messages: too few"), ErrorKind.INVALID_REQUEST),
        (401, anthropic("authentication_error", "invalid x-api-key"), ErrorKind.AUTHENTICATION),
        (402, anthropic("billing_error", "There is a problem with your billing."), ErrorKind.QUOTA),
        (403, anthropic("permission_error", "Your key may not."), ErrorKind.AUTHENTICATION),
        (404, anthropic("not_found_error", "model: claude-none"), ErrorKind.MODEL_NOT_FOUND),
        (404, anthropic("not_found_error", "Not Found"), ErrorKind.INVALID_REQUEST),
        (413, anthropic("request_too_large", "Request exceeds the maximum size"), ErrorKind.INVALID_REQUEST),
        (429, anthropic("rate_limit_error", "This request would exceed your rate limit."), ErrorKind.RATE_LIMIT),
        (500, anthropic("api_error", "Internal server error"), ErrorKind.SERVER),
        (504, anthropic("timeout_error", "Timed out"), ErrorKind.SERVER),
        (529, anthropic("overloaded_error", "Overloaded"), ErrorKind.OVERLOADED),
        (400, anthropic("invalid_request_error", "Your credit balance is too low to access"), ErrorKind.QUOTA),
        (
            400,
            anthropic(
                "invalid_request_error",
                "You have reached your specified API usage limits. You will regain access on 2027-01-01 at 00:00 UTC.",
            ),
            ErrorKind.QUOTA,
        ),
        # OpenAI and its likes, by code
        (401, openai("Incorrect API key provided", code="invalid_api_key"), ErrorKind.AUTHENTICATION),
        (429, openai("You exceeded your current quota", code="insufficient_quota"), ErrorKind.QUOTA),
        (429, openai("Rate limit reached", name="tokens", code="rate_limit_exceeded"), ErrorKind.RATE_LIMIT),
        (413, openai("Request too large for model", name="tokens", code="rate_limit_exceeded"), ErrorKind.RATE_LIMIT),
        (404, openai("The model `x` does not exist", code="model_not_found"), ErrorKind.MODEL_NOT_FOUND),
        (400, openai("too long", code="context_length_exceeded"), ErrorKind.CONTEXT_EXCEEDED),
        (400, openai("The response was filtered", code="content_filter"), ErrorKind.REFUSAL),
        (400, openai("Model Not Exist"), ErrorKind.MODEL_NOT_FOUND),
        (402, openai("Insufficient Balance", name="unknown_error", code="invalid_request_error"), ErrorKind.QUOTA),
        (503, openai("busy", name="service_unavailable_error", code="server_is_overloaded"), ErrorKind.OVERLOADED),
        # By status alone
        (401, "{}", ErrorKind.AUTHENTICATION),
        (402, "", ErrorKind.QUOTA),
        (403, "no", ErrorKind.AUTHENTICATION),
        (408, "", ErrorKind.SERVER),
        (409, "", ErrorKind.SERVER),
        (422, '{"detail": [{"loc": ["body", "model"], "msg": "field required"}]}', ErrorKind.INVALID_REQUEST),
        (429, "", ErrorKind.RATE_LIMIT),
        (500, "", ErrorKind.SERVER),
        (502, "<html><body>Bad gateway</body></html>", ErrorKind.SERVER),
        (503, "<!DOCTYPE html><html></html>", ErrorKind.OVERLOADED),
        (407, "", ErrorKind.NETWORK),
        (529, "", ErrorKind.OVERLOADED),
        (599, "[]", ErrorKind.SERVER),
        # Others' forms
        (400, '[{"error": {"code": 400, "message": "Bad", "status": "INVALID_ARGUMENT"}}]', ErrorKind.INVALID_REQUEST),
        (429, '{"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED"}}', ErrorKind.RATE_LIMIT),
        (
            400,
            (
                '{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", '
                '"details": [{"reason": "API_KEY_INVALID"}]}}'
            ),
            ErrorKind.AUTHENTICATION,
        ),
        (
            403,
            '{"error": {"code": 403, "message": "flagged", "metadata": {"reasons": ["x"], "flagged_input": "y"}}}',
            ErrorKind.REFUSAL,
        ),
        (404, '{"error": "model \'llama9\' not found, try pulling it first"}', ErrorKind.MODEL_NOT_FOUND),
        (404, '{"detail": "Not Found"}', ErrorKind.INVALID_REQUEST),
        (503, '{"error": {"code": 503, "message": "Loading", "type": "unavailable_error"}}', ErrorKind.OVERLOADED),
    ],
)
def test_status_and_body_give_the_kind(status: int, body: str, kind: ErrorKind) -> None:
    assert fault(status, body).kind is kind


@pytest.mark.parametrize(
    "body",
    [
        anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        openai("Your input exceeds the context window of this model. Please adjust your input and try again."),
        openai("This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."),
        (
            '{"error": {"code": 400, "message": "request (9 tokens) exceeds the available context size (8 tokens), '
            'try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8}}'
        ),
        openai("the request exceeds the available context size. try increasing the context size", name="server_error"),
        '{"error": "The number of tokens to keep from the initial prompt is greater than the context length."}',
        '{"error": "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded."}',
        '{"error": "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}',
        openai('{"error":{"code":400,"message":"too big","type":"exceed_context_size_error"}}'),
        (
            '{"object": "error", "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with '
            '32768 maximum context length", "type": "invalid_request_prompt", "code": "3051"}'
        ),
        (
            '[{"error": {"code": 400, "message": "The input token count (1200000) exceeds the maximum number of tokens '
            'allowed (1048576).", "status": "INVALID_ARGUMENT"}}]'
        ),
        '{"error": "This model\'s maximum prompt length is 131072 but the request contains 140000 tokens."}',
        openai("Your request exceeded model token limit: 8192"),
        openai("length of prompt_tokens (163280) must be less than max_seq_len (32768)."),
    ],
)
def test_too_long_is_told_in_each_vendors_words(body: str) -> None:
    failure = fault(400, body)

    assert failure.kind is ErrorKind.CONTEXT_EXCEEDED
    assert failure.allowed_output is None


@pytest.mark.parametrize(
    "message",
    [
        "Invalid token in the request",
        "The context of this message is missing",
        "tokens: Input should be a valid integer",
        "Too many tools: the maximum length of the list is 128",
        "Rate limit: too many tokens per minute",
        "The prompt is empty",
        "Unauthorized token",
    ],
)
def test_a_loose_word_is_not_too_long(message: str) -> None:
    assert fault(400, openai(message)).kind is ErrorKind.INVALID_REQUEST


@pytest.mark.parametrize(
    ("message", "kind", "allowed"),
    [
        (
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
            ErrorKind.CONTEXT_EXCEEDED,
            11760,
        ),
        (
            "input length and `max_tokens` exceed context limit: 200001 + 21333 > 200000",
            ErrorKind.CONTEXT_EXCEEDED,
            None,
        ),
        (
            (
                "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (5000 in the "
                "messages, 4000 in the completion). Please reduce the length."
            ),
            ErrorKind.CONTEXT_EXCEEDED,
            3192,
        ),
        (
            (
                "This model's maximum context length is 4097 tokens, however you requested 4116 tokens (3860 in your "
                "prompt; 256 for the completion)."
            ),
            ErrorKind.CONTEXT_EXCEEDED,
            237,
        ),
        (
            (
                "This endpoint's maximum context length is 32768 tokens. However, you requested about 41000 tokens "
                "(9000 of text input, 32000 in the output)."
            ),
            ErrorKind.CONTEXT_EXCEEDED,
            23768,
        ),
        (
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length "
                "is 8192 tokens and your request has 5000 input tokens (4000 > 8192 - 5000)."
            ),
            ErrorKind.CONTEXT_EXCEEDED,
            3192,
        ),
        (
            (
                "This model's maximum context length is 8192 tokens. However, you requested 4000 output tokens and "
                "your prompt contains at least 5000 input tokens, for a total of at least 9000 tokens."
            ),
            ErrorKind.CONTEXT_EXCEEDED,
            3192,
        ),
        (
            "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 5000 `inputs` tokens and 4000 `max_new_tokens`",
            ErrorKind.CONTEXT_EXCEEDED,
            3193,
        ),
        (
            "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-x",
            ErrorKind.INVALID_REQUEST,
            8192,
        ),
        (
            (
                "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you "
                "provided 100000."
            ),
            ErrorKind.INVALID_REQUEST,
            16384,
        ),
        (
            "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 99999.",
            ErrorKind.INVALID_REQUEST,
            16384,
        ),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", ErrorKind.INVALID_REQUEST, 8192),
        (
            "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
            ErrorKind.INVALID_REQUEST,
            8192,
        ),
        ("`max_tokens` must be less than or equal to `16384`, the maximum value", ErrorKind.INVALID_REQUEST, 16384),
    ],
)
def test_room_for_the_answer_is_read_from_the_figures(message: str, kind: ErrorKind, allowed: int | None) -> None:
    failure = fault(400, openai(message))

    assert (failure.kind, failure.allowed_output) == (kind, allowed)


@pytest.mark.parametrize(("affordable", "allowed"), [("27342", 27342), ("339", None)])
def test_less_is_asked_for_where_credit_is_short_as_long_as_that_is_an_answer(
    affordable: str, allowed: int | None
) -> None:
    words = f"more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford {affordable}."

    failure = fault(402, json.dumps({"error": {"message": words, "code": 402}}))

    assert (failure.kind, failure.allowed_output) == (ErrorKind.QUOTA, allowed)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        # Groq
        (
            413,
            (
                "Request too large for model `x` in organization `org_1` service tier `on_demand` on tokens per minute "
                "(TPM): Limit 8000, Requested 32979, please reduce your message size and try again."
            ),
        ),
        # OpenAI
        (
            429,
            (
                "Request too large for x in organization org-1 on tokens per min (TPM): Limit 8000, Requested 32979. "
                "The input or output tokens must be reduced in order to run successfully."
            ),
        ),
    ],
)
def test_what_is_too_much_for_a_whole_minute_is_not_waited_for(status: int, words: str) -> None:
    body = openai(words, name="tokens", code="rate_limit_exceeded")

    for failure in (fault(status, body), fault_of_event(json.loads(body), keys=())):
        assert (failure.kind, failure.excess_tokens) == (ErrorKind.INVALID_REQUEST, 24979)
        assert failure.detail == words


def test_a_limit_that_is_only_used_up_is_waited_for() -> None:
    words = "Rate limit reached for model `x` on tokens per minute (TPM): Limit 8000, Used 7500, Requested 900."

    failure = fault(429, openai(words, name="tokens", code="rate_limit_exceeded"))

    assert (failure.kind, failure.excess_tokens) == (ErrorKind.RATE_LIMIT, None)


def test_figures_that_are_none_of_ours_leave_no_room() -> None:
    assert output_room("max_tokens: Field required") is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "60"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "60"}, 60.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 +99999999999999"}, None),
        ({"retry-after": "1e300"}, 366 * 86400.0),
        ({"retry-after-ms": "1e300"}, 366 * 86400.0),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, 366 * 86400.0),
        ({}, None),
    ],
)
def test_the_wait_a_server_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, NOW) == seconds


def test_the_wait_comes_with_the_error() -> None:
    assert fault(429, anthropic("rate_limit_error", "Slow down"), retry_after="9").retry_after_seconds == 9
    assert fault(503, "<html></html>", retry_after="9").retry_after_seconds == 9


def test_a_request_of_too_many_bytes_says_so() -> None:
    failure = fault(413, anthropic("request_too_large", "Request exceeds the maximum size"))

    assert "larger than this server takes" in failure.detail
    assert failure.detail.endswith("Request exceeds the maximum size")


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://other.example.net/v2/messages?x=1", "https://other.example.net/v2/messages"),
        ("/elsewhere", "https://api.example.com/elsewhere"),
        (f"https://user:{KEY}@other.example.net/", "https://other.example.net/"),
    ],
)
def test_a_redirect_names_where_it_points(location: str, shown: str) -> None:
    failure = fault(307, "", location=location)

    assert failure.kind is ErrorKind.INVALID_REQUEST
    assert f"sends on to {shown}." in failure.detail
    assert KEY not in failure.detail


def test_a_redirect_to_what_is_no_address_is_one_without_a_name() -> None:
    assert "names none" in fault(302, "", location="http://[bad").detail


def test_a_web_page_is_no_model_api() -> None:
    failure = fault(404, "\n<!DOCTYPE html><html><h1>Not here</h1></html>")

    assert failure.kind is ErrorKind.INVALID_REQUEST
    assert failure.detail == "api.example.com is not a model API: it answers with a web page. Check the address."


def test_a_missing_path_names_it() -> None:
    assert "has nothing at /v1/messages" in fault(404, '{"detail": "Not Found"}').detail


@pytest.mark.parametrize(
    "message",
    [
        "No endpoints found that support image input",
        "This model is only supported in v1/responses and not in v1/chat/completions.",
        "This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean v1/x?",
    ],
)
def test_a_model_that_does_not_take_such_a_request_is_no_wrong_address(message: str) -> None:
    failure = fault(404, openai(message))

    assert (failure.kind, failure.detail) == (ErrorKind.INVALID_REQUEST, message)


GEMINIS_QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, "
    "head to: https://ai.google.dev/gemini-api/docs/rate-limits.\n* Quota exceeded for metric: "
    "generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: {limit}, model: gemini-x\n"
    "Please retry in 33.820058115s."
)


@pytest.mark.parametrize(("limit", "kind"), [(15, ErrorKind.RATE_LIMIT), (0, ErrorKind.QUOTA)])
def test_gemini_says_for_how_long_it_wants_to_be_left_alone(limit: int, kind: ErrorKind) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "33.8s"}]
    message = GEMINIS_QUOTA.format(limit=limit)
    body = [{"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}}]

    failure = fault(429, json.dumps(body))

    assert (failure.kind, failure.retry_after_seconds) == (kind, 33.8)


def test_what_the_server_behind_openrouter_said_is_told() -> None:
    raw = anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
    body = {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}}

    for failure in (fault(400, json.dumps(body)), fault_of_event(body, keys=())):
        assert failure.kind is ErrorKind.CONTEXT_EXCEEDED
        assert failure.detail == "prompt is too long: 210000 tokens > 200000 maximum"


def test_an_error_echoing_the_key_does_not_show_it() -> None:
    assert KEY not in fault(401, openai(f"Incorrect API key provided: {KEY}.")).detail
    assert KEY not in fault(418, f"your key was {KEY}").detail
    assert KEY not in fault_of_event({"error": {"message": f"no {KEY}"}}, keys=(KEY,)).detail


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, ErrorKind.OVERLOADED),
        ({"type": "overloaded_error", "message": "Overloaded"}, ErrorKind.OVERLOADED),
        ({"error": {"code": 502, "message": "Provider returned error"}}, ErrorKind.SERVER),
        ({"error": {"code": 429, "message": "slow"}}, ErrorKind.RATE_LIMIT),
        ({"error": {"code": 500, "message": "Context size has been exceeded."}}, ErrorKind.CONTEXT_EXCEEDED),
        ({"code": "context_length_exceeded", "message": "long", "type": "error"}, ErrorKind.CONTEXT_EXCEEDED),
        ({"response": {"error": {"code": "server_error", "message": "x"}}}, ErrorKind.SERVER),
        ({"error": {"type": "invalid_request_error", "message": "no"}}, ErrorKind.INVALID_REQUEST),
        ({"error": {"type": "invalid_request_error", "message": "prompt is too long"}}, ErrorKind.CONTEXT_EXCEEDED),
        ("plain words", ErrorKind.SERVER),
        ('{"error": {"type": "rate_limit_error"}}', ErrorKind.RATE_LIMIT),
        (None, ErrorKind.SERVER),
        ('{"error":' * 400 + "1" + "}" * 400, ErrorKind.SERVER),
    ],
)
def test_error_events_within_a_stream(body: object, kind: ErrorKind) -> None:
    failure = fault_of_event(body, keys=())

    assert failure.kind is kind
    assert failure.detail


def test_no_key_names_the_endpoint() -> None:
    failure = no_key("Anthropic")

    assert (failure.kind, failure.detail) == (ErrorKind.AUTHENTICATION, "There is no key for Anthropic yet.")


def test_an_error_within_an_error_keeps_what_it_says_of_waiting() -> None:
    inner = {"error": {"message": "slow down", "details": [{"retryDelay": "7s"}]}}
    assert read_error({"error": {"message": json.dumps(inner)}}).retry_after_seconds == 7
    plain = {"error": {"message": "down"}}
    assert read_error({"error": {"message": json.dumps(plain)}}).retry_after_seconds is None
    flagged = {"error": {"message": "no", "metadata": {"flagged_input": "x"}}}
    assert read_error({"error": {"message": json.dumps(flagged)}}).is_moderated
