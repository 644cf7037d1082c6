import pytest

from app.providers.openai.faults import refused_field, without

SENT = {"model": "m", "stream_options": {}, "reasoning": {}, "include": [], "truncation": "disabled", "max_tokens": 9}


@pytest.mark.parametrize(
    ("text", "param", "field"),
    [
        # OpenAI, vLLM, Mistral (422), a proxy.
        ("Unrecognized request argument supplied: stream_options", None, "stream_options"),
        ('{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}', None, "stream_options"),
        ("Unsupported parameter", "reasoning.summary", "reasoning"),
        ("Unknown parameter: 'truncation'.", None, "truncation"),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", None, "max_tokens"),
        # Never by a loose word, and never what the request can't do without.
        ("Please include your reasoning.", None, None),
        ("Invalid value: 'messages'", "messages", None),
        ("'max_tokens' or 'max_completion_tokens' is too large: 9.", "max_tokens", None),
        ("Unsupported parameter: 'store'", "store", None),
    ],
)
def test_which_field_a_server_refuses(text: str, param: str | None, field: str | None) -> None:
    body = {"error": {"message": text, "param": param}}

    assert refused_field(400, text, body, SENT) == field
    assert refused_field(422, text, body, SENT) == field
    assert refused_field(500, text, body, SENT) is None


def test_a_field_is_left_out_or_renamed() -> None:
    assert without({"model": "m", "include": []}, "include") == {"model": "m"}
    assert without({"model": "m", "max_tokens": 9}, "max_tokens") == {"model": "m", "max_completion_tokens": 9}
    assert without({"model": "m"}, "max_tokens") == {"model": "m"}
