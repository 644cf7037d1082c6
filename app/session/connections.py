"""Settings, keys and providers: everything the settings window asks of the engine.

Lives on the engine's loop. What it changes is on disk before it is told (`SettingsChanged`).
"""

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path

from app.aio import Clock, TaskSet, run_blocking, run_to_end
from app.domain.connections import DataReport, FoundServer, KeyPlace, KeyState, SetAside, TestReport
from app.domain.errors import KnownError, StorageError
from app.domain.events import Emit, SettingsChanged
from app.domain.models import ModelCard
from app.logs import set_detailed
from app.providers.base import Provider
from app.providers.catalogue import load_catalogue
from app.providers.discovery import Ports, discover
from app.providers.endpoints import EndpointProviders
from app.providers.listing import list_chat_models
from app.providers.registry import Offer, Registry
from app.session.data_size import measure
from app.session.trial import reach_endpoint, test_endpoint
from app.settings.key_account import host_of
from app.settings.key_text import strip_key
from app.settings.schema import Edit, Endpoint, KeptAt, Settings, with_endpoint
from app.settings.secrets import Secrets
from app.settings.store import SettingsStore


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
        tasks: TaskSet,
        ports: Ports | None = None,
    ) -> None:
        """`built_in` providers need no endpoint and come first in `registry`, which is kept up here.

        `ports` are those at which servers on this computer are looked for.
        """
        self._data_dir = data_dir
        self._registry = registry
        self._built_in = tuple(Offer.built_in(provider) for provider in built_in)
        self._secrets = secrets
        self._emit = emit
        self._clock = clock
        self._tasks = tasks
        self._ports = ports or Ports()
        self._store = SettingsStore(data_dir / "settings.json")
        self._settings: Settings | None = None
        self._changing = asyncio.Lock()
        self._keying = asyncio.Lock()
        self._providers: EndpointProviders | None = None
        self._usable: frozenset[str] = frozenset()
        registry.replace(self._built_in)

    async def ready(self) -> None:
        """Have the registry offer what the settings say; without them, what is built in, and the reason why."""
        try:
            await self.settings()
        except StorageError as error:
            self._registry.replace(self._built_in, problem=str(error))

    @property
    def current(self) -> Settings:
        """The settings as they were last read or changed; the standard ones before that."""
        return self._settings or Settings()

    async def settings(self) -> Settings:
        """Return the current settings. Raises StorageError if the file is there and can't be read."""
        if self._settings is not None:
            return self._settings
        async with self._changing:
            return await self._load()

    async def set_aside(self) -> SetAside:
        """Return what became of a settings file that had something wrong at this start."""
        await self.ready()
        return SetAside(self._store.set_aside, self._store.problems)

    def leave_broken_settings(self) -> SettingsStore:
        """Have a file that has something wrong stay as it is, for who only looks; return it. Call before all else."""
        self._store = SettingsStore(self._store.path, leaves_broken=True)
        return self._store

    async def change(self, edit: Edit) -> Settings:
        """Apply `edit`, save and tell.

        Raises StorageError, or KnownError if the result is not valid; nothing changed then.
        """
        async with self._changing:
            await self._load()
            return await run_to_end(self._change(edit), self._tasks, name="save settings")

    async def all_models(self) -> tuple[ModelCard, ...]:
        """Return every model that is known, also of endpoints that have no key yet."""
        await self.ready()
        return self._registry.all_models()

    async def key_state(self, endpoint_id: str) -> KeyState:
        """Return where the key of an endpoint is. Asks the key store, within its time limit. Raises KnownError."""
        state = await self._secrets.state(await self._endpoint(endpoint_id))
        await self._offer_anew()
        return state

    async def save_key(self, endpoint_id: str, key: str, place: KeyPlace) -> KeyState:
        """Keep a key in the key store, in memory or in the file. Raises KnownError; nothing is kept then."""
        async with self._keying:
            await self.settings()
            async with self._changing:
                # An address that was entered a moment before is the one the key is for.
                endpoint = await self._endpoint(endpoint_id)
            return await run_to_end(self._save_key(endpoint, key, place), self._tasks, name="save key")

    async def delete_key(self, endpoint_id: str) -> KeyState:
        """Forget the key of an endpoint wherever it is kept; one of the environment stays. Raises KnownError."""
        async with self._keying:
            endpoint = await self._endpoint(endpoint_id)
            return await run_to_end(self._delete_key(endpoint), self._tasks, name="delete key")

    async def test(self, endpoint: Endpoint, *, key: str = "", model: str = "") -> TestReport:
        """Try an endpoint step by step, with `key` or else the one that is kept. Changes nothing."""
        settings, providers = await self._ready_to_ask()
        self._secrets.note(strip_key(key))
        return await test_endpoint(endpoint, settings, providers, key=key, model=model)

    async def reach(self, endpoint: Endpoint) -> TestReport:
        """Try whether an endpoint can be reached at all, without any key."""
        settings, _ = await self._ready_to_ask()
        return await reach_endpoint(endpoint, settings)

    async def discover(self) -> tuple[FoundServer, ...]:
        """Return the model servers on this computer that are not among the endpoints yet."""
        await self.ready()
        return await discover((self._settings or Settings()).endpoints, ports=self._ports)

    async def refresh_models(self, endpoint_id: str) -> int:
        """Ask an endpoint for its list, keep it, and return how many models it has.

        Raises ProviderError, StorageError.
        """
        endpoint = await self._endpoint(endpoint_id)
        settings, providers = await self._ready_to_ask()
        lister = providers.find(endpoint_id)
        assert lister is not None
        models = await list_chat_models(
            lister,
            endpoint,
            settings.network,
            key=await providers.key(endpoint),
            catalogue=providers.catalogue,
        )
        listed = self._clock.now()

        def keep(settings: Settings) -> Settings:
            now = settings.endpoint(endpoint_id)
            # The address may have been changed meanwhile: that is another server's list then.
            if now is None or now.base_url != endpoint.base_url:
                return settings
            return with_endpoint(settings, endpoint_id, models=models, listed=listed)

        await self.change(keep)
        return len(models)

    async def data_report(self) -> DataReport:
        """Measure the data folder. Raises StorageError."""
        return await run_blocking(measure, self._data_dir)

    async def close(self) -> None:
        """Close every connection."""
        if self._providers is not None:
            await self._providers.close()

    # Settings

    async def _load(self) -> Settings:
        """Return the settings, read at the first call; the caller holds `_changing`. Raises StorageError."""
        if self._settings is None:
            self._settings = await run_blocking(self._store.load)
            if self._providers is None:
                catalogue = await run_blocking(load_catalogue)
                self._providers = EndpointProviders(catalogue, self._secrets.key)
            self._offer()
        return self._settings

    async def _change(self, edit: Edit) -> Settings:
        removed: list[Endpoint] = []

        def noting(settings: Settings) -> Settings:
            changed = edit(settings)
            removed[:] = (each for each in settings.endpoints if changed.endpoint(each.id) is None)
            return changed

        settings = await run_blocking(self._store.change, noting)
        if settings != self._settings:
            self._settings = settings
            self._offer()
            self._emit(SettingsChanged())
        for endpoint in removed:
            if endpoint.key_kept:
                self._tasks.spawn(self._forget_key(endpoint), name=f"forget the key of {endpoint.id}")
        return settings

    def _offer(self) -> None:
        """Bring the registry in step with the settings and with the keys there may be."""
        assert self._settings is not None
        assert self._providers is not None
        set_detailed(on=self._settings.privacy.detailed_log)
        self._usable = self._find_usable()
        updated = self._providers.update(self._settings, usable=self._usable)
        favourites = {ref for ref, said in self._settings.models.items() if said.favourite}
        built_in = [offer.with_favourites(favourites) for offer in self._built_in]
        self._registry.replace((*built_in, *updated.offers), default=self._settings.general.default_model)
        for provider in updated.replaced:
            self._tasks.spawn(provider.retire(), name=f"retire {provider.name}")

    async def _offer_anew(self) -> None:
        """Tell if keys came or went since the last time."""
        if self._find_usable() != self._usable:
            self._offer()
            self._emit(SettingsChanged())

    def _find_usable(self) -> frozenset[str]:
        assert self._settings is not None
        return frozenset(
            endpoint.id
            for endpoint in self._settings.endpoints
            if not endpoint.needs_key or self._secrets.may_have_key(endpoint)
        )

    async def _ready_to_ask(self) -> tuple[Settings, EndpointProviders]:
        """Return what a request is made with. Raises StorageError."""
        settings = await self.settings()
        assert self._providers is not None
        return settings, self._providers

    async def _endpoint(self, endpoint_id: str) -> Endpoint:
        endpoint = (await self.settings()).endpoint(endpoint_id)
        if endpoint is None:
            raise KnownError(f"There is no provider “{endpoint_id}” in the settings any more.")
        return endpoint

    # Keys

    async def _save_key(self, endpoint: Endpoint, key: str, place: KeyPlace) -> KeyState:
        await self._secrets.save(endpoint, key, place)
        try:
            return await self._note_key(endpoint, place)
        except StorageError:
            with contextlib.suppress(KnownError):
                await self._secrets.delete(endpoint)
            raise

    async def _delete_key(self, endpoint: Endpoint) -> KeyState:
        await self._secrets.delete(endpoint)
        return await self._note_key(endpoint, KeyPlace.NONE)

    async def _forget_key(self, endpoint: Endpoint) -> None:
        """Delete the key of an endpoint that was removed; one that can't be deleted is never sent anywhere else."""
        with contextlib.suppress(KnownError):
            await self._secrets.delete(endpoint)

    async def _note_key(self, endpoint: Endpoint, place: KeyPlace) -> KeyState:
        """Keep where the key is now, and have whoever sends with it look again. Raises StorageError."""
        kept: KeptAt = "store" if place is KeyPlace.STORE else "file" if place is KeyPlace.FILE else ""
        host = host_of(endpoint) if kept else ""
        assert self._providers is not None
        self._providers.note_key(endpoint.id)
        before = self._settings
        settings = await self.change(
            lambda settings: with_endpoint(settings, endpoint.id, key_kept=kept, key_host=host)
        )
        if settings == before:
            self._offer()
            self._emit(SettingsChanged())
        return await self._secrets.state(settings.endpoint(endpoint.id) or endpoint)
