"""A child process: ten chats work in one folder at once, in the real window, while it is scrolled and typed into.

Every turn has several steps: words, then files read and searched side by side, then a change that is asked about and
allowed; when it ends, the next message goes out. Prints gaps and key delays in milliseconds, and what was done.
"""

import asyncio
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil

from app.aio import SystemClock, TaskSet
from app.bootstrap import Program, report
from app.domain.approvals import Verdict
from app.domain.chats import TurnState
from app.domain.events import ApprovalAsked, StateChanged, ToolEnded
from app.domain.ids import new_id
from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Usage
from app.providers.base import Piece, StopPiece, StopReason, TextPiece, ToolEndPiece, ToolStartPiece, UsagePiece
from app.session.inputs import UserInput
from tests.benchmarks.busy import scroll
from tests.benchmarks.driver import drive, until
from tests.benchmarks.histories import sample_texts
from tests.benchmarks.probes import GapTimer, KeyProbe

if TYPE_CHECKING:
    from app.domain.events import Emit, Event
    from app.session.manager import SessionManager

WORDS_PER_SECOND: Final = 100
STEPS: Final = 4
"""With calls, until a reply ends the turn."""
WORDS_A_STEP: Final = 60
FILES: Final = 200


def make_folder(folder: Path, chats: list[str]) -> None:
    """Fill a folder to work in: `FILES` texts of about 25 KB, and one of each chat's own."""
    text = "\n\n".join(text for _, text in sample_texts())
    for number in range(FILES):
        (folder / f"text-{number}.md").write_text(f"Text {number}.\n\n{text * 4}", "utf-8")
    for chat in chats:
        (folder / f"{chat}.md").write_text(f"Change 0.\n\n{text}\n", "utf-8")


class Workhorse:
    """Writes some words, then calls; each chat changes its own file."""

    name = "practice"

    def __init__(self) -> None:
        self._words = re.findall(r"\s*\S+|\s+\Z", "\n\n".join(text for _, text in sample_texts()) + "\n\n")
        self._changes: Counter[str] = Counter()

    def models(self) -> tuple[ModelCard, ...]:
        return (ModelCard("practice", "practice", "Workhorse", 200_000, None, "o200k_base", 1.0),)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Yield words at an even pace, and calls behind them in all steps of a turn but the last."""
        yield UsagePiece(Usage(input=len(request.rows)))
        due = time.monotonic()
        for word in islice(cycle(self._words), WORDS_A_STEP):
            due += 1 / WORDS_PER_SECOND
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            yield TextPiece(word)
        step = next(at for at, row in enumerate(reversed(request.rows)) if row.role == "user")
        if step >= STEPS:
            yield StopPiece(StopReason.END)
            return
        for number, (name, arguments) in enumerate(self._calls(request.rows[0].session)):
            yield ToolStartPiece(f"c{number}", name)
            yield ToolEndPiece(f"c{number}", arguments)
        yield StopPiece(StopReason.TOOL_USE)

    def _calls(self, chat: str) -> list[tuple[str, dict[str, object]]]:
        number = self._changes[chat]
        self._changes[chat] += 1
        return [
            ("read_file", {"path": f"{chat}.md"}),
            ("read_file", {"path": f"text-{number % FILES}.md"}),
            ("search_files", {"query": f"Text {number % FILES}."}),
            ("search_files", {"query": "nowhere to be found"}),
            (
                "edit_file",
                {"path": f"{chat}.md", "old_text": f"Change {number}.", "new_text": f"Change {number + 1}."},
            ),
        ]


class Office:
    """Everything below the interface; answers every question with yes, and every end of a turn with a new message."""

    def __init__(self, root: Path, emit: "Emit") -> None:
        from app.budget.tokens import TokenCounter
        from app.history.library import Library
        from app.providers.registry import Registry
        from app.session.env import SessionEnv
        from app.tools.folder_tools import make_folder_tools
        from tests.fakes.connections import make_manager

        self.done: Counter[str] = Counter()
        self._emit = emit
        self._tasks = TaskSet(report)
        counter, clock = TokenCounter(), SystemClock()
        env = SessionEnv(
            Registry(),
            self._hear,
            clock,
            new_id,
            self._tasks,
            random.random,
            counter=counter,
            make_tools=lambda _files, _session: tuple(make_folder_tools(counter, clock, root).values()),
        )
        self.manager: SessionManager = make_manager(env, Library(root), [Workhorse()])

    def _hear(self, event: "Event") -> None:
        self._emit(event)
        match event:
            case ApprovalAsked():
                self._tasks.spawn(self.manager.answer(event, Verdict.ALLOW), name="answer")
            case ToolEnded(state=state):
                self.done[f"calls {state}"] += 1
            case StateChanged(session=session, state=TurnState.IDLE) if self.done["calls done"]:
                self.done["turns"] += 1
                self._tasks.spawn(self.go_on(session), name="next message")
            case _:
                pass

    async def go_on(self, session: str) -> None:
        """Send the next message in a chat."""
        await self.manager.send(session, UserInput(new_id(), "Go on."))


async def measure(program: Program, office: Office, chats: list[str], seconds: float) -> dict[str, object]:
    """Let all chats work, the first one shown; return what was measured."""
    window = program.window
    shown, *others = chats
    await until(lambda: window.controller.session)
    window.panel.open_requested.emit(shown)
    await until(lambda: window.controller.session == shown and len(window.page.transcript.nodes))
    for chat in others:
        await program.bridge.open_chat(chat)
    await asyncio.sleep(1)
    for chat in chats:
        await program.bridge.send(chat, UserInput(new_id(), "Work."))
    await asyncio.sleep(2)
    before = office.done.copy()
    began = time.monotonic()
    gaps = GapTimer(window)
    keys = KeyProbe(window.page.composer.field)
    keys.start()
    gaps.start()
    await asyncio.sleep(seconds)
    following = gaps.stop()
    gaps.start()
    await scroll(program, seconds)
    scrolling = gaps.stop()
    delays = keys.stop()
    return {
        "following_ms": following,
        "scrolling_ms": scrolling,
        "keys_ms": delays,
        "seconds": time.monotonic() - began,
        "done": office.done - before,
        "rss": psutil.Process().memory_info().rss,
    }


def main() -> None:
    root, seconds, *chats = sys.argv[1:]
    offices: list[Office] = []

    def make_manager(emit: "Emit") -> "SessionManager":
        offices.append(Office(Path(root), emit))
        return offices[0].manager

    async def scenario(program: Program) -> None:
        await until(lambda: offices)
        results = await measure(program, offices[0], chats, float(seconds))
        sys.stdout.write(f"{json.dumps(results)}\n")
        sys.stdout.flush()

    drive(Path(root), scenario, make_manager=make_manager)


if __name__ == "__main__":
    main()
