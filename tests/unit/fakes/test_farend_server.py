"""The far end below the dialects: connections, stalls, disconnections, the thread, other servers' endpoints."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import pytest

from tests.fakes.farend import (
    Cut,
    Drip,
    Drop,
    FarEnd,
    FarEndThread,
    Hold,
    Model,
    Pause,
    Repeat,
    Split,
    Stall,
    Swap,
    ToolCall,
    error,
    raw,
    reply,
)
from tests.fakes.farend.faults import FaultOutOfReach, lay_out

BODY = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}).encode()
REQUEST = b"POST /v1/chat/completions HTTP/1.1\r\nhost: far\r\nX-Odd: One\r\ncontent-length: %d\r\n\r\n%b" % (
    len(BODY),
    BODY,
)


@pytest.fixture
async def far() -> AsyncIterator[FarEnd]:
    async with FarEnd() as far_end:
        yield far_end


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0.002)


async def connect(far: FarEnd) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", far.port)
    writer.write(REQUEST)
    return reader, writer


async def close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    await writer.wait_closed()


STALLED: dict[str, Any] = {
    "before the headers": reply("So").but(Stall()),
    "after the headers": reply("So").but(Stall(after_headers=True)),
    "after some bytes": reply("So").but(Stall(after_bytes=5)),
    "after some events": reply("So").but(Stall(after_events=2)),
    "between parts": reply("So ", Stall(), "so"),
    "inside arguments": reply(ToolCall("c", "look_up", '{"a"', Stall(), "}")),
    "while an error is due": error(500).but(Stall()),
}


@pytest.mark.parametrize("moment", STALLED)
@pytest.mark.parametrize("abruptly", [False, True])
async def test_a_client_that_leaves_is_noticed_at_every_moment(far: FarEnd, moment: str, abruptly: bool) -> None:
    far.play(STALLED[moment])
    _, writer = await connect(far)
    await until(lambda: far.stalled)
    [received] = far.requests
    assert not received.is_disconnected

    if abruptly:
        writer.transport.abort()
    await close(writer)
    await until(lambda: received.is_disconnected)

    assert received.disconnected_at is not None
    assert received.disconnected_at >= received.moment
    assert received.sent_headers == (moment not in {"before the headers", "while an error is due"})
    assert not received.is_answered
    assert far.stalled == 0


async def test_a_client_that_leaves_during_a_pause_is_noticed(far: FarEnd) -> None:
    far.play(reply("So ", Pause(60), "so"))
    reader, writer = await connect(far)
    await reader.readuntil(b"So ")

    await close(writer)

    await until(lambda: far.requests[0].is_disconnected)


async def test_a_client_that_leaves_after_the_last_byte_has_its_answer(far: FarEnd) -> None:
    far.play(reply("So"))
    reader, writer = await connect(far)
    await reader.readuntil(b"[DONE]")
    await close(writer)

    assert far.requests[0].is_answered
    assert not far.requests[0].is_disconnected


async def test_a_stall_ends_when_it_is_released(far: FarEnd) -> None:
    hold = Hold()
    far.play(reply("So ", Stall(hold), "so ", Stall(), "on"))
    reader, writer = await connect(far)
    await hold.reached()
    hold.release()
    await reader.readuntil(b"so ")
    await until(lambda: far.stalled)

    far.release()

    assert b"[DONE]" in await reader.readuntil(b"0\r\n\r\n")
    await close(writer)


async def test_a_hold_that_was_released_before_holds_nothing(far: FarEnd) -> None:
    hold = Hold()
    hold.release()
    far.play(reply("So ", Stall(hold), "so"))
    reader, writer = await connect(far)

    await reader.readuntil(b"[DONE]")

    assert hold.is_reached
    await close(writer)


async def test_two_requests_can_share_a_connection_and_each_takes_the_next_answer(far: FarEnd) -> None:
    far.play(reply("One"), reply("Two"))
    reader, writer = await connect(far)
    await reader.readuntil(b"0\r\n\r\n")
    writer.write(REQUEST)

    assert b"Two" in await reader.readuntil(b"0\r\n\r\n")

    assert far.connections == 1
    assert far.left == 0
    assert ("x-odd", "One") in far.requests[1].headers
    assert far.requests[1].body == BODY
    await close(writer)


@pytest.mark.parametrize("count", range(0, 300, 37))
async def test_a_cut_falls_at_the_byte_it_names(far: FarEnd, count: int) -> None:
    far.play(raw("x" * 300).but(Cut(after_bytes=count)))
    reader, writer = await connect(far)

    answer = await reader.read()

    assert answer.partition(b"\r\n\r\n")[2].count(b"x") == count
    assert far.requests[0].sent_bytes == count
    await close(writer)


async def test_a_cut_in_the_headers_sends_so_many_bytes(far: FarEnd) -> None:
    far.play(reply("So").but(Cut(in_headers=12)))
    reader, writer = await connect(far)

    assert await reader.read() == b"HTTP/1.1 200"
    await close(writer)


async def test_own_headers_replace_the_usual_ones(far: FarEnd) -> None:
    far.play(raw("x", headers={"x-request-id": "mine"}))
    reader, writer = await connect(far)

    head = await reader.readuntil(b"\r\n\r\n")

    assert head.count(b"x-request-id") == 1
    assert b"x-request-id: mine" in head
    await close(writer)


async def test_what_is_no_http_closes_the_connection(far: FarEnd) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", far.port)
    writer.write(b"\x16\x03\x01 this is TLS\r\n\r\n")

    assert await reader.read() == b""
    assert far.requests == []
    await close(writer)


async def test_a_mistake_in_the_script_is_raised_at_the_end() -> None:
    async with AsyncExitStack() as stack:
        far = await stack.enter_async_context(FarEnd())
        far.play(raw("ab").but(Cut(after_bytes=9)))
        reader, writer = await connect(far)
        assert await reader.read() == b""
        await close(writer)

        with pytest.raises(FaultOutOfReach, match="after 9 bytes: the body has 2"):
            await stack.pop_all().aclose()


@pytest.mark.parametrize(
    ("faults", "laid"),
    [
        ([Split(at=(1, 3))], [b"a", b"b", b"c", b"d"]),
        ([Split(every=3)], [b"ab", b"c", b"d"]),
        ([Split(at=(0, 2, 4, 9))], [b"ab", b"cd"]),
        ([Stall(after_headers=True)], [Stall(after_headers=True), b"ab", b"cd"]),
        ([Stall(after_events=1)], [b"ab", Stall(), b"cd"]),
        ([Cut(after_events=0)], [Cut(), b"ab", b"cd"]),
        ([Cut(after_events=2)], [b"ab", b"cd", Cut()]),
        ([Cut(after_bytes=0)], [Cut(), b"ab", b"cd"]),
        ([Cut(after_bytes=3)], [b"ab", b"c", Cut(), b"d"]),
        ([Cut(after_bytes=4)], [b"ab", b"cd", Cut()]),
        ([Drip(1, 2.0)], [b"a", Pause(2.0), b"b", Pause(2.0), b"c", Pause(2.0), b"d", Pause(2.0)]),
        ([Swap(0, -1)], [b"cd", b"ab"]),
        ([Drop(0)], [b"cd"]),
        ([Repeat(-1)], [b"ab", b"cd", b"cd"]),
        ([Drop(0), Cut(after_bytes=1)], [b"c", Cut(), b"d"]),
        ([Stall()], [b"ab", b"cd"]),
    ],
)
def test_faults_fall_where_they_are_put(faults: list[Any], laid: list[Any]) -> None:
    assert lay_out([b"ab", b"cd"], faults) == laid


@pytest.mark.parametrize("fault", [Cut(after_bytes=5), Stall(after_events=3), Drop(2), Swap(0, 2)])
def test_a_fault_beyond_the_body_is_a_mistake(fault: Any) -> None:
    with pytest.raises(FaultOutOfReach):
        lay_out([b"ab", b"cd"], [fault])


def ask(url: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data), timeout=5) as answer:
        text = answer.read()
    return json.loads(text) if answer.headers["content-type"] == "application/json" else text.decode()


def test_the_far_end_runs_on_a_thread_for_tests_without_a_loop() -> None:
    hold = Hold()
    with FarEndThread() as far:
        far.play(reply("One").but(Stall(hold)))
        hold.release()
        answer = ask(f"{far.url}/v1/chat/completions", {"model": "m"})

        assert answer["choices"][0]["message"]["content"] == "One"
        assert [received.path for received in far.requests] == ["/v1/chat/completions"]
        assert (far.left, far.stalled, far.connections) == (0, 0, 1)


def test_a_mistake_in_the_script_is_raised_on_the_tests_thread() -> None:
    with ExitStack() as stack:
        far = stack.enter_context(FarEndThread())
        far.play(raw("ab").but(Drop(5)))
        with pytest.raises(OSError, match="closed connection"):
            ask(f"{far.url}/v1/messages", {})

        with pytest.raises(FaultOutOfReach):
            stack.pop_all().close()


def test_it_can_look_like_ollama() -> None:
    models = [Model("qwen3:8b", context=40_960, num_ctx=8_192, loaded_context=4_096, architecture="qwen3")]
    with FarEndThread(look="ollama", models=models) as far:
        shown = ask(f"{far.url}/api/show", {"model": "qwen3:8b"})

        assert ask(far.url) == "Ollama is running"
        assert ask(f"{far.url}/api/version")["version"]
        assert [model["name"] for model in ask(f"{far.url}/api/tags")["models"]] == ["qwen3:8b"]
        assert ask(f"{far.url}/api/ps")["models"][0]["context_length"] == 4_096
        assert shown["model_info"]["qwen3.context_length"] == 40_960
        assert shown["parameters"].splitlines()[0].split() == ["num_ctx", "8192"]
        assert [model["id"] for model in ask(f"{far.url}/v1/models")["data"]] == ["qwen3:8b"]
        with pytest.raises(urllib.error.HTTPError) as missing:
            ask(f"{far.url}/api/show", {"model": "none"})
        with missing.value as answer:
            assert json.loads(answer.read()) == {"error": "model 'none' not found"}


def test_it_can_look_like_lm_studio() -> None:
    with FarEndThread(look="lmstudio") as far:
        first, second, _ = ask(f"{far.url}/api/v0/models")["data"]

        assert (first["state"], first["max_context_length"], first["loaded_context_length"]) == (
            "loaded",
            200_000,
            16_384,
        )
        assert second["state"] == "not-loaded"
        assert "loaded_context_length" not in second
        assert ask(f"{far.url}/api/v1/models")["models"][0]["loaded_instances"][0]["config"] == {
            "context_length": 16_384
        }


def test_it_can_look_like_llama_cpp() -> None:
    with FarEndThread(look="llamacpp") as far:
        assert ask(f"{far.url}/props")["default_generation_settings"]["n_ctx"] == 16_384
        assert ask(f"{far.url}/v1/models")["data"][0]["meta"] == {"n_ctx_train": 200_000}


@pytest.mark.parametrize("path", ["/", "/api/tags", "/api/v0/models/none", "/props", "/v1/embeddings"])
def test_an_endpoint_that_is_not_played_is_404(path: str) -> None:
    with FarEndThread() as far, pytest.raises(urllib.error.HTTPError) as missing:
        ask(f"{far.url}{path}")
    with missing.value as answer:
        assert answer.status == 404


def test_tokens_can_be_counted() -> None:
    with FarEndThread() as far:
        assert ask(f"{far.url}/v1/messages/count_tokens", {"messages": []})["input_tokens"] > 0
