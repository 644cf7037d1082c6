"""The system's key store; the only home of keyring. See ADR-0006.

keyring is imported at the first call: it takes a sixth of a second, and every call may block. Each backend raises
what its system does, so every error is caught and put in words.
"""

from typing import TYPE_CHECKING, Final

from app.domain.errors import KnownError

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE: Final = "Muntin"

NO_STORE: Final = "This system has no key store that Muntin can use."

_NAMES: Final = {
    "keyring.backends.SecretService": "Secret Service",
    "keyring.backends.libsecret": "Secret Service",
    "keyring.backends.kwallet": "KWallet",
    "keyring.backends.Windows": "Windows Credential Manager",
    "keyring.backends.macOS": "macOS Keychain",
}
"""By module of the backend. Any other is no store: it may be a plain file (keyrings.alt), or keep nothing."""


class KeyringStore:
    """Keys under Muntin's name in whatever key store the system has."""

    @property
    def name(self) -> str:
        """What the system calls it; empty if there is none."""
        backend = _find_backend()
        return "" if backend is None else _name_of(backend)

    def get(self, account: str) -> str | None:
        """Return what is kept for `account`. Raises KnownError."""
        backend = _need_backend()
        try:
            return backend.get_password(SERVICE, account)
        except Exception as error:
            raise _known(error, backend) from error

    def put(self, account: str, secret: str) -> None:
        """Keep `secret`. Raises KnownError."""
        backend = _need_backend()
        try:
            backend.set_password(SERVICE, account, secret)
        except Exception as error:
            raise _known(error, backend) from error

    def delete(self, account: str) -> None:
        """Forget what is kept; harmless if nothing is. Raises KnownError."""
        from keyring.errors import PasswordDeleteError

        backend = _need_backend()
        try:
            backend.delete_password(SERVICE, account)
        except PasswordDeleteError:
            # Nothing was there, or it refused: what is there now tells.
            if self.get(account) is not None:
                raise KnownError(f"{_name_of(backend)} refused to delete the key.") from None
        except Exception as error:
            raise _known(error, backend) from error


def _need_backend() -> "KeyringBackend":
    backend = _find_backend()
    if backend is None:
        raise KnownError(NO_STORE)
    return backend


def _find_backend() -> "KeyringBackend | None":
    """Return the backend that keeps keys safely, None if there is none now.

    keyring chooses once; a store that was started since is found by looking again.
    """
    import keyring
    from keyring.backend import KeyringBackend, by_priority

    try:
        chosen = keyring.get_keyring()
        candidates = [chosen, *getattr(chosen, "backends", ())]
        if not any(map(_name_of, candidates)) and _is_choice_of_keyring(chosen):
            viable = (backend() for backend in KeyringBackend.get_viable_backends())
            candidates = sorted(viable, key=by_priority, reverse=True)
    except Exception:  # noqa: BLE001 - a backend named in keyring's own settings that can't be loaded
        return None
    return next((backend for backend in candidates if _name_of(backend)), None)


def _is_choice_of_keyring(backend: "KeyringBackend") -> bool:
    """Whether keyring fell back to it, rather than a person having named it."""
    return type(backend).__module__ in ("keyring.backends.fail", "keyring.backends.chainer")


def _name_of(backend: "KeyringBackend") -> str:
    module = type(backend).__module__
    return next((name for known, name in _NAMES.items() if module == known or module.startswith(f"{known}.")), "")


def _known(error: Exception, backend: "KeyringBackend") -> KnownError:
    """Return `error` in words; its own text is left out, as it may be of any kind."""
    from keyring.errors import InitError, KeyringLocked, NoKeyringError

    name = _name_of(backend)
    if isinstance(error, NoKeyringError):
        return KnownError(NO_STORE)
    if isinstance(error, InitError | KeyringLocked) or type(error).__name__ in _LOCKED:
        return KnownError(f"{name} is locked. Unlock it, then try again.")
    return KnownError(f"{name} refused to do it.")


_LOCKED: Final = ("LockedException", "PromptDismissedException")
"""Names of secretstorage's errors where a person has to unlock it first; it is there on Linux only."""
