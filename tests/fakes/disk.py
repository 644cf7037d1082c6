"""A disk that refuses, made with real files: a folder stands where each file should be."""

import contextlib
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def refusing(*paths: Path) -> Iterator[None]:
    """Let `paths` be neither read nor written meanwhile; afterwards they are as they were."""
    saved = {path: path.read_bytes() for path in paths}
    for path in paths:
        path.unlink()
        path.mkdir()
    try:
        yield
    finally:
        for path, data in saved.items():
            path.rmdir()
            path.write_bytes(data)
