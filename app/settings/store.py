"""`settings.json`: read, mended, written. Plain synchronous code, for a thread that may block.

See docs/settings-format.md.
"""

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Final, get_args

from pydantic import ValidationError

from app.disk import Stamp, make_private_folder, storage_error, write_atomic
from app.domain.errors import KnownError
from app.settings.checks import describe, mend, validate
from app.settings.schema import VERSION, Dialect, Edit, Settings

MAX_DEPTH: Final = 100
"""Of a file that is understood; what is deeper could not be written again."""

_WHAT: Final = "The file of settings"


class SettingsStore:
    """One file of settings. Another Muntin may write to it at any time between two calls. One thread at a time."""

    def __init__(self, path: Path, *, leaves_broken: bool = False) -> None:
        """With `leaves_broken` on, reading changes nothing: a file with something wrong stays as it is."""
        self.path = path
        self._leaves_broken = leaves_broken
        self.set_aside = ""
        """Name under which a file that had something wrong is kept as it was; empty if there was none."""
        self.problems: tuple[str, ...] = ()
        """What was wrong in it: sentences for people."""
        self._known: Settings | None = None
        self._stamp: Stamp | None = None
        self._foreign: list[object] = []
        """Endpoints that only a newer version can speak to: nobody sees them, and they are written again."""
        self._owed: bytes | None = None
        """A file with something wrong that could not be set aside yet: it must not be overwritten."""

    def load(self) -> Settings:
        """Return the settings of the file; without one, the defaults.

        What is wrong in it goes back to its default, and the file is set aside. Raises StorageError if it is there
        and can't be read.
        """
        # The stamp first: a change between the two is then read once more, never missed.
        self._stamp = self._look()
        data = self._read()
        if data is None:
            self._known = self._known or Settings()
        elif (value := _parse(data)) is None:
            # What this process knows is still right if only the file broke meanwhile.
            self._known = self._known or Settings()
            self._set_aside(data, (f"{_WHAT} could not be understood.",))
        else:
            self._foreign = _take_foreign(value)
            self._known, problems = mend(value)
            if problems:
                self._set_aside(data, tuple(problem.text for problem in problems))
        return self._known

    def save(self, settings: Settings) -> Settings:
        """Put `settings` on disk, whole, and return them as they will be read.

        Raises KnownError that names the field that is not valid, StorageError; nothing changed then.
        """
        value = settings.model_dump(mode="json", warnings=False)
        checked = validate(value)
        if not isinstance(checked, Settings):
            raise KnownError(checked[0].text)
        self._keep_what_was_wrong()
        make_private_folder(self.path.parent)
        data = _encode({**value, "endpoints": [*value["endpoints"], *self._foreign]})
        write_atomic(self.path, data, what="Your settings")
        self._known = checked
        # Another Muntin may have written right behind us: what it wrote is then read before the next change.
        stamp = self._look()
        self._stamp = stamp if self._read() == data else None
        return checked

    def change(self, edit: Edit) -> Settings:
        """Apply `edit` to what the file says now, save, and return the result.

        Raises KnownError and StorageError as `save` and `load` do; nothing changed then.
        """
        current = self._known
        if current is None or self._look() != self._stamp:
            current = self.load()
        try:
            changed = edit(current)
        except ValidationError as error:
            raise KnownError(describe(error)) from error
        return current if changed == current else self.save(changed)

    def _look(self) -> Stamp | None:
        try:
            return Stamp.of(self.path)
        except OSError as error:
            raise storage_error(f"{_WHAT} can't be read", error) from error

    def _read(self) -> bytes | None:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise storage_error(f"{_WHAT} can't be read", error) from error

    def _set_aside(self, data: bytes, problems: tuple[str, ...]) -> None:
        """Keep a copy of the file as it is, and write what was understood of it in its place."""
        self.problems = problems
        if self._leaves_broken:
            return
        self._owed = data
        # Where nothing can be written, the program goes on with what it has understood.
        with contextlib.suppress(KnownError):
            self.save(self._known or Settings())

    def _keep_what_was_wrong(self) -> None:
        """Copy a file that had something wrong. The same content goes to the same name. Raises StorageError."""
        if self._owed is None:
            return
        name = f"{self.path.name}.{hashlib.sha256(self._owed).hexdigest()[:12]}.damaged"
        if not self.path.with_name(name).is_file():
            write_atomic(self.path.with_name(name), self._owed, what=f"A copy of {self.path.name}")
        self.set_aside = name
        self._owed = None


def _parse(data: bytes) -> dict[str, object] | None:
    """Return the object that `data` is in JSON, None if it is none."""
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _depth(value) <= MAX_DEPTH else None


def _take_foreign(value: dict[str, object]) -> list[object]:
    """Take out of a newer version's settings the endpoints whose dialect this version does not know."""
    version, endpoints = value.get("version"), value.get("endpoints")
    if not isinstance(endpoints, list) or not isinstance(version, int) or version <= VERSION:
        return []
    value["endpoints"] = [each for each in endpoints if not _has_unknown_dialect(each)]
    return [each for each in endpoints if _has_unknown_dialect(each)]


def _has_unknown_dialect(endpoint: object) -> bool:
    dialect = endpoint.get("dialect") if isinstance(endpoint, dict) else None
    return isinstance(dialect, str) and dialect not in get_args(Dialect)


def _depth(value: object) -> int:
    """Return how many groups stand in one another."""
    depth, inner = 0, [value]
    while inner := [part for part in inner if isinstance(part, dict | list)]:
        depth += 1
        inner = [part for group in inner for part in (group.values() if isinstance(group, dict) else group)]
    return depth


def _encode(value: object) -> bytes:
    """Return JSON that a person can read and edit."""
    try:
        return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:
        # A lone surrogate in a field nobody knows.
        return (json.dumps(value, indent=2) + "\n").encode()
