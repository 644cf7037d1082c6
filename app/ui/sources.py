"""Keeps the Qt binding from reading the source of every module that is imported after it.

It looks for `from __feature__ import ...` in each (`inspect.getsource`), which nothing here uses, and Python keeps
all lines it has read: with Anthropic's library 3,400 files, 36 MB and a quarter of a second. There is no switch for
it in PySide 6.11; `tests/architecture/test_imports.py` notices if a newer version does it another way.
"""

import contextlib


def leave_unread() -> None:
    """Have no sources read from now on; harmless if this version of the binding reads none."""
    import PySide6.QtCore  # noqa: F401 - brings the import hook

    with contextlib.suppress(ImportError):
        from shibokensupport import feature

        feature._mod_uses_pyside = _uses_no_features


def _uses_no_features(_module: object) -> bool:
    return False
