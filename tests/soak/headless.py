"""Kills the engine again and again, and looks each time what the disk still holds.

See context-windows.md, 17: after kill -9 at any write, reopening shows every acknowledged row once and no
unacknowledged half.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from app.aio import SystemClock, TaskSet
from app.domain.events import Event, StateChanged
from app.domain.ids import new_id
from app.history.files import ChatFiles
from app.history.library import Library
from app.history.reader import DamagedEntry, HistoryReader, RowEntry
from app.providers.registry import Registry
from app.session.env import SessionEnv
from app.session.inputs import Accepted, UserInput
from tests.fakes.connections import make_manager
from tests.soak.look import Added, Fields, blob_problems, is_reset, look_behind, read_partial, read_stretch, text_of
from tests.soak.victim import Trigger, Victim, at_once, at_random_moment, in_a_reply, in_a_settling, in_an_append
from tests.soak.wire import MODEL, SoakProvider

CHATS = 4
"""The last one gets batches straight through its store, the others talk."""
MODES = ("turns", "batches", "turns", "opening", "batches")
SETTLE_SECONDS = 0.02
"""How long a reopened program is watched for sending something by itself."""
SAME_CHARS = 10_000
"""As much as a row keeps of a text that goes to a blob, and less."""


@dataclass
class Chat:
    """What is known of one chat for certain: everything up to `verified` bytes."""

    session: str
    files: ChatFiles
    verified: int = 0
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    ids: set[str] = field(default_factory=set)
    last_seq: int = 0
    unopened: set[str] = field(default_factory=set)
    """Rows that were on disk after the last kill and that nobody has opened since."""
    partial: Fields | None = None
    """The reply that was cut by it, to become a row."""
    seen_resets: set[str] = field(default_factory=set)


@dataclass
class Tally:
    """What happened, for the summary."""

    kills: int = 0
    acknowledged: int = 0
    rows: int = 0
    interrupted: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


class Soak:
    """One folder of chats that lives through many kills."""

    def __init__(self, root: Path, seed: int, tell: Callable[[str], None]) -> None:
        self.tally = Tally()
        self._root = root
        self._random = Random(seed)
        self._tell = tell
        library = Library(root)
        made = [library.create(model=MODEL, now=SystemClock().now()).id for _ in range(CHATS)]
        self._chats = [Chat(session, library.files(session)) for session in sorted(made)]

    def run(self, kills: int) -> Tally:
        """Kill `kills` times; everything that was wrong is in the tally's problems."""
        modes = [MODES[number % len(MODES)] for number in range(kills)]
        for number, mode in enumerate(modes):
            before = len(self.tally.problems)
            self._live(mode)
            # A kill while the chats open comes right behind another one, with its remains still there.
            if modes[number + 1 : number + 2] != ["opening"]:
                asyncio.run(self._reopen())
            wrong = self.tally.problems[before:]
            self._tell(f"kill {number + 1}: {mode}: {'; '.join(wrong) if wrong else 'ok'}")
        self._check_whole_files()
        return self.tally

    # One life

    def _live(self, mode: str) -> None:
        victim = Victim(self._root, mode, self._random.randrange(2**32))
        victim.wait_for("opening" if mode == "opening" else "working")
        self._trigger(mode)(self._random, self._written_by(mode))
        victim.kill()
        self.tally.kills += 1
        if victim.died_early:
            self._wrong("the child ended by itself; its reason stands above")
        if mode == "opening" and victim.requests:
            self._wrong(f"{victim.requests} requests were sent by opening")
        for chat in self._chats:
            self._witness(chat, victim.acknowledged[chat.session], mode)

    def _trigger(self, mode: str) -> Trigger:
        match mode:
            case "opening":
                return at_once
            case "batches":
                return self._random.choice((in_an_append, in_an_append, at_random_moment))
            case _:
                return self._random.choice((in_an_append, in_a_reply, in_a_settling, at_random_moment))

    def _written_by(self, mode: str) -> list[Path]:
        chats = self._chats[-1:] if mode == "batches" else self._chats[:-1]
        return [chat.files.chat for chat in chats]

    def _witness(self, chat: Chat, acknowledged: list[str], mode: str) -> None:
        """Check the bytes a kill left, before anything of Muntin touches them."""
        added = look_behind(chat.files.folder, chat.verified)
        for problem in added.problems:
            self._wrong(problem)
        self.tally.acknowledged += len(acknowledged)
        lost = set(acknowledged) - added.ids
        if lost:
            self._wrong(f"acknowledged and gone: {lost}")
        known = chat.unopened.union(acknowledged, {chat.partial["id"]} if chat.partial is not None else ())
        extra = [batch for batch in added.batches if not known.intersection(row["id"] for row in batch)]
        # Opening a chat writes what a reset was cut off from writing, and nothing else.
        if len(extra) > (sum(is_reset(batch[0]) for batch in extra[:1]) if mode == "opening" else 1) or (
            extra and extra[-1] is not added.batches[-1]
        ):
            self._wrong(f"{len(extra)} batches nobody acknowledged")
        self._settle_partial(chat, added)
        chat.unopened = added.ids
        chat.partial = self._cut_reply(chat) or chat.partial
        self.tally.seen["whole batches without a word"] += len(extra)
        self.tally.seen["torn ends"] += bool(added.torn_bytes)
        self.tally.seen["receipts left pending"] += _is_pending(chat.files.receipt)
        self.tally.seen["resets"] += sum(is_reset(row) for row in added.rows if row["id"] not in chat.seen_resets)
        chat.seen_resets.update(row["id"] for row in added.rows if is_reset(row))
        self.tally.seen["moves to the archive cut short"] += _has_move(chat.files.receipt)

    def _cut_reply(self, chat: Chat) -> Fields | None:
        """Return the reply in `partial.json`, if its row is not written already."""
        try:
            partial = read_partial(chat.files.partial)
        except (ValueError, TypeError) as error:
            self._wrong(f"partial.json is damaged: {error}")
            return None
        if partial is None or not partial.get("parts") or partial["id"] in chat.ids | chat.unopened:
            return None
        return partial

    def _settle_partial(self, chat: Chat, added: Added) -> None:
        """Check the row a cut reply has become, once it has."""
        partial = chat.partial
        row = next((row for row in added.rows if partial is not None and row["id"] == partial["id"]), None)
        if partial is None or row is None:
            return
        chat.partial = None
        self.tally.interrupted += 1
        if "interrupted" not in row.get("flags", []):
            self._wrong(f"row {row['id']} was cut and is not flagged interrupted")
        same = text_of(row)[:SAME_CHARS] == text_of(partial)[:SAME_CHARS]
        if not same or len(text_of(row)) > len(text_of(partial)):
            self._wrong(f"row {row['id']} has another text than partial.json had")

    # After it

    async def _reopen(self) -> None:
        """Open every chat as the program does, and talk in it."""
        requests: list[str] = []
        idle = {chat.session: asyncio.Event() for chat in self._chats}

        def hear(event: Event) -> None:
            if isinstance(event, StateChanged) and not event.state.is_active:
                idle[event.session].set()

        tasks = TaskSet(lambda name, error: self._wrong(f"{name} failed: {error!r}"))
        provider = SoakProvider(self._random, lambda request: requests.append(request.rows[0].session), is_steady=True)
        env = SessionEnv(Registry(), hear, SystemClock(), new_id, tasks, self._random.random)
        manager = make_manager(env, Library(self._root), [provider])
        for chat in self._chats:
            await manager.open_chat(chat.session)
        await asyncio.sleep(SETTLE_SECONDS)
        await _archived()
        if requests:
            self._wrong(f"{len(requests)} requests were sent by opening")
        for chat in self._chats:
            self._check_opened(chat)
        for chat in self._chats:
            item = UserInput(new_id(), "Is everything still there?")
            if not isinstance(await manager.send(chat.session, item), Accepted):
                self._wrong("the next message was refused")
            await idle[chat.session].wait()
            await _archived()
            self._check_answered(chat, item.id)
        if len(requests) != len(self._chats):
            self._wrong(f"{len(requests)} requests for {len(self._chats)} messages")
        await manager.close()
        await tasks.close()

    def _check_opened(self, chat: Chat) -> None:
        """Compare what the reader shows with what the witness saw."""
        if chat.files.partial.exists():
            self._wrong("partial.json is still there")
        added = look_behind(chat.files.folder, chat.verified)
        if added.torn_bytes or added.problems:
            self._wrong("the repaired file still has a torn end")
        wanted = chat.unopened | ({chat.partial["id"]} if chat.partial is not None else set())
        missing_reset = next((row["id"] for row in added.rows if row["id"] not in wanted and is_reset(row)), None)
        if missing_reset is not None and added.rows[-1]["id"] == missing_reset:
            self.tally.seen["resets written when the chat was opened"] += 1
            wanted.add(missing_reset)
        if added.ids != wanted:
            self._wrong(f"rows changed by opening: {added.ids ^ wanted}")
        self._settle_partial(chat, added)
        chat.unopened = set()
        shown = self._shown(chat)
        boundaries = [at for at, row in enumerate(added.rows) if "boundary" in row]
        active = [row["id"] for row in added.rows[boundaries[-1] if boundaries else 0 :]]
        if active and shown[-len(active) :] != active:
            self._wrong("the reader shows other rows than the file holds")
        self._trust(chat, added)

    def _check_answered(self, chat: Chat, item_id: str) -> None:
        added = look_behind(chat.files.folder, chat.verified)
        texts = [(row["role"], text_of(row)) for row in added.rows]
        if len(texts) != 2 or added.rows[0]["id"] != item_id or texts[1] != ("assistant", "still here"):
            self._wrong(f"the next message did not work: {texts}")
        self._trust(chat, added)

    def _trust(self, chat: Chat, added: Added) -> None:
        """Take what was added for known, after checking numbers, ids and blobs."""
        for row in added.rows:
            if row["seq"] <= chat.last_seq:
                self._wrong(f"row {row['id']} has number {row['seq']} behind {chat.last_seq}")
            if row["id"] in chat.ids:
                self._wrong(f"row {row['id']} is there twice")
            for problem in blob_problems(row, chat.files.blobs):
                self._wrong(problem)
            chat.last_seq = row["seq"]
            chat.ids.add(row["id"])
        self.tally.rows += len(added.rows)
        chat.digest.update(read_stretch(chat.files.folder, chat.verified)[: added.end - chat.verified])
        chat.verified = added.end

    def _shown(self, chat: Chat) -> list[str]:
        """Return the ids of the active window as readers see them; damage in it is a problem."""
        entries = HistoryReader(ChatFiles(chat.files.folder)).active_window()
        if any(isinstance(entry, DamagedEntry) for entry in entries):
            self._wrong("the reader shows damage")
        return [entry.row.id for entry in entries if isinstance(entry, RowEntry)]

    def _check_whole_files(self) -> None:
        """Read everything once more: nothing that was ever seen has changed since."""
        for chat in self._chats:
            data = read_stretch(chat.files.folder, 0)
            if hashlib.sha256(data).digest() != chat.digest.digest():
                self._wrong("bytes that had been checked have changed")
            entries = list(HistoryReader(ChatFiles(chat.files.folder)).entries_forward())
            ids = [entry.row.id for entry in entries if isinstance(entry, RowEntry)]
            if len(ids) != len(entries):
                self._wrong(f"{len(entries) - len(ids)} damaged entries")
            if len(ids) != len(set(ids)) or set(ids) != chat.ids:
                self._wrong("the whole history does not hold each row once")
            self.tally.seen["pieces set aside"] += len(list(chat.files.folder.glob("*.damaged")))
            self.tally.seen["left-over temporary files"] += len(list(chat.files.folder.rglob(".*.tmp")))

    def _wrong(self, problem: str) -> None:
        self.tally.problems.append(problem)


async def _archived() -> None:
    """Wait until nothing moves to the archive."""
    while any(task.get_name().startswith("archive") for task in asyncio.all_tasks()):  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.002)


def _has_move(receipt: Path) -> bool:
    return receipt.exists() and b'"move": {' in receipt.read_bytes()


def _is_pending(receipt: Path) -> bool:
    return receipt.exists() and b'"pending"' in receipt.read_bytes()
