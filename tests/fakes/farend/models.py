"""The models a far end offers, and how the list endpoints of each kind of server describe them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tests.fakes.farend.answers import json_answer, model_not_found, raw
from tests.fakes.farend.rendering import CREATED
from tests.fakes.farend.script import Answer, RawAnswer

Look = Literal["plain", "ollama", "lmstudio", "llamacpp"]
"""Which server's own endpoints answer besides those of the dialects; the others give 404."""


@dataclass(frozen=True)
class Model:
    """One model of the far end."""

    id: str
    name: str = ""
    context: int = 200_000
    """What the model was made for, in tokens."""
    loaded_context: int | None = None
    """What it is loaded with (LM Studio, `/api/ps` of Ollama); not loaded if None."""
    num_ctx: int | None = None
    """The parameter of Ollama's model file."""
    architecture: str = "llama"
    capabilities: tuple[str, ...] = ("completion", "tools")
    """What Ollama says it can do."""
    extra: Mapping[str, object] = field(default_factory=dict)
    """Added to its entry in `/v1/models`, as `max_model_len` of vLLM or `context_length` of OpenRouter."""


DEFAULT_MODELS = (
    Model("far-large", "Far Large", 200_000, loaded_context=16_384),
    Model("far-small", "Far Small", 32_768, num_ctx=8_192),
    Model("far-tiny", "Far Tiny", 4_096),
)

VERSION = "0.32.9"
MADE_AT = "2026-09-21T13:33:20Z"


def listing(
    method: str,
    path: str,
    body: Mapping[str, object],
    *,
    models: Sequence[Model],
    look: Look,
    is_anthropic: bool,
) -> Answer | None:
    """Answer a request for what the server offers; None if this kind of server has no such endpoint."""
    own = _own_endpoint(method, path, body, models, look)
    if own is not None or method != "GET":
        return own
    entry = _anthropic_model if is_anthropic else _openai_model
    if path.endswith("/models"):
        return json_answer(_anthropic_list(models) if is_anthropic else _openai_list(models, look))
    if "/models/" in path:
        wanted = path.split("/models/", 1)[1]
        found = next((model for model in models if model.id == wanted), None)
        return json_answer(entry(found)) if found else model_not_found(wanted)
    return None


def _own_endpoint(
    method: str, path: str, body: Mapping[str, object], models: Sequence[Model], look: Look
) -> Answer | None:
    match look, method, path:
        case "ollama", _, _:
            return _ollama_endpoint(method, path, body, models)
        case "lmstudio", "GET", "/api/v0/models":
            return json_answer({"object": "list", "data": [_lmstudio_v0(model) for model in models]})
        case "lmstudio", "GET", "/api/v1/models":
            return json_answer({"models": [_lmstudio_v1(model) for model in models]})
        case "llamacpp", "GET", "/props":
            context = models[0].loaded_context or models[0].context
            return json_answer({"default_generation_settings": {"n_ctx": context}, "total_slots": 1})
    return None


def _ollama_endpoint(method: str, path: str, body: Mapping[str, object], models: Sequence[Model]) -> Answer | None:
    match method, path:
        case "GET", "/":
            return raw("Ollama is running", content_type="text/plain; charset=utf-8")
        case "GET", "/api/version":
            return json_answer({"version": VERSION})
        case "GET", "/api/tags":
            return json_answer({"models": [_ollama_entry(model) for model in models]})
        case "GET", "/api/ps":
            loaded = [model for model in models if model.loaded_context is not None]
            return json_answer({"models": [_ollama_running(model) for model in loaded]})
        case "POST", "/api/show":
            return _ollama_show(str(body.get("model") or body.get("name")), models)
    return None


def _anthropic_list(models: Sequence[Model]) -> object:
    return {
        "data": [_anthropic_model(model) for model in models],
        "has_more": False,
        "first_id": models[0].id if models else None,
        "last_id": models[-1].id if models else None,
    }


def _anthropic_model(model: Model) -> object:
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.name or model.id,
        "created_at": MADE_AT,
        "lifecycle": "active",
        "max_input_tokens": model.context,
        "max_tokens": 8_192,
        "capabilities": None,
        **model.extra,
    }


def _openai_list(models: Sequence[Model], look: Look) -> object:
    data = [_openai_model(model) for model in models]
    if look == "llamacpp":
        for entry, model in zip(data, models, strict=True):
            entry["meta"] = {"n_ctx_train": model.context}
    return {"object": "list", "data": data}


def _openai_model(model: Model) -> dict[str, object]:
    return {"id": model.id, "object": "model", "created": CREATED, "owned_by": "far-end", **model.extra}


def _ollama_details(model: Model) -> object:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": model.architecture,
        "families": [model.architecture],
        "parameter_size": "8.0B",
        "quantization_level": "Q4_K_M",
    }


def _ollama_entry(model: Model) -> dict[str, object]:
    return {
        "name": model.id,
        "model": model.id,
        "modified_at": MADE_AT,
        "size": 4_661_224_676,
        "digest": "365c0bd3c000a25d28ddbf732fe1c6add414de7275464c4e4d1c3b5fcb5d8ad1",
        "details": _ollama_details(model),
    }


def _ollama_running(model: Model) -> object:
    entry = _ollama_entry(model)
    del entry["modified_at"]
    return {**entry, "expires_at": MADE_AT, "size_vram": 4_661_224_676, "context_length": model.loaded_context}


def _ollama_show(wanted: str, models: Sequence[Model]) -> RawAnswer:
    model = next((model for model in models if wanted in {model.id, model.id.removesuffix(":latest")}), None)
    if model is None:
        return json_answer({"error": f"model '{wanted}' not found"}, status=404)
    parameters = ['stop                           "<|eot_id|>"']
    if model.num_ctx is not None:
        parameters.insert(0, f"num_ctx                        {model.num_ctx}")
    return json_answer(
        {
            "modelfile": f"FROM {model.id}\n",
            "parameters": "\n".join(parameters),
            "template": "{{ .Prompt }}",
            "details": _ollama_details(model),
            "model_info": {
                "general.architecture": model.architecture,
                "general.parameter_count": 8_030_261_248,
                f"{model.architecture}.context_length": model.context,
                f"{model.architecture}.embedding_length": 4_096,
            },
            "capabilities": list(model.capabilities),
            "modified_at": MADE_AT,
        }
    )


def _lmstudio_v0(model: Model) -> dict[str, object]:
    entry: dict[str, object] = {
        "id": model.id,
        "object": "model",
        "type": "llm",
        "publisher": "far-end",
        "arch": model.architecture,
        "compatibility_type": "gguf",
        "quantization": "Q4_K_M",
        "state": "not-loaded" if model.loaded_context is None else "loaded",
        "max_context_length": model.context,
    }
    return entry | ({} if model.loaded_context is None else {"loaded_context_length": model.loaded_context})


def _lmstudio_v1(model: Model) -> object:
    loaded = [] if model.loaded_context is None else [model.loaded_context]
    return {
        "type": "llm",
        "publisher": "far-end",
        "key": model.id,
        "display_name": model.name or model.id,
        "architecture": model.architecture,
        "quantization": {"name": "Q4_K_M", "bits_per_weight": 4},
        "size_bytes": 4_661_224_676,
        "params_string": "8B",
        "loaded_instances": [{"id": model.id, "config": {"context_length": length}} for length in loaded],
        "max_context_length": model.context,
        "format": "gguf",
        "capabilities": {"vision": False, "trained_for_tool_use": True},
    }
