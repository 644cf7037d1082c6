"""The list of models as Anthropic and compatible servers give it, page by page. No I/O."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from app.domain.models import ThinkingLevel
from app.providers.anthropic.thinking import BETWEEN_TOOLS_ONLY
from app.settings.schema import ListedModel

PATH: Final = "/v1/models"
PAGE_MODELS: Final = 1000


class Page(NamedTuple):
    """One page of the list."""

    models: tuple[ListedModel, ...]
    next_after: str
    """Id after which the next page begins, empty if this was the last."""


def read_page(body: object) -> Page | None:
    """Return what a page says, None if it is none. Entries without an id are left out."""
    if not isinstance(body, Mapping) or not isinstance(entries := body.get("data") or [], list):
        return None
    if "data" not in body:
        return None
    models = tuple(_listed(entry) for entry in entries if isinstance(entry, Mapping) and _text(entry, "id"))
    last = _text(body, "last_id")
    return Page(models, last if body.get("has_more") is True and models else "")


def _listed(entry: Mapping[str, object]) -> ListedModel:
    """Compatible servers leave out most of what Anthropic always tells."""
    abilities = entry.get("capabilities")
    return ListedModel(
        id=_text(entry, "id"),
        name=_text(entry, "display_name"),
        limit=_positive(entry.get("max_input_tokens")),
        max_output=_positive(entry.get("max_tokens")),
        sees_pictures=_supported(abilities, "image_input"),
        reads_pdf=_supported(abilities, "pdf_input"),
        reasons=_supported(abilities, "thinking"),
        levels=_levels(_text(entry, "id"), abilities),
    )


def _levels(model: str, abilities: object) -> tuple[ThinkingLevel, ...] | None:
    """Return what `capabilities` tells: levels of effort, or budgets of thinking, which can be of any size."""
    if not isinstance(abilities, Mapping):
        return None
    effort, thinking = abilities.get("effort"), abilities.get("thinking")
    types = thinking.get("types") if isinstance(thinking, Mapping) else None
    if not isinstance(effort, Mapping) or not isinstance(types, Mapping):
        return None
    off = "between_tools" if BETWEEN_TOOLS_ONLY.match(model) else "disabled"
    is_by_budget = bool(_supported(types, "enabled")) and not _supported(types, "adaptive")
    can = {level: bool(_supported(effort, level)) for level in ThinkingLevel}
    can[ThinkingLevel.OFF] = bool(_supported(types, off) and _supported(abilities, "thinking"))
    if is_by_budget:
        can |= dict.fromkeys((ThinkingLevel.LOW, ThinkingLevel.MEDIUM, ThinkingLevel.HIGH), True)
    return tuple(level for level in ThinkingLevel if can[level])


def _text(entry: Mapping[str, object], name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _supported(abilities: object, name: str) -> bool | None:
    ability = abilities.get(name) if isinstance(abilities, Mapping) else None
    value = ability.get("supported") if isinstance(ability, Mapping) else None
    return value if isinstance(value, bool) else None
