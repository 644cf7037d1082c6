"""What a power failure would leave of the files, told from the calls that reach the disk."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class DiskLog:
    """Notes which of a folder's files have content, and which folders have names, that no fsync has made durable.

    `happened` tells each step as it ends: what was done, the file's name, and what was not durable by then.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.loose: set[Path] = set()
        self.happened: list[tuple[str, str, frozenset[str]]] = []

    def loose_before(self, step: str, name: str) -> frozenset[str]:
        """Return the names that were not durable when a step was first taken."""
        return next(loose for done, of, loose in self.happened if (done, of) == (step, name))

    @property
    def steps(self) -> list[tuple[str, str]]:
        return [(step, name) for step, name, _ in self.happened]

    @property
    def loose_names(self) -> frozenset[str]:
        return frozenset(path.name for path in self.loose)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note what is done in the block, by any thread."""
        with pytest.MonkeyPatch.context() as patch:
            write, fsync, truncate, replace = os.write, os.fsync, os.ftruncate, os.replace
            open_, link = os.open, os.link

            def noted_open(path: str | Path, flags: int, mode: int = 0o777) -> int:
                if flags & os.O_CREAT and not Path(path).exists():
                    self._note_name(Path(path))
                return open_(path, flags, mode)

            def noted_write(descriptor: int, data: bytes) -> int:
                self._note("write", _path(descriptor))
                return write(descriptor, data)

            def noted_fsync(descriptor: int) -> None:
                fsync(descriptor)
                path = _path(descriptor)
                self.loose.discard(path)
                self.happened.append(("sync", path.name, self.loose_names))

            def noted_truncate(descriptor: int, size: int) -> None:
                self._note("truncate", _path(descriptor))
                truncate(descriptor, size)

            def noted_replace(source: Path, target: Path) -> None:
                self._note("replace", target, source)
                replace(source, target)

            def noted_link(source: Path, target: Path) -> None:
                self._note_name(target)
                link(source, target)

            patch.setattr(os, "open", noted_open)
            patch.setattr(os, "write", noted_write)
            patch.setattr(os, "fsync", noted_fsync)
            patch.setattr(os, "ftruncate", noted_truncate)
            patch.setattr(os, "replace", noted_replace)
            patch.setattr(os, "link", noted_link)
            yield

    def _note(self, step: str, path: Path, source: Path | None = None) -> None:
        if not path.is_relative_to(self._root):
            return
        self.happened.append((step, path.name, self.loose_names | self._of(source)))
        if source is None:
            self.loose.add(path)
            return
        is_loose = source in self.loose
        self.loose -= {source, path}
        # The new name lies in the folder, whose own fsync makes it durable; for loose content nobody asks.
        self.loose.add(path if is_loose else path.parent)

    def _note_name(self, path: Path) -> None:
        # A temporary file that a power failure leaves nameless is none the worse for it.
        if path.is_relative_to(self._root) and path.suffix != ".tmp":
            self.loose.add(path.parent)

    def _of(self, source: Path | None) -> frozenset[str]:
        return frozenset({"the new content"}) if source in self.loose else frozenset()


def _path(descriptor: int) -> Path:
    return Path(f"/proc/self/fd/{descriptor}").readlink()
