"""Lists of models as OpenAI and compatible servers give them, each with fields of its own. No I/O."""

from collections.abc import Iterator, Mapping
from typing import Final

from app.providers.openai.parts import count_in, text_in
from app.settings.schema import ListedModel

_OTHER_TYPES: Final = frozenset({"embedding", "embeddings", "image", "audio", "video", "moderation", "rerank"})
_CONTEXT_NAMES: Final = ("context_length", "max_model_len", "max_context_length", "context_window")
"""OpenRouter and Together; vLLM; Mistral and LM Studio; Groq."""


def listed_models(body: object) -> tuple[ListedModel, ...] | None:
    """Return the models of a list in its order, None if it is none. What is told not to chat is left out."""
    entries = body.get("data") if isinstance(body, Mapping) else body
    if entries is None and isinstance(body, Mapping) and "data" in body:
        # Ollama without any model.
        entries = []
    if not isinstance(entries, list):
        return None
    found: dict[str, ListedModel] = {}
    for entry in entries:
        model_id = text_in(entry, "id")
        if model_id and model_id not in found and _may_chat(entry):
            found[model_id] = _listed(model_id, entry)
    return tuple(found.values())


def _may_chat(entry: Mapping[str, object]) -> bool:
    capabilities = entry.get("capabilities")
    if isinstance(capabilities, Mapping) and capabilities.get("completion_chat") is False:
        return False
    return text_in(entry, "type") not in _OTHER_TYPES


def _listed(model_id: str, entry: Mapping[str, object]) -> ListedModel:
    served, meta = entry.get("top_provider"), entry.get("meta")
    limits = (
        count_in(served, "context_length"),
        count_in(meta, "n_ctx"),
        *(count_in(entry, name) for name in _CONTEXT_NAMES),
        count_in(meta, "n_ctx_train"),
    )
    outputs = (count_in(served, "max_completion_tokens"), count_in(entry, "max_completion_tokens"))
    return ListedModel(
        id=model_id,
        name=text_in(entry, "name") if text_in(entry, "name") != model_id else "",
        limit=next((limit for limit in limits if limit), None),
        max_output=next((output for output in outputs if output), None),
        sees_pictures=_ability(entry, "vision", "architecture", "input_modalities", "image"),
        calls_tools=_ability(entry, "function_calling", "", "supported_parameters", "tools"),
        reasons=_ability(entry, "reasoning", "", "supported_parameters", "reasoning"),
    )


def _ability(entry: Mapping[str, object], capability: str, holder: str, field: str, word: str) -> bool | None:
    """Return what Mistral tells as `capabilities`, OpenRouter by a list of words; None where nothing is told."""
    return next((flag for flag in _told(entry, capability, holder, field, word) if flag is not None), None)


def _told(entry: Mapping[str, object], capability: str, holder: str, field: str, word: str) -> Iterator[bool | None]:
    capabilities = entry.get("capabilities")
    flag = capabilities.get(capability) if isinstance(capabilities, Mapping) else None
    yield flag if isinstance(flag, bool) else None
    inner = entry.get(holder) if holder else entry
    words = inner.get(field) if isinstance(inner, Mapping) else None
    yield word in words if isinstance(words, list) else None
