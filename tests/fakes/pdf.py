"""Small PDF files, written by hand: pages of text, pages without any, and locks.

One lock no password opens; the other any reader opens without one, and only restricts what may be done.
"""

import hashlib


def make_pdf(*pages: str, is_locked: bool = False, is_restricted: bool = False) -> bytes:
    """Return a PDF file with one line of Latin-1 text a page; a page without text is blank, as a scan would be."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode("latin-1") if text else b""
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] "
            b"/Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (5 + 2 * number)
        )
        if is_restricted:
            drawn = _rc4(_object_key(5 + 2 * number), drawn)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn))
    return _file(objects, _LOCK if is_locked else _restriction() if is_restricted else b"")


_LOCK = (
    b"/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] "
    b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <" + b"41" * 32 + b"> /U <" + b"42" * 32 + b"> >>"
)

_ID = bytes(range(16))
_PERMISSIONS = -64
"""Neither printing nor copying."""
_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
_OWNER = b"owner" + _PADDING[:27]


def _restriction() -> bytes:
    """Return the trailer's part of a lock with 40 bits whose user's password is empty."""
    name, owner, user = _ID.hex(), _owner_value().hex(), _rc4(_file_key(), _PADDING).hex()
    lock = f"/Filter /Standard /V 1 /R 2 /P {_PERMISSIONS} /O <{owner}> /U <{user}>"
    return f"/ID [<{name}> <{name}>] /Encrypt << {lock} >>".encode()


def _owner_value() -> bytes:
    return _rc4(_md5(_OWNER)[:5], _PADDING)


def _file_key() -> bytes:
    return _md5(_PADDING + _owner_value() + _PERMISSIONS.to_bytes(4, "little", signed=True) + _ID)[:5]


def _object_key(number: int) -> bytes:
    return _md5(_file_key() + number.to_bytes(3, "little") + b"\0\0")[:10]


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


def _rc4(key: bytes, data: bytes) -> bytes:
    box = list(range(256))
    at = 0
    for step in range(256):
        at = (at + box[step] + key[step % len(key)]) % 256
        box[step], box[at] = box[at], box[step]
    out = bytearray()
    left = right = 0
    for byte in data:
        left = (left + 1) % 256
        right = (right + box[left]) % 256
        box[left], box[right] = box[right], box[left]
        out.append(byte ^ box[(box[left] + box[right]) % 256])
    return bytes(out)


def _file(objects: list[bytes], trailer: bytes) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    offsets: list[int] = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(out)
