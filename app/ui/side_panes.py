"""What stands at the right of a chat, history and memory: made when first opened, shown, put away, kept up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.domain.events import Event, MemoriesChanged, RowsAppended, RowsCut
from app.ui.panes import Panes

if TYPE_CHECKING:  # Made when it is first opened.
    from PySide6.QtWidgets import QWidget

    from app.aio import TaskSet
    from app.ui.bridge import Bridge
    from app.ui.chat.controller import ChatController
    from app.ui.chat.page import ChatPage
    from app.ui.history.panel import HistoryPanel
    from app.ui.memory.panel import MemoryPanel
    from app.ui.theme import Theme
    from app.ui.window_state import WindowState


class SidePanes(QObject):
    """Owns the panels of history and memory. `session` is the chat they show, empty for none."""

    message_wanted = Signal(str, str, int)
    """Chat, row and place of a message that is to be gone to."""
    quoted = Signal(str)
    branched = Signal(object)
    """A chat that was made as a branch."""
    told = Signal(str)
    undo_offered = Signal(str, object)
    """What was done, and what takes it back."""
    put_away = Signal()
    """A panel was closed: the keyboard belongs to the chat again."""

    def __init__(
        self,
        panes: Panes,
        state: WindowState,
        page: ChatPage,
        controller: ChatController,
        bridge: Bridge,
        tasks: TaskSet,
        *,
        theme: Callable[[], Theme],
        model_name: Callable[[str], str],
    ) -> None:
        super().__init__(panes)
        self._panes = panes
        self._state = state
        self._page = page
        self._controller = controller
        self._bridge = bridge
        self._tasks = tasks
        self._theme = theme
        self._model_name = model_name
        self._session = ""
        self.history: HistoryPanel | None = None
        self.memory: MemoryPanel | None = None

    # Shown and put away

    @Slot()
    def toggle_history(self) -> None:
        """Show the history with the keyboard in it, or put it away."""
        if self._panes.shows_history:
            self.close_history()
        elif self.history is None:
            # What was pressed looks pressed before the panel is made.
            QTimer.singleShot(0, self, self._enter_history)
        else:
            self._enter_history()

    @Slot()
    def toggle_memory(self) -> None:
        """Show what models keep with the keyboard in it, or put it away."""
        if self._panes.shows_memory:
            self.close_memory()
        elif self.memory is None:
            QTimer.singleShot(0, self, self._enter_memory)
        else:
            self._enter_memory()

    def show_history(self) -> HistoryPanel:
        """Show the history of the open chat beside it."""
        history = self.history = self.history or self._make_history()
        self._panes.show_history(on=True)
        return history

    def show_memory(self) -> MemoryPanel:
        """Show what models keep, beside the chat."""
        memory = self.memory = self.memory or self._make_memory()
        self._panes.show_memory(on=True)
        return memory

    @Slot()
    def close_history(self) -> None:
        """Put the history away."""
        self._panes.show_history(on=False)
        self.put_away.emit()

    @Slot()
    def close_memory(self) -> None:
        """Put memory away."""
        self._panes.show_memory(on=False)
        self.put_away.emit()

    def reopen(self) -> None:
        """Show what was open last time, once there is a chat and room for it."""
        if self._panes.is_narrow or not self._session:
            return
        if self._state.history_is_shown and self.history is None:
            self.show_history()
        if self._state.memory_is_shown and self.memory is None:
            self.show_memory()

    # Kept up

    def show_chat(self, session: str) -> None:
        """Show what belongs to another chat, or to none."""
        self._session = session
        if self.history is not None:
            self.history.show_chat(session)
        if self.memory is not None:
            self.memory.show_chat(session)
        self.reopen()

    def hear(self, event: Event) -> None:
        """Take note of what happened in any chat."""
        match event:
            case MemoriesChanged() if self.memory is not None:
                self.memory.note_change(event.session)
            case RowsAppended() | RowsCut() if self.history is not None:
                self.history.note_change(event.session)
            case _:
                pass

    def refresh(self) -> None:
        """Look at what other windows may have changed."""
        if self.memory is not None:
            self.memory.refresh()

    def keep_unsaved(self) -> None:
        """Put on disk what was typed and not saved: the window closes."""
        if self.memory is not None:
            self._tasks.spawn(self.memory.keep_unsaved(), name="keep a memory")

    def set_theme(self, theme: Theme) -> None:
        """Draw both in the colours of `theme`."""
        if self.history is not None:
            self.history.set_theme(theme)
        if self.memory is not None:
            self.memory.set_theme(theme)

    def focus_stops(self) -> list[QWidget]:
        """Return where F6 stops in them."""
        stops: list[QWidget] = []
        if self.history is not None:
            stops += self.history.focus_stops()
        if self.memory is not None:
            stops += self.memory.focus_stops()
        return stops

    @Slot()
    def _enter_history(self) -> None:
        self.show_history().take_focus()

    @Slot()
    def _enter_memory(self) -> None:
        self.show_memory().take_focus()

    def _make_history(self) -> HistoryPanel:
        from app.ui.history.on_screen import OnScreen
        from app.ui.history.panel import HistoryPanel

        history = HistoryPanel(self._bridge, self._tasks, self._theme(), self._model_name)
        history.message_wanted.connect(self.message_wanted)
        history.quoted.connect(self.quoted)
        history.branched.connect(self.branched)
        history.told.connect(self.told)
        history.closed.connect(self.close_history)
        pager = self._controller.pager
        OnScreen(
            history.timeline,
            self._page.transcript,
            offset_of=pager.offset_of,
            reaches_end=lambda: pager.reaches_end,
        )
        history.show_chat(self._session)
        self._panes.add_history(history)
        return history

    def _make_memory(self) -> MemoryPanel:
        from app.ui.memory.panel import MemoryPanel

        memory = MemoryPanel(self._bridge, self._tasks, self._theme())
        memory.told.connect(self.told)
        memory.undo_offered.connect(self.undo_offered)
        memory.closed.connect(self.close_memory)
        memory.show_chat(self._session)
        self._panes.add_memory(memory)
        return memory
