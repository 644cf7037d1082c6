"""The name a key is kept under, so that it goes to no server but the one it was entered for. Pure.

A provider keeps its id when its address is changed, and an id may be given again once a provider is removed. So the
name holds the host and port too: at another address there is no key until one is entered.
"""

from urllib.parse import urlsplit

from app.settings.schema import Endpoint, KeptAt


def account_of(endpoint: Endpoint) -> str:
    """Return the name under which the key for the endpoint's present address is kept."""
    return f"{endpoint.id}@{host_of(endpoint)}"


def host_of(endpoint: Endpoint) -> str:
    """Return host and port of the endpoint's address, empty if it can't be read."""
    try:
        parts = urlsplit(endpoint.base_url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return ""
    host = (parts.hostname or "").rstrip(".")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}" if host else ""


def former_account(endpoint: Endpoint) -> str:
    """Return the name of a key that is kept for an address the endpoint had before, empty if there is none."""
    is_former = bool(endpoint.key_kept and endpoint.key_host) and endpoint.key_host != host_of(endpoint)
    return f"{endpoint.id}@{endpoint.key_host}" if is_former else ""


def kept_at(endpoint: Endpoint) -> KeptAt:
    """Return where a key for the present address was saved last, empty if none was."""
    return "" if former_account(endpoint) else endpoint.key_kept
