"""A child process: lists, opens and searches one history as the panel does; prints seconds, bytes and memory."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from app.domain.windows import Filters, View
from app.history.library import Library
from app.history.view import HistoryView

MOST_HITS = 1_000
"""What is said often is not searched to its end."""


def main() -> None:
    root, session, *queries = sys.argv[1:]
    files = Library(Path(root)).files(session)

    def view() -> HistoryView:
        return HistoryView(files, session=session, view=View.PERSON)

    (files.folder / "windows.json").unlink(missing_ok=True)
    found: dict[str, Any] = {"rebuild": _timed(lambda: _list(view()))}
    found["list"] = _timed(lambda: found.update(listed=_list(view())))
    fresh = view()
    windows = _list(fresh)["windows"]
    found["open"] = _timed(lambda: found.update(opened=_open(fresh, windows[len(windows) // 2])))
    memory = psutil.Process()
    before = peak = memory.memory_info().rss
    found["searches"] = {}
    for query in queries:
        began = time.perf_counter()
        page = fresh.search(query)
        first_seconds = time.perf_counter() - began
        first_hit_seconds = first_seconds if page.hits else None
        hits = len(page.hits)
        while page.next is not None:
            page = fresh.search(query, page.next)
            peak = max(peak, memory.memory_info().rss)
            hits += len(page.hits)
            if page.hits and first_hit_seconds is None:
                first_hit_seconds = time.perf_counter() - began
            if hits > MOST_HITS:
                break
        seconds = time.perf_counter() - began
        found["searches"][query] = {
            "seconds": seconds,
            "hits": hits,
            "first_page": first_seconds,
            "first_hit": first_hit_seconds,
        }
    found["memory_bytes"] = peak - before
    sys.stdout.write(f"{json.dumps(found)}\n")


def _list(view: HistoryView) -> dict[str, Any]:
    page = view.windows()
    while not page.is_complete:
        page = view.windows()
    return {"windows": [window.id for window in page.windows], "bytes_read": page.bytes_read}


def _open(view: HistoryView, window_id: str) -> dict[str, Any]:
    page = view.items(filters=Filters(window_id=window_id), recent_first=False)
    return {"items": len(page.items), "bytes_read": page.bytes_read}


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
