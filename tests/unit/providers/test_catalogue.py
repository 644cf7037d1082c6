from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.domain.models import Abilities, ModelCard, Origin, Prices, ThinkingLevel
from app.providers.catalogue import Catalogue, load_catalogue, undated
from app.providers.chat_models import MAX_MODELS, chat_models
from app.providers.offer import Offering
from app.settings.schema import ANTHROPIC, OPENAI, Endpoint, ListedModel, ModelSettings

OFF, LOW, MEDIUM, HIGH, MAX = ThinkingLevel


def test_the_practice_model_is_in_the_catalogue_that_ships() -> None:
    assert load_catalogue().of_maker("practice") == (
        ModelCard(
            id="practice",
            provider="practice",
            name="Practice model",
            limit=16_384,
            max_output=8_192,
            encoding="o200k_base",
            factor=1.0,
            abilities=Abilities(sees_pictures=False, reads_pdf=False, calls_tools=True, reasons=True),
            levels=(OFF, LOW, HIGH),
        ),
    )


def test_every_figure_that_ships_says_where_it_is_from() -> None:
    entries = [entry for entry in load_catalogue().entries if entry.provider != "practice"]
    assert len(entries) >= 20
    for entry in entries:
        assert entry.source, entry.id
        assert entry.checked == "2026-11-30", entry.id
        assert entry.encoding == "o200k_base", entry.id
        assert entry.factor == {"anthropic": 1.6, "openai": 1.0}[entry.provider], entry.id


def test_the_figures_that_ship_can_be_true() -> None:
    for entry in load_catalogue().entries:
        if entry.limit is not None:
            assert 16_000 <= entry.limit <= 1_100_000, entry.id
            assert entry.max_output is None or entry.max_output < entry.limit, entry.id
        if entry.prices.input is not None:
            assert entry.prices.output is not None, entry.id
            assert 0 < (entry.prices.cache_read or 0.001) <= entry.prices.input < entry.prices.output, entry.id


def test_the_levels_that_ship_stand_in_order_and_say_where_they_are_from() -> None:
    for entry in load_catalogue().entries:
        assert list(entry.levels) == [level for level in ThinkingLevel if level in entry.levels], entry.id
        assert not entry.levels or entry.abilities.reasons is not False, entry.id
        assert not entry.levels or entry.provider == "practice" or "levels: " in entry.source, entry.id


def test_entries_that_ship_have_one_id_each_without_a_date() -> None:
    entries = load_catalogue().entries
    assert len({(entry.provider, entry.id) for entry in entries}) == len(entries)
    assert [entry.id for entry in entries if undated(entry.id) != entry.id] == []


def test_a_model_without_a_known_limit_has_none(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text(
        '{"models": [{"id": "a", "provider": "b", "name": "A", "limit": null, "max_output": null,'
        ' "encoding": "o200k_base", "factor": 1.2}]}'
    )
    (card,) = load_catalogue(file).entries
    assert card.limit is None
    assert card.max_output is None


def test_a_model_without_a_name_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text('{"models": [{"id": "a"}]}')
    with pytest.raises(ValidationError):
        load_catalogue(file)


@pytest.mark.parametrize(
    ("model", "is_found"),
    [
        ("claude-x", True),
        ("claude-x-20260205", True),
        ("claude-x-2026-02-05", True),
        ("claude-x-mini", False),
        ("claude-x-5", False),
        ("claude-x-12345678", False),
        ("claude-x-2026", False),
        ("claude-x20260205", False),
        ("my-claude-x-20260205", False),
        ("claude", False),
        ("", False),
    ],
)
def test_a_dated_version_has_the_figures_of_its_model_and_no_other_has(model: str, is_found: bool) -> None:
    entry = ModelCard(id="claude-x", provider="anthropic", name="X", limit=1, max_output=1)
    catalogue = Catalogue([entry])
    assert (catalogue.find("anthropic", model) is entry) == is_found
    assert catalogue.find("openai", model) is None


# --- what an endpoint offers ---

ENTRY = ModelCard(
    id="sonnet",
    provider="anthropic",
    name="Sonnet",
    limit=200_000,
    max_output=64_000,
    factor=1.6,
    abilities=Abilities(sees_pictures=True, reads_pdf=True, calls_tools=True, reasons=True),
    prices=Prices(input=3, output=15, cache_read=0.3, cache_write=3.75),
    source="a book",
)


def offering(endpoint: Endpoint = ANTHROPIC, **said: ModelSettings) -> Offering:
    models = {f"{endpoint.id}/{model}": settings for model, settings in said.items()}
    return Offering(endpoint, Catalogue([ENTRY]), models)


def with_list(*models: ListedModel, endpoint: Endpoint = ANTHROPIC) -> Endpoint:
    return endpoint.model_copy(update={"models": models})


def test_without_a_list_the_catalogue_is_on_offer() -> None:
    endpoint = ANTHROPIC.model_copy(update={"id": "work", "name": "Work"})
    (card,) = offering(endpoint).cards()
    assert (card.ref, card.provider_name, card.name, card.limit) == ("work/sonnet", "Work", "Sonnet", 200_000)
    assert card.source == "a book"


def test_what_the_list_tells_overrides_the_catalogue_and_what_it_leaves_out_does_not() -> None:
    listed = ListedModel(id="sonnet", name="Sonnet!", limit=1_000_000, sees_pictures=False)
    (card,) = offering(with_list(listed)).cards()
    assert (card.name, card.limit, card.max_output) == ("Sonnet!", 1_000_000, 64_000)
    assert card.abilities == Abilities(sees_pictures=False, reads_pdf=True, calls_tools=True, reasons=True)
    assert card.prices.input == 3


def test_what_the_person_says_overrides_both() -> None:
    listed = ListedModel(id="sonnet", limit=1_000_000)
    said = ModelSettings(name="Mine", limit=50_000, max_output=100, reasons=False, input_price=0, favourite=True)
    (card,) = offering(with_list(listed), sonnet=said).cards()
    assert (card.name, card.limit, card.max_output, card.is_favourite) == ("Mine", 50_000, 100, True)
    assert (card.abilities.reasons, card.abilities.reads_pdf) == (False, True)
    assert (card.prices.input, card.prices.output) == (0, 15)


def test_a_list_takes_the_place_of_the_catalogue() -> None:
    cards = offering(with_list(ListedModel(id="b"), ListedModel(id="a"))).cards()
    assert [card.id for card in cards] == ["b", "a"]
    assert [(card.limit, card.origin) for card in cards] == [(None, Origin.PROVIDER)] * 2


def test_a_model_added_by_hand_stands_behind_the_list() -> None:
    cards = offering(with_list(ListedModel(id="sonnet")), own=ModelSettings(added=True, limit=4_096)).cards()
    assert [(card.id, card.limit, card.origin) for card in cards] == [
        ("sonnet", 200_000, Origin.CATALOGUE),
        ("own", 4_096, Origin.PERSON),
    ]


def test_words_about_a_model_that_is_gone_do_not_bring_it_back() -> None:
    assert [card.id for card in offering(gone=ModelSettings(favourite=True)).cards()] == ["sonnet"]


def test_a_model_in_no_list_is_known_as_far_as_it_goes() -> None:
    strange = offering().card("strange")
    assert (strange.ref, strange.name, strange.limit, strange.factor) == ("anthropic/strange", "strange", None, 1.6)
    assert offering().card("sonnet-20260205").limit == 200_000
    assert offering().card("sonnet-20260205").name == "Sonnet (20260205)"


@pytest.mark.parametrize(
    ("endpoint", "factor"),
    [(ANTHROPIC, 1.6), (OPENAI, 1.0), (Endpoint(id="box", name="Box", maker="ollama", base_url="http://box/v1"), 1.2)],
)
def test_an_unknown_model_is_counted_as_its_maker_counts(endpoint: Endpoint, factor: float) -> None:
    card = offering(endpoint).card("new")
    assert (card.encoding, card.factor) == ("o200k_base", factor)


# --- which of a list are for chat ---


def ids(*models: str, maker: str = "openai") -> list[str]:
    endpoint = Endpoint.model_validate({"id": "e", "name": "E", "maker": maker, "base_url": "http://e/v1"})
    found = chat_models([ListedModel(id=model) for model in models], endpoint.maker, load_catalogue())
    return [model.id for model in found]


@pytest.mark.parametrize(
    "model",
    [
        "gpt-6-sol",
        "gpt-5.4-mini",
        "gpt-4o",
        "gpt-4.1-nano",
        "gpt-3.5-turbo",
        "gpt-3.5-turbo-0125",
        "gpt-4-turbo-2024-04-09",
        "gpt-5.3-codex",
        "chatgpt-4o-latest",
        "gpt-chat-latest",
        "chat-latest",
        "o1",
        "o3-pro",
        "o4-mini-2025-04-16",
        "ft:gpt-4o-mini-2024-07-18:my-org::abc",
    ],
)
def test_openai_s_models_for_text_are_on_offer(model: str) -> None:
    assert ids(model) == [model]


@pytest.mark.parametrize(
    "model",
    [
        "text-embedding-3-large",
        "text-moderation-latest",
        "omni-moderation-2024-09-26",
        "whisper-1",
        "tts-1-hd",
        "dall-e-3",
        "sora-2",
        "babbage-002",
        "davinci-002",
        "codex-mini-latest",
        "computer-use-preview",
        "gpt-image-1",
        "chatgpt-image-latest",
        "gpt-5-image-mini",
        "gpt-audio-mini",
        "gpt-realtime-2",
        "gpt-live-1",
        "gpt-4o-audio-preview-2024-12-17",
        "gpt-4o-mini-realtime-preview",
        "gpt-4o-transcribe-diarize",
        "gpt-4o-mini-tts",
        "gpt-4o-search-preview",
        "gpt-3.5-turbo-instruct",
        "o3-deep-research",
        "gpt-transcribe",
    ],
)
def test_openai_s_other_models_are_not(model: str) -> None:
    assert ids(model) == []


def test_openai_s_list_comes_in_the_order_of_the_catalogue_without_dated_twins() -> None:
    listed = ("gpt-4o-2024-08-06", "gpt-4o", "gpt-9", "gpt-8-2029-01-01", "gpt-6-sol", "gpt-6-sol")
    assert ids(*listed) == ["gpt-6-sol", "gpt-4o", "gpt-8-2029-01-01", "gpt-9"]


def test_other_lists_keep_their_order_and_their_names() -> None:
    assert ids("z", "text-embedding-3", "a", "z", maker="other") == ["z", "text-embedding-3", "a"]


def test_a_list_without_end_is_cut() -> None:
    assert len(ids(*(f"m{number}" for number in range(MAX_MODELS + 1)), maker="other")) == MAX_MODELS


@pytest.mark.parametrize("model", ["", " a", "a\nb", "a\x00", "\u202egpt", "\ud800", "x" * 201, "x" * 1_000_000])
def test_a_model_nobody_could_choose_is_not_listed(model: str) -> None:
    assert ids(model, "fine", maker="other") == ["fine"]


def test_what_a_list_says_of_a_model_is_made_fit_to_be_shown() -> None:
    named = ListedModel(id="a", name="\u202eevil\n\x1b[0m" + "x" * 1_000_000, limit=10**400, max_output=10**9)
    (model,) = chat_models([named, named], "other", load_catalogue())
    assert model.name.startswith("evil [0mxxx")
    assert len(model.name) == 80
    assert (model.limit, model.max_output) == (None, None)


# --- how long a model can be asked to think ---

COMMON = (LOW, MEDIUM, HIGH)
BOX = Endpoint(id="box", name="Box", maker="ollama", base_url="http://box/v1", needs_key=False)
SERVER = Endpoint(id="server", name="Server", base_url="https://server.example/v1")


@pytest.mark.parametrize(
    ("endpoint", "listed", "said", "expected"),
    [
        # Nothing is known, or that it doesn't reason.
        (SERVER, ListedModel(id="m"), None, ()),
        (SERVER, ListedModel(id="m", reasons=False), None, ()),
        # All that is known is that it reasons.
        (SERVER, ListedModel(id="m", reasons=True), None, COMMON),
        (SERVER, ListedModel(id="m"), ModelSettings(reasons=True), COMMON),
        (BOX, ListedModel(id="m", reasons=True), None, (OFF, *COMMON)),
        (ANTHROPIC, ListedModel(id="m", reasons=True), None, COMMON),
        # The list knows better, the person best.
        (SERVER, ListedModel(id="m", reasons=True, levels=(LOW, MAX)), None, (LOW, MAX)),
        (SERVER, ListedModel(id="m", levels=(LOW,)), ModelSettings(reasons=False), ()),
    ],
)
def test_levels_of_a_model_that_is_only_listed(
    endpoint: Endpoint, listed: ListedModel, said: ModelSettings | None, expected: tuple[ThinkingLevel, ...]
) -> None:
    (card,) = offering(with_list(listed, endpoint=endpoint), **({"m": said} if said else {})).cards()
    assert card.levels == expected


def test_levels_of_the_catalogue_hold_until_the_list_tells_others() -> None:
    entry = replace(ENTRY, levels=(LOW, HIGH))

    def levels(*listed: ListedModel) -> tuple[ThinkingLevel, ...]:
        (card,) = Offering(with_list(*listed), Catalogue([entry]), {}).cards()
        return card.levels

    assert levels() == levels(ListedModel(id="sonnet")) == (LOW, HIGH)
    assert levels(ListedModel(id="sonnet", levels=COMMON)) == COMMON
