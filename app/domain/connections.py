"""What the program finds out about providers: keys, tests of a connection, servers on this computer."""

from dataclasses import dataclass
from enum import StrEnum


class KeyPlace(StrEnum):
    """Where the key of a provider is (ADR-0006)."""

    NONE = "none"
    ENVIRONMENT = "environment"
    STORE = "store"
    """The system's key store."""
    SESSION = "session"
    """In memory, until Muntin ends."""
    FILE = "file"
    """In `keys.json` of the data folder, readable by this account only; never without an explicit choice."""


@dataclass(frozen=True, slots=True)
class KeyState:
    """Where a key is, never the key itself."""

    place: KeyPlace
    store_name: str = ""
    """What the system calls its key store ("Secret Service", "Keychain", ...); empty if there is none."""
    variable: str = ""
    """Name of the environment variable, if the key is from there."""
    ending: str = ""
    """The last four characters of a key of at least twelve, to tell one from another."""
    problem: str = ""
    """A sentence for people if the key store could not be asked: none, locked, or no answer."""


class TestStep(StrEnum):
    """The steps of a connection test, in their order."""

    NAME = "name"
    """The host's name has an address."""
    CONNECT = "connect"
    CERTIFICATE = "certificate"
    KEY = "key"
    MODEL = "model"
    """A model answers."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """How a step went. `detail` is a sentence for people; it never holds a key."""

    step: TestStep
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TestReport:
    """The steps that were taken, in order; none after the first that failed. Steps that don't apply are left out."""

    steps: tuple[StepResult, ...]
    model: str = ""
    """The model that answered."""

    @property
    def passed(self) -> bool:
        return bool(self.steps) and all(step.passed for step in self.steps)


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A model server on this computer. `kind` is `ollama` or `lmstudio`."""

    kind: str
    name: str
    base_url: str
    models: int
    """How many models it offers."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """What became of a file of settings that had something wrong."""

    name: str = ""
    """The name in the data folder under which it is kept as it was; empty if nothing was wrong."""
    problems: tuple[str, ...] = ()
    """What was wrong: sentences for people."""


@dataclass(frozen=True, slots=True)
class DataReport:
    """What lies in the data folder, in bytes."""

    folder: str
    total_bytes: int
    chats: tuple[tuple[str, str, int], ...]
    """Id, title and bytes of each chat, the largest first."""
    trash_bytes: int
    log_file: str
