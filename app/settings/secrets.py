"""Where keys are: the environment, the system's key store, memory, or a file by choice. See ADR-0006."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, assert_never

from app.aio import run_blocking
from app.domain.connections import KeyPlace, KeyState
from app.domain.errors import BugError, KnownError
from app.settings.key_file import KeyFile
from app.settings.key_text import VARIABLES, clean_key, ending_of, variable_for
from app.settings.lane import Lane
from app.settings.schema import Endpoint

READ_SECONDS: Final = 10.0
SAVE_SECONDS: Final = 60.0
"""Longer, as a prompt of the key store may be open and the person who just asked is there to answer it."""

NO_STORE: Final = "This system has no key store that Muntin can use."
NO_ANSWER: Final = "The key store did not answer; it may be waiting for you to unlock it."
FOR_NOW: Final = "You can keep the key only for this session instead."


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


@dataclass(frozen=True, slots=True)
class _Kept:
    place: KeyPlace
    key: str


class _Memory:
    """Keys this process has seen. Threads of the key store write to it when they come back late."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}
        self._wishes: dict[str, int] = {}
        self._seen: dict[str, None] = {}

    def get(self, account: str) -> _Kept | None:
        return self._kept.get(account)

    def wish(self, account: str) -> int:
        """Return the number of the newest wish of a person about `account`, which a late result may not undo."""
        return self._wishes.get(account, 0)

    def wish_anew(self, account: str) -> int:
        """Make every result that is still to come for `account` unwanted, and return the new number."""
        with self._lock:
            self._wishes[account] = self.wish(account) + 1
            return self._wishes[account]

    def settle(self, account: str, kept: _Kept | None, *, wish: int) -> bool:
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

    def note(self, key: str) -> None:
        with self._lock:
            self._seen[key] = None

    def seen(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._seen)


class Secrets:
    """Finds, keeps and forgets the keys of endpoints. Lives on one loop."""

    def __init__(
        self,
        store: SecretStore,
        *,
        file: Path,
        environ: Mapping[str, str],
        read_seconds: float = READ_SECONDS,
        save_seconds: float = SAVE_SECONDS,
    ) -> None:
        self._store = store
        self._file = KeyFile(file)
        self._environ = environ
        self._read_seconds = read_seconds
        self._save_seconds = save_seconds
        self._memory = _Memory()
        self._reads = Lane("key store, reading")
        self._writes = Lane("key store, writing")
        self._store_name: str | None = None
        self._left_over: dict[str, str] = {}
        """By account: why an older key could not be removed from the key store."""

    async def key(self, endpoint: Endpoint) -> str | None:
        """Return the key to send to `endpoint`, None if there is none. Raises KnownError if a store does not answer.

        A server that needs no key is not looked up unless one was saved for it: that could open a prompt.
        """
        found = self._from_environment(endpoint)
        if found:
            return found
        if not endpoint.needs_key and not endpoint.key_kept and self._memory.get(endpoint.id) is None:
            return None
        kept = await self._find(endpoint)
        return None if kept is None else kept.key

    async def state(self, endpoint: Endpoint) -> KeyState:
        """Return where the key is; asks the key store within its time limit."""
        found = self._from_environment(endpoint)
        if found:
            return KeyState(KeyPlace.ENVIRONMENT, variable=variable_for(endpoint), ending=ending_of(found))
        problem = self._environment_problem(endpoint)
        kept = None
        try:
            kept = await self._find(endpoint)
            if self._store_name is None:
                await self._reads.run(self._learn_name, seconds=self._read_seconds, unanswered=NO_ANSWER)
        except KnownError as error:
            problem = problem or str(error)
        return self._state_of(endpoint, kept, problem)

    def may_have_key(self, endpoint: Endpoint) -> bool:
        """Whether there is reason to expect a key, without asking anybody: for lists at start-up."""
        return bool(endpoint.key_kept or self._memory.get(endpoint.id) is not None or self._from_environment(endpoint))

    async def save(self, endpoint: Endpoint, key: str, place: KeyPlace) -> None:
        """Keep `key` at `place` and nowhere else. Raises KnownError; nothing is kept then.

        One exception: a key store that comes back after its time limit keeps the key after all, unless something
        else was asked meanwhile. `state` tells.
        """
        kept = _Kept(place, clean_key(key))
        self._memory.note(kept.key)
        match place:
            case KeyPlace.STORE:
                await self._save_in_store(endpoint, kept)
            case KeyPlace.SESSION:
                await self._save_in_memory(endpoint, kept)
            case KeyPlace.FILE:
                await self._save_in_file(endpoint, kept)
            case KeyPlace.NONE | KeyPlace.ENVIRONMENT:
                raise BugError(f"no key can be saved at {place}")
            case _:
                assert_never(place)

    async def delete(self, endpoint: Endpoint) -> None:
        """Forget the key wherever it is kept but in the environment. Raises KnownError."""
        wish = self._memory.wish_anew(endpoint.id)
        kept = self._memory.get(endpoint.id)
        if self._may_be_in_store(endpoint) or kept is None:
            await self._delete_in_store(endpoint.id, seconds=self._save_seconds)
        await run_blocking(self._file.delete, endpoint.id)
        self._memory.settle(endpoint.id, None, wish=wish)
        self._left_over.pop(endpoint.id, None)

    def note(self, key: str) -> None:
        """Count a key that is not kept, such as one that is only tried, among the known ones."""
        if key.strip():
            self._memory.note(key.strip())

    def known(self) -> tuple[str, ...]:
        """Return every key this process has met: what logs and error texts are looked through for."""
        given = (self._environ.get(variable, "").strip() for variable in VARIABLES)
        return tuple(dict.fromkeys([*self._memory.seen(), *filter(None, given)]))

    # --- finding ---

    def _from_environment(self, endpoint: Endpoint) -> str:
        variable = variable_for(endpoint)
        try:
            return clean_key(self._environ.get(variable, "")) if variable else ""
        except KnownError:
            return ""

    def _environment_problem(self, endpoint: Endpoint) -> str:
        """Return a sentence if there is a key in the environment that can't be one."""
        variable = variable_for(endpoint)
        text = self._environ.get(variable, "") if variable else ""
        if not text.strip():
            return ""
        try:
            clean_key(text)
        except KnownError as error:
            return f"What stands in {variable} can't be used. {error}"
        return ""

    async def _find(self, endpoint: Endpoint) -> _Kept | None:
        """Return the key from memory, or from where it was saved. Raises KnownError."""
        kept = self._memory.get(endpoint.id)
        if kept is not None:
            return kept
        if endpoint.key_kept == "file":
            kept = await self._find_in_file(endpoint.id)
        if kept is not None:
            return kept
        work = self._reading(endpoint.id)
        try:
            kept = await self._reads.run(work, seconds=self._read_seconds, unanswered=NO_ANSWER)
        except KnownError:
            kept = await self._find_in_file(endpoint.id)
            if kept is None:
                raise
        return kept or await self._find_in_file(endpoint.id)

    def _reading(self, account: str) -> "Callable[[], _Kept | None]":
        """Return the work of asking the store, which remembers what it finds even if it comes back late."""
        wish = self._memory.wish(account)

        def read() -> _Kept | None:
            known = self._memory.get(account)
            if known is not None:
                return known
            if not self._learn_name():
                return None
            key = self._store.get(account)
            if not key:
                return None
            kept = _Kept(KeyPlace.STORE, key)
            self._memory.settle(account, kept, wish=wish)
            return kept

        return read

    def _learn_name(self) -> str:
        self._store_name = self._store.name
        return self._store_name

    async def _find_in_file(self, account: str) -> _Kept | None:
        wish = self._memory.wish(account)
        key = await run_blocking(self._file.get, account)
        if not key:
            return None
        kept = _Kept(KeyPlace.FILE, key)
        self._memory.settle(account, kept, wish=wish)
        return kept

    def _state_of(self, endpoint: Endpoint, kept: _Kept | None, problem: str) -> KeyState:
        place = KeyPlace.NONE if kept is None else kept.place
        if self._store_name == "" and place in (KeyPlace.NONE, KeyPlace.SESSION):
            problem = problem or NO_STORE
        if place is KeyPlace.FILE:
            problem = self._file.problem or problem
        return KeyState(
            place,
            store_name=self._store_name or "",
            ending="" if kept is None else ending_of(kept.key),
            problem=self._left_over.get(endpoint.id, "") or problem,
        )

    # --- keeping and forgetting ---

    async def _save_in_store(self, endpoint: Endpoint, kept: _Kept) -> None:
        account = endpoint.id
        wish = self._memory.wish_anew(account)

        def write() -> None:
            if not self._learn_name():
                raise KnownError(NO_STORE)
            self._store.put(account, kept.key)
            try:
                self._file.delete(account)
            except KnownError:
                self._store.delete(account)
                raise
            if not self._memory.settle(account, kept, wish=wish):
                self._store.delete(account)

        try:
            await self._writes.run(write, seconds=self._save_seconds, unanswered=NO_ANSWER)
        except KnownError as error:
            raise KnownError(f"{error} {FOR_NOW}") from error
        self._left_over.pop(account, None)

    async def _save_in_memory(self, endpoint: Endpoint, kept: _Kept) -> None:
        """Keep a key until Muntin ends; a store that does not let go of an older one is no reason to refuse."""
        account = endpoint.id
        was_in_store = self._may_be_in_store(endpoint)
        wish = self._memory.wish_anew(account)
        await run_blocking(self._file.delete, account)
        self._memory.settle(account, kept, wish=wish)
        self._left_over.pop(account, None)
        if was_in_store:
            try:
                await self._delete_in_store(account, seconds=self._read_seconds)
            except KnownError as error:
                self._left_over[account] = f"The key saved before is still in the key store. {error}"

    async def _save_in_file(self, endpoint: Endpoint, kept: _Kept) -> None:
        account = endpoint.id
        was_in_store = self._may_be_in_store(endpoint)
        wish = self._memory.wish_anew(account)
        await run_blocking(self._file.put, account, kept.key)
        if was_in_store:
            try:
                await self._delete_in_store(account, seconds=self._save_seconds)
            except KnownError as error:
                await run_blocking(self._file.delete, account)
                raise KnownError(f"The key saved before is still in the key store. {error}") from error
        self._memory.settle(account, kept, wish=wish)
        self._left_over.pop(account, None)

    def _may_be_in_store(self, endpoint: Endpoint) -> bool:
        """Whether there is reason to ask the store to forget a key; asking may open a prompt."""
        kept = self._memory.get(endpoint.id)
        return endpoint.key_kept == "store" or (kept is not None and kept.place is KeyPlace.STORE)

    async def _delete_in_store(self, account: str, *, seconds: float) -> None:
        def forget() -> None:
            if self._learn_name():
                self._store.delete(account)

        await self._writes.run(forget, seconds=seconds, unanswered=NO_ANSWER)
