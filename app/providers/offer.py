"""What an endpoint offers: catalogue, then the provider's own list, then what the person says.

Each later one overrides the earlier, figure by figure. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from app.domain.models import Abilities, ModelCard, Origin, Prices, ThinkingLevel
from app.providers.catalogue import Catalogue
from app.settings.schema import Endpoint, ListedModel, Maker, ModelSettings

_COMMON_LEVELS = (ThinkingLevel.LOW, ThinkingLevel.MEDIUM, ThinkingLevel.HIGH)
"""What whoever lets a model think at all takes, as an effort or as a budget."""
MAKER_ENCODINGS: Mapping[Maker, tuple[str, float]] = {"anthropic": ("o200k_base", 1.6), "openai": ("o200k_base", 1.0)}
"""Encoding and factor of a vendor's models that nobody has entered (context-windows.md, 8)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Offering:
    """How the models of one endpoint are described."""

    endpoint: Endpoint
    catalogue: Catalogue
    models: Mapping[str, ModelSettings]
    """What the person says, by `provider/model`."""

    def cards(self) -> tuple[ModelCard, ...]:
        """Return every model on offer: the provider's list in its order, else the catalogue; then added ones."""
        listed = {model.id: model for model in self.endpoint.models}
        ids = list(listed) or [entry.id for entry in self.catalogue.of_maker(self.endpoint.maker)]
        ids += [model for model in self._added() if model not in ids]
        return tuple(self._card(model, listed.get(model)) for model in ids)

    def card(self, model: str) -> ModelCard:
        """Return what is known of a model, be it in a list or not."""
        listed = next((entry for entry in self.endpoint.models if entry.id == model), None)
        return self._card(model, listed)

    def _added(self) -> list[str]:
        prefix = f"{self.endpoint.id}/"
        return [ref.removeprefix(prefix) for ref, said in self.models.items() if said.added and ref.startswith(prefix)]

    def _card(self, model: str, listed: ListedModel | None) -> ModelCard:
        card = self._known(model)
        if listed is not None:
            card = _with_list(card, listed)
        said = self.models.get(card.ref)
        if said is not None:
            card = _with_words(card, said)
        return replace(card, levels=self._levels(card))

    def _levels(self, card: ModelCard) -> tuple[ThinkingLevel, ...]:
        """Return the levels that are known, or those that can be tried where all that is known is that it reasons."""
        if card.abilities.reasons is False:
            return ()
        if card.levels or not card.abilities.reasons:
            return card.levels
        # Ollama takes the effort `none`; others refuse it, or take it for their default.
        return (ThinkingLevel.OFF, *_COMMON_LEVELS) if self.endpoint.maker == "ollama" else _COMMON_LEVELS

    def _known(self, model: str) -> ModelCard:
        """Return what the catalogue knows, or a card without figures."""
        entry = self.catalogue.find(self.endpoint.maker, model)
        if entry is None:
            card = ModelCard(id=model, provider=self.endpoint.id, name=model, limit=None, max_output=None)
            if self.endpoint.maker in MAKER_ENCODINGS:
                encoding, factor = MAKER_ENCODINGS[self.endpoint.maker]
                card = replace(card, encoding=encoding, factor=factor)
            return replace(card, provider_name=self.endpoint.name, origin=Origin.PROVIDER)
        name = entry.name if entry.id == model else f"{entry.name} ({model.removeprefix(entry.id)[1:]})"
        return replace(entry, id=model, name=name, provider=self.endpoint.id, provider_name=self.endpoint.name)


def _with_list(card: ModelCard, listed: ListedModel) -> ModelCard:
    abilities = replace(
        card.abilities,
        sees_pictures=_first(listed.sees_pictures, card.abilities.sees_pictures),
        reads_pdf=_first(listed.reads_pdf, card.abilities.reads_pdf),
        calls_tools=_first(listed.calls_tools, card.abilities.calls_tools),
        reasons=_first(listed.reasons, card.abilities.reasons),
    )
    return replace(
        card,
        # A catalogue names a dated model better than a list that gives its id for a name.
        name=listed.name if listed.name and listed.name != listed.id else card.name,
        limit=_first(listed.limit, card.limit),
        max_output=_first(listed.max_output, card.max_output),
        abilities=abilities,
        levels=card.levels if listed.levels is None else listed.levels,
    )


def _with_words(card: ModelCard, said: ModelSettings) -> ModelCard:
    abilities = Abilities(
        sees_pictures=_first(said.sees_pictures, card.abilities.sees_pictures),
        reads_pdf=_first(said.reads_pdf, card.abilities.reads_pdf),
        calls_tools=_first(said.calls_tools, card.abilities.calls_tools),
        reasons=_first(said.reasons, card.abilities.reasons),
    )
    prices = Prices(
        input=_first(said.input_price, card.prices.input),
        output=_first(said.output_price, card.prices.output),
        cache_read=_first(said.cache_read_price, card.prices.cache_read),
        cache_write=_first(said.cache_write_price, card.prices.cache_write),
    )
    return replace(
        card,
        name=said.name or card.name,
        limit=_first(said.limit, card.limit),
        max_output=_first(said.max_output, card.max_output),
        abilities=abilities,
        prices=prices,
        is_favourite=said.favourite,
        origin=Origin.PERSON if said.added else card.origin,
    )


def _first(value: T | None, other: T | None) -> T | None:
    return value if value is not None else other
