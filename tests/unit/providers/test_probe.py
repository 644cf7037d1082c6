import asyncio
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.domain.connections import TestReport as Report  # pytest would collect it by its own name
from app.domain.connections import TestStep as Step
from app.domain.errors import ErrorKind, ProviderError
from app.providers.catalogue import load_catalogue
from app.providers.endpoints import make_remote
from app.providers.probe import MAX_TOKENS, Probe, ProbeLimits
from app.settings.schema import Dialect, Endpoint, ListedModel, Maker, Network
from tests.fakes.farend import (
    Answer,
    Comment,
    Cut,
    FarEnd,
    Hold,
    Model,
    Reasoning,
    Stall,
    error,
    html_page,
    raw,
    redirect,
    reply,
    self_signed,
)
from tests.fakes.farend.answers import json_answer

KEY = "sk-test-abcdefghijklmnop"
NAME, CONNECT, CERTIFICATE, KEY_STEP, MODEL = Step


def endpoint_at(
    url: str,
    *,
    dialect: Dialect = "chat",
    maker: Maker = "other",
    needs_key: bool = True,
    verify: bool = True,
    models: Sequence[str] = (),
) -> Endpoint:
    return Endpoint(
        id="box",
        name="Box",
        maker=maker,
        dialect=dialect,
        base_url=url if dialect == "anthropic" else f"{url}/v1",
        needs_key=needs_key,
        verify=verify,
        models=tuple(ListedModel(id=model) for model in models),
    )


async def probe(
    endpoint: Endpoint,
    *,
    key: str | None = KEY,
    model: str = "",
    network: Network | None = None,
    limits: ProbeLimits | None = None,
) -> Report:
    async def get_key() -> str | None:
        if key is None and endpoint.needs_key:
            raise ProviderError(ErrorKind.AUTHENTICATION, "There is no key for Box yet.")
        return key

    network = network or Network()
    provider = make_remote(endpoint, (), get_key, network)
    try:
        return await Probe(
            endpoint, network, provider, get_key=get_key, catalogue=load_catalogue(), model=model, limits=limits
        ).run()
    finally:
        await provider.close()


def passed(report: Report) -> list[Step]:
    return [step.step for step in report.steps if step.passed]


def failed(report: Report) -> tuple[Step, str]:
    """The step that failed, the last that was taken, and what is said of it."""
    last = report.steps[-1]
    assert not last.passed
    assert all(step.passed for step in report.steps[:-1])
    assert KEY not in last.detail
    assert last.detail
    return last.step, last.detail


@pytest.mark.parametrize("dialect", ["anthropic", "responses", "chat"])
async def test_an_endpoint_that_works_passes_every_step_that_applies(dialect: Dialect) -> None:
    async with FarEnd() as far:
        report = await probe(endpoint_at(far.url, dialect=dialect))
        asked = far.requests[-1]
    assert report.passed
    assert passed(report) == [CONNECT, KEY_STEP, MODEL]
    assert report.model == "far-large"
    assert asked.json["model"] == "far-large"
    assert {asked.json.get(name) for name in ("max_tokens", "max_output_tokens")} - {None} == {MAX_TOKENS}
    assert "3 models" in report.steps[1].detail


async def test_the_model_that_was_named_is_asked() -> None:
    async with FarEnd() as far:
        report = await probe(endpoint_at(far.url), model="far-small")
        assert far.requests[-1].json["model"] == "far-small"
    assert report.model == "far-small"


async def test_the_answer_is_left_at_its_first_piece() -> None:
    hold = Hold()
    async with FarEnd() as far:
        far.play(reply("O", Stall(hold), "K"))
        report = await probe(endpoint_at(far.url))
        assert report.passed
        while not far.requests[-1].is_disconnected:  # noqa: ASYNC110 - the far end has no event for it
            await asyncio.sleep(0.001)


@pytest.mark.parametrize(
    "answer", [reply(reasoning="hm"), reply(Reasoning("hm"), "OK"), reply("OK", stop="max_tokens")]
)
async def test_thoughts_and_short_answers_are_answers(answer: Answer) -> None:
    async with FarEnd() as far:
        far.play(answer)
        assert (await probe(endpoint_at(far.url))).passed


async def test_a_host_without_an_address_fails_by_its_name() -> None:
    step, detail = failed(await probe(endpoint_at("http://no-such-host.invalid:1")))
    assert step is NAME
    assert "no-such-host.invalid" in detail


async def test_the_name_of_this_computer_is_looked_up() -> None:
    async with FarEnd() as far:
        report = await probe(endpoint_at(far.url.replace("127.0.0.1", "localhost")))
    assert passed(report) == [NAME, CONNECT, KEY_STEP, MODEL]


async def test_a_port_nobody_listens_at_fails_at_connecting(unused_port: int) -> None:
    step, detail = failed(await probe(endpoint_at(f"http://127.0.0.1:{unused_port}")))
    assert step is CONNECT
    assert detail == f"127.0.0.1:{unused_port} refuses the connection: is the server running?"


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


# --- the certificate ---


async def test_a_certificate_nobody_knows_fails_and_no_key_is_sent(tmp_path: Path) -> None:
    certificate = self_signed(tmp_path)
    if certificate is None:
        pytest.skip("there is no openssl program")
    async with FarEnd(tls=certificate.context) as far:
        step, detail = failed(await probe(endpoint_at(far.url)))
        assert far.requests == []
        trusted = await probe(endpoint_at(far.url), network=Network(ca_file=str(certificate.file)))
        unchecked = await probe(endpoint_at(far.url, verify=False))
    assert step is CERTIFICATE
    assert "not trusted" in detail
    assert passed(trusted) == [CONNECT, CERTIFICATE, KEY_STEP, MODEL]
    assert passed(unchecked) == [CONNECT, CERTIFICATE, KEY_STEP, MODEL]
    assert "not checked" in unchecked.steps[1].detail


async def test_https_to_a_server_that_speaks_http_fails_at_the_certificate() -> None:
    async with FarEnd() as far:
        step, detail = failed(await probe(endpoint_at(far.url.replace("http:", "https:"))))
    assert step is CERTIFICATE
    assert "http://" in detail


async def test_a_file_of_certificates_that_is_none_fails_in_its_own_words(tmp_path: Path) -> None:
    network = Network(ca_file=str(tmp_path / "missing.pem"))
    async with FarEnd() as far:
        step, detail = failed(await probe(endpoint_at(far.url.replace("http:", "https:")), network=network))
    assert step is CERTIFICATE
    assert "missing.pem" in detail


# --- the key ---


async def test_without_a_key_that_is_needed_nothing_is_sent() -> None:
    async with FarEnd() as far:
        step, detail = failed(await probe(endpoint_at(far.url), key=None))
        assert far.requests == []
    assert (step, detail) == (KEY_STEP, "There is no key for Box yet.")


async def test_a_server_that_needs_no_key_passes_without_one() -> None:
    async with FarEnd() as far:
        report = await probe(endpoint_at(far.url, needs_key=False), key=None)
        assert not any(request.has_key for request in far.requests)
    assert report.passed
    assert "offers 3 models" in report.steps[1].detail


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("dialect", ["anthropic", "responses", "chat"])
async def test_a_key_that_is_refused_fails_at_the_key(dialect: Dialect, status: int) -> None:
    async with FarEnd() as far:
        far.play(error(status, message=f"{KEY} is wrong."), path="/models")
        step, _ = failed(await probe(endpoint_at(far.url, dialect=dialect)))
    assert step is KEY_STEP


async def test_a_key_that_is_only_looked_at_with_a_model_fails_at_the_key_all_the_same() -> None:
    async with FarEnd() as far:
        far.play(error(401))
        report = await probe(endpoint_at(far.url))
    assert failed(report)[0] is KEY_STEP
    assert passed(report) == [CONNECT]


async def test_a_server_without_a_list_is_tried_with_a_model() -> None:
    async with FarEnd() as far:
        far.play(error(404), error(404), path="/models")
        by_name = await probe(endpoint_at(far.url), model="far-large")
        by_list = await probe(endpoint_at(far.url, models=["far-small"]))
    assert passed(by_name) == passed(by_list) == [CONNECT, KEY_STEP, MODEL]
    assert (by_name.model, by_list.model) == ("far-large", "far-small")


async def test_a_server_without_a_list_and_no_model_to_try_says_so() -> None:
    async with FarEnd() as far:
        far.play(error(404), path="/models")
        step, _ = failed(await probe(endpoint_at(far.url)))
    assert step is KEY_STEP


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (html_page(), "web page"),
        (redirect("https://elsewhere.example/v1/models"), "elsewhere.example"),
        (error(500), ""),
        (error(429), ""),
        (error(402), ""),
        (raw("{", content_type="application/json"), ""),
        (json_answer({"data": []}).but(Cut(before_headers=True)), ""),
    ],
)
async def test_whatever_else_goes_wrong_with_the_list_is_said(answer: Answer, word: str) -> None:
    async with FarEnd() as far:
        far.play(answer, path="/models")
        step, detail = failed(await probe(endpoint_at(far.url)))
    assert step is KEY_STEP
    assert word in detail


# --- the model ---


async def test_a_server_without_models_fails_at_the_model() -> None:
    async with FarEnd(models=()) as far:
        step, detail = failed(await probe(endpoint_at(far.url)))
    assert step is MODEL
    assert "lists no model" in detail


@pytest.mark.parametrize("status", [400, 402, 404, 429, 500, 529])
async def test_a_model_that_fails_is_said_in_the_server_s_words(status: int) -> None:
    async with FarEnd() as far:
        far.play(error(status, message="The model is out for lunch."))
        step, detail = failed(await probe(endpoint_at(far.url)))
    assert step is MODEL
    assert "out for lunch" in detail


async def test_an_answer_that_is_cut_before_a_word_is_none() -> None:
    async with FarEnd() as far:
        far.play(reply(stop=None))
        step, _ = failed(await probe(endpoint_at(far.url)))
    assert step is MODEL


async def test_models_for_embedding_are_not_asked() -> None:
    async with FarEnd(look="ollama", models=(Model("embed"), Model("chat"))) as far:
        far.play(json_answer({"capabilities": ["embedding"]}), path="/api/show")
        report = await probe(endpoint_at(far.url, maker="ollama", needs_key=False), key=None)
    assert report.passed
    assert report.model == "chat"


# --- waiting ---


@pytest.mark.parametrize(("path", "step"), [("/models", KEY_STEP), (None, MODEL)])
async def test_a_server_that_never_answers_fails_at_the_step_that_waits(path: str | None, step: Step) -> None:
    async with FarEnd() as far:
        far.play(reply("OK").but(Stall(before_headers=True)), path=path)
        report = await probe(endpoint_at(far.url), limits=ProbeLimits(total_seconds=0.5))
    found, detail = failed(report)
    assert found is step
    assert "within 0.5 seconds" in detail


async def test_a_server_that_only_keeps_the_line_open_is_given_up_too() -> None:
    async with FarEnd() as far:
        far.play(reply(Comment(), Stall(), "OK"))
        report = await probe(endpoint_at(far.url), limits=ProbeLimits(total_seconds=0.5))
    assert failed(report)[0] is MODEL


async def test_a_test_can_be_cancelled_and_the_server_hears_of_it() -> None:
    hold = Hold()
    async with FarEnd() as far:
        far.play(reply(Stall(hold)))
        testing = asyncio.gather(probe(endpoint_at(far.url)))
        await hold.reached()
        testing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await testing
        while not far.requests[-1].is_disconnected:  # noqa: ASYNC110 - the far end has no event for it
            await asyncio.sleep(0.001)


# --- proxy and --offline ---


async def test_with_a_proxy_it_is_the_proxy_that_is_looked_for(unused_port: int) -> None:
    network = Network(proxy="custom", proxy_url=f"http://127.0.0.1:{unused_port}")
    step, detail = failed(await probe(endpoint_at("https://api.example.com"), network=network))
    assert step is CONNECT
    assert detail.startswith(f"The proxy 127.0.0.1:{unused_port} refuses the connection")


async def test_a_proxy_that_refuses_fails_in_its_own_words() -> None:
    async with FarEnd() as far:
        network = Network(proxy="custom", proxy_url=far.url)
        report = await probe(endpoint_at("https://api.example.com"), network=network)
        assert [request.method for request in far.requests] == ["CONNECT"]
        assert not far.requests[0].has_key
    step, detail = failed(report)
    assert step is CERTIFICATE
    assert "proxy" in detail
    assert "By way of the proxy" in report.steps[0].detail


OFFLINE = """
import asyncio
from app.offline import refuse_network
from app.providers.catalogue import load_catalogue
from app.providers.endpoints import make_remote
from app.providers.probe import Probe
from app.settings.schema import Endpoint, Network

async def main():
    async def get_key():
        return "sk-test-abcdefghijklmnop"
    network = Network(proxy="none")
    for host in ("api.example.com", "192.0.2.1"):
        endpoint = Endpoint(id="box", name="Box", base_url=f"https://{host}/v1")
        provider = make_remote(endpoint, (), get_key, network)
        probe = Probe(endpoint, network, provider, get_key=get_key, catalogue=load_catalogue())
        print(*(f"{step.step}: {step.detail}" for step in (await probe.run()).steps))
        try:
            await provider.list_models()
        except Exception as error:
            print(f"list: {error}")
        await provider.close()

refuse_network()
asyncio.run(main())
"""


async def test_offline_nothing_is_connected_to_and_the_reason_is_said() -> None:
    # In a process of its own: what `--offline` does can't be undone.
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OFFLINE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await child.communicate()
    by_name = "Muntin runs offline and does not look up api.example.com."
    by_number = "Muntin runs offline and does not look up 192.0.2.1."
    assert output.decode().splitlines() == [
        f"name: {by_name}",
        f"list: {by_name}",
        f"connect: {by_number}",
        "list: Muntin runs offline and does not connect to 192.0.2.1.",
    ]
