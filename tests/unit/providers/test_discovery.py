import asyncio
from collections.abc import Mapping

import pytest

from app.domain.errors import ErrorKind, ProviderError
from app.providers.catalogue import Catalogue
from app.providers.discovery import Ports, discover, place_of
from app.providers.endpoints import make_remote
from app.providers.listing import list_chat_models
from app.providers.local_servers import PARALLEL_REQUESTS, root_of
from app.settings.schema import Endpoint, ListedModel, Maker, Network
from tests.fakes.farend import DEFAULT_MODELS, FarEnd, Hold, Look, Model, Stall, error, raw
from tests.fakes.farend.answers import json_answer

NOTHING = 9
"""A port at which nothing listens."""


def endpoint_at(url: str, maker: Maker = "other") -> Endpoint:
    return Endpoint(id="box", name="Box", maker=maker, base_url=f"{url}/v1", needs_key=False)


# --- finding servers ---


@pytest.mark.parametrize(("look", "name"), [("ollama", "Ollama"), ("lmstudio", "LM Studio")])
async def test_a_server_on_this_computer_is_found_without_a_key(look: Look, name: str) -> None:
    async with FarEnd(look=look) as far:
        ports = Ports(far.port, NOTHING) if look == "ollama" else Ports(NOTHING, far.port)
        (found,) = await discover([], ports=ports)
    assert (found.kind, found.name, found.models) == (look, name, len(DEFAULT_MODELS))
    assert found.base_url == f"{far.url}/v1"
    assert not any(request.has_key for request in far.requests)


async def test_both_are_asked_at_the_same_time() -> None:
    hold = Hold()
    async with FarEnd(look="ollama") as ollama, FarEnd(look="lmstudio") as lmstudio:
        ollama.play(json_answer({"version": "1"}).but(Stall(hold, before_headers=True)), path="/api/version")
        looking = asyncio.gather(discover([], ports=Ports(ollama.port, lmstudio.port)))
        await hold.reached()
        while not lmstudio.requests:  # noqa: ASYNC110 - the far end has no event for it
            await asyncio.sleep(0.001)
        hold.release()
        ((first, second),) = await looking
    assert (first.kind, second.kind) == ("ollama", "lmstudio")


async def test_a_server_that_does_not_answer_holds_up_nothing() -> None:
    async with FarEnd(look="ollama") as ollama, FarEnd(look="lmstudio") as lmstudio:
        ollama.play(json_answer({"version": "1"}).but(Stall()), path="/api/version")
        (found,) = await discover([], ports=Ports(ollama.port, lmstudio.port))
    assert found.kind == "lmstudio"


@pytest.mark.parametrize("look", ["plain", "llamacpp", "lmstudio"])
async def test_another_server_is_not_taken_for_ollama(look: Look) -> None:
    async with FarEnd(look=look) as far:
        assert await discover([], ports=Ports(far.port, NOTHING)) == ()


@pytest.mark.parametrize("look", ["plain", "llamacpp", "ollama"])
async def test_another_server_is_not_taken_for_lm_studio(look: Look) -> None:
    async with FarEnd(look=look) as far:
        assert await discover([], ports=Ports(NOTHING, far.port)) == ()


@pytest.mark.parametrize(
    "body",
    ["<!doctype html><p>hello", "", "[]", "null", '{"data": 1}', '{"data": [1]}', "[" * 100_000, '{"version": 1}'],
)
async def test_a_web_page_is_no_server_of_models(body: str) -> None:
    async with FarEnd() as far:
        for path in ("/api/version", "/api/tags", "/api/v0/models", "/v1/models"):
            far.play(raw(body, content_type="application/json"), path=path)
        assert await discover([], ports=Ports(far.port, NOTHING)) == ()
    async with FarEnd() as far:
        for path in ("/api/v0/models", "/v1/models"):
            far.play(raw(body, content_type="application/json"), path=path)
        found = await discover([], ports=Ports(NOTHING, far.port))
    assert found == ()


async def test_an_answer_without_end_is_none() -> None:
    async with FarEnd() as far:
        far.play(json_answer({"version": "x" * 5_000_000}), path="/api/version")
        assert await discover([], ports=Ports(far.port, NOTHING)) == ()


async def test_an_old_lm_studio_is_known_by_the_owner_of_its_models() -> None:
    async with FarEnd() as far:
        models = [{"id": "llama", "object": "model", "owned_by": "organization_owner"}]
        far.play(json_answer({"object": "list", "data": models}), path="/v1/models")
        (found,) = await discover([], ports=Ports(NOTHING, far.port))
    assert (found.kind, found.models) == ("lmstudio", 1)


async def test_an_ollama_without_models_is_found() -> None:
    async with FarEnd(look="ollama", models=()) as far:
        (found,) = await discover([], ports=Ports(far.port, NOTHING))
    assert found.models == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]", "127.0.0.2", "0.0.0.0"])
async def test_a_server_that_is_an_endpoint_already_is_not_found_again(host: str) -> None:
    async with FarEnd(look="ollama") as far:
        known = Endpoint(id="mine", name="Mine", base_url=f"http://{host}:{far.port}/v1")
        assert await discover([known], ports=Ports(far.port, NOTHING)) == ()
        other = Endpoint(id="mine", name="Mine", base_url=f"http://192.168.0.2:{far.port}/v1")
        assert len(await discover([other], ports=Ports(far.port, NOTHING))) == 1


def test_an_address_without_a_port_has_that_of_its_scheme() -> None:
    assert place_of("https://Api.Example.com/v1") == ("api.example.com", 443)
    assert place_of("http://localhost") == ("localhost", 80)


# --- what a list tells ---


async def described(
    far: FarEnd, maker: Maker, *, key: str | None = None, catalogue: Catalogue | None = None
) -> dict[str, ListedModel]:
    endpoint = endpoint_at(far.url, maker)

    async def get_key() -> str | None:
        return key

    provider = make_remote(endpoint, (), get_key, Network())
    try:
        found = await list_chat_models(provider, endpoint, Network(), key=key, catalogue=catalogue or Catalogue([]))
    finally:
        await provider.close()
    return {model.id: model for model in found}


async def test_ollama_s_limit_is_what_it_serves_never_what_the_model_was_made_for() -> None:
    async with FarEnd(look="ollama") as far:
        models = await described(far, "ollama")
    limits = {model.id: model.limit for model in models.values()}
    assert limits == {"far-large": 16_384, "far-small": 8_192, "far-tiny": None}


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        (Model("m", context=4_096, num_ctx=32_768), 4_096),
        (Model("m", context=131_072, num_ctx=32_768, loaded_context=4_096), 32_768),
        (Model("m", context=131_072), None),
    ],
)
async def test_a_parameter_of_the_model_file_comes_first_and_is_cut_down_to_what_the_model_can(
    model: Model, limit: int | None
) -> None:
    async with FarEnd(look="ollama", models=(model,)) as far:
        assert (await described(far, "ollama"))["m"].limit == limit


@pytest.mark.parametrize(
    ("abilities", "told"),
    [
        (["completion", "vision", "tools", "thinking"], (True, True, True)),
        (["completion"], (False, False, False)),
        (None, (None, None, None)),
    ],
)
async def test_ollama_tells_what_a_model_can(
    abilities: list[str] | None, told: tuple[bool | None, bool | None, bool | None]
) -> None:
    async with FarEnd(look="ollama", models=(Model("m"),)) as far:
        far.play(json_answer({"parameters": "", "capabilities": abilities}), path="/api/show")
        model = (await described(far, "ollama"))["m"]
    assert (model.sees_pictures, model.calls_tools, model.reasons) == told


async def test_ollama_s_models_for_embedding_are_left_out() -> None:
    async with FarEnd(look="ollama", models=(Model("a"),)) as far:
        far.play(json_answer({"capabilities": ["embedding"]}), path="/api/show")
        assert await described(far, "ollama") == {}


async def test_a_server_that_only_speaks_the_dialect_is_listed_without_descriptions() -> None:
    async with FarEnd() as far:
        models = await described(far, "ollama")
    assert list(models) == ["far-large", "far-small", "far-tiny"]
    assert {model.limit for model in models.values()} == {None}


async def test_many_models_are_asked_about_a_few_at_a_time() -> None:
    many = tuple(Model(f"m{number}", num_ctx=2_048) for number in range(12))
    holds = [Hold() for _ in range(PARALLEL_REQUESTS)]
    async with FarEnd(look="ollama", models=many) as far:
        far.play(*(json_answer({}).but(Stall(hold, before_headers=True)) for hold in holds), path="/api/show")
        asking = asyncio.gather(described(far, "ollama"))
        for hold in holds:
            await hold.reached()
        assert sum(request.path == "/api/show" for request in far.requests) == PARALLEL_REQUESTS
        for hold in holds:
            hold.release()
        (models,) = await asking
    assert len(models) == 12


async def test_a_key_goes_to_a_local_server_that_asks_for_one() -> None:
    async with FarEnd(look="ollama") as far:
        await described(far, "ollama", key="local-secret")
    assert {request.header("authorization") for request in far.requests} == {"Bearer local-secret"}


LMSTUDIO: Mapping[str, object] = {
    "object": "list",
    "data": [
        {"id": "far-large", "type": "vlm", "max_context_length": 200_000, "loaded_context_length": 8_192},
        {"id": "far-small", "type": "llm", "max_context_length": 32_768, "capabilities": ["tool_use"]},
        {"id": "far-tiny", "type": "embeddings", "max_context_length": 4_096},
    ],
}


async def test_lm_studio_s_limit_is_that_of_a_loaded_model() -> None:
    async with FarEnd(look="lmstudio") as far:
        far.play(json_answer(LMSTUDIO), path="/api/v0/models")
        models = await described(far, "lmstudio")
    assert {model.id: model.limit for model in models.values()} == {"far-large": 8_192, "far-small": None}
    assert (models["far-large"].sees_pictures, models["far-large"].calls_tools) == (True, None)
    assert (models["far-small"].sees_pictures, models["far-small"].calls_tools) == (False, True)


async def test_lm_studio_counts_its_models_for_chat() -> None:
    async with FarEnd(look="lmstudio") as far:
        far.play(json_answer(LMSTUDIO), path="/api/v0/models")
        (found,) = await discover([], ports=Ports(NOTHING, far.port))
    assert found.models == 2


async def test_a_list_that_fails_is_the_provider_s_error() -> None:
    async with FarEnd(look="ollama") as far:
        far.play(error(500), path="/v1/models")
        with pytest.raises(ProviderError) as failed:
            await described(far, "ollama")
    assert failed.value.kind is ErrorKind.SERVER


@pytest.mark.parametrize(
    ("base_url", "root"),
    [
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434"),
        ("http://[::1]:1234/v1/", "http://[::1]:1234"),
        ("https://example.com/ollama/v1", "https://example.com/ollama"),
        ("http://box:1234", "http://box:1234"),
    ],
)
def test_the_root_of_a_server_is_its_address_without_the_dialect(base_url: str, root: str) -> None:
    assert root_of(base_url) == root
