"""Where keys are looked for and kept."""

import asyncio
import json
import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from app.domain.connections import KeyPlace
from app.domain.errors import BugError, KnownError
from app.settings.key_account import account_of, host_of
from app.settings.schema import ANTHROPIC, OPENAI, Endpoint
from app.settings.secrets import Secrets
from tests.fakes.connections import MemoryStore
from tests.fakes.disk import refusing

KEY = "sk-test-0123456789"
OTHER = "sk-other-9876543210"
LOCAL = Endpoint(id="local", name="Local", base_url="http://127.0.0.1:11434/v1", needs_key=False)
VENDORS = {"ANTHROPIC_API_KEY": "sk-environment-anthropic", "OPENAI_API_KEY": "sk-environment-openai"}


class FakeStore(MemoryStore):
    """Counts what it is asked; refuses, or holds its answers back, as long as it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.refusal = ""
        self.gate = threading.Event()
        self.gate.set()

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        self.gate.wait(30)
        if self.refusal:
            raise KnownError(self.refusal)

    def get(self, account: str) -> str | None:
        self._ask(f"get {account}")
        return super().get(account)

    def put(self, account: str, secret: str) -> None:
        self._ask(f"put {account}")
        super().put(account, secret)

    def delete(self, account: str) -> None:
        self._ask(f"delete {account}")
        super().delete(account)


@pytest.fixture
def store() -> Iterator[FakeStore]:
    store = FakeStore()
    yield store
    store.gate.set()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def make(store: FakeStore, path: Path, *, environ: Mapping[str, str] | None = None, seconds: float = 10.0) -> Secrets:
    return Secrets(store, file=path, environ=environ or {}, read_seconds=seconds, save_seconds=seconds)


@pytest.fixture
def secrets(store: FakeStore, path: Path) -> Secrets:
    return make(store, path)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - it changes on another thread
            await asyncio.sleep(0.005)


def in_file(path: Path) -> dict[str, str] | None:
    """Return the keys of the file, None if there is none."""
    return json.loads(path.read_text()) if path.exists() else None


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- the order ---


async def test_the_environment_comes_first_and_is_shown_as_such(store: FakeStore, path: Path) -> None:
    store.kept[account_of(ANTHROPIC)] = KEY
    secrets = make(store, path, environ=VENDORS)

    assert await secrets.key(ANTHROPIC) == VENDORS["ANTHROPIC_API_KEY"]
    state = await secrets.state(ANTHROPIC)

    assert (state.place, state.variable, state.ending) == (KeyPlace.ENVIRONMENT, "ANTHROPIC_API_KEY", "opic")
    assert secrets.may_have_key(ANTHROPIC)
    assert store.asked == []


@pytest.mark.parametrize(
    "endpoint",
    [
        OPENAI.model_copy(update={"base_url": base_url})
        for base_url in (
            "http://api.openai.com/v1",
            "https://api.openai.com:8443/v1",
            "https://api.openai.com.evil.example/v1",
            "https://api.openai.com@evil.example/v1",
            "https://evil.example/api.openai.com/v1",
            "https://proxy.openai.com/v1",
            "https://127.0.0.1/v1",
            "https://api.openai.com:x/v1",
            "https://[/v1",
        )
    ],
)
async def test_a_key_of_the_environment_goes_to_no_other_address(
    store: FakeStore, path: Path, endpoint: Endpoint
) -> None:
    secrets = make(store, path, environ=VENDORS)

    assert await secrets.key(endpoint) is None
    assert (await secrets.state(endpoint)).place is KeyPlace.NONE
    assert not secrets.may_have_key(endpoint)


async def test_each_vendor_gets_its_own_key_whatever_the_endpoint_says_it_is(store: FakeStore, path: Path) -> None:
    secrets = make(store, path, environ=VENDORS)
    disguised = OPENAI.model_copy(update={"maker": "anthropic", "dialect": "anthropic", "id": "x"})

    assert await secrets.key(disguised) == VENDORS["OPENAI_API_KEY"]


async def test_a_variable_that_holds_no_key_is_said_and_passed_over(store: FakeStore, path: Path) -> None:
    store.kept[account_of(OPENAI)] = KEY
    secrets = make(store, path, environ={"OPENAI_API_KEY": "two words", "ANTHROPIC_API_KEY": " \n"})

    state = await secrets.state(OPENAI)

    assert state.place is KeyPlace.STORE
    assert state.problem == (
        "What stands in OPENAI_API_KEY can't be used as a key."
        " A key has no spaces or line breaks in it. Copy it again, alone."
    )
    assert await secrets.key(OPENAI) == KEY
    assert (await secrets.state(ANTHROPIC)).problem == ""


async def test_the_key_store_is_asked_once(secrets: Secrets, store: FakeStore) -> None:
    store.kept[account_of(OPENAI)] = KEY

    assert [await secrets.key(OPENAI) for _ in range(3)] == [KEY] * 3
    state = await secrets.state(OPENAI)

    assert (state.place, state.store_name, state.ending, state.problem) == (
        KeyPlace.STORE,
        "Test store",
        "6789",
        "",
    )
    assert store.asked == [f"get {account_of(OPENAI)}"]


async def test_two_who_ask_at_the_same_time_ask_the_store_once(secrets: Secrets, store: FakeStore) -> None:
    store.kept[account_of(OPENAI)] = KEY

    assert list(await asyncio.gather(secrets.key(OPENAI), secrets.key(OPENAI))) == [KEY, KEY]

    assert store.asked == [f"get {account_of(OPENAI)}"]


async def test_a_server_without_a_key_asks_nobody(secrets: Secrets, store: FakeStore) -> None:
    assert await secrets.key(LOCAL) is None
    assert not secrets.may_have_key(LOCAL)
    assert store.asked == []

    store.kept[account_of(LOCAL)] = KEY
    assert await secrets.key(LOCAL.model_copy(update={"key_kept": "store"})) == KEY


async def test_a_key_that_was_not_there_is_looked_for_again(secrets: Secrets, store: FakeStore) -> None:
    assert await secrets.key(OPENAI) is None
    store.kept[account_of(OPENAI)] = KEY

    assert await secrets.key(OPENAI) == KEY


async def test_whether_a_key_may_be_there_is_known_without_asking(secrets: Secrets, store: FakeStore) -> None:
    assert not secrets.may_have_key(OPENAI)
    assert secrets.may_have_key(OPENAI.model_copy(update={"key_kept": "store"}))
    await secrets.save(OPENAI, KEY, KeyPlace.SESSION)
    assert secrets.may_have_key(OPENAI)
    assert store.asked == []


# --- keeping ---


@pytest.mark.parametrize("place", [KeyPlace.STORE, KeyPlace.SESSION, KeyPlace.FILE])
async def test_a_key_is_kept_where_it_was_asked_for(
    secrets: Secrets, store: FakeStore, path: Path, place: KeyPlace
) -> None:
    await secrets.save(OPENAI, f" '{KEY}'\n", place)

    state = await secrets.state(OPENAI)
    assert (state.place, state.ending, state.problem) == (place, "6789", "")
    assert await secrets.key(OPENAI) == KEY
    assert (store.kept == {account_of(OPENAI): KEY}) == (place is KeyPlace.STORE)
    assert in_file(path) == ({account_of(OPENAI): KEY} if place is KeyPlace.FILE else None)
    later = make(store, path)
    assert await later.key(OPENAI) == (None if place is KeyPlace.SESSION else KEY)
    assert (await later.state(OPENAI)).place == (KeyPlace.NONE if place is KeyPlace.SESSION else place)


PLACES = (KeyPlace.STORE, KeyPlace.SESSION, KeyPlace.FILE)


@pytest.mark.parametrize(("before", "after"), [(a, b) for a in PLACES for b in PLACES])
async def test_a_key_never_lies_in_two_places(
    secrets: Secrets, store: FakeStore, path: Path, before: KeyPlace, after: KeyPlace
) -> None:
    await secrets.save(OPENAI, OTHER, before)
    await secrets.save(ANTHROPIC, OTHER, before)

    await secrets.save(OPENAI, KEY, after)

    assert await secrets.key(OPENAI) == KEY
    assert store.kept.get(account_of(OPENAI)) == (KEY if after is KeyPlace.STORE else None)
    assert (in_file(path) or {}).get(account_of(OPENAI)) == (KEY if after is KeyPlace.FILE else None)
    assert await secrets.key(ANTHROPIC) == OTHER


@pytest.mark.parametrize("kept", ["store", "file"])
async def test_a_place_from_an_earlier_session_is_emptied_too(store: FakeStore, path: Path, kept: str) -> None:
    place = KeyPlace.STORE if kept == "store" else KeyPlace.FILE
    await make(store, path).save(OPENAI, OTHER, place)
    secrets = make(store, path)

    await secrets.save(OPENAI.model_copy(update={"key_kept": kept}), KEY, KeyPlace.SESSION)

    assert store.kept == {}
    assert in_file(path) is None


@pytest.mark.parametrize("place", PLACES)
async def test_a_deleted_key_is_gone_from_everywhere(
    secrets: Secrets, store: FakeStore, path: Path, place: KeyPlace
) -> None:
    await secrets.save(OPENAI, KEY, place)

    await secrets.delete(OPENAI)

    assert await secrets.key(OPENAI) is None
    assert store.kept == {}
    assert in_file(path) is None
    await secrets.delete(OPENAI)


async def test_a_key_of_an_earlier_session_can_be_deleted(store: FakeStore, path: Path) -> None:
    store.kept[account_of(OPENAI)] = KEY

    await make(store, path).delete(OPENAI)

    assert store.kept == {}


@pytest.mark.parametrize("place", [KeyPlace.NONE, KeyPlace.ENVIRONMENT])
async def test_nowhere_and_the_environment_are_no_places_to_keep_a_key(secrets: Secrets, place: KeyPlace) -> None:
    with pytest.raises(BugError):
        await secrets.save(OPENAI, KEY, place)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no key"),
        (" ''\n", "no key"),
        ("my key", "no spaces"),
        ("sk-a\nsk-b", "no spaces"),
        ("https://api.openai.com", "an address"),
        ("sk-ключ", "plain letters"),
        ("sk-\u200babc", "plain letters"),
        ("sk-\x1babc", "invisible"),
        ("sk-\x7fabc", "invisible"),
        ("k" * 4001, "too long"),
    ],
)
async def test_what_can_t_be_a_key_is_refused_in_words(
    secrets: Secrets, store: FakeStore, path: Path, text: str, words: str
) -> None:
    for place in PLACES:
        with pytest.raises(KnownError, match=words) as refused:
            await secrets.save(OPENAI, text, place)
        assert not text.strip(" '\n") or text not in str(refused.value)

    assert (store.kept, in_file(path), secrets.known()) == ({}, None, ())


async def test_the_longest_key_is_taken_and_a_short_one_shows_no_ending(secrets: Secrets) -> None:
    await secrets.save(OPENAI, "k" * 4000, KeyPlace.SESSION)
    assert (await secrets.state(OPENAI)).ending == "kkkk"
    await secrets.save(OPENAI, "abcdefghijk", KeyPlace.SESSION)
    assert (await secrets.state(OPENAI)).ending == ""


# --- a key store that is not there, locked, or silent ---


async def test_without_a_key_store_the_words_are_right_and_nothing_is_written(
    secrets: Secrets, store: FakeStore, path: Path
) -> None:
    store.name = ""

    state = await secrets.state(OPENAI)
    assert (state.place, state.store_name) == (KeyPlace.NONE, "")
    assert state.problem == "This system has no key store that Muntin can use."
    assert await secrets.key(OPENAI) is None
    with pytest.raises(KnownError) as refused:
        await secrets.save(OPENAI, KEY, KeyPlace.STORE)
    assert str(refused.value) == (
        "This system has no key store that Muntin can use. You can keep the key only for this session instead."
    )
    assert (store.kept, in_file(path), store.asked) == ({}, None, [])
    assert await secrets.key(OPENAI) is None

    await secrets.save(OPENAI, KEY, KeyPlace.SESSION)
    assert await secrets.key(OPENAI) == KEY
    await secrets.save(OPENAI, KEY, KeyPlace.FILE)
    assert (await secrets.state(OPENAI)).problem == ""
    await secrets.delete(OPENAI)
    assert in_file(path) is None


async def test_a_locked_key_store_is_said_and_keeps_nothing(secrets: Secrets, store: FakeStore) -> None:
    store.refusal = "The store is locked."

    assert (await secrets.state(OPENAI)).problem == "The store is locked."
    with pytest.raises(KnownError, match=r"^The store is locked\.$"):
        await secrets.key(OPENAI)
    with pytest.raises(KnownError, match=r"^The store is locked\. You can keep the key only for this session"):
        await secrets.save(OPENAI, KEY, KeyPlace.STORE)

    store.refusal = ""
    assert await secrets.key(OPENAI) is None


async def test_a_file_is_read_even_if_the_key_store_is_locked(store: FakeStore, path: Path) -> None:
    await make(store, path).save(OPENAI, KEY, KeyPlace.FILE)
    store.refusal = "The store is locked."

    assert await make(store, path).key(OPENAI) == KEY
    assert await make(store, path).key(OPENAI.model_copy(update={"key_kept": "file"})) == KEY


async def test_a_key_for_this_session_is_taken_even_if_the_store_holds_on_to_an_older_one(
    secrets: Secrets, store: FakeStore
) -> None:
    await secrets.save(OPENAI, OTHER, KeyPlace.STORE)
    store.refusal = "The store is locked."

    await secrets.save(OPENAI, KEY, KeyPlace.SESSION)

    state = await secrets.state(OPENAI)
    assert (state.place, state.problem) == (
        KeyPlace.SESSION,
        "The key saved before is still in the key store. The store is locked.",
    )
    assert await secrets.key(OPENAI) == KEY
    store.refusal = ""
    await secrets.save(OPENAI, KEY, KeyPlace.STORE)
    assert (await secrets.state(OPENAI)).problem == ""


async def test_a_key_is_not_put_into_a_file_while_the_store_holds_on_to_an_older_one(
    secrets: Secrets, store: FakeStore, path: Path
) -> None:
    await secrets.save(OPENAI, OTHER, KeyPlace.STORE)
    store.refusal = "The store is locked."

    with pytest.raises(KnownError, match="still in the key store"):
        await secrets.save(OPENAI, KEY, KeyPlace.FILE)

    assert in_file(path) is None
    assert await secrets.key(OPENAI) == OTHER


async def test_a_key_is_not_put_into_the_store_while_the_file_can_t_let_go_of_an_older_one(
    secrets: Secrets, store: FakeStore, path: Path
) -> None:
    await secrets.save(OPENAI, OTHER, KeyPlace.FILE)

    with refusing(path), pytest.raises(KnownError, match="file of keys"):
        await secrets.save(OPENAI, KEY, KeyPlace.STORE)

    assert store.kept == {}
    assert await secrets.key(OPENAI) == OTHER


async def test_a_key_that_can_t_be_deleted_stays(secrets: Secrets, store: FakeStore) -> None:
    await secrets.save(OPENAI, KEY, KeyPlace.STORE)
    store.refusal = "The store is locked."

    with pytest.raises(KnownError, match=r"^The store is locked\.$"):
        await secrets.delete(OPENAI)

    assert await secrets.key(OPENAI) == KEY


async def test_what_somebody_else_put_into_the_store_is_looked_at(secrets: Secrets, store: FakeStore) -> None:
    store.kept |= {account_of(OPENAI): f"{KEY}\n", account_of(ANTHROPIC): "no key at all"}

    assert await secrets.key(OPENAI) == KEY
    with pytest.raises(KnownError, match=r"^What Test store keeps for Muntin can't be used as a key\."):
        await secrets.key(ANTHROPIC)


async def test_a_silent_key_store_is_waited_for_only_so_long(store: FakeStore, path: Path) -> None:
    secrets = make(store, path, seconds=0.05)
    store.kept[account_of(OPENAI)] = KEY
    store.gate.clear()

    with pytest.raises(KnownError, match="did not answer"):
        await secrets.key(OPENAI)
    # One thread waits for the store, however often it is asked for.
    for _ in range(3):
        assert "did not answer" in (await secrets.state(ANTHROPIC)).problem
    assert store.asked == [f"get {account_of(OPENAI)}"]
    assert sum(thread.name == "key store, reading" for thread in threading.enumerate()) == 1
    # The pool of the loop is not used up.
    assert await asyncio.to_thread(lambda: 1) == 1

    store.gate.set()
    await until(lambda: KEY in secrets.known())
    assert await secrets.key(OPENAI) == KEY
    assert store.asked == [f"get {account_of(OPENAI)}"]


async def test_who_stops_waiting_leaves_nothing_behind(store: FakeStore, path: Path) -> None:
    secrets = make(store, path)
    store.gate.clear()
    waiting = [asyncio.ensure_future(secrets.key(endpoint)) for endpoint in (OPENAI, ANTHROPIC)]  # noqa: TID251
    await until(lambda: store.asked)

    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)

    store.refusal = "The store is locked."
    store.gate.set()
    with pytest.raises(KnownError, match="locked"):
        await secrets.key(ANTHROPIC)


async def test_a_save_that_comes_through_late_is_noticed(store: FakeStore, path: Path) -> None:
    secrets = make(store, path, seconds=0.05)
    store.gate.clear()

    with pytest.raises(KnownError) as refused:
        await secrets.save(OPENAI, KEY, KeyPlace.STORE)
    assert str(refused.value) == (
        "The key store did not answer; it may be waiting for you to unlock it."
        " You can keep the key only for this session instead."
    )
    assert not secrets.may_have_key(OPENAI)

    store.gate.set()
    await until(lambda: secrets.may_have_key(OPENAI))
    assert (await secrets.state(OPENAI)).place is KeyPlace.STORE
    assert await secrets.key(OPENAI) == KEY


@pytest.mark.parametrize("change", ["session", "file", "delete", "replace"])
async def test_a_save_that_comes_through_late_does_not_undo_what_was_asked_since(
    store: FakeStore, path: Path, change: str
) -> None:
    secrets = make(store, path, seconds=0.05)
    store.gate.clear()
    with pytest.raises(KnownError, match="did not answer"):
        await secrets.save(OPENAI, OTHER, KeyPlace.STORE)

    match change:
        case "session":
            await secrets.save(OPENAI, KEY, KeyPlace.SESSION)
        case "file":
            await secrets.save(OPENAI, KEY, KeyPlace.FILE)
        case "delete":
            await secrets.delete(OPENAI.model_copy(update={"needs_key": False}))
        case "replace":
            with pytest.raises(KnownError, match="did not answer"):
                await secrets.save(OPENAI, KEY, KeyPlace.STORE)
    store.gate.set()

    await until(lambda: f"delete {account_of(OPENAI)}" in store.asked and account_of(OPENAI) not in store.kept)
    assert await secrets.key(OPENAI) == (KEY if change in ("session", "file") else None)
    assert in_file(path) == ({account_of(OPENAI): KEY} if change == "file" else None)


async def test_a_delete_that_comes_through_late_is_noticed(store: FakeStore, path: Path) -> None:
    secrets = make(store, path, seconds=0.05)
    store.kept[account_of(OPENAI)] = KEY
    assert await secrets.key(OPENAI) == KEY
    store.gate.clear()

    with pytest.raises(KnownError, match="did not answer"):
        await secrets.delete(OPENAI)
    assert secrets.may_have_key(OPENAI)

    store.gate.set()
    await until(lambda: not secrets.may_have_key(OPENAI))
    assert store.kept == {}
    assert await secrets.key(OPENAI) is None


async def test_an_older_key_that_goes_late_is_no_problem_any_more(store: FakeStore, path: Path) -> None:
    secrets = make(store, path, seconds=0.05)
    await secrets.save(OPENAI, OTHER, KeyPlace.STORE)
    store.gate.clear()

    await secrets.save(OPENAI, KEY, KeyPlace.SESSION)
    assert (await secrets.state(OPENAI)).problem.startswith("The key saved before is still in the key store.")

    store.gate.set()
    await until(lambda: not store.kept)
    await until(lambda: not any(thread.name == "key store, writing" for thread in threading.enumerate()))
    assert (await secrets.state(OPENAI)).problem == ""
    assert await secrets.key(OPENAI) == KEY


# --- what is known, and the file ---


async def test_every_key_that_was_met_is_known(store: FakeStore, path: Path) -> None:
    secrets = make(store, path, environ={"OPENAI_API_KEY": f"'{VENDORS['OPENAI_API_KEY']}'"})
    await secrets.save(ANTHROPIC, OTHER, KeyPlace.SESSION)
    await secrets.save(ANTHROPIC, KEY, KeyPlace.STORE)
    await secrets.delete(ANTHROPIC)
    secrets.note(" sk-only-tried \n")
    secrets.note("  ")

    assert set(secrets.known()) == {OTHER, KEY, "sk-only-tried", VENDORS["OPENAI_API_KEY"]}


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps rights elsewhere")
async def test_the_file_is_for_this_account_only_and_is_made_so_again(
    secrets: Secrets, store: FakeStore, path: Path
) -> None:
    await secrets.save(OPENAI, KEY, KeyPlace.FILE)
    assert mode_of(path) == 0o600
    await asyncio.to_thread(path.chmod, 0o644)
    later = make(store, path)

    state = await later.state(OPENAI.model_copy(update={"key_kept": "file"}))

    assert mode_of(path) == 0o600
    assert state.place is KeyPlace.FILE
    assert state.problem.startswith("Other accounts of this computer could read the file of keys.")


@pytest.mark.parametrize("data", ["", "{", "[]", '{"openai": 5}', "[" * 3000])
async def test_a_damaged_file_is_said_and_never_overwritten(secrets: Secrets, path: Path, data: str) -> None:
    await asyncio.to_thread(path.write_text, data)

    with pytest.raises(KnownError, match="is damaged"):
        await secrets.key(OPENAI)
    with pytest.raises(KnownError, match="is damaged"):
        await secrets.save(OPENAI, KEY, KeyPlace.FILE)
    assert "is damaged" in (await secrets.state(OPENAI)).problem

    assert await asyncio.to_thread(path.read_text) == data


async def test_a_file_that_can_t_be_read_is_said(secrets: Secrets, path: Path) -> None:
    await secrets.save(ANTHROPIC, OTHER, KeyPlace.FILE)

    with refusing(path), pytest.raises(KnownError, match="The file of keys can't be read"):
        await secrets.save(OPENAI, KEY, KeyPlace.FILE)

    assert in_file(path) == {account_of(ANTHROPIC): OTHER}


async def test_what_a_killed_write_left_is_gone_with_the_key(secrets: Secrets, path: Path) -> None:
    """A process can be killed between writing the new file and putting it in place."""
    await secrets.save(OPENAI, KEY, KeyPlace.FILE)
    killed, other = (path.with_name(f".keys.json.{name}.tmp") for name in ("0a1b2c3d", "4e5f6071"))
    for left in (killed, other):
        left.write_text(KEY)
    os.utime(killed, (1, 1))

    await secrets.delete(OPENAI)

    assert not killed.exists()
    assert other.exists()


# --- for which server ---

HOME = Endpoint(id="home", name="Home", base_url="https://models.example.org/v1")
MOVED = HOME.model_copy(update={"base_url": "https://models.example.net/v1"})


def kept_for(endpoint: Endpoint, place: KeyPlace) -> dict[str, str]:
    """Return what the settings say once a key of `endpoint` is kept at `place`."""
    kept = {KeyPlace.STORE: "store", KeyPlace.FILE: "file"}.get(place, "")
    return {"key_kept": kept, "key_host": host_of(endpoint) if kept else ""}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "base_url",
    [
        "https://models.example.net/v1",
        "https://models.example.org:8443/v1",
        "http://models.example.org/v1",
        "https://models.example.org.example.net/v1",
        "https://sub.models.example.org/v1",
        "https://models.example.org@example.net/v1",
        "https://[bad/v1",
        "",
    ],
)
@pytest.mark.parametrize("restarted", [False, True])
async def test_a_key_is_sent_to_no_address_but_the_one_it_was_entered_for(
    secrets: Secrets, store: FakeStore, path: Path, place: KeyPlace, base_url: str, restarted: bool
) -> None:
    await secrets.save(HOME, KEY, place)
    moved = HOME.model_copy(update={"base_url": base_url, **kept_for(HOME, place)})
    asked = make(store, path) if restarted else secrets

    assert await asked.key(moved) is None
    assert not asked.may_have_key(moved)
    assert (await asked.state(moved)).place is KeyPlace.NONE


@pytest.mark.parametrize(
    "base_url", ["https://models.example.org", "https://MODELS.example.org.:443/v2", "https://models.example.org/v1/"]
)
async def test_a_key_holds_for_every_path_of_its_server(secrets: Secrets, base_url: str) -> None:
    await secrets.save(HOME, KEY, KeyPlace.STORE)

    assert await secrets.key(HOME.model_copy(update={"base_url": base_url})) == KEY


@pytest.mark.parametrize("place", [KeyPlace.STORE, KeyPlace.FILE])
async def test_an_address_that_was_changed_by_mistake_can_be_changed_back(
    secrets: Secrets, store: FakeStore, path: Path, place: KeyPlace
) -> None:
    await secrets.save(HOME, KEY, place)
    later = make(store, path)
    noted = kept_for(HOME, place)

    state = await later.state(MOVED.model_copy(update=noted))
    assert state.place is KeyPlace.NONE
    assert "was entered for models.example.org:443" in state.problem
    assert await later.key(HOME.model_copy(update=noted)) == KEY


@pytest.mark.parametrize("place", [KeyPlace.STORE, KeyPlace.FILE])
@pytest.mark.parametrize("after", [*PLACES, None])
async def test_no_key_of_an_earlier_address_is_left_behind(
    secrets: Secrets, store: FakeStore, path: Path, place: KeyPlace, after: KeyPlace | None
) -> None:
    await secrets.save(HOME, OTHER, place)
    later = make(store, path)
    moved = MOVED.model_copy(update=kept_for(HOME, place))

    if after is None:
        await later.delete(moved)
    else:
        await later.save(moved, KEY, after)

    assert account_of(HOME) not in store.kept | (in_file(path) or {})
    assert await later.key(moved) == (KEY if after is not None else None)


async def test_a_key_of_an_earlier_address_that_stays_is_said(secrets: Secrets, store: FakeStore, path: Path) -> None:
    await secrets.save(HOME, OTHER, KeyPlace.STORE)
    later = make(store, path)
    moved = MOVED.model_copy(update=kept_for(HOME, KeyPlace.STORE))
    store.refusal = "The store is locked."

    await later.save(moved, KEY, KeyPlace.SESSION)

    store.refusal = ""
    assert await later.key(moved) == KEY
    assert "still kept" in (await later.state(moved)).problem
