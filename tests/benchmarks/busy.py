"""A child process: three chats stream in the real window while it follows, scrolls and is typed into; then it quits.

Prints gaps and key delays in milliseconds, and when quitting began on the monotonic clock.
"""

import asyncio
import json
import random
import re
import sys
import time
from collections.abc import AsyncGenerator
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from app.aio import SystemClock, TaskSet
from app.bootstrap import Program, report
from app.domain.ids import new_id
from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Usage
from app.providers.base import Piece, TextPiece, UsagePiece
from app.session.inputs import UserInput
from tests.benchmarks.driver import drive, until
from tests.benchmarks.histories import sample_texts
from tests.benchmarks.probes import GapTimer, KeyProbe

if TYPE_CHECKING:
    from app.domain.events import Emit
    from app.session.manager import SessionManager

DELTAS_PER_SECOND = 200
SCROLL_MS = 16
SCROLL_PIXELS = 60


class Firehose:
    """Streams realistic Markdown without end, a word at a time."""

    name = "practice"

    def __init__(self) -> None:
        self._text = "\n\n".join(text for _, text in sample_texts()) + "\n\n"

    def models(self) -> tuple[ModelCard, ...]:
        return (ModelCard("practice", "practice", "Firehose", None, None, "o200k_base", 1.0),)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Yield words at an even pace; a late one is followed sooner by the next."""
        yield UsagePiece(Usage(input=len(request.rows)))
        due = time.monotonic()
        for word in cycle(re.findall(r"\s*\S+|\s+\Z", self._text)):
            due += 1 / DELTAS_PER_SECOND
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            yield TextPiece(word)


def make_manager(root: Path, emit: "Emit") -> "SessionManager":
    from app.history.library import Library
    from app.providers.registry import Registry
    from app.session.env import SessionEnv
    from tests.fakes.connections import make_manager as make_connected_manager

    env = SessionEnv(Registry(), emit, SystemClock(), new_id, TaskSet(report), random.random)
    return make_connected_manager(env, Library(root), [Firehose()])


async def measure(program: Program, shown: str, others: list[str], seconds: float) -> dict[str, object]:
    """Stream in all chats; return what was measured, the window still streaming."""
    window = program.window
    await until(lambda: window.controller.session)
    window.panel.open_requested.emit(shown)
    await until(lambda: window.controller.session == shown and len(window.page.transcript.nodes))
    for chat in others:
        await program.bridge.open_chat(chat)
    await asyncio.sleep(1)
    gaps = GapTimer(window)
    gaps.start()
    began = time.monotonic()
    for chat in (shown, *others):
        await program.bridge.send(chat, UserInput(new_id(), "Write without end."))
    await asyncio.sleep(2)
    starting = gaps.stop()
    keys = KeyProbe(window.page.composer.field)
    keys.start()
    gaps.start()
    await asyncio.sleep(seconds)
    following = gaps.stop()
    gaps.start()
    await scroll(program, seconds)
    scrolling = gaps.stop()
    return {
        "starting_ms": starting,
        "following_ms": following,
        "scrolling_ms": scrolling,
        "keys_ms": keys.stop(),
        "streamed_seconds": time.monotonic() - began,
        "closing": time.monotonic(),
    }


async def scroll(program: Program, seconds: float) -> None:
    """Turn a wheel sixty times a second, half of the time up and half of it down again."""
    bar = program.window.page.transcript.verticalScrollBar()
    began = time.monotonic()

    def turn() -> None:
        is_upward = time.monotonic() - began < seconds / 2
        bar.setValue(bar.value() + (-SCROLL_PIXELS if is_upward else SCROLL_PIXELS))

    timer = QTimer(program.window)
    timer.setInterval(SCROLL_MS)
    timer.timeout.connect(turn)
    timer.start()
    await asyncio.sleep(seconds)
    timer.stop()


def main() -> None:
    root, seconds, shown, *others = sys.argv[1:]

    async def scenario(program: Program) -> None:
        results = await measure(program, shown, others, float(seconds))
        sys.stdout.write(f"{json.dumps(results)}\n")
        sys.stdout.flush()

    drive(Path(root), scenario, make_manager=lambda emit: make_manager(Path(root), emit))


if __name__ == "__main__":
    main()
