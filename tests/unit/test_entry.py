"""The command line, from outside: what a person or a desktop sees."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from app import VERSION
from app.__main__ import _data_dir, _parser
from app.display import NO_DISPLAY, has_display

NOTHING_SET = {
    name: value
    for name, value in os.environ.items()
    if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "MUNTIN_DATA_DIR")
}


def run(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=NOTHING_SET | (env or {}),
    )


def test_the_version_needs_no_display() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"Muntin {VERSION}\n", "")


@pytest.mark.parametrize("env", [{}, {"DISPLAY": ""}, {"DISPLAY": ":54321"}, {"WAYLAND_DISPLAY": "gone"}])
def test_without_a_display_one_sentence_helps(env: dict[str, str]) -> None:
    done = run(env=env)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", NO_DISPLAY + "\n")


def test_a_display_is_one_that_answers(tmp_path: Path) -> None:
    assert has_display({"QT_QPA_PLATFORM": "offscreen"})
    assert not has_display({"DISPLAY": ":54321"})
    assert has_display({"DISPLAY": "elsewhere:0"})
    assert not has_display({"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": str(tmp_path)})
    (tmp_path / "wayland-0").touch()
    assert has_display({"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": str(tmp_path)})


@pytest.mark.parametrize("speed", ["-1", "fast", "nan", "inf", ""])
def test_a_speed_that_is_none_is_refused(speed: str) -> None:
    done = run(f"--practice-speed={speed}")
    assert done.returncode == 2
    assert "--practice-speed" in done.stderr
    assert "Traceback" not in done.stderr


def test_speed_zero_is_all_at_once() -> None:
    assert _parser().parse_args(["--practice-speed", "0"]).practice_speed == float("inf")


def test_the_data_folder_is_the_one_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MUNTIN_DATA_DIR", str(tmp_path / "env"))
    assert _data_dir(tmp_path / "asked") == tmp_path / "asked"
    assert _data_dir(None) == tmp_path / "env"
    monkeypatch.delenv("MUNTIN_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert _data_dir(None) == tmp_path / "Muntin"


def test_offline_refuses_every_other_computer_and_nothing_else() -> None:
    """In a process of its own: it can't be undone."""
    script = """
import socket
from app.offline import OfflineError, refuse_network
refuse_network()
for attempt in (
    lambda: socket.create_connection(("192.0.2.1", 80), 1),
    lambda: socket.getaddrinfo("example.org", 80),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b"x"], [], 0, ("192.0.2.1", 53)),
    lambda: socket.gethostbyname("example.org"),
    lambda: socket.gethostbyname_ex("example.org"),
    lambda: socket.gethostbyaddr("192.0.2.1"),
    lambda: socket.getnameinfo(("192.0.2.1", 80), 0),
    lambda: socket.create_connection(("::ffff:192.0.2.1", 80), 1),
):
    try:
        attempt()
    except OfflineError:
        continue
    raise SystemExit("connected")
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname(), 5).close()
socket.gethostbyname("localhost")
print("local works")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "local works\n", done.stderr


def test_the_tests_themselves_reach_no_other_computer() -> None:
    with pytest.raises(Warning, match=r"192\.0\.2\.1"), socket.socket() as connection:
        connection.connect(("192.0.2.1", 80))
