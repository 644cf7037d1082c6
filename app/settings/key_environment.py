"""Keys in environment variables, and the only addresses they may be sent to."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from app.domain.errors import KnownError
from app.settings.key_text import strip_key, usable_key
from app.settings.schema import Endpoint

_VARIABLES: Final = {"api.anthropic.com": "ANTHROPIC_API_KEY", "api.openai.com": "OPENAI_API_KEY"}


def variable_for(endpoint: Endpoint) -> str:
    """Return the environment variable whose key may be sent to this address, empty if none may.

    A vendor's key goes to that vendor's own host, encrypted, and nowhere else, whoever the endpoint says it is.
    """
    try:
        parts = urlsplit(endpoint.base_url)
        if parts.scheme != "https" or parts.username is not None or parts.port not in (None, 443):
            return ""
    except ValueError:
        return ""
    return _VARIABLES.get(parts.hostname or "", "")


class KeyEnvironment:
    """The variables of the vendors; never written to."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def get(self, endpoint: Endpoint) -> str:
        """Return the key for `endpoint`, empty if there is none that can be used."""
        try:
            return self._read(endpoint)
        except KnownError:
            return ""

    def problem(self, endpoint: Endpoint) -> str:
        """Return a sentence if what stands in the variable for `endpoint` can't be a key."""
        try:
            self._read(endpoint)
        except KnownError as error:
            return str(error)
        return ""

    def all(self) -> tuple[str, ...]:
        """Return every key there is, whoever it may be sent to."""
        return tuple(filter(None, (strip_key(self._environ.get(name, "")) for name in _VARIABLES.values())))

    def _read(self, endpoint: Endpoint) -> str:
        variable = variable_for(endpoint)
        text = self._environ.get(variable, "") if variable else ""
        return usable_key(text, f"What stands in {variable}") if text.strip() else ""
