"""The list of models as Anthropic and compatible servers give it, page by page. No I/O."""

from collections.abc import Mapping
from typing import Final, NamedTuple

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
    )


def _text(entry: Mapping[str, object], name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _supported(abilities: object, name: str) -> bool | None:
    ability = abilities.get(name) if isinstance(abilities, Mapping) else None
    value = ability.get("supported") if isinstance(ability, Mapping) else None
    return value if isinstance(value, bool) else None
