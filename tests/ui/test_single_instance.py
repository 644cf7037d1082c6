import os
import signal
import subprocess
import sys
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.ui.single_instance import InstanceServer, ask_running_instance


def test_a_second_start_raises_the_first_window(qtbot: QtBot, tmp_path: Path) -> None:
    """The second is a process of its own, started with the same folder by another name."""
    server = InstanceServer(tmp_path)
    raised: list[bool] = []
    server.raise_requested.connect(lambda: raised.append(True))
    (tmp_path.parent / "link").symlink_to(tmp_path)
    second = subprocess.Popen(
        [sys.executable, "-m", "app", "--data-dir", str(tmp_path.parent / "link")],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
    )
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=30_000)
    out, _ = second.communicate()
    assert second.returncode == 0
    assert "running already" in out
    qtbot.waitUntil(lambda: raised == [True])
    server.close()


def test_nobody_is_asked_where_nobody_runs(qtbot: QtBot, tmp_path: Path) -> None:
    assert not ask_running_instance(tmp_path)


def test_what_a_killed_process_left_is_no_running_instance(qtbot: QtBot, tmp_path: Path) -> None:
    script = f"""
import os, signal
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.ui.single_instance import InstanceServer
app = QCoreApplication([])
server = InstanceServer(Path({str(tmp_path)!r}))
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert not ask_running_instance(tmp_path)
    server = InstanceServer(tmp_path)
    raised: list[bool] = []
    server.raise_requested.connect(lambda: raised.append(True))
    assert ask_running_instance(tmp_path)
    qtbot.waitUntil(lambda: raised == [True])
    server.close()
