"""The window's panes side by side: chats, the open chat, its history. Where there is no room they take turns."""

from typing import Final

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QSplitter, QWidget

from app.ui.window_state import WindowState

NARROW_PX: Final = 620
"""Below this width, before any zoom, one pane is shown at a time."""
CROWDED_PX: Final = 900
"""Below this one, the history takes the place of the list of chats."""
_LEAST_PX: Final = 180
_MOST_PX: Final = 640
_PAGE_PX: Final = 300


class Panes(QSplitter):
    """Decides which panes are shown and how wide they are; keeps both in the window's state, without the zoom."""

    changed = Signal()
    """Other panes are shown now."""

    def __init__(self, chats: QWidget, page: QWidget, state: WindowState, zoom: float) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._chats = chats
        self._page = page
        self._history: QWidget | None = None
        self._state = state
        self._zoom = zoom
        self._turn: QWidget = page
        self.is_narrow = False
        """One pane is shown at a time."""
        self._is_crowded = False
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.addWidget(chats)
        self.addWidget(page)
        self.setStretchFactor(1, 1)
        self.splitterMoved.connect(self._note_widths)

    @property
    def shows_chats(self) -> bool:
        """Whether the list of chats is among what is shown."""
        if self.is_narrow:
            return self._turn is self._chats
        return self._state.panel_is_shown and not (self._is_crowded and self.shows_history)

    @property
    def shows_history(self) -> bool:
        """Whether the history is among what is shown."""
        if self._history is None:
            return False
        return self._turn is self._history if self.is_narrow else self._state.history_is_shown

    def add_history(self, history: QWidget) -> None:
        """Take the history in, as the last pane; it isn't shown yet."""
        self._history = history
        history.hide()
        self.addWidget(history)
        self.setStretchFactor(2, 0)

    def show_chats(self, *, on: bool) -> None:
        """Show the list of chats, or put it away."""
        if self.is_narrow:
            self._turn = self._chats if on else self._page
        else:
            self._state.panel_is_shown = on
            if on and self._is_crowded:
                self._state.history_is_shown = False
        self.lay_out()

    def show_history(self, *, on: bool) -> None:
        """Show the history, or put it away."""
        if self.is_narrow:
            self._turn = self._history if on and self._history is not None else self._page
        else:
            self._state.history_is_shown = on
        self.lay_out()
        if on and not self.is_narrow:
            self.share()

    def show_page(self) -> None:
        """Let the open chat be seen."""
        self._turn = self._page
        self.lay_out()

    def fit(self, width: int, zoom: float) -> None:
        """Show as many panes as there is room for in a window of this width."""
        is_zoomed, self._zoom = zoom != self._zoom, zoom
        is_narrow = width < NARROW_PX * zoom
        if is_narrow != self.is_narrow:
            self.is_narrow = is_narrow
            self._turn = self._page
        self._is_crowded = width < CROWDED_PX * zoom
        self.lay_out()
        if is_zoomed:
            self.share()

    def lay_out(self) -> None:
        """Show the panes that are to be shown."""
        self._chats.setVisible(self.shows_chats)
        self._page.setVisible(not self.is_narrow or self._turn is self._page)
        if self._history is not None:
            self._history.setVisible(self.shows_history)
        self.changed.emit()

    def share(self) -> None:
        """Give the panes at the sides the width they had."""
        chats = self._side(self._state.panel_width)
        history = self._side(self._state.history_width)
        taken = (chats if self.shows_chats else 0) + (history if self.shows_history else 0)
        page = max(_PAGE_PX, self.window().width() - taken)
        self.setSizes([chats, page] if self._history is None else [chats, page, history])

    def focus_next(self, stops: list[QWidget]) -> None:
        """Move the focus to the next of `stops` that is in view."""
        shown = [stop for stop in stops if stop.isVisible()]
        focused = QApplication.focusWidget()
        at = next((n for n, stop in enumerate(shown) if focused and _holds(stop, focused)), -1)
        if shown:
            shown[(at + 1) % len(shown)].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _side(self, width: int) -> int:
        return round(min(max(width, _LEAST_PX), _MOST_PX) * self._zoom)

    @Slot()
    def _note_widths(self) -> None:
        """Keep how wide the person has made the panes at the sides."""
        sizes = self.sizes()
        if self.shows_chats and not self.is_narrow:
            self._state.panel_width = round(sizes[0] / self._zoom)
        if self.shows_history and not self.is_narrow:
            self._state.history_width = round(sizes[2] / self._zoom)


def _holds(stop: QWidget, focused: QWidget) -> bool:
    return focused is stop or stop.isAncestorOf(focused)
