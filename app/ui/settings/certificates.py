"""Looks whether a file holds certificates."""

import ssl
from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication

_MAX_BYTES: Final = 4_000_000


def check_certificates(path: str) -> str:
    """Return what is wrong with a PEM file, in words; empty if nothing is. Reads the file."""
    tr = QCoreApplication.translate
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        return tr("Settings", "The file can't be read: {reason}.").format(reason=error.strerror or error)
    if len(data) > _MAX_BYTES:
        return tr("Settings", "The file is too large for a file of certificates.")
    if b"-----BEGIN CERTIFICATE-----" not in data:
        return tr("Settings", "There is no certificate in this file. It must be in the PEM form.")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=data.decode("ascii", "replace"))
    except ssl.SSLError:
        return tr("Settings", "The certificate in this file is damaged.")
    return ""
