"""Which models of a provider's list people can chat with. Pure."""

import re
from collections.abc import Iterable
from typing import Final

from app.providers.catalogue import Catalogue, undated
from app.providers.redaction import one_line
from app.settings.schema import ListedModel, Maker

MAX_MODELS: Final = 1_000
"""Of one endpoint; a longer list is cut."""
MAX_ID_CHARS: Final = 200
MAX_NAME_CHARS: Final = 80
MAX_TOKENS: Final = 100_000_000
"""More than any model takes; a figure beyond it is none."""

_OPENAI_CHAT: Final = re.compile(r"(?:ft:)?(?:gpt-\d|chatgpt-|chat-latest|gpt-chat-|o\d)")
"""How OpenAI's models for text begin. What begins otherwise is for other uses: text-embedding-, whisper-,
tts-, dall-e-, omni-moderation-, sora-, babbage-, davinci-, codex-, computer-use-, gpt-image-, gpt-audio-,
gpt-realtime-."""
_OPENAI_OTHER_WORDS: Final = frozenset(
    {"audio", "realtime", "transcribe", "tts", "image", "instruct", "search", "live", "whisper", "translate", "deep"}
)
"""A word of the id, between hyphens, that takes a model out of chat: gpt-4o-audio-preview, gpt-5-image-mini,
o3-deep-research, gpt-3.5-turbo-instruct."""


def chat_models(models: Iterable[ListedModel], maker: Maker, catalogue: Catalogue) -> tuple[ListedModel, ...]:
    """Return what people can chat with, each model once, at most `MAX_MODELS`.

    Of OpenAI's hundreds only those for text, without the dated twins of what is listed undated, in the order of
    the catalogue and then by name. Other lists are short and in an order that means something.
    """
    by_id = {model.id: model for model in map(_fit, models) if _can_be_asked(model.id)}
    if maker == "openai":
        chosen = [model for model in by_id.values() if _is_openai_chat(model.id) and not _is_twin(model.id, by_id)]
        order = {entry.id: place for place, entry in enumerate(catalogue.of_maker("openai"))}
        chosen.sort(key=lambda model: (order.get(undated(model.id), len(order)), model.id))
    else:
        chosen = list(by_id.values())
    return tuple(chosen[:MAX_MODELS])


def without_wild_figures(model: ListedModel) -> ListedModel:
    """Return `model` without figures that no model has."""
    wild = {name: None for name in ("limit", "max_output") if (getattr(model, name) or 0) > MAX_TOKENS}
    return model.model_copy(update=wild)


def _can_be_asked(model: str) -> bool:
    return 0 < len(model) <= MAX_ID_CHARS and model.isprintable() and model == model.strip()


def _fit(model: ListedModel) -> ListedModel:
    """Return `model` as it can be shown and kept, whatever its server says."""
    name = one_line(model.name[: 2 * MAX_NAME_CHARS])[:MAX_NAME_CHARS].strip()
    return without_wild_figures(model).model_copy(update={"name": name})


def _is_openai_chat(model: str) -> bool:
    return bool(_OPENAI_CHAT.match(model)) and _OPENAI_OTHER_WORDS.isdisjoint(model.split("-"))


def _is_twin(model: str, listed: Iterable[str]) -> bool:
    return undated(model) != model and undated(model) in listed
