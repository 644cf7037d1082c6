"""Everything that is measured but memory: starts the children, reads what they print."""

import json
import os
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from app.domain.rows import Row, TextPart
from app.history.library import Library
from app.history.sidecars import SessionMeta, write_sidecar
from app.history.store import Store
from tests.benchmarks.children import run, start
from tests.benchmarks.histories import MODEL, make_chat, make_history
from tests.benchmarks.report import Figure
from tests.benchmarks.working import make_folder

GIGABYTE = 1_000_000_000
MESSAGES = 5_000


def measure_start(runs: int) -> list[Figure]:
    """Process start to first paint, the program and a bare window by turns."""
    ours: list[dict[str, float]] = []
    bare: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        # One more than counted: the first one warms the disk.
        for _ in range(runs + 1):
            bare.append(_run_timed("tests.benchmarks.bare", "paint")["painted"])
            ours.append(_run_timed("tests.benchmarks.first_paint", folder))
    steps = {name: median(times[name] for times in ours[1:]) for name in ours[0]}
    detail = (
        f"interpreter {_ms(steps['began'])}, imports {_ms(steps['imported'] - steps['began'])}, "
        f"window {_ms(steps['built'] - steps['imported'])}, show and paint {_ms(steps['painted'] - steps['built'])}"
    )
    return [
        Figure("start", "Process start to first paint", steps["painted"], 0.45, "s", median(bare[1:]), detail),
    ]


def measure_opening(runs: int) -> list[Figure]:
    """Opening long chats at their end, through the real window."""
    with tempfile.TemporaryDirectory(dir=_roomy()) as folder:
        root = Path(folder)
        chats = {
            "long": make_chat(root, "5,000 messages", MESSAGES),
            "archive": make_chat(root, "1 GB in the archive", MESSAGES, archive_bytes=GIGABYTE),
            "active": make_chat(root, "1 GB in the active file", MESSAGES, active_bytes=GIGABYTE),
        }
        empty = Library(root).create(model=MODEL, now=datetime.now(UTC)).id
        page = [_time_page(root, chats["long"]) for _ in range(runs)]
        (found,) = run("tests.benchmarks.opening", folder, str(runs), empty, *chats.values())
    floor = median(page)
    names = {
        "long": "Open a chat of 5,000 messages at its end",
        "archive": "The same with 1 GB of older messages in the archive",
        "active": "The same with 1 GB of older messages in the active file",
    }
    return [
        Figure(f"open-{key}", name, median(found[chats[key]]), 0.2, "s", floor, f"worst {_ms(max(found[chats[key]]))}")
        for key, name in names.items()
    ]


def measure_streaming(seconds: float) -> list[Figure]:
    """Three chats that stream, in the real window; and quitting in the middle of it."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shown = make_chat(root, "Shown", MESSAGES)
        others = [make_chat(root, f"Other {number}", 20) for number in (1, 2)]
        process = start("tests.benchmarks.busy", folder, str(seconds), shown, *others)
        output, _ = process.communicate()
        ended = time.monotonic()
        found = json.loads(output)
        kept = [_last_line(Library(root).files(chat).chat) for chat in (shown, *others)]
    (bare,) = run("tests.benchmarks.bare", "loop")
    figures = []
    words = min(len(line["parts"][0]["text"].split()) for line in kept)
    rate = f"{words / found['streamed_seconds']:.0f} deltas a second came from the slowest of the three"
    for key, name in (("following", "the reader at the end"), ("scrolling", "the reader scrolling")):
        gaps = found[f"{key}_ms"]
        floor = bare["gaps_ms"]
        figures += [
            Figure(f"gap-{key}", f"Longest gap of the GUI loop, {name}", max(gaps), 40, "ms", max(floor), rate),
            Figure(f"p99-{key}", f"99th percentile of the gaps, {name}", _p99(gaps), 16, "ms", _p99(floor)),
        ]
    keys, bare_keys = found["keys_ms"], bare["keys_ms"]
    detail = f"longest of {len(keys)}; median {median(keys):.1f} ms, 99th percentile {_p99(keys):.1f} ms"
    whole = all(line.get("flags") == ["interrupted"] and line["parts"] for line in kept)
    return [
        *figures,
        Figure("key", "Key press to glyph meanwhile", max(keys), 30, "ms", max(bare_keys), detail),
        Figure("gap-starting", "Longest gap while three turns begin", max(found["starting_ms"]), None, "ms", None),
        Figure(
            "quit",
            "Quitting in mid-stream until the process has ended",
            ended - found["closing"],
            3.0,
            "s",
            None,
            "the three replies are on disk" if whole else "A REPLY IS MISSING",
        ),
    ]


def measure_tools(seconds: float) -> list[Figure]:
    """Ten chats that work in one folder at once, in the real window; to be read beside the three that only stream."""
    with tempfile.TemporaryDirectory(dir=_roomy()) as folder, tempfile.TemporaryDirectory(dir=_roomy()) as texts:
        root = Path(folder)
        shown = make_history(root, "Shown", 3_000_000, windows=10)
        chats = [shown, *(make_chat(root, f"Other {number}", 20) for number in range(9))]
        make_folder(Path(texts), chats)
        for chat in chats:
            files = Library(root).files(chat)
            write_sidecar(files.meta, SessionMeta(title=chat, model=MODEL, folder=str(Path(texts).resolve())))
        (found,) = run("tests.benchmarks.working", folder, str(seconds), *chats)
    (bare,) = run("tests.benchmarks.bare", "loop")
    done = found["done"]
    per_second = sum(number for what, number in done.items() if what.startswith("calls")) / found["seconds"]
    rate = f"{per_second:.0f} calls a second, {done.get('turns', 0)} turns; {done.get('calls failed', 0)} calls failed"
    figures = []
    for key, name in (("following", "the reader at the end"), ("scrolling", "the reader scrolling")):
        gaps, floor = found[f"{key}_ms"], bare["gaps_ms"]
        figures += [
            Figure(
                f"tools-gap-{key}", f"Ten chats run tools: longest gap, {name}", max(gaps), 40, "ms", max(floor), rate
            ),
            Figure(f"tools-p99-{key}", f"The same, 99th percentile, {name}", _p99(gaps), 16, "ms", _p99(floor)),
        ]
    keys, bare_keys = found["keys_ms"], bare["keys_ms"]
    detail = f"longest of {len(keys)}; median {median(keys):.1f} ms, 99th percentile {_p99(keys):.1f} ms"
    return [
        *figures,
        Figure("tools-key", "The same, key press to glyph", max(keys), 30, "ms", max(bare_keys), detail),
        Figure(
            "tools-memory",
            "The same, memory in the end",
            found["rss"] / 1e6,
            None,
            "MB",
            None,
            "RSS; counting tokens takes 80 MB of it",
        ),
    ]


def measure_append(runs: int) -> list[Figure]:
    """Adding one row to a chat of 5,000, against writing and fsyncing the same bytes."""
    with tempfile.TemporaryDirectory(dir=_roomy()) as folder:
        root = Path(folder)
        ours = _time_appends(root, make_chat(root, "Long", MESSAGES), runs)
        huge = _time_appends(root, make_chat(root, "Huge", MESSAGES, active_bytes=GIGABYTE // 10), 1)
        bare = []
        descriptor = os.open(root / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for _ in range(runs):
            began = time.perf_counter()
            os.write(descriptor, b"x" * 1_200)
            os.fsync(descriptor)
            bare.append(time.perf_counter() - began)
        os.close(descriptor)
    floor = median(bare) * 1000
    detail = f"99th percentile {_p99(ours[1:]) * 1000:.1f} ms; the first one after opening {_ms(ours[0])}"
    return [
        Figure("append", "Append of a row to a chat of 5,000 messages", median(ours) * 1000, None, "ms", floor, detail),
        Figure("append-huge", "First append to a chat with 100 MB in the active file", huge[0], None, "s", None),
    ]


def _time_appends(root: Path, session: str, runs: int) -> list[float]:
    store = Store(Library(root).files(session), session=session)
    last_seq = store.repair()
    taken = []
    for number in range(runs):
        row = Row(id=f"new{number}", session=session, role="user", parts=(TextPart(text="word " * 200),))
        began = time.perf_counter()
        last_seq = store.append([row], expected_last_seq=last_seq)[-1].seq or 0
        taken.append(time.perf_counter() - began)
    return taken


def _time_page(root: Path, session: str) -> float:
    """Read and parse the last page: what any program would have to do."""
    path = Library(root).files(session).chat
    began = time.perf_counter()
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2 * 2**20))
        for line in file.read().splitlines()[-500:]:
            json.loads(line)
    return time.perf_counter() - began


def _run_timed(module: str, *arguments: str) -> dict[str, float]:
    """Run a child; return the times it printed, counted from before its start."""
    began = time.monotonic()
    (found,) = run(module, *arguments)
    return {name: at - began for name, at in found.items()}


def _last_line(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes().splitlines()[-1])
    return found


def _roomy() -> Path | None:
    """Return a folder on a real disk, where temporary files may lie in memory."""
    return Path("/var/tmp") if Path("/var/tmp").is_dir() else None


def _p99(values: Sequence[float]) -> float:
    return quantiles(values, n=100)[98] if len(values) > 1 else values[0]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
