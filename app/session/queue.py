"""Messages that wait for their turn: kept in `queue.json`, each sent once, in order. See context-windows.md, 12.

A message leaves the file only after its row is on disk; one whose row is there already is dropped at open.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Final, assert_never

from app.aio import run_blocking
from app.domain.errors import StorageError
from app.domain.queue import Pause, QueuedMessage, QueueView, When
from app.history.files import ChatFiles
from app.history.sidecars import Queue, QueuedEntry, read_sidecar, write_sidecar
from app.session.inputs import EditQueued, MoveQueued, RemoveQueued

MAX_MESSAGES: Final = 100
"""In one queue: whoever writes more means something else."""
CLOSED: Final = "This chat was closed in the same moment. Open it and send again."

SentAmong = Callable[[Collection[str]], Awaitable[set[str]]]
"""Returns those of some ids that rows of the chat have. Raises StorageError."""


async def none_sent(_ids: Collection[str]) -> set[str]:
    """Return nothing."""
    return set()


class MessageQueue:
    """The queue of one chat. Changes are on disk before they hold; nothing is changed if the disk refuses."""

    def __init__(
        self, files: ChatFiles, tell: Callable[[QueueView], None], *, sent_among: SentAmong = none_sent
    ) -> None:
        self._path = files.queue
        self._tell = tell
        self._sent_among = sent_among
        self._is_loaded = self._is_closed = False
        self._messages: tuple[QueuedMessage, ...] = ()
        self._sent: set[str] = set()
        self._taken = ""
        self._pause: Pause | None = None
        self._reason = ""
        self._changing = asyncio.Lock()

    @property
    def view(self) -> QueueView:
        """What waits, and why if it is held."""
        messages = self._waiting
        return QueueView(messages, self._pause, self._reason) if messages else QueueView()

    @property
    def goes_on(self) -> bool:
        """Whether a message is to be sent by itself as soon as no turn runs."""
        return bool(self._waiting) and self._pause is None

    @property
    def ends_step(self) -> bool:
        """Whether a message waits for the end of the step that runs."""
        return self.goes_on and self._waiting[0].when is When.AFTER_STEP

    def find(self, message_id: str) -> QueuedMessage | None:
        """Return this message, None if it doesn't wait."""
        return next((message for message in self._waiting if message.id == message_id), None)

    def is_taken(self, message_id: str) -> bool:
        """Whether this message is just being sent."""
        return message_id == self._taken

    @property
    def _waiting(self) -> tuple[QueuedMessage, ...]:
        return tuple(message for message in self._messages if message.id not in self._sent)

    # On disk

    async def load(self, *, may_repair: bool) -> None:
        """Learn what waits on disk. Raises StorageError.

        With `may_repair`, for the lease holder only, what was sent waits no longer, and the rest waits for the person;
        without it whoever holds the chat sends it.
        """
        async with self._changing:
            await self._load(may_repair=may_repair)

    async def ready(self) -> None:
        """Learn what waits if that could not be learned yet. Raises StorageError."""
        async with self._changing:
            await self._ready()

    async def _ready(self) -> None:
        if not self._is_loaded:
            await self._load(may_repair=True)

    async def _load(self, *, may_repair: bool) -> None:
        found = await run_blocking(read_sidecar, self._path, Queue, may_repair=may_repair)
        messages = _in_order([_message_of(entry) for entry in (found.messages if found is not None else ())])
        sent = await self._sent_among([message.id for message in messages]) if may_repair and messages else set()
        self._messages, self._sent = messages, sent
        if self._waiting:
            self._pause, self._reason = Pause.RESTART if may_repair else None, ""
        self._is_loaded = True
        self._tell(self.view)
        if sent:
            with contextlib.suppress(StorageError):
                await self._write(self._waiting)

    async def close(self) -> None:
        """Put on disk what was not yet; nothing is written any more afterwards: others may hold the chat then."""
        async with self._changing:
            if self._sent:
                with contextlib.suppress(StorageError):
                    await self._write(self._waiting)
            self._is_closed = True

    async def add(self, message: QueuedMessage) -> None:
        """Let a message wait behind those due at the same moment. Raises StorageError; it doesn't wait then."""
        if not self._waiting:
            # Whatever holds the queue from here on holds this message too.
            self._pause, self._reason = None, ""
        async with self._changing:
            await self._ready()
            if self.find(message.id) is not None:
                return
            if len(self._waiting) >= MAX_MESSAGES:
                raise StorageError(f"{MAX_MESSAGES} messages are waiting already. Let some of them be sent first.")
            await self._write((*self._waiting, message))

    async def change(self, change: EditQueued | MoveQueued | RemoveQueued) -> QueuedMessage | None:
        """Make the change and return the message as it is then, or was; None if it waits no longer.

        One that is just being sent can't be changed any more. Raises StorageError; nothing has changed then.
        """
        async with self._changing:
            await self._ready()
            found = self.find(change.id)
            if found is None or self.is_taken(change.id):
                return None
            at = self._waiting.index(found)
            others = [message for message in self._waiting if message is not found]
            match change:
                case RemoveQueued():
                    await self._write(others)
                case EditQueued():
                    found = _edited(found, change)
                    await self._write([*others[:at], found, *others[at:]])
                case MoveQueued(place=place):
                    at = min(max(place, 0), len(others))
                    await self._write([*others[:at], found, *others[at:]])
                case _:
                    assert_never(change)
            return found

    async def _write(self, messages: Sequence[QueuedMessage]) -> None:
        if self._is_closed:
            raise StorageError(CLOSED)
        ordered = _in_order(messages)
        wanted = Queue(messages=tuple(_entry_of(message) for message in ordered))
        try:
            await run_blocking(write_sidecar, self._path, wanted)
        except StorageError:
            # It may have failed behind the step itself: then that has happened.
            if not await run_blocking(_is_on_disk, self._path, wanted):
                raise
        self._messages = ordered
        # One of them may have been sent while they were written.
        self._sent &= {message.id for message in ordered}
        self._tell(self.view)

    # Being sent

    async def take(self, message_id: str = "") -> QueuedMessage | None:
        """Return the message to send next, or this one, which can't be changed from now on; None if none waits."""
        async with self._changing:
            found = self.find(message_id) if message_id else next(iter(self._waiting), None)
            self._taken = found.id if found is not None else ""
            return found

    def put_back(self) -> None:
        """Let the message that was taken wait further, if it was not sent."""
        self._taken = ""

    def forget(self, ids: Collection[str]) -> bool:
        """Drop messages whose rows are in the history; return whether the file has to follow (`save`)."""
        gone = {message.id for message in self._waiting if message.id in ids}
        self._sent |= gone
        if gone:
            self._tell(self.view)
        return bool(gone)

    async def save(self) -> None:
        """Put on disk what waits now. A disk that refuses is no loss: what was sent is dropped again at open."""
        async with self._changing:
            with contextlib.suppress(StorageError):
                await self._write(self._waiting)

    # Waiting for the person

    def hold(self, pause: Pause, reason: str = "") -> None:
        """Send nothing by itself until the person says so."""
        if self._pause is not Pause.RESTART and (self._pause, self._reason) != (pause, reason):
            # Also while nothing waits yet: a message may be on its way to the disk.
            self._pause, self._reason = pause, reason
            self._tell_pause()

    def lift(self, *, whatever: bool = False) -> None:
        """Go on after a turn of the person's has ended well; with `whatever` because the person says so."""
        if self._pause is not None and (whatever or self._pause is not Pause.RESTART):
            self._pause, self._reason = None, ""
            self._tell_pause()

    def _tell_pause(self) -> None:
        if self._waiting:
            self._tell(self.view)


def _in_order(messages: Sequence[QueuedMessage]) -> tuple[QueuedMessage, ...]:
    """Return messages as they are sent: those due after a step first, each kind in the order it has."""
    return tuple(sorted(messages, key=lambda message: message.when is not When.AFTER_STEP))


def _is_on_disk(path: Path, queue: Queue) -> bool:
    with contextlib.suppress(StorageError):
        return read_sidecar(path, Queue, may_repair=False) == queue
    return False


def _edited(message: QueuedMessage, change: EditQueued) -> QueuedMessage:
    return replace(
        message,
        text=message.text if change.text is None else change.text,
        attachments=message.attachments if change.attachments is None else change.attachments,
        when=message.when if change.when is None else change.when,
    )


def _message_of(entry: QueuedEntry) -> QueuedMessage:
    return QueuedMessage(**{each.name: getattr(entry, each.name) for each in fields(QueuedMessage)})


def _entry_of(message: QueuedMessage) -> QueuedEntry:
    return QueuedEntry.model_validate(message, from_attributes=True)
