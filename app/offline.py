"""`--offline`: no connection leaves this computer."""

import ipaddress
import sys


class OfflineError(PermissionError):
    """A connection was refused because the program was started with `--offline`."""


def refuse_network() -> None:
    """Refuse every connection of this process but those to this computer. Can't be undone."""
    sys.addaudithook(_audit)


def _audit(event: str, args: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = args[1]
        if isinstance(address, tuple) and address and not _is_local(str(address[0])):
            raise OfflineError(f"Muntin runs offline and does not connect to {address[0]}.")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"):
        # The last takes an address with its port.
        host = args[0][0] if isinstance(args[0], tuple) else args[0]
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
        if name and not _is_local(name):
            raise OfflineError(f"Muntin runs offline and does not look up {name}.")


def _is_local(host: str) -> bool:
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
