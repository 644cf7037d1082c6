"""The system's key store; the only home of keyring. See ADR-0006."""


class KeyringStore:
    """Keys under Muntin's name in whatever key store the system has."""

    @property
    def name(self) -> str:
        """What the system calls it; empty if there is none."""
        raise NotImplementedError

    def get(self, account: str) -> str | None:
        """Return what is kept for `account`. Raises KnownError."""
        raise NotImplementedError

    def put(self, account: str, secret: str) -> None:
        """Keep `secret`. Raises KnownError."""
        raise NotImplementedError

    def delete(self, account: str) -> None:
        """Forget what is kept; harmless if nothing is. Raises KnownError."""
        raise NotImplementedError
