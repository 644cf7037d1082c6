"""All providers of the program, found by the model's reference."""

from collections.abc import Iterable

from app.domain.errors import ErrorKind, ProviderError
from app.domain.models import ModelCard
from app.providers.base import Provider


class Registry:
    """Knows which provider offers which model. A reference is `provider/model`."""

    def __init__(self, providers: Iterable[Provider] = ()) -> None:
        self.replace(providers)

    def replace(self, providers: Iterable[Provider]) -> None:
        """Offer these and no others from now on; a stream that runs goes on."""
        self._providers = {provider.name: provider for provider in providers}

    def models(self) -> tuple[ModelCard, ...]:
        """Return every model on offer, by provider."""
        return tuple(card for provider in self._providers.values() for card in provider.models())

    def find(self, ref: str) -> tuple[Provider, ModelCard]:
        """Return who offers a model and what is known of it. Raises ProviderError(model_not_found)."""
        name, _, model = ref.partition("/")
        provider = self._providers.get(name)
        card = next((card for card in provider.models() if card.id == model), None) if provider else None
        if provider is None or card is None:
            raise ProviderError(ErrorKind.MODEL_NOT_FOUND, f"This version of Muntin has no model “{ref}”.")
        return provider, card
