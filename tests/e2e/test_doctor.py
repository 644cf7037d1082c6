"""`muntin doctor` as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import VERSION
from app.settings.schema import Endpoint, Settings
from app.settings.store import SettingsStore
from tests.fakes.farend import FarEndThread

KEY = "quite-a-secret-0123456789-abcdef"


@pytest.fixture
def far() -> Iterator[FarEndThread]:
    with FarEndThread() as made:
        yield made


def examine(data_dir: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    arguments = arguments or ("doctor", "--offline")
    quiet = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "ANTHROPIC", "DBUS"))}
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments, "--data-dir", str(data_dir)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=quiet | {"QT_QPA_PLATFORM": "offscreen"} | env,
    )


def test_it_says_what_works_and_sends_no_key(tmp_path: Path, far: FarEndThread) -> None:
    here = Endpoint(id="here", name="Here", maker="openai", base_url=f"{far.url}/v1", needs_key=True)
    gone = Endpoint(id="gone", name="Gone", base_url="http://127.0.0.1:1/v1", needs_key=False)
    SettingsStore(tmp_path / "settings.json").save(Settings(endpoints=(here, gone)))
    done = examine(tmp_path, OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY)
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line[3:].partition(":")[0]: line for line in done.stdout.splitlines()}
    assert VERSION in lines["Muntin"]
    assert str(tmp_path) in lines["Data folder"]
    assert {"System", "Python", "Libraries", "Qt", "Display", "Room there", "Settings", "Key store"} <= set(lines)
    assert "can be reached" in lines["Here"]
    assert "127.0.0.1:1" in lines["Gone"]
    assert "can be reached" not in lines["Gone"]
    assert KEY not in done.stdout
    assert not any(request.has_key or KEY in str(request.headers) for request in far.requests)


def test_a_fault_is_marked_and_told_by_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "settings.json").mkdir()
    done = examine(tmp_path, QT_QPA_PLATFORM="")
    assert done.returncode == 1
    marked = [line for line in done.stdout.splitlines() if line.startswith("!!")]
    assert any("Settings" in line for line in marked)
    assert "Traceback" not in done.stderr


def test_broken_settings_are_named_and_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"appearance": {"zoom_percent": "wide", "theme": "sepia"}}')
    before = file.read_bytes()
    done = examine(tmp_path)
    assert done.returncode == 1
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("!! Settings")]
    assert "Theme must be one of these" in line
    assert "And 1 more." in line
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]
    assert file.read_bytes() == before


def test_names_of_letters_a_terminal_does_not_know_do_no_harm(tmp_path: Path) -> None:
    here = Endpoint(id="here", name="名前", base_url="http://127.0.0.1:1/v1", needs_key=False)
    SettingsStore(tmp_path / "settings.json").save(Settings(endpoints=(here,)))
    done = examine(tmp_path, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "127.0.0.1:1" in done.stdout


@pytest.mark.parametrize("arguments", [("doctor", "--offline"), ("--offline", "doctor")])
def test_it_leaves_nothing_behind(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = examine(tmp_path / "not there", *arguments)
    assert "not there yet" in done.stdout
    assert not (tmp_path / "not there").exists()
