"""The file of settings on a real disk."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import KnownError, StorageError
from app.settings.schema import ANTHROPIC, OPENAI, Appearance, Edit, Endpoint, General, Network, Settings
from app.settings.store import SettingsStore
from tests.fakes.disk import refusing


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "settings.json"


@pytest.fixture
def store(path: Path) -> SettingsStore:
    return SettingsStore(path)


def zoomed(percent: int) -> Edit:
    """Return an edit as the program makes them: of one field, as the group around it may hold more than we know."""

    def edit(settings: Settings) -> Settings:
        appearance = settings.appearance.model_copy(update={"zoom_percent": percent})
        return settings.model_copy(update={"appearance": appearance})

    return edit


def written(path: Path) -> dict[str, object]:
    return cast("dict[str, object]", json.loads(path.read_text()))


def write(path: Path, value: object) -> bytes:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value))
    return path.read_bytes()


def copies(path: Path) -> list[Path]:
    return sorted(path.parent.glob("*.damaged"))


def test_without_a_file_the_settings_are_the_standard_ones_and_nothing_is_written(
    store: SettingsStore, path: Path
) -> None:
    assert store.load() == Settings()
    assert not path.parent.exists()
    assert (store.set_aside, store.problems) == ("", ())


def test_what_is_saved_is_read_again_and_only_by_this_account(store: SettingsStore, path: Path) -> None:
    settings = Settings(
        general=General(default_model="anthropic/x"),
        endpoints=(ANTHROPIC, Endpoint(id="my-box", name="Küche", base_url="http://nas:8080/v1", needs_key=False)),
    )

    store.save(settings)

    assert SettingsStore(path).load() == settings
    assert "Küche" in path.read_text()
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["settings.json"]


def test_fields_nobody_knows_are_kept_at_every_level(store: SettingsStore, path: Path) -> None:
    value = Settings().model_dump(mode="json") | {"version": 7, "future": {"a": [1, None, "ü"]}}
    value["appearance"]["font"] = "Serif"
    value["endpoints"][0]["region"] = "eu"
    value["endpoints"][0]["models"] = [{"id": "m", "speed": 3}]
    value["models"] = {"anthropic/m": {"limit": 5000, "note": "mine"}}
    value["lone"] = "\ud800"
    write(path, value)

    store.load()
    store.change(zoomed(150))

    saved = written(path)
    assert saved["version"] == 7
    assert saved["future"] == {"a": [1, None, "ü"]}
    assert saved["lone"] == "\ud800"
    assert saved["appearance"] == {"theme": "system", "zoom_percent": 150, "font": "Serif"}
    endpoint = cast("list[dict[str, object]]", saved["endpoints"])[0]
    assert endpoint["region"] == "eu"
    assert cast("list[dict[str, object]]", endpoint["models"])[0]["speed"] == 3
    assert cast("dict[str, dict[str, object]]", saved["models"])["anthropic/m"]["note"] == "mine"
    assert store.problems == ()


def test_a_provider_only_a_newer_version_can_speak_to_stays_in_the_file(store: SettingsStore, path: Path) -> None:
    foreign = {"id": "new", "name": "New", "dialect": "hologram", "base_url": "https://new.example", "beam": [1]}
    value = Settings().model_dump(mode="json")
    write(path, value | {"version": 2, "endpoints": [foreign, *cast("list[object]", value["endpoints"])]})

    assert [endpoint.id for endpoint in store.load().endpoints] == ["anthropic", "openai"]
    store.change(zoomed(80))

    assert (store.problems, copies(path)) == ((), [])
    assert cast("list[object]", written(path)["endpoints"])[-1] == foreign
    # Of the same version it is a mistake, which is said.
    write(path, written(path) | {"version": 1})
    assert SettingsStore(path).change(zoomed(90)).endpoints[-1].dialect == "chat"
    assert len(copies(path)) == 1


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_names = st.text(max_size=12).map(lambda text: f"x-{text}")


@given(st.dictionaries(_names, _json, max_size=4), st.sampled_from(["", "general", "network", "privacy"]))
def test_whatever_a_newer_version_wrote_comes_back(
    tmp_path_factory: pytest.TempPathFactory, unknown: dict[str, object], group: str
) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.json"
    value = Settings().model_dump(mode="json")
    (value[group] if group else value).update(unknown)
    write(path, value)

    store = SettingsStore(path)
    store.change(zoomed(75))

    saved = written(path)
    assert unknown.items() <= cast("dict[str, object]", saved[group] if group else saved).items()
    assert store.problems == ()


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a": 1}}', b"[" * 3000, b'{"a": ' * 300 + b"1" + b"}" * 300]
)
def test_a_file_that_can_t_be_understood_is_set_aside_and_named(store: SettingsStore, path: Path, data: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(data)

    assert store.load() == Settings()

    assert [copy.name for copy in copies(path)] == [store.set_aside]
    assert copies(path)[0].read_bytes() == data
    assert store.problems == ("The file of settings could not be understood.",)
    later = SettingsStore(path)
    assert later.load() == Settings()
    assert (later.set_aside, later.problems) == ("", ())


def test_a_byte_order_mark_is_no_fault(store: SettingsStore, path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"\xef\xbb\xbf" + b'{"appearance": {"zoom_percent": 80}}')

    assert store.load().appearance.zoom_percent == 80
    assert store.problems == ()


def test_one_wrong_field_goes_back_to_its_default_and_all_others_stay(store: SettingsStore, path: Path) -> None:
    value = Settings(general=General(default_model="a/b", enter_sends=False)).model_dump(mode="json")
    value["appearance"] = {"theme": "dark", "zoom_percent": 301}
    before = write(path, value)

    settings = store.load()

    assert settings.general == General(default_model="a/b", enter_sends=False)
    assert (settings.appearance.theme, settings.appearance.zoom_percent) == ("dark", 100)
    assert store.problems == ("Zoom must be 300 or less.",)
    assert copies(path)[0].read_bytes() == before
    assert SettingsStore(path).load() == settings


def _set(*place: str | int, to: object) -> Callable[[dict[str, object]], None]:
    def change(value: dict[str, object]) -> None:
        owner: object = value
        for step in place[:-1]:
            owner = owner[step]  # type: ignore[index]
        owner[place[-1]] = to  # type: ignore[index]

    return change


def _drop(*place: str | int) -> Callable[[dict[str, object]], None]:
    def change(value: dict[str, object]) -> None:
        owner: object = value
        for step in place[:-1]:
            owner = owner[step]  # type: ignore[index]
        del owner[place[-1]]  # type: ignore[attr-defined]

    return change


@pytest.mark.parametrize(
    ("change", "words", "ids"),
    [
        (_set("version", to="x"), "“version” must be a whole number.", "abc"),
        (_set("general", to=[]), "“general” must be a group.", "abc"),
        (_set("endpoints", to={}), "Providers must be a list.", "?"),
        (_set("models", to=3), "Models must be a group.", "abc"),
        (_set("models", "a/m", to="x"), "What is said about a/m must be a group.", "abc"),
        (_set("models", "a/m", "limit", to=1023), "Context window of a/m must be 1,024 or more.", "abc"),
        (_set("models", "a/m", "input_price", to=-1), "Price of input of a/m must be 0 or more.", "abc"),
        (_set("endpoints", 1, to=None), "What is said about provider 2 must be a group.", "ac"),
        (_drop("endpoints", 1, "id"), "Id of B is missing.", "ac"),
        (_drop("endpoints", 1, "base_url"), "Address of B is missing.", "ac"),
        (
            _set("endpoints", 1, "id", to="B!"),
            "Id of B may have small letters, digits and hyphens only, 40 at most.",
            "ac",
        ),
        (_set("endpoints", 1, "id", to="a"), "There are two providers with the id “a”.", "ac"),
        (
            _set("endpoints", 1, "id", to="practice"),
            "A provider can't be called “practice”: that is the Practice model.",
            "ac",
        ),
        (_set("endpoints", 1, "name", to=""), "Name of b may not be empty.", "ac"),
        (
            _set("endpoints", 1, "base_url", to="ftp://b"),
            "The address of B: An address begins with https:// or http://, not with ftp://.",
            "ac",
        ),
        (
            _set("endpoints", 1, "dialect", to="morse"),
            "Way of speaking of B must be one of these: 'anthropic', 'responses' or 'chat'.",
            "abc",
        ),
        (_set("endpoints", 1, "verify", to="perhaps"), "Check the certificate of B must be true or false.", "abc"),
        (
            _set("endpoints", 1, "models", to=[{"id": "x"}, {"name": "no id"}, {"id": "z", "limit": 0}]),
            "Id of B is missing.",
            "abc",
        ),
        (
            _set("network", to={"proxy": "custom"}),
            "The address of the proxy must begin with http://, https:// or socks5://.",
            "abc",
        ),
        (_set("network", to={"ca_file": "a\nb"}), "The name of the certificate file must be one line of text.", "abc"),
    ],
)
def test_each_fault_costs_no_more_than_what_it_is_in(
    store: SettingsStore, path: Path, change: Callable[[dict[str, object]], None], words: str, ids: str
) -> None:
    endpoints = tuple(Endpoint(id=name, name=name.upper(), base_url=f"https://{name}.example/v1") for name in "abc")
    value = Settings(endpoints=endpoints, appearance=Appearance(theme="dark")).model_dump(mode="json")
    value["models"] = {"a/m": {"favourite": True}}
    change(value)
    write(path, value)

    settings = store.load()

    assert words in store.problems
    expected = ("anthropic", "openai") if ids == "?" else tuple(ids)
    assert tuple(endpoint.id for endpoint in settings.endpoints) == expected
    assert settings.appearance.theme == "dark"
    assert len(copies(path)) == 1


def test_several_faults_in_one_list_remove_only_those_entries(store: SettingsStore, path: Path) -> None:
    value = Settings().model_dump(mode="json")
    good = [{"id": name, "name": name, "base_url": f"https://{name}.example"} for name in "abcd"]
    value["endpoints"] = [{}, good[0], 5, good[1], {"id": "B!", "name": 1, "base_url": None}, good[2], good[0], good[3]]
    write(path, value)

    assert [endpoint.id for endpoint in store.load().endpoints] == ["a", "b", "c", "d"]


@given(_json, st.sampled_from(["version", "general", "endpoints", "models", "appearance", "network", "privacy"]))
def test_no_content_keeps_the_program_from_starting(
    tmp_path_factory: pytest.TempPathFactory, junk: object, field: str
) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.json"
    write(path, Settings(appearance=Appearance(theme="dark")).model_dump(mode="json") | {field: junk})

    settings = SettingsStore(path).load()

    assert field == "appearance" or settings.appearance.theme == "dark"
    assert SettingsStore(path).load() == settings


def test_a_file_that_can_t_be_read_is_said_and_never_overwritten(store: SettingsStore, path: Path) -> None:
    store.save(Settings())
    before = path.read_bytes()

    with refusing(path):
        with pytest.raises(StorageError, match="can't be read"):
            SettingsStore(path).load()
        with pytest.raises(StorageError):
            SettingsStore(path).change(zoomed(80))
        with pytest.raises(StorageError):
            store.change(zoomed(80))

    assert path.read_bytes() == before
    assert copies(path) == []


def test_a_write_that_fails_leaves_the_old_content(store: SettingsStore, path: Path) -> None:
    store.change(zoomed(90))
    before = path.read_bytes()
    path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.touch()

    with pytest.raises(StorageError):
        store.save(Settings())

    path.parent.unlink()
    path.parent.with_name("elsewhere").rename(path.parent)
    assert path.read_bytes() == before


def test_a_file_with_a_fault_is_not_overwritten_while_it_can_t_be_set_aside(path: Path) -> None:
    before = write(path, {"appearance": {"zoom_percent": 1}})
    first = SettingsStore(path)
    first.load()
    # The same again, and a folder stands where the copy should be.
    path.write_bytes(before)
    copies(path)[0].unlink()
    path.with_name(first.set_aside).mkdir()
    store = SettingsStore(path)

    assert store.load().appearance.zoom_percent == 100

    assert store.problems == ("Zoom must be 50 or more.",)
    assert store.set_aside == ""
    with pytest.raises(StorageError, match=r"^A copy of settings\.json can't be saved"):
        store.change(zoomed(120))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            Settings().model_copy(update={"appearance": Appearance.model_construct(zoom_percent=49)}),
            "Zoom must be 50 or more.",
        ),
        (
            Settings().model_copy(update={"endpoints": (OPENAI, OPENAI)}),
            "There are two providers with the id “openai”.",
        ),
        (
            Settings().model_copy(update={"endpoints": (OPENAI.model_copy(update={"id": "practice"}),)}),
            "A provider can't be called “practice”: that is the Practice model.",
        ),
        (
            Settings().model_copy(update={"endpoints": (OPENAI.model_copy(update={"base_url": "a b"}),)}),
            "The address of OpenAI: An address has no spaces or line breaks in it.",
        ),
        (
            Settings().model_copy(update={"network": Network(proxy="custom", proxy_url="http://p")}),
            "The address of the proxy needs a port at its end, such as :8080.",
        ),
    ],
)
def test_settings_that_are_not_valid_are_refused_in_words_and_nothing_is_written(
    store: SettingsStore, path: Path, settings: Settings, words: str
) -> None:
    store.save(Settings())
    before = path.read_bytes()

    with pytest.raises(KnownError) as refused:
        store.save(settings)

    assert str(refused.value) == words
    assert path.read_bytes() == before


def test_an_edit_that_makes_no_settings_is_refused_in_words(store: SettingsStore, path: Path) -> None:
    def edit(settings: Settings) -> Settings:
        return settings.model_copy(update={"appearance": Appearance(zoom_percent=301)})

    with pytest.raises(KnownError, match=r"^Zoom must be 300 or less\.$"):
        store.change(edit)
    with pytest.raises(KnownError, match=r"^Zoom must be 300 or less\.$"):
        store.change(zoomed(301))

    assert not path.exists()


@pytest.mark.parametrize("url", ["http://proxy:8080", "https://10.0.0.1:3128/", "socks5://[::1]:1080", " http://p:1 "])
def test_an_own_proxy_has_scheme_host_and_port(store: SettingsStore, url: str) -> None:
    assert store.save(Settings(network=Network(proxy="custom", proxy_url=url))).network.proxy_url == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "proxy:8080",
        "ftp://p:1",
        "http://:8080",
        "http://p",
        "http://p:0",
        "http://p:99999",
        "http://p:x",
        "http://p p:1",
        "http://name:word@p:1",
        "http://p:1/path",
        "http://p:1?q",
    ],
)
def test_what_is_no_proxy_is_refused_if_it_is_used(store: SettingsStore, url: str) -> None:
    with pytest.raises(KnownError, match="proxy"):
        store.save(Settings(network=Network(proxy="custom", proxy_url=url)))

    store.save(Settings(network=Network(proxy="system", proxy_url=url)))


def test_two_muntins_on_one_folder_keep_each_others_changes(path: Path) -> None:
    first, second = SettingsStore(path), SettingsStore(path)
    first.load()
    second.load()

    first.change(zoomed(150))
    second.change(lambda settings: settings.model_copy(update={"general": General(enter_sends=False)}))
    first.change(lambda settings: settings.model_copy(update={"network": Network(proxy="none")}))

    settings = SettingsStore(path).load()
    assert settings.appearance.zoom_percent == 150
    assert not settings.general.enter_sends
    assert settings.network.proxy == "none"


def test_a_file_that_breaks_meanwhile_costs_nothing_of_what_is_known(store: SettingsStore, path: Path) -> None:
    store.change(zoomed(150))
    path.write_text("{")

    settings = store.change(lambda settings: settings.model_copy(update={"general": General(enter_sends=False)}))

    assert settings.appearance.zoom_percent == 150
    assert SettingsStore(path).load() == settings
    assert copies(path)[0].read_text() == "{"


def test_a_file_that_is_gone_meanwhile_is_written_again(store: SettingsStore, path: Path) -> None:
    store.change(zoomed(150))
    path.unlink()

    store.change(lambda settings: settings.model_copy(update={"general": General(enter_sends=False)}))

    assert SettingsStore(path).load().appearance.zoom_percent == 150


def test_an_edit_that_changes_nothing_writes_nothing(store: SettingsStore, path: Path) -> None:
    store.change(lambda settings: settings)

    assert not path.exists()
