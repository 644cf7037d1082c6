"""What a turn works with: the program's collaborators and this chat's own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from app.aio import run_blocking
from app.domain.chats import TurnState
from app.domain.errors import StorageError
from app.domain.events import ChatChanged, RowsAppended, RowsCut, StateChanged, VersionsChanged
from app.domain.rows import Row
from app.domain.versions import CutReason
from app.history.files import ChatFiles
from app.history.library import summary_of
from app.history.partial import PartialFile
from app.history.sidecars import write_sidecar
from app.history.store import Store
from app.session.approvals import Approvals
from app.session.draft import DraftFile
from app.session.env import SessionEnv
from app.session.inputs import UserInput
from app.session.state import SessionState
from app.session.window import WindowReader
from app.tools.base import Tool

if TYPE_CHECKING:  # Needed once something is edited.
    from app.history.branches import Branches


class TurnEnv:
    """One chat's files, tools and state, for whoever writes to it."""

    def __init__(self, env: SessionEnv, session: str, files: ChatFiles, state: SessionState) -> None:
        self.env = env
        self.session = session
        self.files = files
        self.state = state
        self.store = Store(files, session=session, new_id=env.new_id)
        self.partial = PartialFile(files)
        self.draft = DraftFile(files)
        self.approvals = Approvals(session, state, emit=env.emit, save_grants=self._save_grants)
        self.window_reader = WindowReader(self.store.reader, self.store.blobs, env.providers)
        self.should_end: Callable[[], bool] = lambda: False
        """Whether a turn ends after the step that runs, although the model would go on."""
        self._saving_meta = asyncio.Lock()

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """What models may be offered in this chat. Made for the first turn: it loads much."""
        return self.env.make_tools(self.files, self.session)

    def enter(self, state: TurnState) -> None:
        """Take and tell a new turn state."""
        self.state.turn_state = state
        self.env.emit(StateChanged(self.session, state))

    async def append(self, rows: tuple[Row, ...]) -> None:
        """Write `rows` as one batch and tell. Raises StorageError; nothing is there then."""
        try:
            written = await run_blocking(self.store.append, rows, expected_last_seq=self.state.last_seq)
        except StorageError:
            self.state.is_stale = True
            raise
        # The window keeps the texts whole, whatever of them went to blobs.
        whole = [row.model_copy(update={"seq": stored.seq}) for row, stored in zip(rows, written, strict=True)]
        self.state.take(whole, written[-1].seq or self.state.last_seq)
        self.env.emit(RowsAppended(self.session, written))
        if any(row.boundary is not None for row in written):
            # What was cut off belongs to a window that is closed now.
            self.env.emit(VersionsChanged(self.session, ()))

    async def drop_draft(self, message: UserInput) -> None:
        """Forget the draft if this message was made of it."""
        with contextlib.suppress(StorageError):
            await self.draft.drop(message.text, message.attachments)

    # Versions

    @cached_property
    def branches(self) -> Branches:
        """What was cut off the active window. Made when it is first needed."""
        from app.history.branches import Branches

        return Branches(self.files, self.store, new_id=self.env.new_id)

    async def has_branches(self) -> bool:
        """Whether anything was ever cut off. Looks at the disk."""
        return await run_blocking(self.files.branches.is_dir)

    async def replace_tail(self, after: str, head: Sequence[Row], rows: tuple[Row, ...], reason: CutReason) -> None:
        """Keep what follows the row `after` as a version, put `rows` there in the same step, and tell.

        `head` is the window up to that row. Raises StorageError; nothing has changed then.
        """
        try:
            cut = await run_blocking(self.branches.cut, after, reason, then=rows, expected_last_seq=self.state.last_seq)
        except StorageError:
            self.state.is_stale = True
            raise
        whole = [row.model_copy(update={"seq": stored.seq}) for row, stored in zip(rows, cut.rows, strict=True)]
        await self._take_tail(after, head, whole, cut.rows, last_seq=cut.last_seq)

    async def switch_tail(self, after: str, head: Sequence[Row], branch: str) -> None:
        """Put another version in place of what follows the row `after`, and tell. Raises StorageError."""
        try:
            switched = await run_blocking(self.branches.switch, after, branch, expected_last_seq=self.state.last_seq)
        except StorageError:
            self.state.is_stale = True
            raise
        whole = await run_blocking(lambda: [self.window_reader.usable(row) for row in switched.rows])
        await self._take_tail(after, head, whole, switched.rows, last_seq=switched.last_seq)

    async def _take_tail(
        self, after: str, head: Sequence[Row], whole: Sequence[Row], written: tuple[Row, ...], *, last_seq: int
    ) -> None:
        self.state.window = [*head, *whole]
        self.state.last_seq = last_seq
        self.env.emit(RowsCut(self.session, after))
        if written:
            self.env.emit(RowsAppended(self.session, written))
        with contextlib.suppress(StorageError):
            versions = await run_blocking(self.branches.versions, self.state.window)
            self.env.emit(VersionsChanged(self.session, versions))

    async def save_meta(self) -> None:
        """Put `session.json` on disk; the last call wins. Raises StorageError."""
        async with self._saving_meta:
            await run_blocking(write_sidecar, self.files.meta, self.state.meta.model_copy())

    async def _save_grants(self) -> None:
        self._tell_summary()
        await self.save_meta()

    def _tell_summary(self) -> None:
        self.env.emit(ChatChanged(self.session, summary_of(self.session, self.state.meta)))

    async def tell_meta(self) -> None:
        """Tell title, time and model, and put them on disk if that works now."""
        self._tell_summary()
        # Without it the list shows an old time or title until the next message; the history is what counts.
        with contextlib.suppress(StorageError):
            await self.save_meta()
