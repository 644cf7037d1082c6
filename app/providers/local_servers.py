"""What Ollama and LM Studio tell of themselves beside the dialect they share with OpenAI.

How long a prompt they take matters most: both serve a context that is set when a model is loaded, mostly far
shorter than what the model was made for, and Ollama cuts a longer prompt without a word. So a figure is used only
if it is the one that is served; otherwise the limit stays unknown, and the person can enter it.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from app.providers.json_client import REQUEST_SECONDS, JsonClient
from app.settings.schema import ListedModel

PARALLEL_REQUESTS: Final = 4
DESCRIBE_SECONDS: Final = 30.0
"""For all models together; those that come later stay without a description."""
_NUM_CTX: Final = re.compile(r"^num_ctx[ \t]+(\d{1,9})[ \t]*$", re.MULTILINE)
_LMSTUDIO_OWNER: Final = re.compile(r"organization[-_]owner")


def root_of(base_url: str) -> str:
    """Return the address of the server itself, without the path of the dialect."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/").removesuffix("/v1")
    return f"{parts.scheme}://{parts.netloc}{path}"


async def count_ollama_models(client: JsonClient, root: str, *, seconds: float) -> int | None:
    """Return how many models the Ollama at `root` has, None if that is no Ollama."""
    version = _object(await client.get(f"{root}/api/version", seconds=seconds))
    if not isinstance(version.get("version"), str):
        return None
    tags = _object(await client.get(f"{root}/api/tags", seconds=seconds)).get("models")
    return len(tags) if isinstance(tags, list) else None


async def count_lmstudio_models(client: JsonClient, root: str, *, seconds: float) -> int | None:
    """Return how many models for chat the LM Studio at `root` has, None if that is no LM Studio."""
    answer = _object(await client.get(f"{root}/api/v0/models", seconds=seconds))
    entries = _entries(answer, "data")
    if (
        answer.get("object") == "list"
        and entries is not None
        and all(isinstance(entry.get("type"), str) for entry in entries)
    ):
        return sum(not _is_embedding(entry) for entry in entries)
    # Versions before 0.3.6 have the shared list alone; the owner is what tells it from that of other servers.
    entries = _entries(await client.get(f"{root}/v1/models", seconds=seconds), "data")
    if entries and all(_LMSTUDIO_OWNER.fullmatch(str(entry.get("owned_by"))) for entry in entries):
        return len(entries)
    return None


async def describe_ollama_models(
    client: JsonClient, root: str, models: Sequence[ListedModel]
) -> tuple[ListedModel, ...]:
    """Return `models` with what the Ollama at `root` tells of each, without those that can't chat.

    Two figures are the context that is served: the parameter `num_ctx` of the model's file, and what
    `/api/ps` says of a model that is loaded. What the model was made for (`model_info`) is not: by default
    Ollama serves 4,096 tokens or more by the memory of the graphics card, or `OLLAMA_CONTEXT_LENGTH`.
    """
    loaded = {
        str(entry.get("model")): _tokens(entry.get("context_length"))
        for entry in _entries(await client.get(f"{root}/api/ps"), "models") or ()
    }
    turns = asyncio.Semaphore(PARALLEL_REQUESTS)
    now = asyncio.get_running_loop().time
    end = now() + DESCRIBE_SECONDS

    async def describe(model: ListedModel) -> ListedModel | None:
        async with turns:
            seconds = min(REQUEST_SECONDS, end - now())
            shown = _object(await client.post(f"{root}/api/show", {"model": model.id}, seconds=seconds))
        return _ollama_model(model, shown, loaded.get(model.id))

    described = await asyncio.gather(*map(describe, models))
    return tuple(model for model in described if model is not None)


def _ollama_model(model: ListedModel, shown: Mapping[str, object], loaded: int | None) -> ListedModel | None:
    parameter = _NUM_CTX.search(str(shown.get("parameters") or ""))
    served = (_tokens(int(parameter[1])) if parameter else None) or loaded
    made_for = _made_for(shown)
    changes: dict[str, object] = {"limit": min(served, made_for) if served and made_for else served}
    can = shown.get("capabilities")
    if isinstance(can, list):
        if "completion" not in can and "embedding" in can:
            return None
        changes |= {"sees_pictures": "vision" in can, "calls_tools": "tools" in can, "reasons": "thinking" in can}
    return model.model_copy(update=changes)


def _made_for(shown: Mapping[str, object]) -> int | None:
    """Return the longest context a model was made for: a larger `num_ctx` is cut down to it."""
    info = _object(shown.get("model_info"))
    return _tokens(info.get(f"{info.get('general.architecture')}.context_length"))


async def describe_lmstudio_models(
    client: JsonClient, root: str, models: Sequence[ListedModel]
) -> tuple[ListedModel, ...]:
    """Return `models` with what the LM Studio at `root` tells of each, without those that can't chat.

    Only `loaded_context_length` is the context that is served: one that is not loaded yet will be loaded
    with the length the person has set for it, 4,096 by default, not with its `max_context_length`.
    """
    entries = _entries(await client.get(f"{root}/api/v0/models"), "data") or ()
    told = {str(entry.get("id")): entry for entry in entries}
    return tuple(
        _lmstudio_model(model, told.get(model.id, {})) for model in models if not _is_embedding(told.get(model.id, {}))
    )


def _lmstudio_model(model: ListedModel, told: Mapping[str, object]) -> ListedModel:
    changes: dict[str, object] = {"limit": _tokens(told.get("loaded_context_length"))}
    if isinstance(told.get("type"), str):
        changes["sees_pictures"] = told["type"] == "vlm"
    can = told.get("capabilities")
    if isinstance(can, list):
        changes["calls_tools"] = "tool_use" in can
    return model.model_copy(update=changes)


def _is_embedding(entry: Mapping[str, object]) -> bool:
    return entry.get("type") in ("embedding", "embeddings")


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _entries(value: object, field: str) -> list[Mapping[str, object]] | None:
    """Return the objects of a list that is answered as `{field: [...]}`, None if it isn't."""
    found = _object(value).get(field)
    return found if isinstance(found, list) and all(isinstance(entry, dict) for entry in found) else None
