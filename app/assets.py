"""Finds files of `resources/` in a checkout, an installed copy or a frozen build."""

import functools
import sys
from pathlib import Path


def resource(*parts: str) -> Path:
    """Return the path of a file or folder below `resources/`."""
    return _root().joinpath(*parts)


@functools.cache
def _root() -> Path:
    frozen = getattr(sys, "_MEIPASS", None)
    if frozen is not None:
        return Path(frozen) / "resources"
    beside_package = Path(__file__).resolve().parent / "_resources"
    if beside_package.is_dir():
        return beside_package
    return Path(__file__).resolve().parent.parent / "resources"
