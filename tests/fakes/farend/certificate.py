"""A certificate nobody trusts, to try what a client does about it."""

import ssl
from pathlib import Path
from typing import NamedTuple


class Certificate(NamedTuple):
    """A server's side of TLS, and the file a client may be told to trust."""

    context: ssl.SSLContext
    file: Path


def self_signed(folder: Path, *, name: str = "127.0.0.1", days: int = 1) -> Certificate | None:
    """Make a certificate for `name` in `folder` with the `openssl` program; None where there is none."""
    raise NotImplementedError
