"""Where keys are: the environment, the system's key store, memory, or a file by choice. See ADR-0006."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol, assert_never

from app.aio import run_blocking
from app.domain.connections import KeyPlace, KeyState
from app.domain.errors import BugError, KnownError
from app.settings.key_account import account_of, former_account, kept_at
from app.settings.key_environment import KeyEnvironment, variable_for
from app.settings.key_file import KeyFile
from app.settings.key_memory import Kept, KeyMemory
from app.settings.key_store import NO_STORE
from app.settings.key_text import clean_key, ending_of, strip_key, usable_key
from app.settings.lane import Lane
from app.settings.schema import Endpoint

READ_SECONDS: Final = 10.0
SAVE_SECONDS: Final = 60.0
"""Longer, as a prompt of the key store may be open and the person who just asked is there to answer it."""

NO_ANSWER: Final = "The key store did not answer; it may be waiting for you to unlock it."
FORMER: Final = "The key that is kept was entered for {host}. It is sent nowhere else: enter the key for this address."
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
        self._environment = KeyEnvironment(environ)
        self._read_seconds = read_seconds
        self._save_seconds = save_seconds
        self._memory = KeyMemory()
        self._reads = Lane("key store, reading")
        self._writes = Lane("key store, writing")
        self._store_name: str | None = None
        self._left_over: dict[str, str] = {}
        """By account: why an older key could not be removed from the key store."""

    async def key(self, endpoint: Endpoint) -> str | None:
        """Return the key to send to `endpoint`, None if there is none. Raises KnownError if a store does not answer.

        A server that needs no key is not looked up unless one was saved for it: that could open a prompt.
        """
        found = self._environment.get(endpoint)
        if found:
            return found
        kept = self._memory.get(account_of(endpoint))
        if kept is None and (endpoint.needs_key or kept_at(endpoint)):
            kept = await self._find(endpoint)
        return None if kept is None else kept.key

    async def state(self, endpoint: Endpoint) -> KeyState:
        """Return where the key is; asks the key store within its time limit."""
        found = self._environment.get(endpoint)
        if found:
            return KeyState(KeyPlace.ENVIRONMENT, variable=variable_for(endpoint), ending=ending_of(found))
        problem = self._environment.problem(endpoint)
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
        is_known = self._memory.get(account_of(endpoint)) is not None
        return bool(kept_at(endpoint) or is_known or self._environment.get(endpoint))

    async def save(self, endpoint: Endpoint, key: str, place: KeyPlace) -> None:
        """Keep `key` at `place` and nowhere else. Raises KnownError; nothing is kept then.

        One exception: a key store that comes back after its time limit keeps the key after all, unless something
        else was asked meanwhile. `state` tells.
        """
        kept = Kept(place, clean_key(key))
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
        await self._forget_former(endpoint)

    async def delete(self, endpoint: Endpoint) -> None:
        """Forget the key wherever it is kept but in the environment. Raises KnownError."""
        account = account_of(endpoint)
        is_unknown = self._memory.get(account) is None and endpoint.needs_key and kept_at(endpoint) != "file"
        may_be_in_store = is_unknown or self._may_be_in_store(endpoint)
        await self._forget(account, is_in_store=may_be_in_store, seconds=self._save_seconds)
        if former := former_account(endpoint):
            await self._forget(former, is_in_store=endpoint.key_kept == "store", seconds=self._save_seconds)

    def note(self, key: str) -> None:
        """Count a key that is not kept, such as one that is only tried, among the known ones."""
        if key := strip_key(key):
            self._memory.note(key)

    def known(self) -> tuple[str, ...]:
        """Return every key this process has met: what logs and error texts are looked through for."""
        return tuple(dict.fromkeys([*self._memory.seen(), *self._environment.all()]))

    # --- finding ---

    async def _find(self, endpoint: Endpoint) -> Kept | None:
        """Return the key from memory, or from where it was saved. Raises KnownError."""
        account = account_of(endpoint)
        kept = self._memory.get(account)
        if kept is not None:
            return kept
        if kept_at(endpoint) == "file":
            kept = await self._find_in_file(account)
        if kept is not None:
            return kept
        work = self._reading(account)
        try:
            kept = await self._reads.run(work, seconds=self._read_seconds, unanswered=NO_ANSWER)
        except KnownError:
            kept = await self._find_in_file(account)
            if kept is None:
                raise
        return kept or await self._find_in_file(account)

    def _reading(self, account: str) -> "Callable[[], Kept | None]":
        """Return the work of asking the store, which remembers what it finds even if it comes back late."""
        wish = self._memory.wish(account)

        def read() -> Kept | None:
            known = self._memory.get(account)
            if known is not None:
                return known
            name = self._learn_name()
            key = self._store.get(account) if name else None
            if not key:
                return None
            kept = Kept(KeyPlace.STORE, usable_key(key, f"What {name} keeps for Muntin"))
            self._memory.settle(account, kept, wish=wish)
            return kept

        return read

    def _learn_name(self) -> str:
        self._store_name = self._store.name
        return self._store_name

    async def _find_in_file(self, account: str) -> Kept | None:
        wish = self._memory.wish(account)
        key = await run_blocking(self._file.get, account)
        if not key:
            return None
        kept = Kept(KeyPlace.FILE, usable_key(key, "What the file of keys holds"))
        self._memory.settle(account, kept, wish=wish)
        return kept

    def _state_of(self, endpoint: Endpoint, kept: Kept | None, problem: str) -> KeyState:
        place = KeyPlace.NONE if kept is None else kept.place
        if place is KeyPlace.NONE and former_account(endpoint):
            problem = problem or FORMER.format(host=endpoint.key_host)
        if self._store_name == "" and place in (KeyPlace.NONE, KeyPlace.SESSION):
            problem = problem or NO_STORE
        if place is KeyPlace.FILE:
            problem = self._file.problem or problem
        return KeyState(
            place,
            store_name=self._store_name or "",
            ending="" if kept is None else ending_of(kept.key),
            problem=self._left_over.get(account_of(endpoint), "") or problem,
        )

    # --- keeping and forgetting ---

    async def _save_in_store(self, endpoint: Endpoint, kept: Kept) -> None:
        account = account_of(endpoint)
        before = self._memory.get(account)
        wish = self._memory.wish_anew(account)

        def write() -> None:
            if not self._learn_name():
                raise KnownError(NO_STORE)
            self._store.put(account, kept.key)
            if not self._memory.settle(account, kept, wish=wish):
                # It comes back after its time, and something else was asked meanwhile.
                self._withdraw(account)
                return
            try:
                self._file.delete(account)
            except KnownError:
                self._memory.settle(account, before, wish=wish)
                self._store.delete(account)
                raise

        try:
            await self._writes.run(write, seconds=self._save_seconds, unanswered=NO_ANSWER)
        except KnownError as error:
            raise KnownError(f"{error} {FOR_NOW}") from error
        self._left_over.pop(account, None)

    def _withdraw(self, account: str) -> None:
        try:
            self._store.delete(account)
        except KnownError as error:
            self._left_over[account] = f"A key that came too late is in the key store. {error}"

    async def _save_in_memory(self, endpoint: Endpoint, kept: Kept) -> None:
        """Keep a key until Muntin ends; a store that does not let go of an older one is no reason to refuse."""
        account = account_of(endpoint)
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

    async def _save_in_file(self, endpoint: Endpoint, kept: Kept) -> None:
        account = account_of(endpoint)
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
        kept = self._memory.get(account_of(endpoint))
        return kept_at(endpoint) == "store" or (kept is not None and kept.place is KeyPlace.STORE)

    async def _forget(self, account: str, *, is_in_store: bool, seconds: float) -> None:
        wish = self._memory.wish_anew(account)
        if is_in_store:
            await self._delete_in_store(account, seconds=seconds)
        await run_blocking(self._file.delete, account)
        self._memory.settle(account, None, wish=wish)
        self._left_over.pop(account, None)

    async def _forget_former(self, endpoint: Endpoint) -> None:
        """Forget the key of an address the endpoint has no more; that it stays is no reason to refuse the new one."""
        former = former_account(endpoint)
        if not former:
            return
        try:
            await self._forget(former, is_in_store=endpoint.key_kept == "store", seconds=self._read_seconds)
        except KnownError as error:
            self._left_over[account_of(endpoint)] = f"The key for the address before is still kept. {error}"

    async def _delete_in_store(self, account: str, *, seconds: float) -> None:
        def forget() -> None:
            if self._learn_name():
                self._store.delete(account)
            # Also when it comes back after its time.
            self._memory.drop(account, KeyPlace.STORE)
            self._left_over.pop(account, None)

        await self._writes.run(forget, seconds=seconds, unanswered=NO_ANSWER)
