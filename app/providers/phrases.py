"""The words in which servers say that a request is too long, names no model, or can't be paid.

Only whole phrases that a server is known to send; never a loose word such as "token" or "context". Each stands beside
the server it was taken from. Servers that send a code are told by it (`faults`) and are here only for their figures.
"""

import re
from typing import Final, NamedTuple

_NUMBER: Final = r"([\d,]+)"


class OutputRoom(NamedTuple):
    """What an error says about the longest answer that would have been taken."""

    allowed_output: int | None
    """In tokens; None if nothing would have fitted, or if the figures are not told."""
    is_about_context: bool
    """Off: only the longest answer of the model was passed, however long the request."""


def _compiled(*phrases: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(phrase, re.IGNORECASE) for phrase in phrases)


_CONTEXT: Final = _compiled(
    # Anthropic
    r"\bprompt is too long\b",
    r"\binput length and `max_tokens` exceed context limit\b",
    # OpenAI, DeepSeek, vLLM, and what serves in their words
    r"\bmaximum context length is [\d,]+ tokens\b",
    r"\byour input exceeds the context window of this model\b",
    # vLLM: a prompt longer than --max-model-len
    r"\blonger than the maximum model length of [\d,]+\b",
    # llama.cpp's server, new, old, and in mid-stream
    r"\bexceeds the available context size\b",
    r"\bcontext size has been exceeded\b",
    # Ollama
    r"\binput length exceeds (?:the|maximum|the maximum) context length\b",
    r"\bprompt too long; exceeded (?:max )?context length by [\d,]+ tokens?\b",
    # LM Studio
    r"\bnumber of tokens to keep from the initial prompt is greater than the context length\b",
    r"\bcannot truncate prompt with n_keep \([\d,]+\) >= n_ctx \([\d,]+\)",
    r"\btrying to keep the first [\d,]+ tokens when context the overflows\b",
    r"\breached context length of [\d,]+ tokens with this model\b",
    # Mistral
    r"\btoo large for model with [\d,]+ maximum context length\b",
    # Gemini
    r"\binput token count (?:\([\d,]+\) )?exceeds the maximum number of tokens allowed\b",
    # xAI
    r"\bmaximum prompt length is [\d,]+ but the request contains [\d,]+ tokens\b",
    # Text Generation Inference, Together
    r"`inputs` tokens \+ `max_new_tokens` must be <= [\d,]+",
    # Fireworks
    r"\bprompt is too long: [\d,]+, model maximum context length: [\d,]+",
    # Moonshot
    r"\byour request exceeded model token limit: [\d,]+",
    # SiliconFlow
    r"\blength of prompt_tokens \([\d,]+\) must be less than max_seq_len \([\d,]+\)",
    # Amazon Bedrock, by way of proxies
    r"\binput is too long for requested model\b",
)

_TOGETHER: Final = (
    # Anthropic, as in "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"
    (re.compile(rf"exceed context limit: {_NUMBER} \+ {_NUMBER} > {_NUMBER}", re.IGNORECASE), (3, 1, None)),
    # vLLM, as in "... context length is 8192 tokens and your request has 5000 input tokens (4000 > 8192 - 5000)"
    (
        re.compile(rf"context length is {_NUMBER} tokens and your request has {_NUMBER} input tokens", re.IGNORECASE),
        (1, 2, None),
    ),
    # vLLM, as in "... context length is 8192 tokens. However, you requested 4000 output tokens and your prompt contains
    # at least 5000 input tokens"
    (
        re.compile(
            rf"context length is {_NUMBER} tokens\. However, you requested {_NUMBER} output tokens and your prompt "
            rf"contains (?:at least )?{_NUMBER} input tokens",
            re.IGNORECASE,
        ),
        (1, 3, None),
    ),
    # OpenAI, DeepSeek, as in "... context length is 8192 tokens. However, you requested 9000 tokens (5000 in the
    # messages, 4000 in the completion)". OpenRouter, as in "... you requested about 9000 tokens (5000 of text input,
    # 4000 in the output)". Older servers in OpenAI's words, as in "... 4097 tokens, however you requested 4116 tokens
    # (3860 in your prompt; 256 for the completion)".
    (
        re.compile(
            rf"context length is {_NUMBER} tokens[.,] however,? you requested (?:about )?{_NUMBER} tokens "
            rf"\([^)]*?{_NUMBER} (?:in|for) the (?:completion|output)\)",
            re.IGNORECASE,
        ),
        (1, 2, 3),
    ),
    # Text Generation Inference, Together, as in "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 5000
    # `inputs` tokens and 4000 `max_new_tokens`"
    (
        re.compile(rf"`max_new_tokens` must be <= {_NUMBER}\. Given: {_NUMBER} `inputs` tokens", re.IGNORECASE),
        (1, 2, None),
    ),
)
"""Each with the groups of the limit, of what was asked for, and of what of that was the answer's."""

_OUTPUT: Final = (
    # Anthropic, as in "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for ..."
    re.compile(rf"max_tokens: [\d,]+ > {_NUMBER}, which is the maximum allowed number of output", re.IGNORECASE),
    # OpenAI, as in "max_tokens is too large: 100000. This model supports at most 16384 completion tokens"
    re.compile(rf"is too large: [\d,]+\. This model supports at most {_NUMBER} completion tokens", re.IGNORECASE),
    # OpenAI's Responses, Volcengine, as in "Invalid 'max_output_tokens': integer above maximum value. Expected a value
    # <= 16384, but got 100000 instead."
    re.compile(
        rf"max_(?:\w+_)?tokens\b.*\binteger above maximum value[.,] expected a value <= {_NUMBER}", re.IGNORECASE
    ),
    # DeepSeek, as in "the valid range of max_tokens is [1, 8192]"; DashScope, as in "Range of max_tokens should be
    # [1, 8192]"
    re.compile(rf"\brange of max_tokens (?:is|should be) \[\d+, ?{_NUMBER}\]", re.IGNORECASE),
    # Groq, as in "`max_tokens` must be less than or equal to `16384`, the maximum value for ..."
    re.compile(rf"`max_(?:\w+_)?tokens` must be less than or equal to `?{_NUMBER}", re.IGNORECASE),
    # OpenRouter, as in "requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only
    # afford 3395." Less than a thousand are no answer worth paying for.
    re.compile(r"\byou requested up to [\d,]+ tokens, but can only afford ([\d,]{4,})", re.IGNORECASE),
)

_PER_MINUTE: Final = re.compile(
    rf"^request too large for .*\btokens per min(?:ute)? \(TPM\): Limit {_NUMBER}, Requested {_NUMBER}\b", re.IGNORECASE
)
"""Groq, OpenAI: more than the plan allows in a whole minute, `max_tokens` counted, as in "Request too large for model
`x` on tokens per minute (TPM): Limit 8000, Requested 32979". No waiting helps."""

_NO_MODEL: Final = _compiled(
    # Anthropic
    r"^model: \S+$",
    # OpenAI, vLLM, Groq
    r"\bmodel [`'\"][^`'\"]+[`'\"] does not exist\b",
    # Ollama, llama.cpp
    r"\bmodel [`'\"][^`'\"]+[`'\"] not found\b",
    # LM Studio
    r"\binvalid model identifier\b",
    # LM Studio, with nothing loaded
    r"\bno models loaded\b",
    # OpenRouter
    r"\bis not a valid model ID\b",
    r"\bno endpoints found for \S+",
    # Gemini
    r"\bmodels/\S+ is not found for API version\b",
    # DeepSeek
    r"^model not exist$",
    # Mistral
    r"^invalid model: \S+$",
)

_UNPAID: Final = _compiled(
    # Anthropic sends this as a plain invalid_request_error
    r"\byour credit balance is too low\b",
    r"\byou have reached your specified (?:\w+ )?API usage limits\b",
    # DeepSeek
    r"^insufficient balance\b",
    # OpenAI. Gemini has the same words, with its own address, where a minute's wait is all it takes.
    r"\byou exceeded your current quota, please check your plan and billing details\b(?![\s\S]*\bai\.google\.dev\b)",
    # OpenRouter
    r"\binsufficient credits\b",
    # Gemini, where a model is not to be had without paying
    r"\bquota exceeded for metric: \S+, limit: 0\b",
)

_THINKING: Final = _compiled(
    # Anthropic, of thinking that another model signed, as when a name has come to mean a newer model
    r"\binvalid `?(?:signature|data)`? in `?(?:redacted_)?thinking`? block\b",
    r"\bblocks in the latest assistant message cannot be modified\b",
)
_THINKING_WANTED: Final = _compiled(
    # DeepSeek, of calls that were made without thinking, or by another model
    r"\bcontent\[\]\.thinking\b.*\bmust be passed back\b",
)
_MORE_FOR_THE_MODEL: Final = _compiled(
    # OpenAI, of a model that only the other dialect serves
    r"\bnot supported in the v1/\S+ endpoint\b",
    r"\bonly supported in v1/\S+ and not in v1/\S+",
    # OpenRouter, of what the request has and no server of the model takes
    r"^no endpoints (?:found )?(?:that support|matching|available matching)\b",
)


def says_too_long(text: str) -> bool:
    """Say whether a server's words mean that a request does not fit the model's context."""
    return any(pattern.search(text) for pattern in _CONTEXT)


def says_no_model(text: str) -> bool:
    """Say whether a server's words mean that it has no such model."""
    return any(pattern.search(text) for pattern in _NO_MODEL)


def says_unpaid(text: str) -> bool:
    """Say whether a server's words mean that credit or quota is used up."""
    return any(pattern.search(text) for pattern in _UNPAID)


def says_thinking_is_refused(text: str) -> bool:
    """Say whether a server's words mean that it does not take back thinking of earlier replies."""
    return any(pattern.search(text) for pattern in _THINKING)


def says_thinking_is_wanted(text: str) -> bool:
    """Say whether a server's words mean that it wants thinking before the calls of every earlier reply."""
    return any(pattern.search(text) for pattern in _THINKING_WANTED)


def says_more_is_needed(text: str) -> bool:
    """Say whether a server's words mean that it has the model, but not for such a request."""
    return any(pattern.search(text) for pattern in _MORE_FOR_THE_MODEL)


def output_room(text: str) -> OutputRoom | None:
    """Return what a server says about the longest answer it would have taken; None if it says nothing of it."""
    for pattern, (limit_group, asked_group, answer_group) in _TOGETHER:
        if found := pattern.search(text):
            input_tokens = _count(found[asked_group]) - (_count(found[answer_group]) if answer_group else 0)
            room = _count(found[limit_group]) - input_tokens
            return OutputRoom(room if room > 0 else None, is_about_context=True)
    for pattern in _OUTPUT:
        if found := pattern.search(text):
            return OutputRoom(_count(found[1]) or None, is_about_context=False)
    return None


def excess_tokens(text: str) -> int | None:
    """Return by how many tokens a request is over what may be asked in a minute; None if nothing is said of it."""
    found = _PER_MINUTE.search(text)
    excess = _count(found[2]) - _count(found[1]) if found else 0
    return excess if excess > 0 else None


def _count(digits: str) -> int:
    return int(digits.replace(",", "") or "0")
