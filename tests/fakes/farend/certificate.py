"""A certificate nobody trusts, to try what a client does about it."""

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple


class Certificate(NamedTuple):
    """A server's side of TLS, and the file a client may be told to trust."""

    context: ssl.SSLContext
    file: Path


def self_signed(folder: Path, *, name: str = "127.0.0.1", days: int = 1) -> Certificate | None:
    """Make a certificate for `name` in `folder` with the `openssl` program; None where there is none."""
    program = shutil.which("openssl")
    if program is None:
        return None
    key, file = folder / "far-end.key", folder / "far-end.pem"
    kind = "IP" if name.replace(".", "").isdigit() else "DNS"
    request = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days {days}"
    names = ["-subj", f"/CN={name}", "-addext", f"subjectAltName={kind}:{name}"]
    files = ["-keyout", str(key), "-out", str(file)]
    subprocess.run([program, *request.split(), *names, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    return Certificate(context, file)
