"""`muntin doctor`: says what works on this computer and what doesn't. Sends no key and changes nothing."""

import asyncio
import importlib.metadata
import io
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app import APP_NAME, VERSION
from app.aio import SystemClock, TaskSet
from app.display import NO_DISPLAY, has_display
from app.domain.connections import KeyPlace, KeyState, TestReport
from app.domain.errors import KnownError
from app.domain.models import ModelCard
from app.logs import log_file
from app.providers.registry import Registry
from app.session.connections import Connections
from app.settings.key_store import KeyringStore
from app.settings.schema import Endpoint
from app.settings.secrets import Secrets, SecretStore
from app.settings.store import SettingsStore

LIBRARIES: Final = ("PySide6-Essentials", "qasync", "anthropic", "openai", "httpx2", "keyring", "pydantic", "tiktoken")
LITTLE_ROOM_BYTES: Final = 200 * 2**20


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. A fault makes the exit code 1; a note does not."""

    what: str
    text: str
    is_fault: bool = False


def examine(data_dir: Path) -> int:
    """Print all findings as they come; return the exit code: 1 if something needs mending, 0 otherwise."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal or file may know fewer letters than the name of a provider has.
        sys.stdout.reconfigure(errors="replace")

    async def run() -> int:
        faults = 0
        async for finding in findings(data_dir, store=KeyringStore(), environ=os.environ):
            faults += finding.is_fault
            mark = "!!" if finding.is_fault else "  "
            print(f"{mark} {finding.what + ':':<22} {finding.text}", flush=True)  # noqa: T201 - it is a report
        return 1 if faults else 0

    return asyncio.run(run())


async def findings(data_dir: Path, *, store: SecretStore, environ: Mapping[str, str]) -> AsyncIterator[Finding]:
    """Look at everything in turn."""
    for finding in (*_versions(), _display(), *_data_folder(data_dir)):
        yield finding
    async with _connections(data_dir, store, environ) as connections:
        file = connections.leave_broken_settings()
        try:
            settings = await connections.settings()
        except KnownError as error:
            yield Finding("Settings", str(error), is_fault=True)
            return
        yield _settings(file)
        yield _key_store(await asyncio.to_thread(lambda: store.name))
        for endpoint in settings.endpoints:
            models = [card for card in await connections.all_models() if card.provider == endpoint.id]
            report = await connections.reach(endpoint)
            yield _provider(endpoint, report, await connections.key_state(endpoint.id), models)
        for found in await connections.discover():
            yield Finding(found.name, f"runs at {found.base_url} and is not among your providers yet")


@asynccontextmanager
async def _connections(data_dir: Path, store: SecretStore, environ: Mapping[str, str]) -> AsyncIterator[Connections]:
    connections = Connections(
        data_dir,
        registry=Registry(),
        built_in=[],
        secrets=Secrets(store, file=data_dir / "keys.json", environ=environ),
        emit=lambda _event: None,
        clock=SystemClock(),
        tasks=TaskSet(lambda _name, _error: None),
    )
    try:
        yield connections
    finally:
        await connections.close()


def _versions() -> Iterator[Finding]:
    yield Finding(APP_NAME, VERSION)
    yield Finding("System", platform.platform())
    yield Finding("Python", f"{platform.python_version()} ({sys.executable})")
    found = {name: _version_of(name) for name in LIBRARIES}
    yield Finding(
        "Libraries",
        ", ".join(f"{name} {version or 'missing'}" for name, version in found.items()),
        is_fault=None in found.values(),
    )
    try:
        from PySide6.QtCore import qVersion
        from PySide6.QtGui import QGuiApplication  # noqa: F401 - this is what needs the system's libraries
    except ImportError as error:
        yield Finding("Qt", f"can't be loaded: {error}", is_fault=True)
    else:
        yield Finding("Qt", qVersion())


def _version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        # The built program carries the libraries without their papers.
        return "built in" if getattr(sys, "frozen", False) else None


def _display() -> Finding:
    return Finding("Display", "there is one") if has_display() else Finding("Display", NO_DISPLAY, is_fault=True)


def _data_folder(folder: Path) -> Iterator[Finding]:
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if nearest != folder:
        yield Finding("Data folder", f"{folder} (not there yet)")
    else:
        yield Finding("Data folder", str(folder))
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        yield Finding("Writing there", f"does not work: {error.strerror}", is_fault=True)
        return
    free = shutil.disk_usage(nearest).free
    yield Finding("Room there", f"{free / 2**30:,.1f} GB", is_fault=free < LITTLE_ROOM_BYTES)
    if log_file(folder).exists():
        yield Finding("Log", str(log_file(folder)))


def _settings(file: SettingsStore) -> Finding:
    if not file.problems:
        return Finding("Settings", "fine")
    more = f" And {len(file.problems) - 1:,} more." if len(file.problems) > 1 else ""
    text = f"{file.problems[0]}{more} Muntin will put that right and keep a copy of {file.path} as it is"
    return Finding("Settings", text, is_fault=True)


def _key_store(name: str) -> Finding:
    none = "none that Muntin can use; keys can be kept until it closes, or in a file if you choose so"
    return Finding("Key store", name or none)


def _provider(endpoint: Endpoint, report: TestReport, key: KeyState, models: list[ModelCard]) -> Finding:
    failed = next((step for step in report.steps if not step.passed), None)
    if failed is not None:
        # Many people use one provider of several; one that can't be reached is no fault of this computer.
        return Finding(endpoint.name, f"{endpoint.base_url}: {failed.detail}")
    return Finding(
        endpoint.name, f"{endpoint.base_url} can be reached; {_key(endpoint, key)}; {_counted(len(models))} known"
    )


def _counted(models: int) -> str:
    return "1 model" if models == 1 else f"{models} models"


def _key(endpoint: Endpoint, key: KeyState) -> str:
    match key.place:
        case KeyPlace.ENVIRONMENT:
            return f"key from {key.variable}"
        case KeyPlace.STORE:
            return f"key in {key.store_name}"
        case KeyPlace.FILE:
            return "key in a file of the data folder"
        case KeyPlace.SESSION:
            return "key until Muntin closes"
        case KeyPlace.NONE:
            if not endpoint.needs_key:
                return "no key needed"
            return key.problem.rstrip(".") or "no key yet"
