"""The log: `logs/muntin.log` of the data folder. It never holds content of chats, nor keys.

Messages of exceptions are left out, because they may quote what a person wrote; where they were
raised is kept. Other libraries are heard from WARNING on, as some would log whole requests, and only
where they said something: asyncio puts exceptions and arguments of calls into its messages.
"""

import contextlib
import errno
import logging
import logging.handlers
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, TextIO

MAX_LOG_BYTES: Final = 1_000_000
KEPT_LOGS: Final = 3
OURS: Final = "app"
"""Logger of everything of Muntin's."""

_LOOKS_LIKE_A_KEY: Final = re.compile(
    r"\b(?:sk|gsk|xai|hf|nvapi|csk|tgp|pplx)[-_][A-Za-z0-9][A-Za-z0-9_.*-]{6,}"
    r"|\b(?:pk|rk|key|fw)[-_](?=[A-Za-z0-9_.*-]*[\d*])[A-Za-z0-9][A-Za-z0-9_.*-]{6,}"
    r"|\bAIza[A-Za-z0-9_-]{10,}"
    r"|(?<=Bearer )[^\s,;\"']{6,}",
    re.IGNORECASE,
)
"""By the vendors' prefixes; after those that are words too only with a digit or an asterisk in it."""
_SHORTEST_KEY: Final = 4
_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"

KnownKeys = Callable[[], Iterable[str]]
"""Gives every key that is in memory."""


def log_folder(data_dir: Path) -> Path:
    """Return where logs and reports of crashes lie."""
    return data_dir / "logs"


def log_file(data_dir: Path) -> Path:
    """Return the newest log."""
    return log_folder(data_dir) / "muntin.log"


class SafeFormatter(logging.Formatter):
    """Leaves out messages of exceptions and of other libraries, and blackens keys."""

    def __init__(self, *, shows_messages: bool = False) -> None:
        super().__init__(_FORMAT)
        self.known_keys: KnownKeys = tuple
        self._shows_messages = shows_messages

    def format(self, record: logging.LogRecord) -> str:
        # Another handler may have kept its own form of the exception in the record.
        record.exc_text = None
        return hide_keys(super().format(record), self.known_keys())

    def formatMessage(self, record: logging.LogRecord) -> str:
        if not self._shows_messages and not _is_ours(record):
            record.message = f"something at {record.pathname}:{record.lineno} in {record.funcName}"
        return super().formatMessage(record)

    def formatException(self, ei: object) -> str:
        if self._shows_messages:
            return super().formatException(ei)  # type: ignore[arg-type]
        error = ei[1] if isinstance(ei, tuple) else None
        return "\n".join(places_of(error)) if isinstance(error, BaseException) else ""


def places_of(error: BaseException) -> list[str]:
    """Return where `error` and what led to it were raised, the cause first: types and places, no messages."""
    lines: list[str] = []
    chain: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and not any(each is known for known in chain):
        chain.append(each)
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    for link in reversed(chain):
        lines += [
            f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in traceback.extract_tb(link.__traceback__)
        ]
        number = f" [{errno.errorcode.get(link.errno or 0, link.errno)}]" if isinstance(link, OSError) else ""
        lines.append(f"{type(link).__module__}.{type(link).__qualname__}{number}")
    return lines


def hide_keys(text: str, keys: Iterable[str]) -> str:
    """Return `text` with `keys`, and what looks like one, blackened."""
    for key in sorted((key for key in keys if len(key) >= _SHORTEST_KEY), key=len, reverse=True):
        text = text.replace(key, "[key]")
    return _LOOKS_LIKE_A_KEY.sub("[key]", text)


class Log:
    """The handlers of this process. A folder that can't be written to costs the file, nothing else."""

    def __init__(self, data_dir: Path, *, stream: TextIO | None = None) -> None:
        terminal = logging.StreamHandler(stream or sys.stderr)
        terminal.setLevel(logging.WARNING)
        # Whoever started it in a terminal sees what they wrote themselves; a desktop would keep it in a file.
        terminal.setFormatter(SafeFormatter(shows_messages=terminal.stream.isatty()))
        self._handlers: list[logging.Handler] = [terminal]
        with contextlib.suppress(OSError):
            log_folder(data_dir).mkdir(mode=0o700, parents=True, exist_ok=True)
            self._handlers.append(_RotatingFile(log_file(data_dir)))
            self._handlers[-1].setFormatter(SafeFormatter())
        for handler in self._handlers:
            handler.addFilter(_is_ours_or_a_warning)
            logging.getLogger().addHandler(handler)
        set_detailed(on=False)

    def hide(self, known_keys: KnownKeys) -> None:
        """Blacken these keys wherever they turn up."""
        for handler in self._handlers:
            if isinstance(handler.formatter, SafeFormatter):
                handler.formatter.known_keys = known_keys

    def close(self) -> None:
        """Take the handlers out again."""
        for handler in self._handlers:
            logging.getLogger().removeHandler(handler)
            handler.close()


def set_detailed(*, on: bool) -> None:
    """Log requests too: address, status, sizes and times."""
    logging.getLogger(OURS).setLevel(logging.DEBUG if on else logging.INFO)


class _RotatingFile(logging.handlers.RotatingFileHandler):
    """Readable by this account only; a disk that refuses a line costs that line."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path, maxBytes=MAX_LOG_BYTES, backupCount=KEPT_LOGS, encoding="utf-8", errors="replace", delay=True
        )

    def _open(self) -> TextIO:  # type: ignore[override]
        def private(path: str, flags: int) -> int:
            return os.open(path, flags, 0o600)

        return open(self.baseFilename, "a", encoding="utf-8", errors="replace", opener=private)

    def handleError(self, record: logging.LogRecord) -> None:
        """Say nothing: there is nowhere left to say it."""


def _is_ours_or_a_warning(record: logging.LogRecord) -> bool:
    return _is_ours(record) or record.levelno >= logging.WARNING


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name.partition(".")[0] == OURS
