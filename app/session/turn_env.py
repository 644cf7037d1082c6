"""What a turn works with: the program's collaborators and this chat's own."""

import asyncio
import contextlib
from collections.abc import Callable
from functools import cached_property

from app.aio import run_blocking
from app.domain.chats import TurnState
from app.domain.errors import StorageError
from app.domain.events import ChatChanged, RowsAppended, StateChanged
from app.domain.rows import Row
from app.history.files import ChatFiles
from app.history.library import summary_of
from app.history.partial import PartialFile
from app.history.sidecars import write_sidecar
from app.history.store import Store
from app.session.approvals import Approvals
from app.session.draft import DraftFile
from app.session.env import SessionEnv
from app.session.state import SessionState
from app.tools.base import Tool


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
