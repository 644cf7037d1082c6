"""Which of keyring's backends counts as a key store, and its errors in words."""

from collections.abc import Iterator

import keyring
import keyring.core
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.errors import InitError, KeyringError, KeyringLocked, NoKeyringError, PasswordDeleteError, PasswordSetError

from app.domain.errors import KnownError
from app.settings.key_store import KeyringStore


class _Backend(KeyringBackend):
    """Keeps passwords in memory, or fails."""

    priority = 5

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.failure: Exception | None = None

    def _ask(self) -> None:
        if self.failure is not None:
            raise self.failure

    def get_password(self, service: str, username: str) -> str | None:
        self._ask()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._ask()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._ask()
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("nothing there")


# keyring offers every class it has seen, in this process, to everybody.
KeyringBackend._classes.discard(_Backend)


def backend_of(module: str) -> _Backend:
    """Return a backend that says it is from `module`."""
    backend = type("Keyring", (_Backend,), {"__module__": module})()
    assert isinstance(backend, _Backend)
    return backend


@pytest.fixture(autouse=True)
def _own_choice() -> Iterator[None]:
    """Give keyring back its own choice, and let it forget the backends of the test."""
    before = set(KeyringBackend._classes)
    yield
    KeyringBackend._classes.intersection_update(before)
    keyring.core._keyring_backend = None


@pytest.fixture
def backend() -> _Backend:
    backend = backend_of("keyring.backends.SecretService")
    keyring.set_keyring(backend)
    return backend


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("keyring.backends.SecretService", "Secret Service"),
        ("keyring.backends.libsecret", "Secret Service"),
        ("keyring.backends.kwallet", "KWallet"),
        ("keyring.backends.Windows", "Windows Credential Manager"),
        ("keyring.backends.macOS", "macOS Keychain"),
        ("keyring.backends.macOS.api", "macOS Keychain"),
        ("keyring.backends.macOSX", ""),
        ("keyrings.alt.file", ""),
        ("somebody.elses", ""),
    ],
)
def test_a_store_has_the_name_people_know_and_a_plain_file_is_none(module: str, name: str) -> None:
    keyring.set_keyring(backend_of(module))

    store = KeyringStore()

    assert store.name == name
    if not name:
        for use in (lambda: store.get("a"), lambda: store.put("a", "k"), lambda: store.delete("a")):
            with pytest.raises(KnownError, match="no key store"):
                use()


def test_a_backend_that_keeps_nothing_is_no_store() -> None:
    keyring.set_keyring(null.Keyring())

    assert KeyringStore().name == ""


def test_of_several_the_first_that_is_a_store_is_used_alone() -> None:
    plain, first, second = map(
        backend_of, ("keyrings.alt.file", "keyring.backends.kwallet", "keyring.backends.libsecret")
    )
    chain = backend_of("keyring.backends.chainer")
    chain.backends = [plain, first, second]  # type: ignore[attr-defined]
    keyring.set_keyring(chain)

    store = KeyringStore()
    store.put("a", "k")

    assert store.name == "KWallet"
    assert (plain.kept, first.kept, second.kept) == ({}, {("Muntin", "a"): "k"}, {})
    assert store.get("a") == "k"


def test_a_store_that_was_started_later_is_found() -> None:
    keyring.set_keyring(fail.Keyring())
    assert KeyringStore().name in ("", "Secret Service", "KWallet", "macOS Keychain", "Windows Credential Manager")

    backend_of("keyring.backends.kwallet").__class__.priority = 99

    assert KeyringStore().name == "KWallet"


def test_a_key_is_kept_replaced_and_deleted(backend: _Backend) -> None:
    store = KeyringStore()

    store.put("openai", "one")
    store.put("openai", "two")
    assert store.get("openai") == "two"
    store.delete("openai")
    store.delete("openai")

    assert store.get("openai") is None
    assert backend.kept == {}


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (NoKeyringError("x"), "This system has no key store that Muntin can use."),
        (InitError("Failed to create the collection"), "Secret Service is locked. Unlock it, then try again."),
        (KeyringLocked("Failed to unlock"), "Secret Service is locked. Unlock it, then try again."),
        (type("LockedException", (Exception,), {})(), "Secret Service is locked. Unlock it, then try again."),
        (KeyringError("secret text"), "Secret Service refused to do it."),
        (PasswordSetError("secret text"), "Secret Service refused to do it."),
        (OSError("secret text"), "Secret Service refused to do it."),
        (ValueError("secret text"), "Secret Service refused to do it."),
    ],
)
def test_every_error_is_one_of_three_sentences(backend: _Backend, failure: Exception, words: str) -> None:
    backend.failure = failure
    store = KeyringStore()

    for use in (lambda: store.get("a"), lambda: store.put("a", "k"), lambda: store.delete("a")):
        with pytest.raises(KnownError) as refused:
            use()
        assert str(refused.value) == words


def test_a_key_that_is_still_there_after_a_refusal_was_not_deleted(backend: _Backend) -> None:
    store = KeyringStore()
    store.put("a", "k")

    def refuse(service: str, username: str) -> None:
        raise PasswordDeleteError("cancelled by user")

    backend.delete_password = refuse  # type: ignore[method-assign]

    with pytest.raises(KnownError, match="refused to delete"):
        store.delete("a")


def test_a_backend_of_keyrings_own_settings_that_can_t_be_loaded_is_no_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "nowhere.at.all.Keyring")
    keyring.core._keyring_backend = None

    assert KeyringStore().name == ""
