"""One open directory at a time: how each step below a folder is made so that no step leads out of it.

Where the system has them, directories are held as descriptors and every name is looked up in one of them, never
through a link: whatever is swapped or moved meanwhile, what is held stays what it was. Elsewhere (Windows) every step
compares the directory with what it was and with where its path really leads. See ADR-0012.
"""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

from app.disk import replace

_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_PLAIN: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
_DIRECTORY: Final = getattr(os, "O_DIRECTORY", 0) | _NO_LINK | _PLAIN
_PASS: Final = _DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)
"""Through a directory that only leads on to another: it need not be readable."""
READ: Final = os.O_RDONLY | _NO_LINK | _PLAIN | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _PLAIN
_SURROGATE: Final = 0x2000_0000
"""Of Windows' reparse tags: the entry stands for another one somewhere."""
HAS_DESCRIPTORS: Final = bool(_NO_LINK) and {os.open, os.stat, os.mkdir, os.unlink} <= os.supports_dir_fd


class Place(Protocol):
    """A directory that is open. Every method raises OSError; no name holds a separator."""

    def child(self, name: str) -> "Place":
        """Open a directory in it; a link is none."""
        ...

    def stat(self, name: str) -> os.stat_result:
        """Return what an entry itself is, not what it leads to."""
        ...

    def entries(self) -> Iterator[tuple[str, os.stat_result]]:
        """Yield what is in it, in no order."""
        ...

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Open a file with `READ` or `CREATE`, without waiting for anybody."""
        ...

    def may_write(self, name: str) -> bool:
        """Whether this account may change a file."""
        ...

    def make(self, name: str) -> None:
        """Make a directory."""
        ...

    def move_over(self, source: str, target: str) -> None:
        """Put one file in the place of another."""
        ...

    def link(self, source: str, target: str) -> None:
        """Give a file a second name that must not exist yet."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file."""
        ...

    def remove_empty(self, name: str) -> None:
        """Remove a directory that holds nothing."""
        ...

    def sync(self) -> None:
        """Make names durable where the system allows it."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def open_root(root: Path) -> Place:
    """Open a folder of which no part is a link. Raises OSError."""
    if not HAS_DESCRIPTORS:
        return PathPlace(root)
    held = os.open(root.anchor, _PASS)
    for at, name in enumerate(root.parts[1:], 2):
        flags = _DIRECTORY | os.O_RDONLY if at == len(root.parts) else _PASS
        try:
            following = os.open(name, flags, dir_fd=held)
        finally:
            os.close(held)
        held = following
    return DescriptorPlace(held)


def is_link(found: os.stat_result) -> bool:
    """Whether an entry stands for another one: a symbolic link, or a junction of Windows."""
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_reparse_tag", 0) & _SURROGATE)


class DescriptorPlace:
    """A directory held as a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._held: Final = descriptor

    def child(self, name: str) -> Place:
        return DescriptorPlace(os.open(name, _DIRECTORY | os.O_RDONLY, dir_fd=self._held))

    def stat(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._held, follow_symlinks=False)

    def entries(self) -> Iterator[tuple[str, os.stat_result]]:
        with os.scandir(self._held) as found:
            for entry in found:
                try:
                    yield entry.name, entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    # It went away meanwhile.
                    continue

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        return os.open(name, flags, mode, dir_fd=self._held)

    def may_write(self, name: str) -> bool:
        return os.access(name, os.W_OK, dir_fd=self._held)

    def make(self, name: str) -> None:
        os.mkdir(name, dir_fd=self._held)

    def move_over(self, source: str, target: str) -> None:
        os.replace(source, target, src_dir_fd=self._held, dst_dir_fd=self._held)

    def link(self, source: str, target: str) -> None:
        os.link(source, target, src_dir_fd=self._held, dst_dir_fd=self._held, follow_symlinks=False)

    def remove(self, name: str) -> None:
        os.unlink(name, dir_fd=self._held)

    def remove_empty(self, name: str) -> None:
        os.rmdir(name, dir_fd=self._held)

    def sync(self) -> None:
        os.fsync(self._held)

    def close(self) -> None:
        os.close(self._held)


class PathPlace:
    """A directory known by its path, and looked at again before each step."""

    def __init__(self, path: Path) -> None:
        self._path: Final = path
        self._known = _identity(path)

    def child(self, name: str) -> Place:
        return PathPlace(self._below(name))

    def stat(self, name: str) -> os.stat_result:
        return self._below(name).lstat()

    def entries(self) -> Iterator[tuple[str, os.stat_result]]:
        for path in self._checked().iterdir():
            try:
                yield path.name, path.lstat()
            except FileNotFoundError:
                continue

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        path = self._below(name)
        descriptor = os.open(path, flags, mode)
        try:
            self._checked()
            if is_link(path.lstat()) or not os.path.samestat(path.lstat(), os.fstat(descriptor)):
                raise NotADirectoryError(errno.ENOTDIR, f"{name} was swapped while it was opened")
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def may_write(self, name: str) -> bool:
        return os.access(self._below(name), os.W_OK)

    def make(self, name: str) -> None:
        self._below(name).mkdir()

    def move_over(self, source: str, target: str) -> None:
        replace(self._below(source), self._path / target)

    def link(self, source: str, target: str) -> None:
        os.link(self._below(source), self._path / target)

    def remove(self, name: str) -> None:
        self._below(name).unlink()

    def remove_empty(self, name: str) -> None:
        self._below(name).rmdir()

    def sync(self) -> None:
        """Windows has nothing for it."""

    def close(self) -> None:
        """Nothing is held."""

    def _below(self, name: str) -> Path:
        return self._checked() / name

    def _checked(self) -> Path:
        if _identity(self._path) != self._known:
            raise NotADirectoryError(errno.ENOTDIR, f"{self._path} was swapped")
        return self._path


def _identity(path: Path) -> tuple[int, int]:
    found = path.lstat()
    real = os.path.normcase(os.path.realpath(path))
    if is_link(found) or not stat.S_ISDIR(found.st_mode) or real != os.path.normcase(path):
        raise NotADirectoryError(errno.ENOTDIR, f"{path} is no plain folder")
    return found.st_dev, found.st_ino
