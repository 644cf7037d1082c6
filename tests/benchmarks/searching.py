"""Listing and searching histories of 10 MB, 100 MB and 1 GB, against `rg` and against parsing every line."""

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Final

from app.history.library import Library
from tests.benchmarks.children import run
from tests.benchmarks.histories import make_history
from tests.benchmarks.report import Figure

SIZES: Final = {"10 MB": 10_000_000, "100 MB": 100_000_000, "1 GB": 1_000_000_000}
WINDOWS: Final = 40
NEVER_SAID: Final = "Zanzibar quicksilver"
NEVER_SAID_ELSEWHERE: Final = "Жемчужина Ångström"
"""Not in ASCII, with letters that need a search in more than one form."""
SAID_ONCE: Final = "the heron stands on the ninth pier"
SAID_OFTEN: Final = "draußen"
MOST_TIMES_RG: Final = 6


def measure_searching(runs: int) -> list[Figure]:
    """Each size so often; the limits hold for 1 GB."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(dir=Path("/var/tmp") if Path("/var/tmp").is_dir() else None) as folder:
        for name, size in SIZES.items():
            root = Path(folder) / name.replace(" ", "-")
            session = make_history(root, name, size, windows=WINDOWS, planted=SAID_ONCE)
            queries = (NEVER_SAID, NEVER_SAID_ELSEWHERE, SAID_ONCE, SAID_OFTEN)
            found = [run("tests.benchmarks.scanning", str(root), session, *queries)[0] for _ in range(runs)]
            paths = [Library(root).files(session).archive, Library(root).files(session).chat]
            figures += _figures(name, found, paths, runs)
            if name == "1 GB":
                (browsed,) = run("tests.benchmarks.browsing", str(root), session, SAID_ONCE, NEVER_SAID)
                figures += _window_figures(browsed)
            shutil.rmtree(root)
    return figures


def _figures(name: str, found: list[dict[str, Any]], paths: list[Path], runs: int) -> list[Figure]:
    is_largest = name == "1 GB"
    rg = {query: _median_of(lambda q=query: _rg(q, paths), runs) for query in (NEVER_SAID, NEVER_SAID_ELSEWHERE)}
    parsing = _parse(paths)
    searches = {query: [each["searches"][query] for each in found] for query in found[0]["searches"]}
    never = _middle(searches[NEVER_SAID], "seconds")
    elsewhere = _middle(searches[NEVER_SAID_ELSEWHERE], "seconds")
    once, often = searches[SAID_ONCE], searches[SAID_OFTEN]
    figures = [
        Figure(
            f"search-{name}",
            f"Search {name} for what was never said",
            never,
            _times_rg(rg[NEVER_SAID], is_largest),
            "s",
            rg[NEVER_SAID],
            f"floor: rg -j1 -i -F; parsing every line takes {parsing:.2f} s",
        ),
        Figure(
            f"search-wide-{name}",
            f"The same, not in ASCII ({NEVER_SAID_ELSEWHERE})",
            elsewhere,
            None,
            "s",
            rg[NEVER_SAID_ELSEWHERE],
        ),
        Figure(
            f"index-{name}",
            f"Find the windows of {name} anew",
            _middle(found, "rebuild"),
            _times_rg(rg[NEVER_SAID], is_largest),
            "s",
            rg[NEVER_SAID],
            f"with a valid index {_middle(found, 'list') * 1000:.1f} ms, "
            f"{found[0]['listed']['bytes_read']} bytes of history read for it",
        ),
    ]
    if is_largest:
        figures += [
            Figure(
                "first-hit",
                "First hits in 1 GB, said in the newest 50 MB",
                _middle(often, "first_hit") * 1000,
                100,
                "ms",
                None,
            ),
            Figure(
                "first-progress",
                "First progress in 1 GB, said only in the oldest message",
                _middle(once, "first_page") * 1000,
                100,
                "ms",
                None,
                f"found after {_middle(once, 'first_hit'):.2f} s",
            ),
            Figure(
                "open-window",
                "Open the middle one of 40 windows of 1 GB",
                _middle(found, "open") * 1000,
                100,
                "ms",
                None,
                f"{found[0]['opened']['items']} items shown, {found[0]['opened']['bytes_read'] / 1e6:.2f} MB read",
            ),
            Figure(
                "search-memory",
                "Memory that searching 1 GB adds",
                max(each["memory_bytes"] for each in found) / 1e6,
                32,
                "MB",
                None,
            ),
        ]
    return figures


def _window_figures(found: dict[str, Any]) -> list[Figure]:
    gaps = found["search_gaps_ms"]
    return [
        Figure(
            "gap-searching",
            "Longest gap of the GUI loop while the panel searches 1 GB",
            max(gaps),
            50,
            "ms",
            None,
            f"while it lists the windows {max(found['listing_gaps_ms']):.1f} ms; "
            f"searched in {found['searched']:.2f} s, listed after {found['listed']:.2f} s",
        ),
        Figure(
            "jump",
            "From the panel to the oldest message of 1 GB in the transcript",
            found["jumped"] * 1000,
            None,
            "ms",
            None,
            f"longest gap {max(found['jump_gaps_ms']):.1f} ms",
        ),
    ]


def _times_rg(seconds: float | None, is_largest: bool) -> float | None:
    return MOST_TIMES_RG * seconds if is_largest and seconds is not None else None


def _middle(found: list[dict[str, Any]], name: str) -> float:
    return float(median(each[name] for each in found))


def _median_of(work: Any, runs: int) -> float | None:
    times = [work() for _ in range(runs)]
    return None if None in times else float(median(times))


def _rg(query: str, paths: list[Path]) -> float | None:
    """Search with ripgrep on one thread; None where there is no ripgrep."""
    program = shutil.which("rg")
    if program is None:
        return None
    began = time.perf_counter()
    command = [program, "-j1", "-i", "-F", "-c", "--no-config", query, *map(str, paths)]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def _parse(paths: list[Path]) -> float:
    began = time.perf_counter()
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
    return time.perf_counter() - began
