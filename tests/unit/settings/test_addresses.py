"""Addresses as people type and paste them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.addresses import Address, AddressProblem, final_url, is_local, read_address, text_of
from app.settings.schema import Dialect

DIALECTS: tuple[Dialect, ...] = ("anthropic", "responses", "chat")


def read(text: str, dialect: Dialect = "chat") -> Address:
    address = read_address(text, dialect)
    assert isinstance(address, Address), address
    return address


def problem(text: str, dialect: Dialect = "chat") -> str:
    found = read_address(text, dialect)
    assert isinstance(found, AddressProblem), found
    return found.text


@pytest.mark.parametrize(
    ("text", "base_url"),
    [
        ("api.example.com", "https://api.example.com/v1"),
        ("API.Example.com.", "https://api.example.com/v1"),
        ("api.example.com:8443", "https://api.example.com:8443/v1"),
        ("api.example.com:443", "https://api.example.com/v1"),
        ("api.example.com:80", "http://api.example.com/v1"),
        ("localhost:443", "https://localhost/v1"),
        ("//api.example.com", "https://api.example.com/v1"),
        ("api.example.com/v1", "https://api.example.com/v1"),
        ("https://api.example.com/v1/", "https://api.example.com/v1"),
        ("HTTPS://api.example.com//v1//", "https://api.example.com/v1"),
        ("  “https://api.example.com/v1”, ", "https://api.example.com/v1"),
        ("<https://api.example.com>", "https://api.example.com/v1"),
        ("https://api.example.com/v1/chat/completions", "https://api.example.com/v1"),
        ("https://api.example.com/v1/completions/", "https://api.example.com/v1"),
        ("https://api.example.com/v1/responses", "https://api.example.com/v1"),
        ("https://api.example.com/v1/messages", "https://api.example.com/v1"),
        ("https://api.example.com/v1/models", "https://api.example.com/v1"),
        ("https://openrouter.example/api/v1", "https://openrouter.example/api/v1"),
        ("https://openrouter.example/api", "https://openrouter.example/api/v1"),
        ("https://g.example/v1beta/openai/", "https://g.example/v1beta/openai"),
        ("https://groq.example/openai/v1/chat/completions", "https://groq.example/openai/v1"),
        ("https://z.example/api/paas/v4", "https://z.example/api/paas/v4"),
        # Copied whole and without a version: taken at its word.
        ("https://api.example.com/chat/completions", "https://api.example.com"),
        ("localhost", "http://localhost/v1"),
        ("localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/api/chat", "http://localhost:11434/v1"),
        ("http://localhost:11434/api/tags", "http://localhost:11434/v1"),
        ("127.0.0.1:1234/v1", "http://127.0.0.1:1234/v1"),
        ("0.0.0.0:11434", "http://127.0.0.1:11434/v1"),
        ("192.168.1.20:8080", "http://192.168.1.20:8080/v1"),
        ("8.8.8.8", "https://8.8.8.8/v1"),
        ("nas:11434", "http://nas:11434/v1"),
        ("my_box.local:11434", "http://my_box.local:11434/v1"),
        ("[::1]:11434", "http://[::1]:11434/v1"),
        ("::1", "http://[::1]/v1"),
        ("[::]:11434", "http://[::1]:11434/v1"),
        ("http://[FD00::0001]/v1", "http://[fd00::1]/v1"),
        ("bücher.example", "https://xn--bcher-kva.example/v1"),
        ("https://straße.example/v1", "https://xn--strae-oqa.example/v1"),
        ("https://x.example/a b".replace(" ", "%20"), "https://x.example/a%20b/v1"),
        ("https://x.example/ü", "https://x.example/%C3%BC/v1"),
    ],
)
def test_an_address_for_openai_ends_where_its_library_goes_on(text: str, base_url: str) -> None:
    for dialect, call in (("chat", "/chat/completions"), ("responses", "/responses")):
        address = read(text, dialect)  # type: ignore[arg-type]
        assert address.base_url == base_url
        assert address.final_url == base_url + call


@pytest.mark.parametrize(
    ("text", "base_url"),
    [
        ("api.example.com", "https://api.example.com"),
        ("https://api.example.com/v1/messages", "https://api.example.com"),
        ("https://api.example.com/v1/messages/count_tokens", "https://api.example.com"),
        ("https://api.example.com/v1", "https://api.example.com"),
        ("https://api.example.com/v1/v1/", "https://api.example.com"),
        ("https://d.example/anthropic", "https://d.example/anthropic"),
        ("https://d.example/anthropic/v1/messages", "https://d.example/anthropic"),
        ("https://d.example/v1/chat/completions", "https://d.example"),
        ("http://localhost:11434/api/chat", "http://localhost:11434"),
    ],
)
def test_an_address_for_anthropic_has_no_version(text: str, base_url: str) -> None:
    assert read(text, "anthropic").base_url == base_url
    assert read(text, "anthropic").final_url == f"{base_url}/v1/messages"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "Enter an address"),
        (" \n", "Enter an address"),
        ("“”", "Enter an address"),
        ("https://", "name of the server is missing"),
        ("https:///v1", "name of the server is missing"),
        (":11434", "name of the server is missing"),
        ("api.example.com /v1", "no spaces"),
        ("my server", "no spaces"),
        ("a\u202eb.example", "no spaces"),
        ("https:\\\\api.example.com", "backslash"),
        ("ftp://api.example.com", "not with ftp://"),
        ("file:///etc/passwd", "not with file://"),
        ("https://https://api.example.com", "two addresses"),
        ("api.example.com/https://b.example", "two addresses"),
        ("https://sk-secret@api.example.com", "before the @"),
        ("user:pass@api.example.com/v1", "before the @"),
        ("https://api.example.com?key=1", "question mark"),
        ("https://api.example.com/v1?key=1", "question mark"),
        ("https://api.example.com#x", "number sign"),
        ("https://api.example.com/v1#x", "number sign"),
        ("localhost:0", "port"),
        ("localhost:65536", "port"),
        ("localhost:99999999999999999999", "port"),
        ("localhost:http", "port"),
        ("localhost:-1", "port"),
        ("localhost:٣", "port"),
        ("http:localhost", "port"),
        ("1:2:3", "port"),
        ("[::1", "IPv6"),
        ("[localhost]:80", "IPv6"),
        ("[::1]80", "IPv6"),
        ("999.1.1.1", "no IP address"),
        ("1.2.3", "no IP address"),
        ("-x.example", "name of a server"),
        ("a..example", "name of a server"),
        ("x" * 64 + ".example", "name of a server"),
        ("ex!mple.com", "name of a server"),
        ("\u2665\ufe0f\u0378.example", "no spaces"),
        ("https://x.example/../v1", "dots"),
        ("https://x.example/" + "a" * 2000, "too long"),
        ("https://e.openai.azure.example/openai/deployments/g/chat/completions?api-version=1", "/openai/v1"),
    ],
)
def test_what_is_no_address_is_refused_in_a_sentence(text: str, word: str) -> None:
    for dialect in DIALECTS:
        sentence = problem(text, dialect)
        assert word in sentence
        assert sentence.endswith(".")
        assert "secret" not in sentence


def test_the_largest_and_smallest_port_are_taken() -> None:
    assert read("localhost:1").base_url == "http://localhost:1/v1"
    assert read("localhost:65535").base_url == "http://localhost:65535/v1"


def test_a_way_that_is_not_encrypted_is_warned_of_beyond_the_local_network() -> None:
    assert "not encrypted" in read("http://api.example.com").warning
    assert not read("https://api.example.com").warning
    assert not read("http://192.168.1.2:8080").warning
    assert not read("http://localhost:11434").warning


@pytest.mark.parametrize(
    "base_url",
    [
        "http://localhost:11434/v1",
        "http://models.localhost",
        "http://127.0.0.2",
        "http://[::1]:1",
        "http://[fe80::1%25eth0]",
        "http://[::ffff:10.0.0.1]",
        "http://10.0.0.1",
        "http://172.16.0.1",
        "http://100.64.0.1",
        "http://nas",
        "http://nas.lan",
        "http://nas.local./v1",
        "http://nas.home.arpa",
    ],
)
def test_local_is_this_computer_and_its_network(base_url: str) -> None:
    assert is_local(base_url)


@pytest.mark.parametrize(
    "base_url",
    ["https://api.example.com", "http://8.8.8.8", "http://[2600::1]", "http://localhost.example.com", "", "http://["],
)
def test_everything_else_is_not_local(base_url: str) -> None:
    assert not is_local(base_url)


_labels = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True).filter(
    lambda label: not label.isdecimal()
)
_hosts = st.one_of(
    st.lists(_labels, min_size=1, max_size=3).map(".".join),
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).map(lambda address: f"[{address}]"),
    st.sampled_from(["bücher.example", "例え.example"]),
)
_parts = st.sampled_from(
    ["v1", "api", "openai", "v1beta", "chat", "completions", "messages", "responses", "models", "x y", "é"]
)
_paths = st.lists(_parts, max_size=4).map(lambda parts: "".join(f"/{part.replace(' ', '%20')}" for part in parts))


@given(
    scheme=st.sampled_from(["", "http://", "https://"]),
    host=_hosts,
    port=st.one_of(st.just(""), st.integers(1, 65535).map(lambda number: f":{number}")),
    path=_paths,
    dialect=st.sampled_from(DIALECTS),
    other=st.sampled_from(DIALECTS),
)
def test_an_address_shown_reads_back_as_itself(
    scheme: str, host: str, port: str, path: str, dialect: Dialect, other: Dialect
) -> None:
    address = read_address(f"{scheme}{host}{port}{path}", dialect)
    if isinstance(address, AddressProblem):
        return
    assert address.final_url == final_url(address.base_url, dialect)
    assert read(address.final_url, dialect) == address
    assert read(text_of(address.base_url, dialect), dialect) == address
    assert is_local(address.base_url) == address.is_local
    assert isinstance(read_address(address.final_url, other), Address)


@given(st.text(max_size=60), st.sampled_from(DIALECTS))
def test_no_text_breaks_the_reading(text: str, dialect: Dialect) -> None:
    found = read_address(text, dialect)
    if isinstance(found, Address):
        assert found.base_url.startswith(("http://", "https://"))
        assert found.base_url.isascii()
        assert "@" not in found.base_url.split("/")[2]
