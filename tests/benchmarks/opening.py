"""A child process: opens chats in the real window, again and again, and prints how long each took in seconds."""

import asyncio
import json
import sys
import time
from pathlib import Path

from app.bootstrap import Program
from tests.benchmarks.driver import PaintWatch, drive, until


async def open_chats(program: Program, empty: str, chats: list[str], times: int) -> dict[str, list[float]]:
    """Open each of `chats` so often, from the empty chat, until its last message is painted."""
    window = program.window
    await until(lambda: window.controller.session)
    watch = PaintWatch(window.page.transcript.viewport())
    taken: dict[str, list[float]] = {}
    for _ in range(times):
        for chat in chats:
            window.panel.open_requested.emit(empty)
            await until(lambda: window.controller.session == empty)
            # What leaving a chat closes, and what the timers of the window do, is over by then.
            await asyncio.sleep(0.4)
            taken.setdefault(chat, []).append(await _open(program, watch, chat))
    return taken


async def _open(program: Program, watch: PaintWatch, chat: str) -> float:
    window = program.window
    transcript = window.page.transcript
    began = time.monotonic()
    window.panel.open_requested.emit(chat)
    painted = await watch.paint_when(
        lambda: window.controller.session == chat and len(transcript.nodes) > 0 and transcript.is_at_end()
    )
    return painted - began


def main() -> None:
    root, times, empty, *chats = sys.argv[1:]
    results: dict[str, list[float]] = {}

    async def scenario(program: Program) -> None:
        results.update(await open_chats(program, empty, chats, int(times)))

    drive(Path(root), scenario)
    sys.stdout.write(f"{json.dumps(results)}\n")


if __name__ == "__main__":
    main()
