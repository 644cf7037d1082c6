import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.aio import TaskSet
from app.domain.connections import KeyPlace, SetAside
from app.domain.errors import ErrorKind, KnownError, ProviderError, StorageError
from app.domain.events import Event, SettingsChanged
from app.domain.request import ModelRequest
from app.domain.rows import Row, TextPart
from app.providers.base import Provider, TextPiece
from app.providers.discovery import Ports
from app.providers.registry import Registry
from app.session.connections import Connections
from app.session.inputs import Refused
from app.settings.key_account import account_of
from app.settings.schema import (
    OPENAI,
    Appearance,
    Endpoint,
    General,
    ListedModel,
    ModelSettings,
    Network,
    Settings,
    with_endpoint,
)
from tests.fakes.clock import FakeClock
from tests.fakes.connections import MemoryStore, make_connections
from tests.fakes.farend import FarEnd, Hold, Stall, json_answer, reply
from tests.fakes.scripted import ScriptedProvider
from tests.fakes.scripted import reply as scripted_reply
from tests.unit.session.conftest import Chat, Program, until

BOX = Endpoint(
    id="box",
    name="Box",
    maker="ollama",
    base_url="http://127.0.0.1:9/v1",
    needs_key=False,
    models=(ListedModel(id="llama", limit=8_192),),
)


@dataclass
class Desk:
    """Connections on real files, as the program makes them at its start."""

    root: Path
    store: MemoryStore = field(default_factory=MemoryStore)
    environ: dict[str, str] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    clock: FakeClock = field(default_factory=FakeClock)
    ports: Ports | None = None

    def __post_init__(self) -> None:
        self.tasks = TaskSet(lambda _name, error: self.failures.append(error))
        self.start()

    def start(self) -> None:
        self.registry = Registry()
        self.connections: Connections = make_connections(
            self.root,
            self.registry,
            [ScriptedProvider()],
            emit=self.events.append,
            tasks=self.tasks,
            clock=self.clock,
            store=self.store,
            environ=self.environ,
            ports=self.ports,
        )

    async def close(self) -> None:
        await self.connections.close()
        await self.tasks.drain(timeout_seconds=5)
        assert self.failures == []

    async def offered(self) -> list[str]:
        await self.connections.ready()
        return [card.ref for card in self.registry.models()]

    @property
    def file(self) -> Path:
        return self.root / "settings.json"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path / "data")
    yield made
    await made.close()


def adding(*endpoints: Endpoint) -> Callable[[Settings], Settings]:
    return lambda settings: settings.model_copy(update={"endpoints": (*settings.endpoints, *endpoints)})


def choosing(model: str) -> Callable[[Settings], Settings]:
    return lambda settings: settings.model_copy(update={"general": General(default_model=model)})


# --- settings ---


async def test_the_first_start_has_the_standard_settings_and_writes_nothing(desk: Desk) -> None:
    assert await desk.connections.settings() == Settings()
    assert await desk.connections.set_aside() == SetAside()
    assert not desk.root.exists()
    assert desk.events == []


async def test_a_change_is_on_disk_before_it_is_told(desk: Desk) -> None:
    on_disk: list[object] = []
    desk.events = []
    desk.connections = make_connections(
        desk.root,
        Registry(),
        [],
        emit=lambda _event: on_disk.append(json.loads(desk.file.read_text())["appearance"]["zoom_percent"]),
        tasks=desk.tasks,
    )
    zoom = Appearance(zoom_percent=150)
    changed = await desk.connections.change(lambda settings: settings.model_copy(update={"appearance": zoom}))
    assert on_disk == [150]
    assert changed == await desk.connections.settings()


async def test_a_change_that_changes_nothing_is_not_told(desk: Desk) -> None:
    await desk.connections.change(lambda settings: settings)
    assert desk.events == []


async def test_changes_at_the_same_time_all_count(desk: Desk) -> None:
    boxes = [BOX.model_copy(update={"id": f"box{number}"}) for number in range(8)]
    await asyncio.gather(*(desk.connections.change(adding(box)) for box in boxes))
    desk.start()
    settings = await desk.connections.settings()
    assert {endpoint.id for endpoint in settings.endpoints} >= {box.id for box in boxes}


@pytest.mark.parametrize(
    "edit",
    [
        lambda settings: settings.model_copy(update={"appearance": Appearance.model_construct(zoom_percent=1)}),
        lambda settings: settings.model_copy(update={"appearance": Appearance(zoom_percent=1)}),
        adding(BOX, BOX),
        adding(BOX.model_copy(update={"id": "practice"})),
        adding(BOX.model_copy(update={"base_url": ""})),
    ],
)
async def test_what_is_not_valid_is_refused_in_a_sentence_and_changes_nothing(
    desk: Desk, edit: Callable[[Settings], Settings]
) -> None:
    with pytest.raises(KnownError) as refused:
        await desk.connections.change(edit)
    assert str(refused.value).endswith((".", ".”"))
    assert await desk.connections.settings() == Settings()
    assert not desk.file.exists()
    assert desk.events == []


async def test_a_change_that_was_begun_is_whole_even_if_nobody_waits_for_it(desk: Desk) -> None:
    task = desk.tasks.spawn(desk.connections.change(adding(BOX)), name="change", watched=False)
    await until(lambda: len(desk.tasks) > 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await desk.connections.settings()).endpoint("box") == BOX
    assert "box/llama" in await desk.offered()


async def test_settings_that_another_muntin_wrote_meanwhile_are_kept(tmp_path: Path, desk: Desk) -> None:
    await desk.connections.settings()
    other = Desk(tmp_path / "data")
    await other.connections.change(adding(BOX))
    changed = await desk.connections.change(choosing("box/llama"))
    assert changed.endpoint("box") == BOX
    await other.close()


async def test_a_broken_file_is_set_aside_and_named(desk: Desk) -> None:
    desk.root.mkdir()
    desk.file.write_text("{broken")
    aside = await desk.connections.set_aside()
    assert (desk.root / aside.name).read_text() == "{broken"
    assert aside.problems == ("The file of settings could not be understood.",)
    assert await desk.connections.settings() == Settings()


async def test_settings_that_cannot_be_read_leave_what_is_built_in_and_say_why(desk: Desk) -> None:
    desk.file.mkdir(parents=True)
    with pytest.raises(StorageError):
        await desk.connections.settings()
    assert await desk.offered() == ["scripted/model"]
    with pytest.raises(ProviderError, match="settings can't be read"):
        desk.registry.find("anthropic/claude-opus-5")
    desk.file.rmdir()
    assert await desk.connections.settings() == Settings()
    with pytest.raises(ProviderError, match="not in the settings any more"):
        desk.registry.find("box/llama")


# --- what is on offer ---


async def test_built_in_models_come_first_and_those_without_a_key_are_not_on_offer(desk: Desk) -> None:
    await desk.connections.change(adding(BOX))
    assert await desk.offered() == ["scripted/model", "box/llama"]
    known = [card.provider for card in await desk.connections.all_models()]
    assert list(dict.fromkeys(known)) == ["scripted", "anthropic", "openai", "box"]


async def test_a_key_in_the_environment_puts_the_vendor_on_offer(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "data", environ={"ANTHROPIC_API_KEY": "sk-ant-123456789012"})
    assert "anthropic/claude-opus-5-5" in await desk.offered()
    assert "openai/gpt-6-sol" not in await desk.offered()
    await desk.close()


async def test_new_chats_get_the_chosen_model_if_it_is_on_offer(desk: Desk) -> None:
    await desk.connections.change(adding(BOX))
    await desk.connections.change(choosing("box/llama"))
    assert await desk.offered() == ["box/llama", "scripted/model"]
    await desk.connections.change(choosing("anthropic/claude-opus-5-5"))
    assert await desk.offered() == ["scripted/model", "box/llama"]


async def test_a_chat_goes_on_with_a_model_that_left_the_list(desk: Desk) -> None:
    await desk.connections.change(adding(BOX))
    _, card = desk.registry.find("box/gone:7b")
    assert (card.ref, card.limit, card.provider_name) == ("box/gone:7b", None, "Box")


async def test_a_model_of_a_vendor_without_a_key_is_found_and_what_fails_is_the_key(desk: Desk) -> None:
    await desk.connections.ready()
    provider, card = desk.registry.find("anthropic/claude-opus-5-5")
    assert card.limit == 1_000_000
    with pytest.raises(ProviderError) as failed:
        await desk.connections.refresh_models("anthropic")
    assert failed.value.kind is ErrorKind.AUTHENTICATION
    assert "no key for Anthropic" in str(failed.value)
    assert provider.name == "anthropic"


@pytest.mark.parametrize("ref", ["gone/llama", "gone/", "gone"])
async def test_a_model_of_a_provider_that_is_gone_is_refused_by_its_name(desk: Desk, ref: str) -> None:
    await desk.connections.ready()
    with pytest.raises(ProviderError, match="“gone” is not in the settings") as failed:
        desk.registry.find(ref)
    assert failed.value.kind is ErrorKind.MODEL_NOT_FOUND


async def test_providers_that_nothing_changed_for_stay_and_others_are_made_anew(desk: Desk) -> None:
    shelf = BOX.model_copy(update={"id": "shelf", "name": "Shelf"})
    await desk.connections.change(adding(BOX, shelf))
    box, _ = desk.registry.find("box/llama")
    other, _ = desk.registry.find("shelf/llama")

    def rename(settings: Settings) -> Settings:
        moved = shelf.model_copy(update={"base_url": "http://127.0.0.1:10/v1"})
        endpoints = (*(endpoint for endpoint in settings.endpoints if endpoint.id != "shelf"), moved)
        favourite = {"box/llama": ModelSettings(favourite=True)}
        return settings.model_copy(update={"endpoints": endpoints, "models": favourite})

    await desk.connections.change(rename)
    same, card = desk.registry.find("box/llama")
    assert same is box
    assert card.is_favourite
    assert desk.registry.find("shelf/llama")[0] is not other


# --- keys ---

KEY = "sk-ant-api03-abcdefghijkl"


@pytest.mark.parametrize(
    ("place", "kept"), [(KeyPlace.STORE, "store"), (KeyPlace.SESSION, ""), (KeyPlace.FILE, "file")]
)
async def test_a_key_puts_its_models_on_offer_and_its_place_is_remembered(
    desk: Desk, place: KeyPlace, kept: str
) -> None:
    assert await desk.offered() == ["scripted/model"]
    state = await desk.connections.save_key("anthropic", KEY, place)
    assert (state.place, state.ending) == (place, KEY[-4:])
    assert desk.events == [SettingsChanged()]
    assert "anthropic/claude-opus-5-5" in await desk.offered()
    anthropic = (await desk.connections.settings()).endpoint("anthropic")
    assert anthropic is not None
    assert anthropic.key_kept == kept
    assert not desk.file.exists() or KEY not in desk.file.read_text()

    desk.start()
    is_offered = "anthropic/claude-opus-5-5" in await desk.offered()
    assert is_offered == (place is not KeyPlace.SESSION)


async def test_a_deleted_key_takes_its_models_off(desk: Desk) -> None:
    await desk.connections.save_key("anthropic", KEY, KeyPlace.STORE)
    state = await desk.connections.delete_key("anthropic")
    assert state.place is KeyPlace.NONE
    assert await desk.offered() == ["scripted/model"]
    assert desk.store.kept == {}


async def test_a_key_that_cannot_be_noted_is_not_kept(desk: Desk) -> None:
    await desk.connections.settings()
    desk.file.mkdir(parents=True)
    with pytest.raises(StorageError):
        await desk.connections.save_key("anthropic", KEY, KeyPlace.STORE)
    assert desk.store.kept == {}
    assert desk.events == []


async def test_another_key_is_sent_by_another_provider(desk: Desk) -> None:
    await desk.connections.save_key("anthropic", KEY, KeyPlace.STORE)
    first, _ = desk.registry.find("anthropic/claude-opus-5-5")
    await desk.connections.save_key("anthropic", KEY + "x", KeyPlace.STORE)
    second, _ = desk.registry.find("anthropic/claude-opus-5-5")
    assert second is not first


async def test_a_key_found_in_the_key_store_by_looking_puts_its_models_on_offer(desk: Desk) -> None:
    desk.store.kept[account_of(OPENAI)] = KEY
    assert await desk.offered() == ["scripted/model"]
    assert (await desk.connections.key_state("openai")).place is KeyPlace.STORE
    assert "openai/gpt-6-sol" in await desk.offered()
    assert desk.events == [SettingsChanged()]


async def test_a_key_for_a_provider_that_is_gone_is_refused(desk: Desk) -> None:
    for call in (desk.connections.key_state("gone"), desk.connections.delete_key("gone")):
        with pytest.raises(KnownError, match="no provider “gone”"):
            await call


async def test_a_key_does_not_follow_its_provider_to_another_address(desk: Desk) -> None:
    async with FarEnd() as first, FarEnd() as second:
        await desk.connections.change(adding(with_key_at(first.url)))
        await desk.connections.save_key("far", KEY, KeyPlace.STORE)
        moved = await desk.connections.change(
            lambda settings: with_endpoint(settings, "far", base_url=f"{second.url}/v1")
        )
        endpoint = moved.endpoint("far")
        assert endpoint is not None
        report = await desk.connections.test(endpoint)
        state = await desk.connections.key_state("far")
        assert (report.passed, second.requests) == (False, [])
        assert state.place is KeyPlace.NONE
        assert f"127.0.0.1:{first.port}" in state.problem
        assert "far/far-large" not in await desk.offered()


async def test_a_key_is_for_the_address_entered_just_before(desk: Desk) -> None:
    moved = BOX.model_copy(update={"base_url": "http://127.0.0.1:10/v1"})
    await desk.connections.change(adding(BOX))
    _, state = await asyncio.gather(
        desk.connections.change(lambda settings: with_endpoint(settings, "box", base_url=moved.base_url)),
        desk.connections.save_key("box", KEY, KeyPlace.STORE),
    )
    assert state.place is KeyPlace.STORE
    assert desk.store.kept == {account_of(moved): KEY}


async def test_a_key_for_a_new_address_is_not_sent_to_the_old_one(desk: Desk) -> None:
    """A turn that waits for its next try still has the provider of the address there was."""
    async with FarEnd() as first, FarEnd() as second:
        await desk.connections.change(adding(with_key_at(first.url)))
        await desk.connections.save_key("far", KEY, KeyPlace.SESSION)
        waiting, _ = desk.registry.find("far/far-large")
        await desk.connections.change(lambda settings: with_endpoint(settings, "far", base_url=f"{second.url}/v1"))
        await desk.connections.save_key("far", f"{KEY}-new", KeyPlace.SESSION)
        assert await heard(waiting)
        assert [request.header("authorization") for request in first.requests] == [f"Bearer {KEY}"]
        assert second.requests == []


async def test_the_key_of_a_provider_that_is_removed_is_deleted(desk: Desk) -> None:
    await desk.connections.change(adding(BOX))
    await desk.connections.save_key("box", KEY, KeyPlace.STORE)
    await desk.connections.change(lambda settings: settings.model_copy(update={"endpoints": settings.endpoints[:-1]}))
    await until(lambda: desk.store.kept == {})


async def test_the_key_of_a_provider_that_only_fell_out_of_the_file_stays(desk: Desk) -> None:
    """Somebody has made a mistake in the file; they will put it right."""
    await desk.connections.change(adding(BOX))
    await desk.connections.save_key("box", KEY, KeyPlace.STORE)
    desk.file.write_text(desk.file.read_text().replace('"id": "box"', '"id": "BOX!"'))
    changed = await desk.connections.change(choosing("scripted/model"))
    assert changed.endpoint("box") is None
    await desk.tasks.drain(timeout_seconds=5)
    assert list(desk.store.kept.values()) == [KEY]


# --- the data folder ---


async def test_the_report_says_what_each_chat_takes(desk: Desk) -> None:
    for name, size in (("small", 10), ("large", 2_000)):
        folder = desk.root / "sessions" / name
        folder.mkdir(parents=True)
        (folder / "session.json").write_text(json.dumps({"title": name.title(), "updated": "2026-11-30T12:00:00Z"}))
        (folder / "blobs").mkdir()
        (folder / "blobs" / "a").write_bytes(b"x" * size)
    (desk.root / "trash" / "old").mkdir(parents=True)
    (desk.root / "trash" / "old" / "chat.jsonl").write_bytes(b"x" * 300)
    report = await desk.connections.data_report()
    assert [title for _, title, _ in report.chats] == ["Large", "Small"]
    assert report.chats[0][2] > 2_000
    assert report.trash_bytes == 300
    assert report.total_bytes == 300 + sum(size for _, _, size in report.chats)
    assert report.folder == str(desk.root)
    assert report.log_file.startswith(report.folder)


async def test_an_empty_data_folder_has_nothing_in_it(desk: Desk) -> None:
    report = await desk.connections.data_report()
    assert (report.total_bytes, report.trash_bytes, report.chats) == (0, 0, ())


# --- servers ---


def with_key_at(url: str) -> Endpoint:
    models = (ListedModel(id="far-large"),)
    return Endpoint(id="far", name="Far", base_url=f"{url}/v1", models=models)


def server_at(url: str, *, endpoint_id: str = "far") -> Endpoint:
    return Endpoint(id=endpoint_id, name="Far", maker="ollama", base_url=f"{url}/v1", needs_key=False)


async def test_a_server_is_found_added_listed_and_tested(tmp_path: Path) -> None:
    async with FarEnd(look="ollama") as far:
        desk = Desk(tmp_path / "data", ports=Ports(ollama=far.port, lmstudio=9))
        (found,) = await desk.connections.discover()
        await desk.connections.change(adding(server_at(far.url)))
        assert await desk.connections.discover() == ()
        assert await desk.connections.refresh_models("far") == 3
        report = await desk.connections.test(server_at(far.url))
        await desk.close()
    assert found.models == 3
    assert report.passed
    assert await desk.offered() == ["scripted/model", "far/far-large", "far/far-small", "far/far-tiny"]

    # The server is off and Muntin starts anew: its models are there all the same.
    desk.start()
    assert "far/far-large" in await desk.offered()
    _, card = desk.registry.find("far/far-large")
    assert (card.limit, card.origin) == (16_384, "provider")
    far_endpoint = (await desk.connections.settings()).endpoint("far")
    assert far_endpoint is not None
    assert far_endpoint.listed == desk.clock.now()
    await desk.close()


async def test_a_list_is_not_kept_for_an_address_it_is_not_of(desk: Desk) -> None:
    hold = Hold()
    async with FarEnd() as far:
        far.play(json_answer({"data": [{"id": "far-large"}]}).but(Stall(hold, before_headers=True)), path="/models")
        await desk.connections.change(adding(server_at(far.url)))
        asking = asyncio.gather(desk.connections.refresh_models("far"))
        await hold.reached()
        await desk.connections.change(lambda settings: with_endpoint(settings, "far", base_url="http://127.0.0.1:9/v1"))
        hold.release()
        assert list(await asking) == [1]
    far_endpoint = (await desk.connections.settings()).endpoint("far")
    assert far_endpoint is not None
    assert (far_endpoint.models, far_endpoint.listed) == ((), None)


async def test_a_list_that_fails_leaves_the_old_one(desk: Desk) -> None:
    await desk.connections.change(adding(BOX))
    desk.events.clear()
    with pytest.raises(ProviderError) as failed:
        await desk.connections.refresh_models("box")
    assert failed.value.kind is ErrorKind.NETWORK
    assert "box/llama" in await desk.offered()
    assert desk.events == []


async def test_the_model_of_new_chats_is_the_one_a_test_asks(desk: Desk) -> None:
    async with FarEnd() as far:
        await desk.connections.change(adding(server_at(far.url)))
        await desk.connections.change(choosing("far/far-small"))
        report = await desk.connections.test(server_at(far.url))
        other = await desk.connections.test(server_at(far.url, endpoint_id="new"))
    assert (report.model, other.model) == ("far-small", "far-large")


async def test_a_key_that_is_only_tried_is_sent_and_not_kept(desk: Desk) -> None:
    async with FarEnd() as far:
        endpoint = server_at(far.url).model_copy(update={"needs_key": True, "maker": "other"})
        await desk.connections.change(adding(endpoint))
        without = await desk.connections.test(endpoint)
        assert far.requests == []
        report = await desk.connections.test(endpoint, key=f" {KEY}\n")
        assert {request.header("authorization") for request in far.requests} == {f"Bearer {KEY}"}
    assert not without.passed
    assert report.passed
    assert (await desk.connections.key_state("far")).place is KeyPlace.NONE
    assert desk.store.kept == {}
    assert KEY not in repr(report)


@pytest.mark.parametrize("address", ["http://box:99999/v1", "http://[::1/v1", "", "ftp://box"])
async def test_an_address_that_is_none_fails_by_its_name(desk: Desk, address: str) -> None:
    (step,) = (await desk.connections.test(BOX.model_copy(update={"base_url": address}))).steps
    assert not step.passed
    assert step.detail.endswith((".", "?"))


async def test_a_text_that_can_be_no_key_is_not_sent(desk: Desk) -> None:
    async with FarEnd() as far:
        report = await desk.connections.test(server_at(far.url), key="my key is 123")
        assert far.requests == []
    assert "no spaces" in report.steps[-1].detail


async def test_a_reply_runs_to_its_end_on_the_provider_it_began_with(desk: Desk) -> None:
    hold = Hold()
    async with FarEnd() as old, FarEnd() as new:
        await desk.connections.change(adding(server_at(old.url)))
        old.play(reply("one ", Stall(hold), "two"))
        provider, _ = desk.registry.find("far/far-large")
        reading = asyncio.gather(heard(provider))
        await hold.reached()
        await desk.connections.change(
            lambda settings: with_endpoint(settings, "far", base_url=f"{new.url}/v1", name="New")
        )
        replacement, _ = desk.registry.find("far/far-large")
        new.play(reply("three"))
        assert await heard(replacement) == "three"
        hold.release()
        assert list(await reading) == ["one two"]
        # A turn that found the old one just before the change still gets its reply, and nothing stays open.
        old.play(reply("late"))
        assert await heard(provider) == "late"


async def test_no_connection_stays_open_to_an_address_that_was_changed(desk: Desk) -> None:
    async with FarEnd() as proxy:
        endpoint = Endpoint(id="far", name="Far", base_url="http://models.example/v1", needs_key=False)
        network = Network(proxy="custom", proxy_url=proxy.url)
        await desk.connections.change(adding(endpoint))
        await desk.connections.change(lambda settings: settings.model_copy(update={"network": network}))
        proxy.play(reply("one"), reply("two"))
        # Held here: what nobody holds is closed by itself.
        provider, _ = desk.registry.find("far/far-large")
        assert await heard(provider) + await heard(provider) == "onetwo"
        assert (proxy.connections, proxy.open_connections) == (1, 1), "it is kept for the next request"
        await desk.connections.change(lambda settings: with_endpoint(settings, "far", base_url="http://127.0.0.1:9"))
        await until(lambda: proxy.open_connections == 0)


async def heard(provider: Provider) -> str:
    row = Row(id="a", session="s", role="user", turn="a", parts=(TextPart(text="Hello"),))
    pieces = provider.stream(ModelRequest(model="far-large", system="", rows=(row,), max_tokens=100))
    return "".join([piece.text async for piece in pieces if isinstance(piece, TextPiece)])


async def test_a_chat_talks_to_a_server_and_goes_on_elsewhere_when_that_is_gone(program: Program) -> None:
    async with FarEnd(look="ollama") as far:
        await program.manager.connections.change(adding(server_at(far.url)))
        summary = await program.manager.create_chat("far/far-large")
        await program.manager.open_chat(summary.id)
        chat = Chat(program, summary.id)
        far.play(reply("Hello ", "there"))
        await chat.say("Hi")
    assert chat.texts() == ["Hi", "Hello there"]

    await program.manager.connections.change(lambda settings: settings.model_copy(update={"endpoints": ()}))
    refused = await chat.send("Are you there?")
    assert isinstance(refused, Refused)
    assert "“far” is not in the settings any more" in refused.reason
    program.provider.play(scripted_reply("I am."))
    await program.manager.set_model(summary.id, "scripted/model")
    await chat.say("Are you there?")
    assert chat.texts()[-1] == "I am."
