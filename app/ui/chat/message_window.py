"""Which messages of the open chat are in its active window, the one that the model is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.domain.errors import KnownError

if TYPE_CHECKING:
    from app.aio import TaskSet
    from app.ui.bridge import Bridge
    from app.ui.chat.pager import StretchPager


class MessageWindow(QObject):
    """Goes by the rows that are loaded; where these end early, by what the index of windows says."""

    changed = Signal()
    """It is known of more messages now."""

    def __init__(self, pager: StretchPager, bridge: Bridge, tasks: TaskSet, parent: QObject) -> None:
        super().__init__(parent)
        self._pager = pager
        self._bridge = bridge
        self._tasks = tasks
        self._session = ""
        self._start: int | None = None
        """How many bytes of the history lie before the window; None until it is asked for."""
        self._asked = False

    def show(self, session: str) -> None:
        """Be about a chat, or about none."""
        self._session = session
        self.forget()

    def forget(self) -> None:
        """Another window has begun."""
        self._start = None
        self._asked = False

    def holds(self, row_id: str) -> bool | None:
        """Return whether a row that is loaded is in the window; None if that is not known yet."""
        if not self._pager.loaded.is_in_newest(row_id):
            return False
        if self._pager.reaches_end:
            return True
        if not self._asked:
            self._asked = True
            self._tasks.spawn(self._learn(self._session), name="learn where the window begins")
        offset = self._pager.offset_of(row_id)
        return None if self._start is None or offset is None else offset >= self._start

    def why_not(self, row_id: str) -> str:
        """Say in one sentence why a message is not in the window."""
        boundary = self._pager.loaded.boundary_behind(row_id)
        kind = boundary.boundary.kind if boundary is not None and boundary.boundary is not None else "rollover"
        match kind:
            case "rollover":
                return self.tr(
                    "It belongs to an earlier context window: the model began a fresh one after it, "
                    "and you find it in the history."
                )
            case "compaction":
                return self.tr("The model goes on from a summary of it and of what was said around it.")
            case _:
                return self.tr(
                    "You have let the model start afresh after it: nothing from above that line is shown to the model."
                )

    async def _learn(self, session: str) -> None:
        try:
            page = await self._bridge.history_windows(session)
            while not page.is_complete and session == self._session:
                page = await self._bridge.history_windows(session)
        except KnownError:
            # Without it nothing is offered that would be refused.
            return
        if session == self._session:
            self._start = next((window.start for window in page.windows if window.is_active), None)
            self.changed.emit()
