"""The keys this process knows, and which late answers of a key store still count."""

import threading
from dataclasses import dataclass

from app.domain.connections import KeyPlace


@dataclass(frozen=True, slots=True)
class Kept:
    """A key and where it is kept."""

    place: KeyPlace
    key: str


class KeyMemory:
    """What is known of the keys of each account. Any thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Kept] = {}
        self._wishes: dict[str, int] = {}
        self._seen: dict[str, None] = {}

    def get(self, account: str) -> Kept | None:
        """Return what is known of `account`."""
        return self._kept.get(account)

    def wish(self, account: str) -> int:
        """Return the number of the newest wish of a person about `account`, which a late result may not undo."""
        return self._wishes.get(account, 0)

    def wish_anew(self, account: str) -> int:
        """Make every result that is still to come for `account` unwanted, and return the new number."""
        with self._lock:
            self._wishes[account] = self.wish(account) + 1
            return self._wishes[account]

    def settle(self, account: str, kept: Kept | None, *, wish: int) -> bool:
        """Take what a store has answered; return whether that is still wanted."""
        with self._lock:
            if wish != self.wish(account):
                return False
            if kept is None:
                self._kept.pop(account, None)
            else:
                self._kept[account] = kept
                self._seen[kept.key] = None
            return True

    def drop(self, account: str, place: KeyPlace) -> None:
        """Forget what is known of `account` if it is kept at `place`."""
        with self._lock:
            kept = self._kept.get(account)
            if kept is not None and kept.place is place:
                del self._kept[account]

    def note(self, key: str) -> None:
        """Count `key` among those that were seen."""
        with self._lock:
            self._seen[key] = None

    def seen(self) -> tuple[str, ...]:
        """Return every key there was, those that were replaced or deleted as well."""
        with self._lock:
            return tuple(self._seen)
