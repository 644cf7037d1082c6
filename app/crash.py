"""What happens when the program itself fails: a report on disk, and somebody is told.

A report holds types and places, versions and the time; never content of chats, nor keys.
"""

import contextlib
import faulthandler
import logging
import os
import platform
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, TextIO

from app import APP_NAME, VERSION
from app.logs import log_folder, places_of

log = logging.getLogger(__name__)

MOST_REPORTS: Final = 20
"""Older ones are removed; a fault that repeats itself must not fill the disk."""
FAULTS: Final = "faults.txt"
"""Where Python writes its last words when the process dies in native code."""

Told = Callable[[Path | None], None]


class CrashReporter:
    """Writes a report of every error nobody expected. One for each place and start."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = log_folder(data_dir)
        self._seen: set[str] = set()
        self._lock = threading.Lock()
        self._faults: TextIO | None = None
        self._before = (sys.excepthook, threading.excepthook)
        self.told: Told = lambda _report: None
        """Called, on whatever thread, with each report; None if it could not be written."""

    def install(self) -> None:
        """Hear of every error that nothing catches, on any thread, and of faults in native code."""
        self._before = (sys.excepthook, threading.excepthook)
        sys.excepthook = self._caught
        threading.excepthook = self._caught_on_thread
        with contextlib.suppress(OSError, RuntimeError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._folder / FAULTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._faults = open(descriptor, "a", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
            faulthandler.enable(self._faults)

    def uninstall(self) -> None:
        """Hear of nothing any more."""
        sys.excepthook, threading.excepthook = self._before
        if self._faults is not None:
            faulthandler.disable()
            self._faults.close()
            self._faults = None

    def last_fault(self) -> Path | None:
        """Return the report of a fault that ended an earlier start, None if there was none. Tells it once.

        Call before `install`.
        """
        faults = self._folder / FAULTS
        with contextlib.suppress(OSError):
            if faults.stat().st_size:
                kept = self._path()
                faults.replace(kept)
                return kept
        return None

    def note(self, error: BaseException, *, where: str) -> Path | None:
        """Log `error` and write a report; return it, None if this place was told already or the disk refuses."""
        log.error("%s failed", where, exc_info=error)
        places = "\n".join(places_of(error))
        with self._lock:
            if places in self._seen:
                return None
            self._seen.add(places)
            report = self._write(where, places)
        self.told(report)
        return report

    def _write(self, where: str, places: str) -> Path | None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        text = (
            f"{APP_NAME} {VERSION} on {platform.platform()}, Python {platform.python_version()}\n"
            f"{now}: {where} failed\n\n{places}\n"
        )
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._thin_out()
            path = self._path()
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError:
            return None
        return path

    def _path(self) -> Path:
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        for number in range(1000):
            path = self._folder / (f"crash-{stamp}-{number}.txt" if number else f"crash-{stamp}.txt")
            if not path.exists():
                return path
        return self._folder / f"crash-{stamp}-{os.getpid()}.txt"

    def _thin_out(self) -> None:
        reports = sorted(self._folder.glob("crash-*.txt"))
        for old in reports[: max(0, len(reports) - MOST_REPORTS + 1)]:
            old.unlink(missing_ok=True)

    def _caught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self.note(error, where="something")

    def _caught_on_thread(self, caught: threading.ExceptHookArgs) -> None:
        if caught.exc_value is not None and not issubclass(caught.exc_type, SystemExit):
            self.note(caught.exc_value, where=f"thread {caught.thread.name if caught.thread else '?'}")
