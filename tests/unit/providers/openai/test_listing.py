"""Lists of models in the forms in which servers were seen to send them, shortened."""

import pytest

from app.providers.openai.listing import listed_models
from app.settings.schema import ListedModel

OPENROUTER = {
    "id": "maker/large",
    "name": "Maker: Large",
    "context_length": 200_000,
    "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
    "top_provider": {"context_length": 131_072, "max_completion_tokens": 8_192, "is_moderated": False},
    "supported_parameters": ["max_tokens", "tools"],
}
MISTRAL = {
    "id": "mistral-large-latest",
    "name": "mistral-large-2512",
    "max_context_length": 131_072,
    "capabilities": {"completion_chat": True, "function_calling": True, "vision": False},
}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"id": "gpt-x", "object": "model", "owned_by": "openai"}, ListedModel(id="gpt-x")),
        (
            OPENROUTER,
            ListedModel(
                id="maker/large",
                name="Maker: Large",
                limit=131_072,
                max_output=8_192,
                sees_pictures=True,
                calls_tools=True,
                reasons=False,
            ),
        ),
        (
            MISTRAL,
            ListedModel(
                id="mistral-large-latest",
                name="mistral-large-2512",
                limit=131_072,
                sees_pictures=False,
                calls_tools=True,
            ),
        ),
        ({"id": "vllm", "max_model_len": 32_768}, ListedModel(id="vllm", limit=32_768)),
        (
            {"id": "groq", "context_window": 8_192, "max_completion_tokens": 4_096},
            ListedModel(id="groq", limit=8_192, max_output=4_096),
        ),
        ({"id": "together", "type": "chat", "context_length": 4_096}, ListedModel(id="together", limit=4_096)),
        # llama.cpp: what it runs with before what the model was made for.
        ({"id": "a", "meta": {"n_ctx": 4_096, "n_ctx_train": 131_072}}, ListedModel(id="a", limit=4_096)),
        ({"id": "a", "meta": {"n_ctx_train": 131_072}}, ListedModel(id="a", limit=131_072)),
        # Nothing that can be true.
        ({"id": "a", "context_length": 0, "max_model_len": "many", "meta": None}, ListedModel(id="a")),
        ({"id": "a", "name": "a", "context_length": -1, "capabilities": ["completion"]}, ListedModel(id="a")),
    ],
)
def test_what_a_list_tells_of_a_model(entry: object, expected: ListedModel) -> None:
    assert listed_models({"object": "list", "data": [entry]}) == (expected,)


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        ({"object": "list", "data": None}, []),
        ({"data": []}, []),
        # Together's list has no object around it.
        ([{"id": "a"}, {"id": "b"}], ["a", "b"]),
        ({"data": [{"id": "b"}, {"id": "a"}, {"id": "b"}]}, ["b", "a"]),
        ({"data": [None, "x", {}, {"id": ""}, {"id": 7}, {"id": "a"}]}, ["a"]),
        ({"data": [{"id": "e", "type": "embeddings"}, {"id": "a", "type": "llm"}]}, ["a"]),
        ({"data": [{"id": "e", "capabilities": {"completion_chat": False}}]}, []),
    ],
)
def test_what_chats_is_listed_once_in_the_order_of_the_list(body: object, ids: list[str]) -> None:
    models = listed_models(body)

    assert models is not None
    assert [model.id for model in models] == ids


@pytest.mark.parametrize("body", [None, "<html>", 7, {}, {"data": {}}, {"detail": "Not Found"}])
def test_what_is_no_list(body: object) -> None:
    assert listed_models(body) is None
