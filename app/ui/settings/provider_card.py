"""A provider in the list: its name, where it is, and whether it can be asked."""

from urllib.parse import urlsplit

from app.domain.connections import KeyState
from app.settings.schema import Endpoint
from app.ui.settings.card import Card
from app.ui.settings.wording import key_sentence


class ProviderCard(Card):
    """Two lines that are pressed to open the provider."""

    def show_endpoint(self, endpoint: Endpoint, state: KeyState | None) -> None:
        """Say everything about a provider in two lines."""
        if not endpoint.needs_key:
            key = self.tr("Needs no key")
        elif state is None:
            key = self.tr("Looking for the key…")
        else:
            # That there is no store at all is said where it matters.
            problem = state.problem if state.store_name else ""
            key = f"{key_sentence(state)}. {problem}" if problem else key_sentence(state)
        host = urlsplit(endpoint.base_url).netloc
        self.show_lines(endpoint.name, f"{host}  ·  {key}")
        self.setAccessibleName(f"{endpoint.name}. {host}. {key}")
