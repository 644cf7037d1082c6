"""Memory of the real program: as it starts, and once it has loaded the library of a provider."""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from app.settings.schema import Dialect, Endpoint, General, ListedModel, Settings
from tests.benchmarks.children import running
from tests.benchmarks.report import Figure
from tests.benchmarks.talking import REPLY
from tests.fakes.farend import DEFAULT_MODELS, FarEndThread, reply

IDLE_SECONDS = 3.0
DIALECTS: tuple[Dialect, ...] = ("chat", "anthropic")
MODEL = DEFAULT_MODELS[0].id


def measure_memory(runs: int) -> list[Figure]:
    """Three seconds after the start with an empty chat, and after the first reply through either library."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running("tests.benchmarks.bare", "idle") as bare,
        running("app", "--data-dir", folder, "--new-instance", "--offline") as ours,
    ):
        _wait(lambda: list(Path(folder).glob("sessions/*/session.holder.json")))
        time.sleep(IDLE_SECONDS)
        mine, floor = _look(ours.pid), _look(bare.pid)
    openai, anthropic = ([_talk(dialect) for _ in range(runs)] for dialect in DIALECTS)
    return [
        _figure("memory", "Memory, idle, no SDK loaded", [mine], 100, floor),
        _figure("memory-openai", "Memory, OpenAI's library loaded", openai, 170, floor),
        _figure("memory-anthropic", "Memory, Anthropic's library loaded", anthropic, 170, floor),
    ]


def _talk(dialect: Dialect) -> Any:
    """Return what one process takes after one reply from a far end. Raises ChildProcessError if none came."""
    with tempfile.TemporaryDirectory() as folder, FarEndThread() as far:
        _write_settings(Path(folder), dialect, far.url)
        far.play(reply(REPLY))
        with running("tests.benchmarks.talking", folder, f"far/{MODEL}") as ours:
            assert ours.stdout is not None
            if not ours.stdout.readline():
                raise ChildProcessError(f"no reply came in the dialect {dialect}")
            time.sleep(IDLE_SECONDS)
            return _look(ours.pid)


def _write_settings(root: Path, dialect: Dialect, url: str) -> None:
    """Make the far end the only endpoint; new chats get `MODEL`."""
    endpoint = Endpoint(
        id="far",
        name="Far end",
        dialect=dialect,
        base_url=url if dialect == "anthropic" else f"{url}/v1",
        needs_key=False,
        models=(ListedModel(id=MODEL),),
    )
    settings = Settings(general=General(default_model=f"far/{MODEL}"), endpoints=(endpoint,))
    (root / "settings.json").write_text(settings.model_dump_json(), "utf-8")


def _look(pid: int) -> Any:
    return psutil.Process(pid).memory_full_info()


def _figure(key: str, what: str, mine: Sequence[Any], limit: float, floor: Any) -> Figure:
    uss, rss = ([getattr(each, name) / 1e6 for each in mine] for name in ("uss", "rss"))
    detail = f"RSS; USS {median(uss):.0f} MB, of the bare window {floor.uss / 1e6:.0f} MB"
    if len(mine) > 1:
        detail += f"; {min(rss):.0f} to {max(rss):.0f} MB in {len(mine)} runs"
    return Figure(key, what, median(rss), limit, "MB", floor.rss / 1e6, detail)


def _wait(condition: Callable[[], object]) -> None:
    until = time.monotonic() + 30
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(0.02)
