"""The bodies of errors, as each vendor words them."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from tests.fakes.farend.script import DialectName, ErrorAnswer, ErrorKind

REQUEST_ID = "req_far0000000000000001"

ANTHROPIC: Mapping[ErrorKind, tuple[str, str]] = {
    "invalid_request": ("invalid_request_error", "messages.0.content: Input should be a valid list"),
    "authentication": ("authentication_error", "invalid x-api-key"),
    "billing": ("billing_error", "There is a problem with your billing or payment information."),
    "permission": ("permission_error", "Your API key does not have permission to use the specified resource."),
    "not_found": ("not_found_error", "model: {model}"),
    "too_large": ("request_too_large", "Request exceeds the maximum size"),
    "rate_limit": (
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute.",
    ),
    "api_error": ("api_error", "Internal server error"),
    "overloaded": ("overloaded_error", "Overloaded"),
    "timeout": ("timeout_error", "Request timed out"),
    "context_too_long": ("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "insufficient_quota": (
        "invalid_request_error",
        (
            "Your credit balance is too low to access the Anthropic API. "
            "Please go to Plans & Billing to upgrade or purchase credits."
        ),
    ),
}
"""Type and message of each kind."""

OPENAI: Mapping[ErrorKind, tuple[str, str | None, str | None, str]] = {
    "invalid_request": ("invalid_request_error", None, "messages", "Invalid type for 'messages': expected an array."),
    "authentication": (
        "invalid_request_error",
        "invalid_api_key",
        None,
        (
            "Incorrect API key provided: sk-far**********end. "
            "You can find your API key at https://platform.openai.com/account/api-keys."
        ),
    ),
    # OpenAI has no 402; these are DeepSeek's words.
    "billing": ("unknown_error", "invalid_request_error", None, "Insufficient Balance"),
    "permission": (
        "request_forbidden",
        "unsupported_country_region_territory",
        None,
        "Country, region, or territory not supported",
    ),
    "not_found": (
        "invalid_request_error",
        "model_not_found",
        None,
        "The model `{model}` does not exist or you do not have access to it.",
    ),
    "too_large": ("invalid_request_error", None, None, "Maximum content size limit exceeded"),
    "rate_limit": (
        "tokens",
        "rate_limit_exceeded",
        None,
        (
            "Rate limit reached for {model} in organization org-far on tokens per min (TPM): "
            "Limit 30000, Used 28000, Requested 4000. Please try again in 4s. "
            "Visit https://platform.openai.com/account/rate-limits to learn more."
        ),
    ),
    "api_error": (
        "server_error",
        "server_error",
        None,
        "The server had an error while processing your request. Sorry about that!",
    ),
    "overloaded": (
        "service_unavailable_error",
        "server_is_overloaded",
        None,
        "Our servers are currently overloaded. Please try again later.",
    ),
    "timeout": ("server_error", "timeout", None, "The request timed out."),
    "context_too_long": (
        "invalid_request_error",
        "context_length_exceeded",
        "input",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ),
    "insufficient_quota": (
        "insufficient_quota",
        "insufficient_quota",
        None,
        (
            "You exceeded your current quota, please check your plan and billing details. For more information on this "
            "error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors."
        ),
    ),
}
"""Type, code, param and message of each kind."""


def http_date(seconds_from_now: float) -> str:
    """A moment as `Retry-After` may give it."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds_from_now), usegmt=True)


def error_body(answer: ErrorAnswer, dialect: DialectName, model: str) -> object:
    """The whole body of an HTTP error, in the vendor's words and the dialect's form."""
    model = answer.model or model
    if answer.flavour != "vendor" and answer.message is None:
        if answer.kind == "context_too_long":
            return _local_context(answer, dialect)
        if answer.kind == "not_found":
            return _local_not_found(answer, dialect, model)
    message = answer.message
    if answer.kind == "context_too_long" and message is None:
        message = _vendor_context(answer, dialect)
    if dialect == "anthropic":
        return anthropic_error(answer.kind, message, model=model)
    return {"error": openai_error(answer.kind, message, dialect, model=model)}


def anthropic_error(kind: ErrorKind, message: str | None = None, *, model: str) -> dict[str, object]:
    """An error object of Anthropic, the same as a body and in a stream."""
    name, words = ANTHROPIC[kind]
    error = {"type": name, "message": message or words.format(model=model)}
    return {"type": "error", "error": error, "request_id": REQUEST_ID}


def openai_error(
    kind: ErrorKind, message: str | None, dialect: DialectName, *, model: str
) -> dict[str, str | int | None]:
    """What stands under `error` in OpenAI's bodies."""
    name, code, param, words = OPENAI[kind]
    if kind == "not_found" and dialect == "responses":
        param, words = "model", "The requested model '{model}' does not exist."
    if param in {"messages", "input"}:
        param = "input" if dialect == "responses" else "messages"
    return {"message": message or words.format(model=model), "type": name, "param": param, "code": code}


def _vendor_context(answer: ErrorAnswer, dialect: DialectName) -> str:
    prompt, limit, output = answer.prompt_tokens, answer.limit_tokens, answer.max_tokens
    match dialect:
        case "anthropic" if output is not None:
            return (
                f"input length and `max_tokens` exceed context limit: {prompt} + {output} > {limit}, "
                "decrease input length or `max_tokens` and try again"
            )
        case "anthropic":
            return f"prompt is too long: {prompt} tokens > {limit} maximum"
        case "responses":
            return OPENAI["context_too_long"][3]
        case "chat" if output is not None:
            return (
                f"This model's maximum context length is {limit} tokens. However, you requested "
                f"{(prompt or 0) + output} tokens ({prompt} in the messages, {output} in the completion). "
                "Please reduce the length of the messages or completion."
            )
        case "chat":
            return (
                f"This model's maximum context length is {limit} tokens. However, your messages resulted in "
                f"{prompt} tokens. Please reduce the length of the messages."
            )


def _local_context(answer: ErrorAnswer, dialect: DialectName) -> object:
    prompt, limit, output = answer.prompt_tokens, answer.limit_tokens, answer.max_tokens
    # Since https://github.com/ggml-org/llama.cpp/pull/15780.
    llama = {
        "error": {
            "code": 400,
            "message": f"request ({prompt} tokens) exceeds the available context size ({limit} tokens), "
            "try increasing it",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": prompt,
            "n_ctx": limit,
        }
    }
    match answer.flavour:
        case "lmstudio":
            words = (
                "The number of tokens to keep from the initial prompt is greater than the context length "
                f"(n_keep: {prompt}>= n_ctx: {limit}). Try to load the model with a larger context length, "
                "or provide a shorter input."
            )
            return anthropic_error("invalid_request", words, model="") if dialect == "anthropic" else {"error": words}
        case "ollama":
            # It hands on what its llama-server says as a string within its own form (ollama/ollama#17889).
            words = json.dumps(llama, separators=(",", ":"))
            return _enveloped(words, "invalid_request_error", None, dialect, "invalid_request")
        case "vllm":
            words = (
                f"This model's maximum context length is {limit} tokens. However, your request has {prompt} input "
                "tokens. Please reduce the length of the input messages."
            )
            if output is not None:
                words = (
                    f"'max_tokens' or 'max_completion_tokens' is too large: {output}. This model's maximum context "
                    f"length is {limit} tokens and your request has {prompt} input tokens "
                    f"({output} > {limit} - {prompt})."
                )
            return _enveloped(words, "BadRequestError", 400, dialect, "invalid_request")
        case _:
            return llama


def _local_not_found(answer: ErrorAnswer, dialect: DialectName, model: str) -> object:
    match answer.flavour:
        case "ollama":
            return _enveloped(f"model '{model}' not found", "not_found_error", None, dialect, "not_found")
        case "lmstudio":
            words = f'Invalid model identifier "{model}". Please specify a valid downloaded model.'
            return _enveloped(words, "invalid_request_error", "model_not_found", dialect, "not_found")
        case "vllm":
            return _enveloped(f"The model `{model}` does not exist.", "NotFoundError", 404, dialect, "not_found")
        case _:
            return {"error": {"code": 404, "message": f"model '{model}' not found", "type": "not_found_error"}}


def _enveloped(words: str, name: str, code: str | int | None, dialect: DialectName, kind: ErrorKind) -> object:
    if dialect == "anthropic":
        return anthropic_error(kind, words, model="")
    return {"error": {"message": words, "type": name, "param": None, "code": code}}
