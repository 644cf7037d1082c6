"""The client: which proxy, which certificates, and when the last byte came."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from app.domain.errors import ErrorKind, ProviderError
from app.providers.http import Heartbeat, TimeLimits, make_client, make_trust, proxy_of, time_limits
from app.settings.schema import Endpoint, Network
from tests.fakes.farend import FarEnd, Hold, Stall, redirect, reply, self_signed

PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
BODY = {"model": "far-large", "max_tokens": 10, "stream": True, "messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
async def far() -> AsyncIterator[FarEnd]:
    async with FarEnd() as far_end:
        yield far_end


def endpoint(base_url: str, *, verify: bool = True) -> Endpoint:
    return Endpoint(id="far", name="Far", dialect="anthropic", base_url=base_url, verify=verify)


def test_a_local_server_is_never_given_up() -> None:
    assert time_limits("http://127.0.0.1:1") == TimeLimits(connect_seconds=10, read_seconds=None)
    assert time_limits("https://api.example.com") == TimeLimits(connect_seconds=10, read_seconds=300)


async def test_the_clients_own_limits_are_those() -> None:
    async with make_client(endpoint("https://api.example.com"), Network()) as client:
        assert client.timeout == httpx2.Timeout(connect=10, read=300, write=300, pool=10)
        assert client.follow_redirects is False


async def test_a_local_server_is_asked_on_a_connection_of_its_own_each_time(far: FarEnd) -> None:
    """llama.cpp ends one after an answer without saying so."""
    async with make_client(endpoint(far.url), Network()) as client:
        for _ in range(3):
            assert (await client.get(f"{far.url}/v1/models")).status_code == 200
    assert far.connections == 3


@pytest.mark.parametrize("mode", ["system", "custom"])
async def test_a_local_server_is_asked_without_a_proxy(far: FarEnd, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    network = Network.model_validate({"proxy": mode, "proxy_url": "http://127.0.0.1:1"})

    async with make_client(endpoint(far.url), network) as client:
        answer = await client.get(f"{far.url}/v1/models")

    assert answer.status_code == 200
    assert proxy_of(far.url, network) == ""


@pytest.mark.parametrize(
    ("environment", "network", "proxied"),
    [
        ({"HTTPS_PROXY": "http://me:secret@{far}"}, Network(), True),
        ({"ALL_PROXY": "http://{far}"}, Network(), True),
        ({"HTTPS_PROXY": "http://{far}", "NO_PROXY": "example.com"}, Network(), False),
        ({"HTTPS_PROXY": "http://{far}"}, Network(proxy="none"), False),
        ({}, Network(proxy="custom", proxy_url="http://me:secret@{far}"), True),
        ({"HTTPS_PROXY": "http://127.0.0.1:1"}, Network(proxy="custom", proxy_url="http://{far}"), True),
    ],
)
async def test_which_proxy_a_remote_server_is_asked_through(
    far: FarEnd, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], network: Network, proxied: bool
) -> None:
    place = far.url.removeprefix("http://")
    for name, value in environment.items():
        monkeypatch.setenv(name, value.format(far=place))
    network = network.model_copy(update={"proxy_url": network.proxy_url.format(far=place)})

    # No name is looked up: the proxy would do that, and without one the port says that nothing is asked.
    assert proxy_of("https://api.example.com", network) == (place if proxied else "")
    if proxied:
        async with make_client(endpoint("https://api.example.com"), network) as client:
            with pytest.raises(httpx2.HTTPError):
                await client.get("https://api.example.com/v1/models")
        assert far.requests[0].method == "CONNECT"
        assert far.requests[0].path == "api.example.com:443"


@pytest.mark.parametrize("url", ["socks4://127.0.0.1:1", "127.0.0.1:8080", "", "http://"])
def test_a_proxy_that_can_not_be_used_is_said(url: str) -> None:
    with pytest.raises(ProviderError, match="The proxy in the settings has an address Muntin can't use") as failure:
        make_client(endpoint("https://api.example.com"), Network(proxy="custom", proxy_url=url))
    assert failure.value.kind is ErrorKind.NETWORK


@pytest.mark.parametrize(
    "url",
    ["socks4://127.0.0.1:1", "http://[::1", "http://proxy:99999", "http://proxy:http", "http://me:pass/word@proxy:80"],
)
def test_a_system_proxy_that_can_not_be_used_is_said(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", url)

    with pytest.raises(ProviderError, match="The system's proxy has an address"):
        make_client(endpoint("https://api.example.com"), Network())
    assert proxy_of("https://api.example.com", Network()) == ""


async def test_a_socks_proxy_is_gone_through(far: FarEnd) -> None:
    asked: list[bytes] = []

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speak SOCKS 5 as far as one request needs it, and hand its bytes on to the far end."""
        await reader.readexactly(3)
        writer.write(b"\x05\x00")
        head = await reader.readexactly(5)
        asked.append(await reader.readexactly(head[4] + 2))
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", far.port)
        far_writer.write(await reader.read(65536))
        writer.write(await far_reader.read(65536))
        for end in (far_writer, writer):
            end.close()
            await end.wait_closed()

    async with await asyncio.start_server(tunnel, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        network = Network(proxy="custom", proxy_url=f"socks5://127.0.0.1:{port}")
        async with make_client(endpoint("http://api.example.com"), network) as client:
            await client.get("http://api.example.com/v1/models/none")

    assert asked == [b"api.example.com" + (80).to_bytes(2, "big")]
    assert far.requests[0].path == "/v1/models/none"


async def test_a_socks_proxy_that_refuses_is_left(far: FarEnd) -> None:
    has_left = asyncio.Event()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(3)
        writer.write(b"\x05\xff")
        await reader.read()
        has_left.set()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        network = Network(proxy="custom", proxy_url=f"socks5://127.0.0.1:{port}")
        async with make_client(endpoint("http://api.example.com"), network) as client:
            with pytest.raises(httpx2.ProxyError):
                await client.get("http://api.example.com/v1/models")
            async with asyncio.timeout(1):
                await has_left.wait()


async def test_neither_netrc_nor_a_redirect_is_followed(
    far: FarEnd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    async with FarEnd() as other, make_client(endpoint(far.url), Network()) as client:
        far.play(redirect(f"{other.url}/v1/messages"))

        answer = await client.post(f"{far.url}/v1/messages", json=BODY)

        assert answer.status_code == 307
        assert not other.requests
    assert not far.requests[0].has_key


async def test_every_byte_beats(far: FarEnd) -> None:
    seconds = iter(range(100))
    heartbeat = Heartbeat(lambda: float(next(seconds)))
    before, after = Hold(), Hold()
    far.play(reply("one", Stall(before), "two", Stall(after)))
    async with make_client(endpoint(far.url), Network()) as client:
        with heartbeat.hears():
            request = client.build_request("POST", f"{far.url}/v1/messages", json=BODY)
            response = await client.send(request, stream=True)
        opened = heartbeat.last
        chunks = response.aiter_raw()
        await anext(chunks)
        first = heartbeat.last
        before.release()
        await anext(chunks)
        await response.aclose()

    assert 0 < opened < first < heartbeat.last


async def test_requests_outside_the_block_do_not_beat(far: FarEnd) -> None:
    heartbeat = Heartbeat()
    began = heartbeat.last
    async with make_client(endpoint(far.url), Network()) as client:
        await client.get(f"{far.url}/v1/models")

    assert heartbeat.last == began


async def test_a_certificate_nobody_knows_is_refused_unless_it_is_told(tmp_path: Path) -> None:
    certificate = self_signed(tmp_path)
    assert certificate is not None, "the openssl program makes the certificate"
    cases = [
        (Network(), True, False),
        (Network(ca_file=str(certificate.file)), True, True),
        (Network(), False, True),
    ]
    async with FarEnd(tls=certificate.context) as far:
        for network, verify, is_let_in in cases:
            async with make_client(endpoint(far.url, verify=verify), network) as client:
                try:
                    await client.get(f"{far.url}/v1/models")
                    assert is_let_in
                except httpx2.ConnectError:
                    assert not is_let_in


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no certificate at all", "holds no certificates in PEM form"),
        (None, "can't be read: No such file or directory"),
    ],
)
def test_a_file_of_certificates_that_is_none_is_said(tmp_path: Path, content: bytes | None, words: str) -> None:
    file = tmp_path / "extra.pem"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ProviderError, match=words) as failure:
        make_trust(Network(ca_file=str(file)), verify=True)
    assert failure.value.kind is ErrorKind.NETWORK
    assert str(file) in failure.value.detail


def test_the_environment_names_no_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))

    assert make_trust(Network(), verify=True).verify_mode is ssl.CERT_REQUIRED
    assert make_trust(Network(), verify=False).verify_mode is ssl.CERT_NONE
