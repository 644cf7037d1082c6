"""Everything that is on offer, found by the model's reference."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from app.domain.errors import ErrorKind, ProviderError
from app.domain.models import ModelCard
from app.providers.base import Provider


@dataclass(frozen=True, slots=True)
class Offer:
    """A provider and what it offers."""

    provider: Provider
    cards: tuple[ModelCard, ...]
    is_usable: bool = True
    """Off: there is no key, so its models are found but not listed."""
    unlisted: Callable[[str], ModelCard] | None = None
    """What is known of a model that is in no list; None if there can be no such model."""

    @classmethod
    def built_in(cls, provider: Provider) -> "Offer":
        """Return the offer of a provider that needs no settings."""
        return cls(provider, provider.models())

    def with_favourites(self, refs: Collection[str]) -> "Offer":
        """Return the same offer with these `provider/model` as favourites and no others."""
        return replace(self, cards=tuple(replace(card, is_favourite=card.ref in refs) for card in self.cards))

    def card(self, model: str) -> ModelCard | None:
        """Return what is known of a model, None if it can't be asked."""
        found = next((card for card in self.cards if card.id == model), None)
        if found is None and self.unlisted is not None and model:
            return self.unlisted(model)
        return found


class Registry:
    """Knows which provider offers which model. A reference is `provider/model`."""

    def __init__(self, offers: Iterable[Offer] = ()) -> None:
        self.replace(offers)

    def replace(self, offers: Iterable[Offer], *, default: str = "", problem: str = "") -> None:
        """Offer these and no others from now on; a stream that runs goes on.

        `default` is the model of new chats, if it is on offer. `problem` is a sentence that says why
        providers may be missing.
        """
        self._offers = {offer.provider.name: offer for offer in offers}
        self._default = default
        self._problem = problem

    def models(self) -> tuple[ModelCard, ...]:
        """Return every model that can be asked: the one of new chats, then the others by provider."""
        cards = [card for offer in self._offers.values() if offer.is_usable for card in offer.cards]
        return tuple(sorted(cards, key=lambda card: card.ref != self._default))

    def all_models(self) -> tuple[ModelCard, ...]:
        """Return every model that is known, by provider, whether there is a key for it or not."""
        return tuple(card for offer in self._offers.values() for card in offer.cards)

    def find(self, ref: str) -> tuple[Provider, ModelCard]:
        """Return who offers a model and what is known of it. Raises ProviderError(model_not_found)."""
        name, _, model = ref.partition("/")
        offer = self._offers.get(name)
        if offer is None:
            raise ProviderError(ErrorKind.MODEL_NOT_FOUND, self._problem or _unknown_provider(name))
        card = offer.card(model)
        if card is None:
            raise ProviderError(ErrorKind.MODEL_NOT_FOUND, f"This version of Muntin has no model “{ref}”.")
        return offer.provider, card


def _unknown_provider(name: str) -> str:
    if not name:
        return "This chat has no model yet. Choose one."
    return f"The provider “{name}” is not in the settings any more. Choose another model for this chat."
