"""Keys in a real Secret Service on a session bus of the test's own, each step in a process of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

KEY = "sk-first-0123456789"
OTHER = "sk-second-9876543210"
TOOLS = ("dbus-run-session", "gnome-keyring-daemon")
"""In the Debian packages dbus and gnome-keyring."""

UNLOCK_AND_WAIT = """
printf word-for-the-test | gnome-keyring-daemon --unlock --components=secrets >/dev/null
printf '%s\\n' "$DBUS_SESSION_BUS_ADDRESS"
exec cat
"""
WAIT = """
printf '%s\\n' "$DBUS_SESSION_BUS_ADDRESS"
exec cat
"""

needs_secret_service = pytest.mark.skipif(
    not all(map(shutil.which, TOOLS)),
    reason=f"there is no Secret Service to start here: it takes {' and '.join(TOOLS)}",
)


class Desktop:
    """A person's session, with a home of its own and, if there is an `address`, a session bus."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.data = root / "data"
        self.runtime = root / "run"
        for folder in (self.home, self.data, self.runtime):
            folder.mkdir(mode=0o700)
        self.address = ""

    def environ(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
        own = {"HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.runtime)}
        return kept | own | ({"DBUS_SESSION_BUS_ADDRESS": self.address} if self.address else {})

    def use(self, *steps: str, keys: tuple[str, ...] = ()) -> dict[str, str | None]:
        """Let a new process take `steps` and return what it says."""
        ended = subprocess.run(
            [sys.executable, "-m", "tests.e2e.key_user", str(self.data), *steps],
            input="".join(f"{key}\n" for key in keys),
            capture_output=True,
            text=True,
            env=self.environ(),
            timeout=40,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert ended.stderr == ""
        return cast("dict[str, str | None]", json.loads(ended.stdout))

    def files_with(self, text: str) -> list[Path]:
        """Every file of the home and the data folder that holds `text`."""
        files = [path for folder in (self.home, self.data) for path in folder.rglob("*") if path.is_file()]
        return [path for path in files if text.encode() in path.read_bytes()]


@pytest.fixture
def bare(tmp_path: Path) -> Desktop:
    """A session without a bus."""
    return Desktop(tmp_path)


def _with_bus(desktop: Desktop, script: str) -> Iterator[Desktop]:
    bus = subprocess.Popen(
        ["dbus-run-session", "--", "sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # The bus tells of every prompt that can't be shown.
        stderr=subprocess.DEVNULL,
        text=True,
        env=desktop.environ(),
    )
    assert bus.stdin is not None
    assert bus.stdout is not None
    try:
        desktop.address = bus.stdout.readline().strip()
        assert desktop.address
        yield desktop
    finally:
        # `cat` ends, the bus with it, and the key store with the bus.
        bus.stdin.close()
        bus.wait(20)
        bus.stdout.close()


@pytest.fixture
def unlocked(bare: Desktop) -> Iterator[Desktop]:
    """A session whose key store is open."""
    yield from _with_bus(bare, UNLOCK_AND_WAIT)


@pytest.fixture
def locked(bare: Desktop) -> Iterator[Desktop]:
    """A session whose key store would have to ask for a password, and has no screen to ask on."""
    yield from _with_bus(bare, WAIT)


@needs_secret_service
def test_a_key_is_saved_used_replaced_and_deleted(unlocked: Desktop) -> None:
    first = unlocked.use()
    assert first == {"place": "none", "store": "Secret Service", "problem": "", "key": None, "errors": ""}

    saved = unlocked.use("save", keys=(KEY,))
    assert saved == first | {"place": "store", "key": KEY}
    assert unlocked.use() == saved

    replaced = unlocked.use("save", keys=(OTHER,))
    assert replaced == saved | {"key": OTHER}
    assert unlocked.use() == replaced

    assert unlocked.use("delete") == first
    assert unlocked.use("delete") == first
    assert unlocked.use() == first

    assert list(unlocked.data.iterdir()) == []
    assert unlocked.files_with(KEY) == unlocked.files_with(OTHER) == []


@needs_secret_service
def test_a_locked_store_is_said_and_nothing_is_written(locked: Desktop) -> None:
    locked_words = "Secret Service is locked. Unlock it, then try again."

    said = locked.use("save", "delete", keys=(KEY,))

    assert (said["place"], said["store"], said["key"]) == ("none", "Secret Service", None)
    assert said["problem"] == locked_words
    assert said["errors"] == "\n".join(
        [f"{locked_words} You can keep the key only for this session instead.", locked_words, locked_words]
    )
    assert list(locked.data.iterdir()) == []
    assert locked.files_with(KEY) == []


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the key store of this system is always there")
def test_without_a_bus_the_words_are_right_and_nothing_is_written(bare: Desktop) -> None:
    words = "This system has no key store that Muntin can use."

    said = bare.use("save", "delete", keys=(KEY,))

    assert said == {
        "place": "none",
        "store": "",
        "problem": words,
        "key": None,
        "errors": f"{words} You can keep the key only for this session instead.",
    }
    assert list(bare.data.iterdir()) == []
    assert bare.files_with(KEY) == []
