"""Kills a program whose turns call tools, and looks each time what came of calls, messages and the queue.

See context-windows.md, 3, 12, 17.3 and 17.7.
"""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Final

from app.aio import SystemClock, TaskSet
from app.domain.events import ApprovalAsked, Event, SessionBroke
from app.domain.ids import new_id
from app.domain.queue import Pause
from app.domain.request import ModelRequest
from app.history.library import Library
from app.providers.registry import Registry
from app.session.env import SessionEnv
from app.session.worker import OpenedChat
from tests.fakes.connections import make_manager
from tests.soak.calling import MODEL, RAN, CallingProvider, make_marking_tools
from tests.soak.chat_look import Found, leftovers, look_at
from tests.soak.ledger import Ledger
from tests.soak.look import Fields
from tests.soak.victim import ROOT

START_SECONDS: Final = 60.0
MOST_LINES: Final = 60
"""That a child tells before it is killed: a life is as full on a busy machine as on an idle one."""
LIFE_SECONDS: Final = 3.0
CHANGE_SECONDS: Final = 0.5
"""How long a change of a file is waited for."""
SETTLE_SECONDS: Final = 0.02
"""How long a reopened program is watched for doing something by itself."""
WATCHED: Final = ("chat.jsonl", "queue.json", "partial.json", "branches", "draft.json", f"../../{RAN}")


@dataclass
class CallTally:
    """What happened, for the summary."""

    kills: int = 0
    acknowledged: int = 0
    found: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


class CallSoak:
    """One chat that lives through many kills."""

    def __init__(self, root: Path, seed: int, tell: Callable[[str], None]) -> None:
        self._root = root
        self._random = Random(seed)
        self._tell = tell
        self._tally = CallTally()
        self._ledger = Ledger()
        self._heard = 0
        self._session = Library(root).create(model=MODEL, now=datetime.now(UTC)).id
        self._folder = root / "sessions" / self._session

    def run(self, kills: int) -> CallTally:
        """Kill `kills` times; everything that was wrong is in the tally's problems."""
        for number in range(kills):
            self._live()
            waited = look_at(self._folder).queued_ids
            problems = asyncio.run(self._reopen())
            found = look_at(self._folder)
            problems += found.problems + self._ledger.check(found, before_open=waited)
            problems += [f"left over: {each}" for each in leftovers(self._folder)]
            self._ledger.settle(found)
            self._tally.kills += 1
            # What is lost once is missing after every kill that follows.
            problems = [problem for problem in problems if problem not in self._tally.problems]
            self._tally.problems += problems
            self._tell(f"kill {number + 1} in turns: {'; '.join(problems) or 'ok'}")
        self._count(look_at(self._folder))
        return self._tally

    def _live(self) -> None:
        command = [sys.executable, "-m", "tests.soak.person", str(self._root), str(self._random.randrange(2**32))]
        working = threading.Event()
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as child:
            listener = threading.Thread(target=self._listen, args=(child, working), daemon=True)
            listener.start()
            if not working.wait(START_SECONDS):
                child.kill()
                raise TimeoutError("the child did not begin")
            self._wait_for_moment()
            if child.poll() is not None:
                self._ledger.wrong.append("the child ended by itself; its reason stands above")
            child.kill()
            child.wait()
            listener.join()

    def _listen(self, child: "subprocess.Popen[bytes]", working: threading.Event) -> None:
        assert child.stdout is not None
        for line in child.stdout:
            told: Fields = json.loads(line)
            if "reached" in told:
                working.set()
            self._ledger.hear(told)
            self._heard += 1
        working.set()

    def _wait_for_moment(self) -> None:
        """Wait for any moment, or for one at which a file has just been changed."""
        until = time.monotonic() + LIFE_SECONDS
        wanted = self._heard + self._random.randrange(MOST_LINES)
        while self._heard < wanted and time.monotonic() < until:
            time.sleep(0.001)
        path = self._folder / self._random.choice(WATCHED)
        if self._random.random() < 1 / 2:
            return
        before = _stamp(path)
        until = time.monotonic() + CHANGE_SECONDS
        while _stamp(path) == before and time.monotonic() < until:
            pass
        time.sleep(self._random.choice((0, 0, 0.001, 0.005)))

    # After it

    async def _reopen(self) -> list[str]:
        """Open the chat as a new start does; return what it does by itself, or says wrongly."""
        events: list[Event] = []
        problems: list[str] = []
        requests: list[ModelRequest] = []
        tasks = TaskSet(lambda name, error: problems.append(f"{name} failed: {error!r}"))
        env = SessionEnv(
            providers=Registry(),
            emit=events.append,
            clock=SystemClock(),
            new_id=new_id,
            tasks=tasks,
            random=self._random.random,
            make_tools=lambda _files, _session: make_marking_tools(self._root, self._random),
        )
        ran = look_at(self._folder).marks
        manager = make_manager(env, Library(self._root), [CallingProvider(self._random, requests.append)])
        opened = await manager.open_chat(self._session)
        await asyncio.sleep(SETTLE_SECONDS)
        await manager.close()
        await tasks.close()
        problems += [f"opening did {event}" for event in events if isinstance(event, ApprovalAsked | SessionBroke)]
        if requests or look_at(self._folder).marks != ran:
            problems.append("opening sent a request or ran a call")
        return problems + self._opened_problems(opened)

    def _opened_problems(self, opened: OpenedChat) -> list[str]:
        found = look_at(self._folder)
        queue = opened.queue
        problems = []
        if queue.messages and queue.pause is not Pause.RESTART:
            problems.append(f"the queue does not wait for the person: {queue.pause}")
        if [message.id for message in queue.messages] != found.queued_ids:
            problems.append("another queue is shown than lies on disk")
        if opened.draft.text != found.draft:
            problems.append("another draft is shown than lies on disk")
        return problems

    def _count(self, found: Found) -> None:
        self._tally.acknowledged = self._ledger.acknowledged
        self._tally.found["rows in the chat"] = len(found.chat)
        self._tally.found["rows in versions"] = sum(map(len, found.branches))
        self._tally.found["versions"] = len(found.branches)
        self._tally.found["messages waiting"] = len(found.queue)
        self._tally.found.update(f"calls {call['state']}" for call in found.calls)


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
