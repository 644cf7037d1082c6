"""The parts of the window that need no window."""

import pytest

from app.domain.connections import KeyPlace, KeyState
from app.domain.errors import ErrorKind, KnownError, ProviderError
from app.domain.models import Abilities, ModelCard, Origin
from app.settings.schema import Endpoint, ModelSettings, Settings
from app.ui.settings.edits import (
    add_endpoint,
    change_endpoint,
    change_model,
    change_part,
    forget_figures,
    free_id,
    remove_endpoint,
    remove_model,
)
from app.ui.settings.figures import read_price, read_tokens
from app.ui.settings.matching import matches, nearly_matches
from app.ui.settings.wording import abilities_text, key_sentence, origin_sentence, sentence_of


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", None),
        ("1024", 1024),
        ("128k", 128_000),
        ("1M", 1_000_000),
        ("1.5k", 1500),
        ("200,000", 200_000),
        ("200.000", 200_000),
        ("200 000", 200_000),
        ("1,048,576", 1_048_576),
    ],
)
def test_numbers_of_tokens_are_read_as_people_write_them(text: str, tokens: int | None) -> None:
    assert read_tokens(text) == tokens


@pytest.mark.parametrize("text", ["many", "-5", "1.5", "12kk", "0x10"])
def test_what_is_no_number_of_tokens_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no number"):
        read_tokens(text)


@pytest.mark.parametrize(("text", "price"), [("", None), ("3", 3.0), ("$0.25", 0.25), ("0,25", 0.25)])
def test_prices_are_read_as_people_write_them(text: str, price: float | None) -> None:
    assert read_price(text) == price


@pytest.mark.parametrize("text", ["cheap", "-1", "3k", "nan", "inf"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no number"):
        read_price(text)


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (KeyState(KeyPlace.STORE, store_name="Secret Service", ending="abcd"), "Saved in Secret Service (…abcd)"),
        (KeyState(KeyPlace.SESSION, ending="abcd"), "Only for this session (…abcd)"),
        (KeyState(KeyPlace.FILE), "Saved in a file in Muntin's folder"),
        (KeyState(KeyPlace.NONE), "No key yet"),
        (
            KeyState(KeyPlace.ENVIRONMENT, variable="ANTHROPIC_API_KEY"),
            "From ANTHROPIC_API_KEY (set outside Muntin; can't be changed here)",
        ),
    ],
)
def test_where_a_key_is_is_said_in_words(state: KeyState, sentence: str) -> None:
    assert key_sentence(state) == sentence


def test_a_server_without_keys_is_not_said_to_lack_one() -> None:
    assert key_sentence(KeyState(KeyPlace.NONE), needs_key=False) == "Needs no key"


def test_the_providers_own_words_follow_ours() -> None:
    error = ProviderError(ErrorKind.AUTHENTICATION, "Incorrect API key provided.", is_quote=True)
    assert sentence_of(error).endswith("the key. The provider says: “Incorrect API key provided”.")
    assert sentence_of(KnownError("The disk is full.")) == "The disk is full."


@pytest.mark.parametrize(
    ("origin", "checked", "words"),
    [
        (Origin.CATALOGUE, "2026-11-02", "From Muntin's catalogue, checked"),
        (Origin.CATALOGUE, "", "From Muntin's catalogue"),
        (Origin.PROVIDER, "", "From the provider's list"),
        (Origin.PERSON, "", "Entered by you"),
    ],
)
def test_where_figures_are_from_is_said(origin: Origin, checked: str, words: str) -> None:
    card = ModelCard("m", "openai", "M", None, None, origin=origin, checked=checked)
    assert origin_sentence(card).startswith(words)


def test_only_abilities_that_are_known_are_named() -> None:
    card = ModelCard("m", "openai", "M", None, None, abilities=Abilities(sees_pictures=True, calls_tools=False))
    assert abilities_text(card) == "pictures"


def test_words_are_found_in_any_order_and_case() -> None:
    assert matches("PROXY address", "Address of the proxy")
    assert not matches("proxy zebra", "Address of the proxy")
    assert not matches("  ", "Address of the proxy")
    assert nearly_matches("certifcate", "More certificates to trust certificate")
    assert not nearly_matches("cat", "car")


def test_a_change_of_one_thing_leaves_the_rest() -> None:
    before = Settings()
    after = change_part("general", enter_sends=False)(before)
    assert not after.general.enter_sends
    assert after.model_copy(update={"general": before.general}) == before
    renamed = change_endpoint("openai", name="Work")(before)
    assert [each.name for each in renamed.endpoints] == ["Anthropic", "Work"]
    assert change_endpoint("gone", name="Work")(before) == before


def test_an_endpoint_goes_with_what_was_said_of_its_models() -> None:
    settings = change_part("general", default_model="openai/x")(Settings())
    settings = change_model("anthropic/y", favourite=True)(change_model("openai/x", limit=2048)(settings))
    left = remove_endpoint("openai")(settings)
    assert [each.id for each in left.endpoints] == ["anthropic"]
    assert list(left.models) == ["anthropic/y"]
    assert left.general.default_model == ""


def test_an_endpoint_is_added_once() -> None:
    endpoint = Endpoint(id="mine", name="Mine", base_url="http://127.0.0.1:1/v1")
    once = add_endpoint(endpoint)(Settings())
    assert add_endpoint(endpoint)(once) == once
    assert len(once.endpoints) == 3


def test_nothing_is_kept_of_a_model_nobody_says_anything_of() -> None:
    said = change_model("openai/x", limit=2048, favourite=True)(Settings())
    assert forget_figures("openai/x")(said).models == {"openai/x": ModelSettings(favourite=True)}
    assert change_model("openai/x", limit=None, favourite=False)(said).models == {}
    newer = ModelSettings.model_validate({"limit": 2048, "note": "of a newer version"})
    kept = forget_figures("openai/x")(Settings(models={"openai/x": newer})).models["openai/x"]
    assert kept.model_dump(exclude_none=True) == {"favourite": False, "added": False, "note": "of a newer version"}
    assert remove_model("openai/x")(said).models == {}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("My server", "my-server"),
        ("OpenAI", "openai-2"),
        ("Practice", "practice-server"),
        ("Über", "ber"),
        ("日本", "provider"),
        ("x" * 80, "x" * 32),
    ],
)
def test_every_name_makes_an_id_that_is_free(name: str, wanted: str) -> None:
    found = free_id(name, Settings())
    assert found == wanted
    Endpoint(id=found, name=name[:60], base_url="http://127.0.0.1/v1")
