"""Settings, keys and providers on real files, with a key store in memory."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from app.aio import Clock, SystemClock, TaskSet
from app.domain.events import Emit
from app.history.library import Library
from app.providers.base import Provider
from app.providers.discovery import Ports
from app.providers.registry import Registry
from app.session.connections import Connections
from app.session.env import SessionEnv
from app.session.manager import SessionManager
from app.settings.secrets import Secrets

NO_SERVERS = Ports(ollama=9, lmstudio=9)
"""Where nothing listens: a test must not find what runs on the machine."""


class MemoryStore:
    """A key store that forgets everything with the test."""

    name = "Test store"

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def get(self, account: str) -> str | None:
        return self.kept.get(account)

    def put(self, account: str, secret: str) -> None:
        self.kept[account] = secret

    def delete(self, account: str) -> None:
        self.kept.pop(account, None)


def make_connections(
    root: Path,
    registry: Registry,
    providers: Sequence[Provider],
    *,
    emit: Emit,
    tasks: TaskSet,
    clock: Clock | None = None,
    store: MemoryStore | None = None,
    environ: Mapping[str, str] | None = None,
    ports: Ports | None = None,
) -> Connections:
    """Return the settings and keys of the data folder `root`; `providers` are built in.

    `ports` are those at which servers on this computer are looked for; by default there are none.
    """
    secrets = Secrets(store or MemoryStore(), file=root / "keys.json", environ=environ or {})
    return Connections(
        root,
        registry=registry,
        built_in=providers,
        secrets=secrets,
        emit=emit,
        clock=clock or SystemClock(),
        tasks=tasks,
        ports=ports or NO_SERVERS,
    )


def make_manager(
    env: SessionEnv, library: Library, providers: Sequence[Provider], *, ports: Ports | None = None
) -> SessionManager:
    """Return all chats of `library`, with `providers` on offer beside those of its settings."""
    connections = make_connections(
        library.root, env.providers, providers, emit=env.emit, tasks=env.tasks, clock=env.clock, ports=ports
    )
    return SessionManager(env, library, connections)
