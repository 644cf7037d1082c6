"""The machine the figures are from."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import psutil
from PySide6.QtCore import qVersion


def describe() -> list[str]:
    """Return what a reader needs to judge the figures, a line each."""
    memory = psutil.virtual_memory().total / 2**30
    return [
        f"Date: {datetime.now(UTC):%Y-%m-%d}",
        f"Processor: {_processor()}, {psutil.cpu_count(logical=True)} cores",
        f"Memory: {memory:.0f} GiB",
        f"System: {_system()}, Linux {platform.release()}" if platform.system() == "Linux" else platform.platform(),
        f"Python {platform.python_version()}, Qt {qVersion()}, platform plugin {os.environ.get('QT_QPA_PLATFORM', '')}",
        f"Load when the measuring began: {os.getloadavg()[0]:.1f}",
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"
