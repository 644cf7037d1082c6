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
        ("Wrong item. It is not kept with `truncation` disabled and `include` empty.", None, None),
    ],
)
def test_which_field_a_server_refuses(text: str, param: str | None, field: str | None) -> None:
    body = {"error": {"message": text, "param": param}}

    assert refused_field(400, text, body, SENT) == field
    assert refused_field(422, text, body, SENT) == field
    assert refused_field(500, text, body, SENT) is None


@pytest.mark.parametrize(("words", "field"), [("Unknown parameter: 'store'.", "store"), ("Bad 'store'.", None)])
def test_a_server_that_knows_storing_is_never_asked_without_the_wish_not_to(words: str, field: str | None) -> None:
    sent = {"model": "m", "store": False}

    for param in ("store", None):
        assert refused_field(400, words, {"error": {"message": words, "param": param}}, sent) == field
    not_kept = "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."
    assert refused_field(404, not_kept, None, sent) is None
    assert refused_field(400, not_kept, None, sent) is None


@pytest.mark.parametrize(
    "error",
    [
        {"code": "invalid_encrypted_content", "message": "The encrypted content gAAA could not be verified."},
        {"message": "Item 'rs_1' of type 'reasoning' was provided without its required following item."},
    ],
)
def test_reasoning_that_is_not_taken_back_is_left_out(error: dict[str, str]) -> None:
    said = {"type": "message", "role": "assistant", "content": []}
    sent: dict[str, object] = {"input": [{"type": "reasoning", "id": "rs_1"}, said], "reasoning": {"summary": "auto"}}

    refused = refused_field(400, error["message"], {"error": error}, sent)

    assert refused is not None
    assert without(sent, refused) == {"input": [said], "reasoning": {"summary": "auto"}}
    assert refused_field(400, error["message"], {"error": error}, without(sent, refused)) is None


def test_a_field_is_left_out_or_renamed() -> None:
    assert without({"model": "m", "include": []}, "include") == {"model": "m"}
    assert without({"model": "m", "max_tokens": 9}, "max_tokens") == {"model": "m", "max_completion_tokens": 9}
    assert without({"model": "m"}, "max_tokens") == {"model": "m"}
