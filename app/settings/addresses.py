"""What a person types as the address of a server, made into what its library takes and what will be asked. Pure."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

from app.settings.schema import Dialect

MAX_ADDRESS_CHARS: Final = 2000

_CALLS: Final[dict[Dialect, str]] = {
    "anthropic": "/v1/messages",
    "responses": "/responses",
    "chat": "/chat/completions",
}
"""What each dialect's library puts behind the base address."""
_PASTED_CALLS: Final = (
    "/chat/completions",
    "/completions",
    "/responses",
    "/messages/count_tokens",
    "/messages",
    "/models",
)
"""Ends of addresses that people copy from a vendor's pages."""
_OLLAMA_CALLS: Final = ("/api/chat", "/api/generate", "/api/tags")
"""Of Ollama's own way of speaking, which Muntin doesn't use."""
_VERSION: Final = re.compile(r"v\d+([a-z]+\d*)?")
_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NOISE: Final = " \t\r\n\f\v\u00a0\u200b\u2060\ufeff\"'`‘’“”«»<>,;"
_LOCAL_ENDINGS: Final = (".localhost", ".local", ".lan", ".internal", ".home.arpa")


@dataclass(frozen=True, slots=True)
class Address:
    """An address that can be asked."""

    base_url: str
    """What the library of the dialect takes; no slash at its end."""
    final_url: str
    """What will really be asked."""
    is_local: bool
    """On this computer or in the network it stands in."""
    warning: str = ""
    """A sentence for people; empty if nothing is to be said."""


@dataclass(frozen=True, slots=True)
class AddressProblem:
    """Why a text is no address. `text` is a sentence for people."""

    text: str


class _Unreadable(Exception):
    """Carries the sentence of an AddressProblem out of the steps."""


def read_address(text: str, dialect: Dialect) -> Address | AddressProblem:
    """Return the address that `text` means: a host, a host and port, a base address or one copied whole."""
    try:
        scheme, host, port, path = _take_apart(text)
    except _Unreadable as problem:
        return AddressProblem(str(problem))
    local = _is_local_host(host)
    if not scheme:
        scheme = "http" if port == 80 or (local and port != 443) else "https"
    if port == {"http": 80, "https": 443}[scheme]:
        port = None
    shown_host = f"[{host}]" if ":" in host else host
    base_url = f"{scheme}://{shown_host}{'' if port is None else f':{port}'}{_prefix_of(path, dialect)}"
    warning = ""
    if scheme == "http" and not local:
        warning = (
            f"The way to {host} is not encrypted: others can read what is sent, the key too. Use https:// if it can."
        )
    return Address(base_url, final_url(base_url, dialect), local, warning)


def final_url(base_url: str, dialect: Dialect) -> str:
    """Return the address that is asked with this base address."""
    return base_url.rstrip("/") + _CALLS[dialect]


def text_of(base_url: str, dialect: Dialect) -> str:
    """Return what to put into a field for a base address, so that `read_address` gives the same one again."""
    address = read_address(base_url, dialect)
    is_same = isinstance(address, Address) and address.base_url == base_url
    return base_url if is_same else final_url(base_url, dialect)


def is_local(base_url: str) -> bool:
    """Say whether an address belongs to this computer or the network it stands in.

    So are loopback and private IP addresses, names without a dot, and names that only a local network gives.
    """
    try:
        return _is_local_host(urlsplit(base_url).hostname or "")
    except ValueError:
        return False


def _is_local_host(host: str) -> bool:
    host = host.lower().rstrip(".")
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_LOCAL_ENDINGS))
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return not address.is_global


# --- the parts ---


def _take_apart(text: str) -> tuple[str, str, int | None, str]:
    """Return scheme (empty if none), host, port and path. Raises _Unreadable."""
    text = text.strip(_NOISE)
    if not text:
        raise _Unreadable("Enter an address, such as api.example.com or 127.0.0.1:11434.")
    if len(text) > MAX_ADDRESS_CHARS:
        raise _Unreadable(f"This is too long for an address: {len(text):,} characters.")
    if any(character.isspace() or not character.isprintable() for character in text):
        raise _Unreadable("An address has no spaces or line breaks in it.")
    if "\\" in text:
        raise _Unreadable("An address has slashes (/), no backslashes (\\).")
    scheme, rest = _take_scheme(text)
    authority, slash, path = rest.partition("/")
    for sign, name in (("?", "a question mark"), ("#", "a number sign (#)")):
        if sign in authority:
            raise _Unreadable(f"Leave out what stands from {name} on.")
    if "@" in authority:
        raise _Unreadable("Leave out the part before the @. A name or key doesn't belong into an address.")
    host, port = _take_port(authority)
    return scheme, _read_host(host), port, _read_path(slash + path)


def _take_scheme(text: str) -> tuple[str, str]:
    scheme, separator, rest = text.partition("://")
    if not separator or "/" in scheme:
        if "://" in text:
            raise _Unreadable("There are two addresses in one. Leave one of them.")
        return "", text.removeprefix("//")
    if scheme.lower() not in ("http", "https"):
        raise _Unreadable(f"An address begins with https:// or http://, not with {scheme}://.")
    if "://" in rest:
        raise _Unreadable("There are two addresses in one. Leave one of them.")
    return scheme.lower(), rest


def _take_port(authority: str) -> tuple[str, int | None]:
    if _is_ipv6(authority):
        return authority, None
    if authority.startswith("["):
        host, bracket, rest = authority[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")) or not _is_ipv6(host):
            raise _Unreadable("Between [ and ] must stand an IPv6 address, such as [::1].")
        port = rest[1:]
    else:
        host, _, port = authority.partition(":")
    if not port:
        return host, None
    if not (port.isascii() and port.isdecimal() and 1 <= int(port[:6]) <= 65535):
        raise _Unreadable("After the colon must stand the port, a number from 1 to 65535.")
    return host, int(port)


def _is_ipv6(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).version == 6 and "%" not in text
    except ValueError:
        return False


def _read_host(text: str) -> str:
    """Return a name in small ASCII letters or an IP address in its short form. Raises _Unreadable."""
    host = text.lower().rstrip(".")
    if not host:
        raise _Unreadable("The name of the server is missing.")
    if ":" in host:
        address = ipaddress.ip_address(host)
        return "::1" if address.is_unspecified else address.compressed
    if not host.isascii():
        host = _in_ascii(host)
    if re.fullmatch(r"[\d.]+", host):
        try:
            four = ipaddress.IPv4Address(host)
        except ValueError:
            raise _Unreadable(f"{text} is no IP address.") from None
        # A server is told to listen at 0.0.0.0; it is reached here.
        return "127.0.0.1" if four.is_unspecified else str(four)
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise _Unreadable(f"{text[:60]} can't be the name of a server.")
    return host


def _in_ascii(host: str) -> str:
    import idna

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise _Unreadable(f"{host[:60]} can't be the name of a server.") from None


def _read_path(path: str) -> str:
    if "/openai/deployments/" in path:
        raise _Unreadable(
            "Azure's addresses with “deployments” are not supported. Use the one that ends in /openai/v1;"
            " the name of the deployment is then the name of the model."
        )
    if "?" in path:
        raise _Unreadable("Leave out what stands from the question mark on.")
    if "#" in path:
        raise _Unreadable("Leave out what stands from the number sign (#) on.")
    parts = [part for part in path.split("/") if part]
    if "." in parts or ".." in parts:
        raise _Unreadable("An address has no parts of dots alone.")
    return "".join(f"/{quote(part, safe=_PATH_SIGNS)}" for part in parts)


_PATH_SIGNS: Final = "%:@!$&'()*+,;=~"


def _prefix_of(path: str, dialect: Dialect) -> str:
    """Return what stands between the host and the call of the dialect."""
    prefix, is_whole = path, False
    while (call := next((call for call in _PASTED_CALLS if prefix.endswith(call)), None)) is not None:
        prefix, is_whole = prefix.removesuffix(call), True
    if own := next((call for call in _OLLAMA_CALLS if prefix.endswith(call)), None):
        prefix, is_whole = prefix.removesuffix(own), False
    if dialect == "anthropic":
        while prefix.endswith("/v1"):
            prefix = prefix.removesuffix("/v1")
        return prefix
    # Without a version the address of a whole call is taken at its word; otherwise it is the usual one.
    if is_whole or any(_VERSION.fullmatch(part) for part in prefix.split("/")):
        return prefix
    return f"{prefix}/v1"
