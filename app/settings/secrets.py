"""Where keys are: the environment, the system's key store, memory, or a file by choice. See ADR-0006."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from app.domain.connections import KeyPlace, KeyState
from app.settings.schema import Endpoint


class SecretStore(Protocol):
    """A key store of the system. Every call may block, for minutes if a prompt is open."""

    @property
    def name(self) -> str:
        """What the system calls it; empty if there is none."""
        ...

    def get(self, account: str) -> str | None:
        """Return what is kept for `account`. Raises KnownError."""
        ...

    def put(self, account: str, secret: str) -> None:
        """Keep `secret`. Raises KnownError."""
        ...

    def delete(self, account: str) -> None:
        """Forget what is kept; harmless if nothing is. Raises KnownError."""
        ...


class Secrets:
    """Finds, keeps and forgets the keys of endpoints."""

    def __init__(self, store: SecretStore, *, file: Path, environ: Mapping[str, str]) -> None:
        self._store = store
        self._file = file
        self._environ = environ

    async def key(self, endpoint: Endpoint) -> str | None:
        """Return the key to send to `endpoint`, None if there is none. Raises KnownError if a store does not answer."""
        raise NotImplementedError

    async def state(self, endpoint: Endpoint) -> KeyState:
        """Return where the key is; asks the key store within its time limit."""
        raise NotImplementedError

    def may_have_key(self, endpoint: Endpoint) -> bool:
        """Whether there is reason to expect a key, without asking anybody: for lists at start-up."""
        raise NotImplementedError

    async def save(self, endpoint: Endpoint, key: str, place: KeyPlace) -> None:
        """Keep `key` at `place` and nowhere else. Raises KnownError; nothing is kept then."""
        raise NotImplementedError

    async def delete(self, endpoint: Endpoint) -> None:
        """Forget the key wherever it is kept but in the environment. Raises KnownError."""
        raise NotImplementedError

    def known(self) -> tuple[str, ...]:
        """Return every key held in memory now: what logs and error texts are looked through for."""
        raise NotImplementedError
