"""The process that gets killed: runs turns or appends for ever and prints what the engine acknowledges.

Each line of its output is one JSON object, written with one system call behind the acknowledgement:
`{"session", "acknowledged": [row ids]}`, `{"session", "request": 1}` or `{"reached": a stage}`.
"""

import argparse
import asyncio
import json
import os
import sys
from itertools import count
from pathlib import Path
from random import Random

from app.aio import SystemClock, TaskSet
from app.domain.events import Event, RowsAppended, StateChanged
from app.domain.ids import new_id
from app.domain.rows import Boundary, Role, Row, TextPart
from app.history.library import Library
from app.history.rotation import Rotation
from app.history.store import Store
from app.providers.registry import Registry
from app.session.env import SessionEnv
from app.session.inputs import Accepted, ResetContext, ResumeTurn, UserInput
from tests.fakes.connections import make_manager
from tests.soak.wire import HUGE_CHARS, SoakProvider

PIECE_BYTES = 200_000
"""Of a move to the archive, so that there are many moments to be killed at."""
BIG_BUDGET_BYTES = 12_000_000
"""How much of large rows one life adds at most: the folder must not fill the disk in fifty lives."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--mode", choices=("turns", "batches", "opening"), required=True)
    parser.add_argument("--seed", type=int, required=True)
    arguments = parser.parse_args()
    random = Random(arguments.seed)
    if arguments.mode == "batches":
        append_batches(arguments.data_dir, random)
    else:
        asyncio.run(Talk(arguments.data_dir, random).run(sends=arguments.mode == "turns"))


def say(**what: object) -> None:
    """Put one line on standard output, whole or not at all."""
    os.write(1, json.dumps(what).encode() + b"\n")


def sessions_of(root: Path) -> list[str]:
    return sorted(folder.name for folder in (root / "sessions").iterdir())


class Talk:
    """All chats but the last at work at the same time, through the session manager."""

    def __init__(self, root: Path, random: Random) -> None:
        self._random = random
        self._chats = sessions_of(root)[:-1]
        self._all = sessions_of(root)
        self._idle = {session: asyncio.Event() for session in self._all}
        self._tasks = TaskSet(_report)
        provider = SoakProvider(random, lambda request: say(session=request.rows[0].session, request=1))
        env = SessionEnv(Registry(), self._hear, SystemClock(), new_id, self._tasks, random.random)
        self._manager = make_manager(env, Library(root), [provider])

    async def run(self, *, sends: bool) -> None:
        say(reached="opening")
        await asyncio.gather(*(self._manager.open_chat(session) for session in self._all))
        say(reached="working")
        if sends:
            await asyncio.gather(*(self._talk(session) for session in self._chats))
        await asyncio.Event().wait()

    def _hear(self, event: Event) -> None:
        match event:
            case RowsAppended():
                say(session=event.session, acknowledged=[row.id for row in event.rows])
            case StateChanged() if not event.state.is_active:
                self._idle[event.session].set()
            case StateChanged():
                self._idle[event.session].clear()
            case _:
                pass

    async def _talk(self, session: str) -> None:
        while True:
            item = UserInput(new_id(), self._text())
            outcome = await self._manager.send(session, item)
            if not isinstance(outcome, Accepted):
                raise TypeError(f"refused: {outcome.reason}")
            say(session=session, acknowledged=[item.id])
            if self._random.random() < 0.25:
                await asyncio.sleep(self._random.uniform(0, 0.08))
                await self._manager.stop(session)
            await self._idle[session].wait()
            if self._random.random() < 0.2:
                await self._manager.send(session, ResetContext())
                await self._idle[session].wait()
            if self._random.random() < 0.3:
                # Refused where the reply is complete; nothing is written then.
                await self._manager.send(session, ResumeTurn())
                await self._idle[session].wait()

    def _text(self) -> str:
        if self._random.random() < 0.04:
            return "a long question " * (HUGE_CHARS // 16)
        return f"Question {self._random.random()}?"


def append_batches(root: Path, random: Random) -> None:
    """Add batches of one to eight rows to the last chat, straight through its store."""
    say(reached="opening")
    session = sessions_of(root)[-1]
    files = Library(root).files(session)
    files.lease.take()
    store = Store(files, session=session)
    last_seq = store.repair()
    rotation = Rotation(files, store, piece_bytes=PIECE_BYTES)
    say(reached="working")
    left = BIG_BUDGET_BYTES
    for number in count():
        rows = [_row(session, _size(random, left), is_reply=at % 2 == 1) for at in range(random.randint(1, 8))]
        if number == 0:
            # A window of its own for each life, so that opening the chat reads no more than one life wrote.
            rows.insert(0, Row(boundary=Boundary(kind="rollover"), id=new_id(), session=session, role="user"))
        written = store.append(rows, expected_last_seq=last_seq)
        say(session=session, acknowledged=[row.id for row in written])
        last_seq += len(written)
        if random.random() < 0.7:
            rotation.step()
        left -= sum(len(row.text) for row in written if len(row.text) > 10_000)


def _row(session: str, chars: int, *, is_reply: bool) -> Row:
    role: Role = "assistant" if is_reply else "user"
    return Row(id=new_id(), session=session, role=role, parts=(TextPart(text="0123456789abcde " * (chars // 16)),))


def _size(random: Random, left: int) -> int:
    """Return a length in characters: mostly a message, at times all a row can hold, at times more."""
    if left <= 0 or random.random() < 0.85:
        return random.choice((16, 400, 4_000))
    return random.choice((200_000, 900_000, HUGE_CHARS))


def _report(name: str, error: BaseException) -> None:
    sys.stderr.write(f"{name} failed: {error!r}\n")


if __name__ == "__main__":
    main()
