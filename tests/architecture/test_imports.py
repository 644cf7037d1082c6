"""The layers hold, and what is heavy waits: imports decide how soon the window is there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

HEAVY = (
    "anthropic",
    "keyring",
    "markdown_it",
    "mcp",
    "openai",
    "orjson",
    "pydantic",
    "pygments",
    "pylatexenc",
    "pypdfium2",
    "rapidfuzz",
    "tiktoken",
)

ASK_FOR_THE_VERSION = """
import json, runpy, sys
sys.argv = ["muntin", "--version"]
try:
    runpy.run_module("app", run_name="__main__")
except SystemExit as end:
    assert end.code == 0, end.code
print(json.dumps(sorted(sys.modules)))
"""

IMPORT_BOOTSTRAP = """
import json, sys
import app.bootstrap
print(json.dumps(sorted(sys.modules)))
"""

PAINT_THE_WINDOW = """
import json, os, pathlib, sys
from PySide6.QtWidgets import QApplication
from app.aio import Engine, TaskSet
from app.bootstrap import report
from app.domain.ids import new_id
from app.ui.bridge import Bridge, EventBuffer
from app.ui.main_window import MainWindow

def never():
    raise AssertionError("nothing may be asked of the engine before the first paint")

qt = QApplication(sys.argv[:1])
bridge = Bridge(Engine(report), never, EventBuffer())
window = MainWindow(bridge, TaskSet(report), state_path=pathlib.Path(sys.argv[1]) / "window.json", new_id=new_id)
window.first_painted.connect(qt.quit)
window.show()
qt.exec()
print(json.dumps(sorted(sys.modules)), flush=True)
os._exit(0)
"""


READ_SOURCES = """
import json, linecache
import app.bootstrap
before = set(linecache.cache)
import openai, pydantic.main
print(json.dumps(sorted(set(linecache.cache) - before)))
"""


def test_the_import_contracts_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=50)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_binding_reads_no_sources_and_keeps_none() -> None:
    # Some libraries look at a source of their own; the binding would read hundreds.
    assert len(_imported_by(READ_SOURCES)) < 10


def test_the_version_is_told_without_qt_or_anything_heavy() -> None:
    imported = _imported_by(ASK_FOR_THE_VERSION)
    assert [library for library in ("PySide6", *HEAVY) if library in imported] == []


@pytest.mark.parametrize("script", [IMPORT_BOOTSTRAP, PAINT_THE_WINDOW], ids=["import", "paint"])
def test_nothing_heavy_is_imported_before_the_first_paint(script: str, tmp_path: Path) -> None:
    imported = _imported_by(script, str(tmp_path))
    assert "PySide6" in imported
    assert [library for library in HEAVY if library in imported] == []


def _imported_by(script: str, *arguments: str) -> set[str]:
    """Return the names of all modules a fresh interpreter has after `script`."""
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=50)
    assert done.returncode == 0, done.stdout + done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))
