"""Settings, keys and providers: everything the settings window asks of the engine.

Lives on the engine's loop. What it changes is on disk before it is told (`SettingsChanged`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from app.aio import Clock
from app.domain.connections import DataReport, FoundServer, KeyPlace, KeyState, TestReport
from app.domain.events import Emit
from app.domain.models import ModelCard
from app.providers.base import Provider
from app.providers.registry import Registry
from app.settings.schema import Endpoint, Settings
from app.settings.secrets import Secrets

Edit = Callable[[Settings], Settings]
"""Makes new settings of the current ones; pure."""


class Connections:
    """Owns the settings and who can be asked with them."""

    def __init__(
        self,
        data_dir: Path,
        *,
        registry: Registry,
        built_in: Sequence[Provider],
        secrets: Secrets,
        emit: Emit,
        clock: Clock,
    ) -> None:
        """`built_in` providers need no endpoint and come first in `registry`, which is kept up here."""
        self._data_dir = data_dir
        self._registry = registry
        self._built_in = tuple(built_in)
        self._secrets = secrets
        self._emit = emit
        self._clock = clock
        registry.replace(self._built_in)

    async def settings(self) -> Settings:
        """Return the current settings. Raises StorageError if the file is there and can't be read."""
        return Settings()

    async def set_aside(self) -> str:
        """Return the name a broken settings file was set aside under at this start, empty if there was none."""
        raise NotImplementedError

    async def change(self, edit: Edit) -> Settings:
        """Apply `edit`, save and tell.

        Raises StorageError, or KnownError if the result is not valid; nothing changed then.
        """
        raise NotImplementedError

    async def all_models(self) -> tuple[ModelCard, ...]:
        """Return every model that is known, also of endpoints that have no key yet."""
        raise NotImplementedError

    async def key_state(self, endpoint_id: str) -> KeyState:
        """Return where the key of an endpoint is. Asks the key store, within its time limit."""
        raise NotImplementedError

    async def save_key(self, endpoint_id: str, key: str, place: KeyPlace) -> KeyState:
        """Keep a key in the key store, in memory or in the file. Raises KnownError; nothing is kept then."""
        raise NotImplementedError

    async def delete_key(self, endpoint_id: str) -> KeyState:
        """Forget the key of an endpoint wherever it is kept; one of the environment stays. Raises KnownError."""
        raise NotImplementedError

    async def test(self, endpoint: Endpoint, *, key: str = "", model: str = "") -> TestReport:
        """Try an endpoint step by step, with `key` or else the one that is kept. Changes nothing."""
        raise NotImplementedError

    async def discover(self) -> tuple[FoundServer, ...]:
        """Return the model servers on this computer that are not among the endpoints yet."""
        raise NotImplementedError

    async def refresh_models(self, endpoint_id: str) -> int:
        """Ask an endpoint for its list, keep it, and return how many models it has.

        Raises ProviderError, StorageError.
        """
        raise NotImplementedError

    async def data_report(self) -> DataReport:
        """Measure the data folder. Raises StorageError."""
        raise NotImplementedError

    async def close(self) -> None:
        """Close every connection."""
