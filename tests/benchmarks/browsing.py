"""A child process: opens the history panel on a large chat in the real window and searches it there.

Prints gaps of the loop in milliseconds, and how long it took to list, to find, and to go to the oldest message.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from app.bootstrap import Program
from app.domain.windows import Filters
from app.ui.history.searching import SearchStatus
from tests.benchmarks.driver import drive, until
from tests.benchmarks.probes import GapTimer


async def browse(program: Program, session: str, planted: str, never_said: str) -> dict[str, object]:
    """List, search and jump; return what was measured."""
    window = program.window
    await until(lambda: window.controller.session)
    window.panel.open_requested.emit(session)
    await until(lambda: window.controller.session == session and len(window.page.transcript.nodes))
    await asyncio.sleep(0.5)
    gaps = GapTimer(window)
    gaps.start()
    began = time.perf_counter()
    window.actions_.show_history.trigger()
    await until(lambda: window.sides.history is not None and window.sides.history.listing.windows)
    listed = time.perf_counter() - began
    listing_gaps = gaps.stop()
    panel = window.sides.history
    assert panel is not None
    await asyncio.sleep(0.5)

    gaps.start()
    began = time.perf_counter()
    panel.searching.start(session, never_said, Filters())
    await until(lambda: panel.searching.search.status is SearchStatus.DONE)
    searched = time.perf_counter() - began
    panel.searching.start(session, planted, Filters())
    await until(lambda: panel.searching.offsets)
    search_gaps = gaps.stop()

    gaps.start()
    began = time.perf_counter()
    offset = panel.searching.offsets[0]
    window.show_message(session, "planted", offset)
    await until(lambda: any(node.item.id == "planted" for node in window.page.transcript.nodes))
    jumped = time.perf_counter() - began
    await asyncio.sleep(0.5)
    return {
        "listed": listed,
        "listing_gaps_ms": listing_gaps,
        "searched": searched,
        "search_gaps_ms": search_gaps,
        "jumped": jumped,
        "jump_gaps_ms": gaps.stop(),
    }


def main() -> None:
    root, session, planted, never_said = sys.argv[1:]
    # It remembers that the panel was open; it is opened here, as for the first time.
    (Path(root) / "window.json").unlink(missing_ok=True)

    async def scenario(program: Program) -> None:
        results = await browse(program, session, planted, never_said)
        sys.stdout.write(f"{json.dumps(results)}\n")
        sys.stdout.flush()

    drive(Path(root), scenario)


if __name__ == "__main__":
    main()
